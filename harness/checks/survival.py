"""Survival: an implementation answers every input within its limits."""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.base import (
    Check,
    Judgement,
    Observation,
    Script,
    Severity,
    Shows,
    Violation,
)
from harness.core.outcomes import Failed, Results, Status
from harness.core.partition import Part


class Survival(Check):
    """For all x within the limits of time and memory: encode(x) is ids or a rejection.

    Never an exception of another kind, a crash, an abort, a hang, a runaway allocation, a breach
    of the protocol.
    """

    name = "survival"
    summary = (
        "every input is answered within the limits of time and memory: no crash, abort, hang, "
        "panic or leak, and no process is left behind"
    )
    severity = Severity.CRASH
    said = "did not answer"
    alone = True
    script = Script(Shows.FAILS)

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """One violation for each input and implementation that failed on it."""
        judgement = Judgement()
        for name, results in seen.results.items():
            unsupported = sum(1 for s in results.status.tolist() if s == Status.UNSUPPORTED)
            judgement.exercised[name] += len(results) - unsupported
            for index in results.messages:
                outcome = results.outcome(index)
                if not isinstance(outcome, Failed):
                    continue
                others = tuple(
                    Part((other,), theirs.outcome(index))
                    for other, theirs in seen.results.items()
                    if other != name and theirs.status[index] == Status.ENCODED
                )
                judgement.violations.append(
                    Violation(
                        self.name,
                        index,
                        seen.inputs[index],
                        (*merged(others), Part((name,), outcome)),
                        (name,),
                        stage=outcome.status.label,
                    )
                )
        return judgement


def merged(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts of equal outcome joined."""
    joined: dict[object, Part] = {}
    for part in parts:
        known = joined.get(part.outcome)
        names = (*known.names, *part.names) if known else part.names
        joined[part.outcome] = Part(names, part.outcome)
    return tuple(joined.values())
