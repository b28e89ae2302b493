"""Determinism: asking again gives the same answer."""

from __future__ import annotations

from harness.checks.base import AsksAgain, Look, Script, Severity, Shows, Subject
from harness.core.partition import comparable
from impls.interface import Capability


class Determinism(AsksAgain):
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

    def look(self, one: Subject) -> Look:
        """The batch backwards, and from threads."""
        again = [*one.seen.inputs][::-1]
        stages = ["order", "threads"] if one.participant.can(Capability.THREADS) else ["order"]
        answers = yield [one.encode(again, threads=stage == "threads") for stage in stages]
        for stage, answer in zip(stages, answers, strict=True):
            for index, second in enumerate([*answer][::-1]):
                first = one.says(one.outcome(index))
                # A death on the first call is the survival check's, one on a later call is not.
                if comparable(first.outcome):
                    one.expect(index, stage, first, second, "again")
