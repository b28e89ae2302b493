"""Whether a violation comes back when it is asked again, alone: only then is it believed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from harness.checks import CHECKS
from harness.checks.base import Judgement, Violation
from harness.core.excused import TOGETHER
from harness.core.outcomes import Failed, Inputs, Status
from harness.core.partition import Part, comparable
from harness.findings.diagnosis import signature
from harness.workers.requests import doubtful

if TYPE_CHECKING:
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome
    from harness.workers.pool import WorkerPool

AGAIN = 4
"""A violation must come back so many times before it is believed to be the input's: one that shows
once in a hundred calls, or only after certain others, would pass for that otherwise."""

AT_RANDOM = "reachability"
"""A check of answers that are drawn at random. One that is wrong is proof, and comes back now and
then; one that does not is no finding of determinism."""

TIMED_OUT, ERRORED = Status.TIMED_OUT.label, Status.ERRORED.label

Unconfirmed = Literal["gone", "unsure"]
"""``gone`` is a death that does not come back, which was seen all the same; ``unsure`` is what
cannot be told any more, as somebody did not answer: it is no finding."""


def confirm(pool: WorkerPool, contract: Contract, violation: Violation) -> Violation | Unconfirmed:
    """Ask again, alone: the violation itself, one of determinism, or a worse one of survival.

    ``gone`` is a death that does not come back, which was seen all the same; ``unsure`` is what
    cannot be told any more, as somebody did not answer: it is no finding.
    Between the empty input and itself, so that what an earlier call left behind shows.
    Raises Stopped and OutOfTime.
    """
    if violation.check == "determinism":
        return _differs_again(pool, contract, violation)
    data = violation.data
    # A death is not asked for over and over in one batch: the rest would go unanswered.
    once = violation.check == "survival" or _deadly(violation)
    inputs = [data] if once else [b"", data, data] * (AGAIN // 2)
    sign = signature(violation, contract)
    judged = pool.examine(contract, CHECKS[violation.check], inputs)
    # By place: a check may find more than one thing wrong with an input.
    seen = {
        one.index
        for one in judged.violations
        if one.data == data and signature(one, contract) == sign
    }
    if len(seen) == inputs.count(data):
        return violation
    if violation.check == AT_RANDOM:
        return violation if seen else "unsure"
    if violation.check == "survival":
        worse = _worse(violation, judged)
        if worse is not None:
            return worse
        # The worker has asked again already before it said so. Only an answer speaks against it:
        # who is withdrawn by now, for other time-outs, gives none.
        answered = all(judged.exercised[name] == len(inputs) for name in violation.culprits)
        return "unsure" if violation.stage == TIMED_OUT and answered else "gone"
    if set(violation.culprits) & set(pool.withdrawn()):
        return "unsure"
    if violation.check == "equivalence":
        return _asked_again(pool, contract, violation)
    if any(judged.exercised[name] < len(inputs) for name in violation.culprits):
        return "unsure"
    if not all(comparable(part.outcome) for part in violation.parts):
        # Who failed a further question and answers it now has given no two answers.
        return "gone" if any(_crashed(part.outcome) for part in violation.parts) else "unsure"
    # What a check found out by further questions comes out otherwise today.
    return replace(violation, check="determinism", stage="order")


def _differs_again(
    pool: WorkerPool, contract: Contract, violation: Violation
) -> Violation | Unconfirmed:
    """A violation of determinism: sure where two answers differed, or where it comes back.

    Two different answers to one input are proof, however often it answers alike. A failure
    on the second time may be the machine's, and has to come back.
    """
    if all(comparable(part.outcome) for part in violation.parts):
        return violation
    judged = pool.examine(contract, CHECKS[violation.check], [b"", violation.data])
    culprits = set(violation.culprits)
    back = any(culprits & set(one.culprits) for one in judged.violations)
    return violation if back else "unsure"


def _asked_again(
    pool: WorkerPool, contract: Contract, violation: Violation
) -> Violation | Unconfirmed:
    """Who changed its answer, as a violation of determinism; unsure if nobody did.

    Who crashes now is a violation of survival. Who does not answer now has not changed its
    answer: it may be withdrawn, or slow.
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
                    parts = (
                        Part((f"{name} (alone)",), outcome),
                        Part((f"{name} (in a batch)",), part.outcome),
                    )
                    return Violation("determinism", 0, data, parts, (name,), "order")
    everybody = [name for part in violation.parts for name in part.names]
    answers = [seen.results[name].outcome(row) for name in everybody for row in (1, 2)]
    if not all(map(comparable, answers)):
        return "unsure"
    # Right when it was confirmed, and wrong again by now.
    return replace(violation, check="determinism", stage="order")


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


def _deadly(violation: Violation) -> bool:
    """Whether somebody died of the input."""
    return any(
        isinstance(part.outcome, Failed) and part.outcome.status is not Status.ERRORED
        for part in violation.parts
    )
