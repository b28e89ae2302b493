"""The sessions of a run: one vocabulary after another is loaded and given to the studies.

``jobs`` worker pools go through the vocabularies side by side, each of them one after another.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from corpora.vocabularies import embedded
from harness.checks import CHECKS
from harness.core.countdown import Countdown
from harness.core.outcomes import Status
from harness.engine.budgeting import share
from harness.engine.parts import Undivided
from harness.engine.study import Session
from harness.engine.unvisited import Unvisited
from harness.events import Phase, Withdrawn
from harness.findings.entries import inputless
from harness.verdict.bounds import own_candidates
from harness.workers.forking import shared_server
from harness.workers.pool import Stopped, WorkerPool

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.engine.parts import Part, Parts
    from harness.engine.state import RunState
    from harness.engine.study import Study
    from harness.workers.forking import ForkServer


class Sessions:
    """Goes through the vocabularies of a run, for its studies.

    parts: makes the studies of each vocabulary, in place of those that all share.
    """

    def __init__(
        self, run: RunState, studies: Sequence[Study] = (), parts: Parts | None = None
    ) -> None:
        self._run = run
        self._parts = parts or Undivided(run, studies)
        self._pools: list[WorkerPool] = []
        self._contracts: dict[str, Contract] = {}
        """The last contract under which each implementation was asked, by its name."""
        self._unmeasured = set(run.plan.scaled)
        self._growth_seconds = 0.0
        self._weight = sum(map(run.plan.weight, run.plan.visited))
        self._loads: list[float] = []

    @property
    def _stop(self) -> threading.Event:
        return self._run.stop

    def run(self, seconds: float | None) -> None:
        """Go through all vocabularies, for ``seconds`` from the first case on (None: no limit).

        An exception of a thread, KeyboardInterrupt included, stops all and is raised again.
        """
        plan = self._run.plan
        if seconds != self._run.countdown.seconds:
            self._run.countdown = Countdown(seconds)
        unvisited = Unvisited(plan.visited, embedded.algorithm, plan.weight)
        self._growth_seconds = plan.scaling_seconds(seconds)
        jobs = max(1, min(plan.jobs, len(plan.visited)))
        with (
            shared_server(plan.participants) as server,
            ThreadPoolExecutor(jobs, thread_name_prefix="sessions") as threads,
        ):
            futures = [
                threads.submit(self._go_through, unvisited, job, jobs, server)
                for job in range(jobs)
            ]
            try:
                # Wake up now and then: a thread that only waits is deaf to Ctrl-C.
                while wait(futures, timeout=0.2).not_done:
                    if any(f.done() and f.exception() for f in futures):
                        break
                for future in futures:
                    future.result()
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """End the run and kill all workers, from any thread."""
        self._stop.set()
        with self._run.lock:
            for pool in self._pools:
                pool.kill()

    def _go_through(
        self, unvisited: Unvisited, job: int, jobs: int, server: ForkServer | None
    ) -> None:
        run = self._run
        plan = run.plan
        own = own_candidates(plan.participants, plan.named, plan.references)
        pool = WorkerPool(plan.participants, plan.limits, server=server, watched=own)
        pool.limit_by(run.left_for_questions)
        with run.lock:
            self._pools.append(pool)
        try:
            while not self._stop.is_set():
                source = unvisited.take(job)
                if source is None:
                    return
                if run.left <= 0 and not run.plan.owed(source):
                    run.note_unreached(source)
                    continue
                with run.lock:
                    ahead = self._weight
                    self._weight -= run.plan.weight(source)
                part, whole = self._parts.begin(source), False
                try:
                    whole = self._session(pool, part, lambda: self._share(source, ahead, jobs))  # noqa: B023
                finally:
                    self._parts.end(part, whole=whole)
        except Stopped:
            return
        finally:
            pool.close()
            if CHECKS["survival"] in run.plan.checks:
                for name, line in pool.left().items():
                    if (where := self._contracts.get(name)) is not None:
                        status = Status.LEFT_PROCESSES
                        run.tracker.note(inputless(where, status, name, line, run.plan.seed))

    def _share(self, source: str, ahead: float, jobs: int) -> float:
        """The seconds for which a vocabulary is checked, from now on."""
        growth = self._growth_seconds * len(self._unmeasured) / jobs
        with self._run.lock:
            usual = sum(self._loads) / len(self._loads) if self._loads else 0.0
            to_load = usual * (ahead - self._run.plan.weight(source)) / jobs
        weight = self._run.plan.weight(source)
        return share(self._run.left, weight, ahead, jobs, growth + to_load)

    def _session(self, pool: WorkerPool, part: Part, seconds: Callable[[], float]) -> bool:
        """Load a vocabulary, and give it to the studies for as many seconds as it has then.

        Returns whether all was done with it that its time was enough for.
        """
        run, source = part.run, part.source
        run.emit(Phase(f"loading {source}"))
        began = time.monotonic()
        vocabulary = run.plan.vocabularies[source]()
        opened = run.begin(pool, source, vocabulary)
        steps = self._prepared(part, vocabulary)

        def over() -> bool:
            return self._stop.is_set() or (run.left <= 0 and not run.plan.owed(source))

        opened.wait(over, meanwhile=steps)
        while not over() and next(steps, None) is not None:
            pass
        with run.lock:
            self._loads.append((time.monotonic() - began) / run.plan.weight(source))
        if over():
            if not self._stop.is_set():
                run.note_unreached(source)
            return False
        opened.announce()
        run.countdown.start()
        session = Session(pool, source, vocabulary, opened, time.monotonic() + seconds())
        self._study(session, part.studies)
        self._unmeasured.discard(source)
        self._contracts |= {name: c for c in opened.contracts() for name in c.names}
        if self._stop.is_set():
            return False
        run.note_excused(pool, vocabulary.id)
        run.note_claims(pool)
        for name, reason in pool.withdrawn().items():
            run.emit(Withdrawn(name, vocabulary.id, reason))
        return True

    def _study(self, session: Session, studies: Sequence[Study]) -> None:
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
                self._stop.set()
                raise
        for study in concerned:
            if study.alone and not self._stop.is_set():
                study.step(session)

    def _prepared(self, part: Part, vocabulary: Vocabulary) -> Iterator[str]:
        """Have the studies make what they make on first use, step by step, where time counts."""
        if self._run.countdown.seconds is None:
            return
        for study in part.studies:
            if study.concerns(part.source):
                yield from study.prepare(part.source, vocabulary)
