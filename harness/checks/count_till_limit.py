"""Counting: without a limit, and up to one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.checks.again import Asked, AsksAgain
from harness.checks.base import (
    Fault,
    LongRuns,
    Observation,
    Probe,
    Severity,
    encoded_indices,
)
from harness.checks.serving import draw, parts_of, serving, unanswered
from harness.core.messages import PAST_THE_LIMIT, Serve
from harness.core.outcomes import Encoded, Inputs, Results, Unsupported
from impls.interface import Capability

Limited = tuple[int, "int | None"]
"""The index of an input, and the limit that it is counted up to, if any."""


class CountTillLimit(AsksAgain[Limited]):
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

    def asked(self, seen: Observation) -> Iterator[Asked[Limited]]:
        """The services; how many tokens there are is known already."""
        for service in self.needs:
            for name in serving(seen, service):
                results = seen.results[name]
                indices = encoded_indices(results)
                texts = Inputs.of([seen.inputs[index] for index in indices])
                for limits in self._limits(seen, service, results, indices):
                    numbers = tuple(() if limit is None else (limit,) for limit in limits)
                    request = Serve(service, texts, numbers, seen.contract.mode)
                    yield Asked(name, [*zip(indices, limits, strict=True)], [Probe(name, request)])

    def compared(
        self, seen: Observation, one: Asked[Limited], answers: Sequence[Results]
    ) -> Iterator[tuple[int, Fault | None]]:
        """Compare with the numbers of ids."""
        for row, (index, limit) in enumerate(one.rows):
            outcome = answers[0].outcome(row)
            service = str(Capability.COUNT if limit is None else Capability.COUNT_TILL_LIMIT)
            if isinstance(outcome, Unsupported):
                continue
            if not isinstance(outcome, Encoded):
                yield index, unanswered(one.name, service, outcome)
                continue
            right, where = len(seen.results[one.name].ids_of(index)), "the text"
            if limit is not None:
                where = f"the text, with a limit of {limit}"
                right = right if right <= limit else PAST_THE_LIMIT
            (number,) = outcome.ids
            parts = parts_of(one.name, one.name, service, right, number, where)
            yield index, None if number == right else (service, parts)

    def _limits(
        self, seen: Observation, service: Capability, results: Results, indices: Sequence[int]
    ) -> list[list[int | None]]:
        """The limits of each input, for one question after another."""
        if service is Capability.COUNT:
            return [[None] * len(indices)]
        counts = {index: len(results.ids_of(index)) for index in indices}
        return [
            [*counts.values()],
            [max(0, count - 1) for count in counts.values()],
            [draw(seen.inputs[index]).randint(0, count + 1) for index, count in counts.items()],
        ]
