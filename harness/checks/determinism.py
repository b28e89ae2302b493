"""Determinism: asking again gives the same answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Probe,
    Script,
    Severity,
    Shows,
    Violation,
)
from harness.checks.equivalence import differing
from harness.core.messages import Encode
from harness.core.outcomes import Inputs, Results, Unsupported
from harness.core.partition import Part, comparable
from impls.interface import Capability


class Determinism(Check):
    """encode(x) is one value: later, in another order, and from several threads at once.

    The threads are tried only where an implementation claims to allow them.
    """

    name = "determinism"
    summary = "the same input gives the same ids later, in another order, and from several threads"
    severity = Severity.IDS
    said = "answered differently when asked again"
    every = 5
    alone = True
    by_chance = True
    script = Script(Shows.CHANGES)

    def probes(self, seen: Observation) -> list[Probe]:
        """Each implementation again: the batch backwards, and from threads."""
        again = Inputs.of(list(seen.inputs)[::-1])
        mode = seen.contract.mode
        found = []
        for participant in seen.contract.participants:
            if participant.name not in seen.results:
                continue
            found.append(Probe(participant.name, Encode(again, mode)))
            if participant.can(Capability.THREADS):
                found.append(Probe(participant.name, Encode(again, mode, threads=True)))
        return found

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare each implementation with itself."""
        judgement = Judgement()
        for probe, answer in zip(self.probes(seen), answers, strict=True):
            assert isinstance(probe.request, Encode)
            stage = "threads" if probe.request.threads else "order"
            name = probe.implementation
            first = seen.results[name]
            again = backwards(answer)
            judgement.exercised[name] += int((first.answered & again.answered).sum())
            last = len(first) - 1
            for index in differing(first, again):
                parts = (
                    Part((name,), first.outcome(index)),
                    Part((f"{name} (again)",), answer.outcome(last - index)),
                )
                # A death on the first call is the survival check's, one on a later call is not.
                if comparable(parts[0].outcome) and not isinstance(parts[1].outcome, Unsupported):
                    data = seen.inputs[index]
                    judgement.violations.append(
                        Violation(self.name, index, data, parts, (name,), stage=stage)
                    )
        return judgement


def backwards(results: Results) -> Results:
    """The results of a reversed batch in the batch's own order (ids and status only)."""
    starts = np.concatenate(([0], results.ends[:-1])).astype(np.int64)
    pieces = [results.ids[a:b] for a, b in zip(starts[::-1], results.ends[::-1], strict=True)]
    lengths = (results.ends - starts)[::-1]
    ids = np.concatenate(pieces) if pieces else results.ids
    return Results(results.status[::-1], ids, np.cumsum(lengths), results.messages)
