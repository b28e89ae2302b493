"""Whether a violation comes back when it is asked again, alone: only then is it believed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from harness.checks import CHECKS
from harness.checks.base import Judgement, Violation
from harness.core.excused import TOGETHER
from harness.core.outcomes import Failed, Inputs, Status, Unsupported
from harness.core.partition import Part, comparable
from harness.findings.diagnosis import signature
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

TIMED_OUT, ERRORED = Status.TIMED_OUT.label, Status.ERRORED.label

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
    if violation.check == "determinism":
        return _differs_again(pool, contract, violation)
    data = violation.data
    # A death is not asked for over and over in one batch: the rest would go unanswered.
    once = violation.check == "survival" or _deadly(violation)
    inputs = [data] if once else [b"", data, data] * (times // 2)
    sign = signature(violation, contract)
    answers = pool.again(contract, Inputs.of(inputs))
    judged = pool.judge(CHECKS[violation.check], answers)
    # By place: a check may find more than one thing wrong with an input.
    seen = {
        one.index
        for one in judged.violations
        if one.data == data and signature(one, contract) == sign
    }
    if len(seen) == inputs.count(data):
        return violation
    if CHECKS[violation.check].by_chance:
        # Of answers that are drawn at random one that is wrong is proof, and comes back now and
        # then; one that does not is no finding of determinism.
        return violation if seen else "gone"
    if violation.check == "survival":
        worse = _worse(violation, judged)
        if worse is not None:
            return worse
        # The worker has asked again already before it said so. Only an answer speaks against it:
        # who is withdrawn by now, for other time-outs, gives none.
        answered = all(judged.exercised[name] == len(inputs) for name in violation.culprits)
        return "machine" if violation.stage == TIMED_OUT and answered else "gone"
    if violation.check == "equivalence":
        return _asked_again(pool, contract, violation, answers)
    if not all(comparable(part.outcome) for part in violation.parts):
        # Who failed a further question and answers it now has given no two answers.
        broken = any(_own_failure(part.outcome) for part in violation.parts)
        return "gone" if broken else "machine"
    refused = _refusal(pool, answers, violation)
    if refused is not None:
        return refused
    if any(judged.exercised[name] < inputs.count(data) for name in violation.culprits):
        return "unsure"
    # What a check found out by further questions comes out otherwise today.
    return replace(violation, check="determinism", stage="order")


def _differs_again(
    pool: WorkerPool, contract: Contract, violation: Violation
) -> Violation | Unconfirmed:
    """A violation of determinism: sure where two answers differed, or where it comes back.

    Two different answers to one input are proof, however often it answers alike, and so is an
    answer beside a failure of its own. A failure that may be the machine's has to come back.
    """
    if all(comparable(part.outcome) or _own_failure(part.outcome) for part in violation.parts):
        return violation
    judged = pool.examine(contract, CHECKS[violation.check], [b"", violation.data])
    culprits = set(violation.culprits)
    back = any(culprits & set(one.culprits) for one in judged.violations)
    return violation if back else "machine"


def _asked_again(
    pool: WorkerPool, contract: Contract, violation: Violation, before: Observation
) -> Violation | Unconfirmed:
    """Who changed its answer, as a violation of determinism; unsure if nobody did.

    before: the answers of the time before, when it did not come back. Who crashes now is a
    violation of survival. Who is kept from answering, now or then, has not changed its answer: it
    may be slow.
    """
    data = violation.data
    seen = pool.again(contract, Inputs.of([b"", data, data]))
    for death in pool.judge(CHECKS["survival"], seen).violations:
        if death.data == data and _crashed(death.parts[-1].outcome):
            return death
    for part in violation.parts:
        for name in part.names:
            for row in (1, 2):
                outcome = seen.results[name].outcome(row)
                if comparable(outcome) and outcome != part.outcome:
                    return _otherwise(violation, name, outcome, part.outcome)
    for one in (seen, before):
        refused = _refusal(pool, one, violation)
        if refused is not None:
            return refused
    # Right when it was confirmed, and wrong again by now.
    return replace(violation, check="determinism", stage="order")


def _refusal(
    pool: WorkerPool, seen: Observation, violation: Violation
) -> Violation | Unconfirmed | None:
    """What it means that somebody gives no answer any more; None where all do.

    Who says that it does not support what it has answered before, who raises, and who is withdrawn
    for its deaths has given two answers.
    """
    withdrawn = pool.withdrawn()
    silent = False
    for part in violation.parts:
        for name in part.names:
            if name not in seen.results:
                continue  # it stands for what the check compares with
            for row in (row for row, data in enumerate(seen.inputs) if data == violation.data):
                outcome = seen.results[name].outcome(row)
                if comparable(outcome):
                    continue
                silent = True
                message = getattr(outcome, "message", "")
                kept = kept_from_answering(withdrawn.get(name, message))
                if _own_failure(outcome) or (isinstance(outcome, Unsupported) and not kept):
                    return _otherwise(violation, name, outcome, part.outcome)
    return "unsure" if silent else None


def _otherwise(violation: Violation, name: str, second: Outcome, first: Outcome) -> Violation:
    """The violation of determinism of who has given two answers."""
    parts = (Part((f"{name} (alone)",), second), Part((f"{name} (in a batch)",), first))
    return Violation("determinism", 0, violation.data, parts, (name,), "order")


def _worse(violation: Violation, judged: Judgement) -> Violation | None:
    """The failure of another kind that an input now brings about, where it is no milder.

    A time-out may be the machine's, and an exception ends nothing: both yield to what is worse.
    """
    if violation.stage not in (TIMED_OUT, ERRORED):
        return None
    milder = {TIMED_OUT, violation.stage}
    return next(
        (
            one
            for one in judged.violations
            if one.data == violation.data
            and one.culprits == violation.culprits
            and one.stage not in milder
        ),
        None,
    )


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


def _deadly(violation: Violation) -> bool:
    """Whether somebody died of the input."""
    return any(
        isinstance(part.outcome, Failed) and part.outcome.status is not Status.ERRORED
        for part in violation.parts
    )
