"""Survival: an implementation answers every input within its limits."""

from harness.checks.base import Ask, Check, Judgement, Observation, Script, Severity
from harness.core.outcomes import Failed, Status
from harness.core.partition import Part, partition


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
    script = Script("fails")

    asks_further = False

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """One violation for each input and implementation that failed on it."""
        judgement = Judgement()
        for name, results in seen.results.items():
            judgement.exercised[name] += int((results.status != Status.UNSUPPORTED).sum())
            for index in results.messages:
                outcome = results.outcome(index)
                if not isinstance(outcome, Failed):
                    continue
                encoded = {
                    other: theirs.outcome(index)
                    for other, theirs in seen.results.items()
                    if theirs.status[index] == Status.ENCODED
                }
                parts = (*partition(encoded, seen.contract.standing), Part((name,), outcome))
                found = self.violation(seen, index, parts, (name,), outcome.status.label)
                judgement.violations.append(found)
        return judgement
