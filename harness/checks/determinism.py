"""Determinism: asking again gives the same answer."""

from __future__ import annotations

from harness.checks.asking import Subject
from harness.checks.base import Ask, Check, Judgement, Observation, Probe, Script, Severity, Shows
from harness.core.messages import Encode
from harness.core.outcomes import Inputs
from harness.core.partition import comparable
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

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """Ask for the batch backwards, and from threads."""
        judgement, inputs = Judgement(), Inputs.of([*seen.inputs][::-1])
        asked = [
            (one, threads)
            for one in self.asked(seen)
            for threads in ([False, True] if one.can(Capability.THREADS) else [False])
        ]
        mode = seen.contract.mode
        answers = ask(
            [Probe(one.name, Encode(inputs, mode, threads=threads)) for one, threads in asked]
        )
        for (one, threads), answer in zip(asked, answers, strict=True):
            first, second = [*seen.results[one.name]], [*answer][::-1]
            # A death on the first call is the survival check's, one on a later call is not.
            rows = [row for row, outcome in enumerate(first) if comparable(outcome)]
            others = [row for row in rows if first[row] != second[row]]
            judgement.note(one.name, len(rows) - len(others))
            for row in others:
                subject = Subject(self, seen, one, row, seen.inputs[row], first[row], judgement)
                known = subject.says(first[row])
                subject.expect("threads" if threads else "order", known, second[row], "again")
        return judgement
