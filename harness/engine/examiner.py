"""Who examines vocabularies, one after another, with the same workers; and what a study is, which
is something that is done with each of them.

Loading a vocabulary goes on while what generators and families need is made; then the studies have
it. The engine knows none of these: who makes a run says which there are (``harness/studies``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from harness.engine.state import RunState
from harness.events import Phase, Withdrawn
from harness.verdict.bounds import own_candidates
from harness.workers.pool import Stopped, WorkerPool

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from harness.engine.state import Opened, Tell

LEAST_SECONDS = 0.5
"""Seconds that a vocabulary gets at the least while the budget lasts."""


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """One vocabulary, loaded into its participants.

    pool: their workers. opened: who has loaded it, and under which contracts. end: when its
    time for cases is over, on the monotonic clock; infinite where time is no limit.
    """

    pool: WorkerPool
    source: str
    vocabulary: Vocabulary
    opened: Opened
    end: float

    @property
    def over(self) -> bool:
        """Whether its time for cases is over."""
        return time.monotonic() > self.end


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


class Turn(msgspec.Struct, frozen=True):
    """A vocabulary to be examined now.

    ahead: weights of this one and of all that nobody has begun. loading: seconds that loading took
    so far, for each unit of weight. unmeasured: vocabularies on which growth is to be measured yet.
    hung: who was found to time out, by whomever.
    """

    source: str
    ahead: float
    loading: float
    unmeasured: int
    hung: list[str] = []


class Ended(msgspec.Struct, frozen=True, tag=True):
    """How a part has ended. whole: all was done that its time was enough for.

    loading: seconds that loading took, where it came to its end. tally: of the part, as
    ``Tally.plain`` gives it. unexpected: whether there is a finding that nobody expects.
    """

    whole: bool = False
    loading: float | None = None
    tally: dict[str, Any] = {}
    unexpected: bool = False


class Left(msgspec.Struct, frozen=True):
    """What a worker left behind when it ended, in a line.

    contract, source, who: the last contract under which it was asked, its vocabulary, and all who
    took part in it.
    """

    name: str
    line: str
    contract: str
    source: str
    who: list[str]


class Examiner:
    """Examines vocabularies of a run.

    part: the run as a vocabulary has it, given what takes its events. jobs: how many examine at the
    same time.
    """

    def __init__(
        self, run: RunState, part: Callable[[Tell], RunState], studies: Studies, jobs: int
    ) -> None:
        self._run, self._part, self._studies, self._jobs = run, part, studies, jobs
        plan = run.plan
        own = own_candidates(plan.participants, plan.named, plan.references)
        self._pool = WorkerPool(plan.participants, plan.limits, watched=own)
        self._pool.limit_by(run.left_for_questions)
        self._asked: dict[str, tuple[str, str, list[str]]] = {}
        """The last contract under which each implementation was asked, its vocabulary, and who took
        part in it."""
        self._loading = 0.0
        self._closed = False

    def examine(self, turn: Turn, tell: Tell) -> Ended:
        """Examine a vocabulary. tell: takes the events. Raises what a study raises."""
        self._run.tally.hung.update(turn.hung)
        part, whole, self._loading = self._part(tell), False, 0.0
        try:
            whole = self._session(part, turn)
        except Stopped:
            self._run.stop.set()
        return Ended(
            whole=whole,
            loading=self._loading or None,
            tally=part.tally.plain(),
            unexpected=part.tracker.unexpected,
        )

    def stop(self) -> None:
        """End it, and kill all workers, from any thread."""
        self._run.stop.set()
        self._pool.kill()

    def close(self) -> list[Left]:
        """End all workers, once; what they have left behind."""
        if self._closed:
            return []
        self._closed = True
        self._pool.close()
        lines = self._pool.left().items()
        return [Left(name, line, *self._asked[name]) for name, line in lines if name in self._asked]

    def _share(self, turn: Turn) -> float:
        """The seconds for which a vocabulary is checked, from now on."""
        run, jobs = self._run, self._jobs
        weight = run.plan.weight(turn.source)
        growth = run.plan.scaling_seconds(run.countdown.seconds) * turn.unmeasured / jobs
        to_load = turn.loading * (turn.ahead - weight) / jobs
        return share(run.left, weight, turn.ahead, jobs, growth + to_load)

    def _session(self, run: RunState, turn: Turn) -> bool:
        """Load a vocabulary, and give it to the studies for as many seconds as it has then.

        Returns whether all was done with it that its time was enough for.
        """
        source, pool = turn.source, self._pool
        studies = [study for study in self._studies(run) if study.concerns(source)]
        run.emit(Phase(f"loading {source}"))
        began = time.monotonic()
        vocabulary = run.plan.vocabularies[source]()
        opened = run.begin(pool, source, vocabulary)
        steps = self._prepared(run, source, vocabulary, studies)

        def over() -> bool:
            return run.stop.is_set() or (run.left <= 0 and not run.plan.owed(source))

        opened.wait(over, meanwhile=steps)
        while not over() and next(steps, None) is not None:
            pass
        self._loading = time.monotonic() - began
        if over():
            if not run.stop.is_set():
                run.note_unreached(source)
            return False
        opened.announce()
        run.countdown.start()
        end = time.monotonic() + self._share(turn)
        study_all(run, Session(pool, source, vocabulary, opened, end), studies)
        for one in opened.contracts():
            self._asked |= dict.fromkeys(one.names, (one.id, source, list(one.names)))
        if run.stop.is_set():
            return False
        run.note_excused(pool, vocabulary.id)
        run.note_claims(pool)
        for name, reason in pool.withdrawn().items():
            run.emit(Withdrawn(name, vocabulary.id, reason))
        return True

    def _prepared(
        self, run: RunState, source: str, vocabulary: Vocabulary, studies: Sequence[Study]
    ) -> Iterator[str]:
        """Have the studies make what they make on first use, step by step, where time counts."""
        if run.countdown.seconds is not None:
            for study in studies:
                yield from study.prepare(source, vocabulary)


def study_all(run: RunState, session: Session, studies: Sequence[Study]) -> None:
    """Give a session to the studies: some beside the others, some alone at the end."""
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
