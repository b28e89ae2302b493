"""Whether a violation comes back when it is asked again, alone: only then is it believed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from harness.checks import CHECKS
from harness.checks.base import Violation
from harness.core.excused import TOGETHER
from harness.core.outcomes import Failed, Inputs, Status, Unsupported
from harness.core.partition import Part, comparable
from harness.findings.diagnosis import signature
from harness.findings.masking import TIMED_OUT
from harness.workers.reasons import kept_from_answering
from harness.workers.requests import doubtful

if TYPE_CHECKING:
    from harness.checks.base import Observation
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome
    from harness.workers.pool import WorkerPool

AGAIN = 4
"""A violation must come back so many times before it is believed to be the input's: one that shows
once in a hundred calls, or only after certain others, would pass for that otherwise."""

UNSTABLE_AGAIN = 16
"""The same of who is known to answer one question in two ways: what one such answer breaks is the
same finding, unless it is broken every time."""

ERRORED = Status.ERRORED.label

Unconfirmed = Literal["gone", "machine", "unsure"]


def confirm(
    pool: WorkerPool, contract: Contract, violation: Violation, times: int = AGAIN
) -> Violation | Unconfirmed:
    """Ask again, alone: the violation itself, one of determinism, or a worse one of survival.

    ``gone`` is what does not come back, and was seen all the same: a death, a breach of the
    protocol, a wrong answer that was drawn. ``machine`` is a failure that the machine may have
    brought about, as it does not come back. ``unsure`` is a violation of which nobody can tell what
    it is, as somebody was kept from answering.
    Between the empty input and itself, so that what an earlier call left behind shows.
    Raises Stopped and OutOfTime.
    """
    check, data, culprits = CHECKS[violation.check], violation.data, set(violation.culprits)
    outcomes = [part.outcome for part in violation.parts]
    if violation.check == "determinism":
        # Two different answers to one input are proof, however often it answers alike, and so is an
        # answer beside a failure of its own. A failure that may be the machine's has to come back.
        if all(comparable(one) or _own_failure(one) for one in outcomes):
            return violation
        shown = pool.examine(contract, check, [b"", data]).violations
        return violation if any(culprits & set(one.culprits) for one in shown) else "machine"
    # A death is not asked for over and over in one batch: the rest would go unanswered.
    once = violation.check == "survival" or any(
        isinstance(one, Failed) and one.status is not Status.ERRORED for one in outcomes
    )
    inputs = [data] if once else [b"", data, data] * (times // 2)
    answers = pool.again(contract, Inputs.of(inputs))
    judged = pool.judge(check, answers)
    now = [one for one in judged.violations if one.data == data]
    sign = signature(violation, contract)
    # By place: a check may find more than one thing wrong with an input.
    seen = {one.index for one in now if signature(one, contract) == sign}
    if len(seen) == inputs.count(data):
        return violation
    if check.by_chance:
        # Of answers that are drawn at random one that is wrong is proof, and comes back now and
        # then; one that does not is no finding of determinism.
        return violation if seen else "gone"
    answered = all(judged.exercised[name] >= inputs.count(data) for name in culprits)
    if violation.check == "survival":
        # A time-out may be the machine's, and an exception ends nothing: both yield to what is
        # worse. The worker has asked again already before it said so. Only an answer speaks
        # against it: who is withdrawn by now, for other time-outs, gives none.
        milder = {TIMED_OUT, violation.stage}
        worse = (
            one
            for one in now
            if violation.stage in {TIMED_OUT, ERRORED}
            and one.culprits == violation.culprits
            and one.stage not in milder
        )
        in_time = violation.stage == TIMED_OUT and answered
        return next(worse, "machine" if in_time else "gone")
    if not all(map(comparable, outcomes)):
        # Who failed a further question and answers it now has given no two answers.
        return "gone" if any(map(_own_failure, outcomes)) else "machine"
    changed = _changed(pool, answers, violation)
    if changed is not None:
        return changed
    if violation.check == "equivalence":
        # All answer as before, and so does somebody who was not asked then: it is theirs, too.
        return next((one for one in now if culprits & set(one.culprits)), "unsure")
    # What a check found out by further questions comes out otherwise today.
    return replace(violation, check="determinism", stage="order") if answered else "unsure"


def _changed(
    pool: WorkerPool, seen: Observation, violation: Violation
) -> Violation | Unconfirmed | None:
    """Who answers otherwise than in a violation, as one of determinism; unsure if none can be told.

    Who crashes where outputs were compared is a violation of survival. Who says that it does not
    support what it has answered before, who raises, and who is withdrawn for its deaths has given
    two answers. Who is kept from answering has not changed its answer: it may be slow.
    """
    compared = violation.check == "equivalence"
    for death in pool.judge(CHECKS["survival"], seen).violations if compared else ():
        if death.data == violation.data and _crashed(death.parts[-1].outcome):
            return death
    withdrawn, silent = pool.withdrawn(), False
    rows = [row for row, data in enumerate(seen.inputs) if data == violation.data]
    # Who is missing stands for what the check compares with.
    asked = [(part, name) for part in violation.parts for name in part.names]
    for part, name in (one for one in asked if one[1] in seen.results):
        for outcome in map(seen.results[name].outcome, rows):
            if comparable(outcome):
                changed = compared and outcome != part.outcome
            else:
                silent = True
                why = withdrawn.get(name, getattr(outcome, "message", ""))
                refuses = isinstance(outcome, Unsupported) and not kept_from_answering(why)
                changed = refuses or _own_failure(outcome)
            if changed:
                told = ((f"{name} (alone)", outcome), (f"{name} (in a batch)", part.outcome))
                parts = tuple(Part((who,), what) for who, what in told)
                return Violation("determinism", 0, violation.data, parts, (name,), "order")
    return "unsure" if silent else None


def _crashed(outcome: Outcome) -> bool:
    """Whether it is a crash, or a breach of the protocol, of a single input."""
    if not isinstance(outcome, Failed) or outcome.status not in {Status.CRASHED, Status.PROTOCOL}:
        return False
    return not doubtful(outcome) and not outcome.message.endswith(TOGETHER)


def _own_failure(outcome: Outcome) -> bool:
    """Whether a failure is the implementation's own doing, whether it comes back or not."""
    if not isinstance(outcome, Failed):
        return False
    return _crashed(outcome) or (outcome.status is Status.ERRORED and not doubtful(outcome))
