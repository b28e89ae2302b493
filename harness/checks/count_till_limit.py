"""Counting: without a limit, and up to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.checks.base import (
    Check,
    Judgement,
    LongRuns,
    Observation,
    Probe,
    Severity,
    Violation,
    encoded_indices,
)
from harness.checks.serving import draw, parts_of, serving, unanswered
from harness.core.messages import PAST_THE_LIMIT, Serve
from harness.core.outcomes import Encoded, Inputs, Results, Unsupported
from impls.interface import Capability


@dataclass(frozen=True, slots=True)
class Asked:
    """A service of one implementation, with the limit for each of the inputs at ``indices``."""

    name: str
    service: Capability
    indices: tuple[int, ...]
    limits: tuple[int, ...] = ()


class CountTillLimit(Check):
    """count(x) = |encode(x)|; count_till_limit(x, n) = |encode(x)|, or null exactly if it is > n.

    Asked with the count itself for a limit, with one less, and with one drawn from the input's
    own checksum. Whether encode(x) itself is right is for the equivalence check.
    """

    name = "count-till-limit"
    summary = "counting gives the number of ids, and null exactly past a limit"
    severity = Severity.SERVICE
    said = "counted wrongly"
    every = 4
    needs = (Capability.COUNT, Capability.COUNT_TILL_LIMIT)
    long_runs = LongRuns.ALL

    def probes(self, seen: Observation) -> list[Probe]:
        """The services; how many tokens there are is known already."""
        probes = []
        for asked in self._asked(seen):
            texts = Inputs.of([seen.inputs[index] for index in asked.indices])
            numbers = tuple((limit,) for limit in asked.limits) or ((),) * len(texts)
            probes.append(
                Probe(asked.name, Serve(asked.service, texts, numbers, seen.contract.mode))
            )
        return probes

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare with the numbers of ids."""
        judgement = Judgement()
        for asked, answer in zip(self._asked(seen), answers, strict=True):
            name, service = asked.name, str(asked.service)
            for row, index in enumerate(asked.indices):
                outcome = answer.outcome(row)
                if isinstance(outcome, Unsupported):
                    continue
                judgement.exercised[name] += 1
                data = seen.inputs[index]
                if not isinstance(outcome, Encoded):
                    stage, parts = unanswered(name, service, outcome)
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), stage)
                    )
                    continue
                right, where = len(seen.results[name].ids_of(index)), "the text"
                if asked.limits:
                    limit = asked.limits[row]
                    where = f"the text, with a limit of {limit}"
                    right = right if right <= limit else PAST_THE_LIMIT
                (number,) = outcome.ids
                if number != right:
                    parts = parts_of(name, name, service, right, number, where)
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), service)
                    )
        return judgement

    def _asked(self, seen: Observation) -> list[Asked]:
        found = []
        for name in serving(seen, Capability.COUNT):
            indices = tuple(encoded_indices(seen.results[name]))
            found.append(Asked(name, Capability.COUNT, indices))
        for name in serving(seen, Capability.COUNT_TILL_LIMIT):
            results = seen.results[name]
            indices = tuple(encoded_indices(results))
            counts = [len(results.ids_of(index)) for index in indices]
            drawn = [
                draw(seen.inputs[index]).randint(0, count + 1)
                for index, count in zip(indices, counts, strict=True)
            ]
            below = [max(0, count - 1) for count in counts]
            found += [
                Asked(name, Capability.COUNT_TILL_LIMIT, indices, tuple(limits))
                for limits in (counts, below, drawn)
            ]
        return found
