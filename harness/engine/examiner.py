"""Who examines vocabularies, one after another, with the same workers.

Loading one goes on while what generators and families need is made; then the studies have it.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from harness.engine.parts import Ended, Left
from harness.engine.study import Session
from harness.events import Phase, Withdrawn
from harness.verdict.bounds import own_candidates
from harness.workers.pool import Stopped, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.parts import Part, Parts, Tell, Turn
    from harness.engine.state import RunState
    from harness.engine.study import Study

LEAST_SECONDS = 0.5
"""Seconds that a vocabulary gets at the least while the budget lasts."""


class Examiner:
    """Examines vocabularies of a run. jobs: how many do so at the same time."""

    def __init__(self, run: RunState, parts: Parts, jobs: int) -> None:
        self._run, self._parts, self._jobs = run, parts, jobs
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
        part, whole, self._loading = self._parts.part(turn.source, tell), False, 0.0
        try:
            whole = self._session(part, lambda: self._share(turn))
        except Stopped:
            self._run.stop.set()
        return Ended(
            whole=whole,
            loading=self._loading or None,
            tally=part.run.tally.plain(),
            unexpected=part.run.tracker.unexpected,
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

    def _session(self, part: Part, seconds: Callable[[], float]) -> bool:
        """Load a vocabulary, and give it to the studies for as many seconds as it has then.

        Returns whether all was done with it that its time was enough for.
        """
        run, source, pool = part.run, part.source, self._pool
        run.emit(Phase(f"loading {source}"))
        began = time.monotonic()
        vocabulary = run.plan.vocabularies[source]()
        opened = run.begin(pool, source, vocabulary)
        steps = self._prepared(part, vocabulary)

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
        session = Session(pool, source, vocabulary, opened, time.monotonic() + seconds())
        self._study(run, session, part.studies)
        for one in opened.contracts():
            self._asked |= dict.fromkeys(one.names, (one.id, source, list(one.names)))
        if run.stop.is_set():
            return False
        run.note_excused(pool, vocabulary.id)
        run.note_claims(pool)
        for name, reason in pool.withdrawn().items():
            run.emit(Withdrawn(name, vocabulary.id, reason))
        return True

    def _study(self, run: RunState, session: Session, studies: Sequence[Study]) -> None:
        """Give a session to the studies: some beside the others, some alone at the end."""
        concerned = [study for study in studies if study.concerns(session.source)]
        beside = [study for study in concerned if study.beside]
        with ThreadPoolExecutor(max(1, len(beside)), thread_name_prefix="beside") as threads:
            futures = [threads.submit(study.step, session) for study in beside]
            try:
                for study in concerned:
                    if not study.beside and not study.alone:
                        study.step(session)
                for future in futures:
                    future.result()
            except BaseException:
                run.stop.set()
                raise
        for study in concerned:
            if study.alone and not run.stop.is_set():
                study.step(session)

    def _prepared(self, part: Part, vocabulary: Vocabulary) -> Iterator[str]:
        """Have the studies make what they make on first use, step by step, where time counts."""
        if part.run.countdown.seconds is None:
            return
        for study in part.studies:
            if study.concerns(part.source):
                yield from study.prepare(part.source, vocabulary)


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
