"""The study of forced tokens in a run: a sample of our own schemas on one vocabulary."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from harness.core.countdown import Countdown
from harness.engine.examiner import Study
from harness.engine.selection import SelectionError
from harness.events import ImplementationFailed, Phase
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.session import Session
    from harness.engine.state import RunState
    from harness.events import Event

SCHEMAS = 16
"""A second or two, besides the time to load the vocabulary."""

SECONDS = 12.0
"""After so many seconds the rest of a sample is left out where the run is limited by time."""

WITNESSES = 5


class ForcedSample(Study):
    """Walks forced tokens, in workers of its own, beside what is asked of the session's."""

    beside = True

    def __init__(self, run: RunState) -> None:
        self._run = run

    def concerns(self, source: str) -> bool:
        """Whether forced tokens are walked on a vocabulary."""
        return source in self._run.plan.walked

    def step(self, session: Session) -> None:
        """Walk the sample, until the session's time for cases is over at the most."""
        run, vocabulary = self._run, session.vocabulary
        run.emit(Phase(f"forcing tokens of {vocabulary.id}"))
        seconds = None if run.plan.budget.seconds is None else SECONDS
        trouble = walk_sample(
            vocabulary, run.plan.seed, run.emit, seconds, run.stop.is_set, lambda: session.over
        )
        if trouble is not None:
            run.emit(ImplementationFailed("forced tokens", vocabulary.id, trouble))


def walk_sample(
    vocabulary: Vocabulary,
    seed: int,
    emit: Callable[[Event], None],
    seconds: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
    over: Callable[[], bool] = lambda: False,
) -> str | None:
    """Walk the sample and tell a row for each policy; why it could not be started, if so,
    or what it left behind.

    A vocabulary that the policies do not take is passed over. Nothing is told once ``stopped``;
    what was walked until then is told once time is ``over``, or so many seconds after the first.
    """
    # llguidance is imported with these.
    from corpora.grammars.corpus import own_cases  # noqa: PLC0415
    from harness.studies.forced.jobs import Task, WalkSchema  # noqa: PLC0415
    from harness.studies.forced.policies import EXACT, named  # noqa: PLC0415
    from harness.studies.forced.pool import results  # noqa: PLC0415
    from harness.studies.forced.results import total  # noqa: PLC0415
    from harness.studies.forced.run import JSON_SIGNS, OWN, rows, walked  # noqa: PLC0415

    if not vocabulary.can_encode(JSON_SIGNS):
        return None
    policies = named((EXACT, "healed:tokens=4", "llguidance"))
    task = Task(vocabulary, policies, "flexible", seed, seconds=30.0)
    cases = random.Random(f"forced/{seed}").sample(own_cases("flexible"), SCHEMAS)
    found, left = {}, list[str]()
    countdown = Countdown(seconds)
    answers = results(
        task, map(WalkSchema, cases), 1, lambda: stopped() or over() or countdown.over,
        left=left.append,
    )  # fmt: skip
    try:
        for job, answer in answers:
            found[job.case.name] = walked(job, answer)
            countdown.start()
    except SelectionError:
        return None
    except ImplementationError as error:
        return str(error)
    if stopped() or not found:
        return None
    sums = total((found[name] for name in sorted(found)), policies)
    for event in (*rows(sums, vocabulary.id, OWN, "flexible"), *sums.witnesses[:WITNESSES]):
        emit(event)
    return left[0] if left else None
