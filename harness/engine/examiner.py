"""Who examines vocabularies, one after another, with the same workers; and what a study is, which
is something that is done with each of them.

Loading a vocabulary goes on while what generators and families need is made; then the studies have
it. The engine knows none of these: who makes a run says which there are (``harness/studies``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.engine.session import Session
from harness.engine.state import RunState
from harness.events import NotReached, Phase, Withdrawn
from harness.verdict.bounds import own_candidates
from harness.workers.pool import Stopped, WorkerPool

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from harness.engine.state import Tell
    from harness.findings.folder import FindingsFolder

NO_TIME = "no time was left for it: give a larger --budget, or name it with --vocab"

LEAST_SECONDS = 0.5
"""Seconds that a vocabulary gets at the least while the budget lasts."""


class Study:
    """Does its part with each session of a run, and tells it by events.

    beside: whether it asks no worker of the session, so that it goes on beside the others. alone:
    whether nothing may go on beside it, as it measures time.
    """

    beside = alone = False

    def concerns(self, source: str) -> bool:
        """Whether it has anything to do on a vocabulary."""
        return True

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Make what is made on first use, one thing a step, before the time of a run begins.

        It takes seconds on a large vocabulary, which no clock could cut off.
        """
        yield from ()

    def step(self, session: Session) -> None:
        """Do its part with a session."""
        raise NotImplementedError


Studies = Callable[[RunState], Sequence[Study]]
"""The studies of a vocabulary, given the run as it has it."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A vocabulary to be examined now.

    ahead: weights of this one and of all that nobody has begun. loading: seconds that loading took
    so far, for each unit of weight. unmeasured: vocabularies on which growth is to be measured yet.
    hung: who was found to time out, by whomever.
    """

    source: str
    ahead: float
    loading: float
    unmeasured: int
    hung: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a part has ended. whole: all was done that its time was enough for.

    loading: seconds that loading took, where it came to its end. tally: of the part, as
    ``Tally.plain`` gives it. unexpected: whether there is a finding that nobody expects.
    """

    whole: bool = False
    loading: float | None = None
    tally: dict[str, Any] = field(default_factory=dict)
    unexpected: bool = False


class Examiner:
    """Examines vocabularies of a run.

    folder: for the findings on each vocabulary, which has a tracker and a tally of its own then.
    jobs: how many examine at the same time.
    """

    def __init__(
        self, run: RunState, folder: FindingsFolder | None, studies: Studies, jobs: int
    ) -> None:
        self._run, self._folder, self._studies, self._jobs = run, folder, studies, jobs
        plan = run.plan
        own = own_candidates(plan.participants, plan.named, plan.references)
        self._pool = WorkerPool(plan.participants, plan.limits, watched=own)
        self._pool.limit_by(run.left_for_questions)
        self._closed = False

    def examine(self, turn: Turn, tell: Tell) -> Ended:
        """Examine a vocabulary. tell: takes the events. Raises what a study raises."""
        self._run.tally.hung.update(turn.hung)
        part, loading = self._run.part(tell, self._folder), None
        whole, began = False, time.monotonic()
        try:
            part.emit(Phase(f"loading {turn.source}"))
            studies = [one for one in self._studies(part) if one.concerns(turn.source)]
            vocabulary = part.plan.vocabularies[turn.source]()
            session = Session(self._pool, turn.source, vocabulary, part)
            loaded = self._loaded(session, studies)
            loading = time.monotonic() - began
            if loaded:
                part.countdown.start()
                session.end = time.monotonic() + self._share(turn)
                whole = studied(session, studies)
            elif not part.stop.is_set():
                part.emit(NotReached(turn.source, NO_TIME))
        except Stopped:
            part.stop.set()
        return Ended(whole, loading, part.tally.plain(), part.tracker.unexpected)

    def stop(self) -> None:
        """End it, and kill all workers, from any thread."""
        self._run.stop.set()
        self._pool.kill()

    def close(self) -> dict[str, str]:
        """End all workers, once; what they have left behind: by implementation, a line."""
        if self._closed:
            return {}
        self._closed = True
        self._pool.close()
        return self._pool.left()

    def _share(self, turn: Turn) -> float:
        """The seconds for which a vocabulary is checked, from now on."""
        run, jobs = self._run, self._jobs
        weight = run.plan.weight(turn.source)
        growth = run.plan.scaling_seconds(run.countdown.seconds) * turn.unmeasured / jobs
        to_load = turn.loading * (turn.ahead - weight) / jobs
        return share(run.left, weight, turn.ahead, jobs, growth + to_load)

    def _loaded(self, session: Session, studies: Sequence[Study]) -> bool:
        """Have a vocabulary loaded, and made what is made on first use, where time counts."""
        run, source, vocabulary = session.run, session.source, session.vocabulary

        def over() -> bool:
            return run.stop.is_set() or (run.left <= 0 and not run.plan.owed(source))

        timed = studies if run.countdown.seconds is not None else ()
        made = (step for one in timed for step in one.prepare(source, vocabulary))
        return session.load(over, made)


def studied(session: Session, studies: Sequence[Study]) -> bool:
    """Give a session to the studies: some beside the others, some alone at the end.

    Returns whether all was done that its time was enough for.
    """
    run, pool = session.run, session.pool
    beside = [study for study in studies if study.beside]
    with ThreadPoolExecutor(max(1, len(beside)), thread_name_prefix="beside") as threads:
        futures = [threads.submit(study.step, session) for study in beside]
        try:
            for study in studies:
                if not study.beside and not study.alone:
                    study.step(session)
            for future in futures:
                future.result()
        except BaseException:
            run.stop.set()
            raise
    for study in studies:
        if study.alone and not run.stop.is_set():
            study.step(session)
    if run.stop.is_set():
        return False
    run.note_answers(pool, session.vocabulary.id)
    for name, reason in pool.withdrawn().items():
        run.emit(Withdrawn(name, session.vocabulary.id, reason))
    return True


def share(left: float, weight: float, ahead: float, pools: int, reserved: float) -> float:
    """The seconds that one vocabulary is checked for.

    Parameters
    ----------
    left
        Seconds of the whole run that are left.
    weight
        Of this vocabulary.
    ahead
        Weights of this one and of all that no pool has begun.
    pools
        How many vocabularies are checked side by side.
    reserved
        Seconds of a pool that other work will take: growth, and loading what is to come.
    """
    part = min(1.0, pools * weight / ahead) if ahead > 0 else 1.0
    return min(left, max(LEAST_SECONDS, (left - reserved) * part))
