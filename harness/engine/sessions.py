"""The sessions of a run: one vocabulary after another is examined.

``jobs`` examiners go through the vocabularies at the same time, each of them one after another. One
alone works in this process; several have a copy of it each.
"""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from harness.core.countdown import Countdown
from harness.engine.copies import ExaminerProcess
from harness.engine.ending import BrokenOff
from harness.engine.examiner import NO_TIME, Examiner, Turn
from harness.events import NotReached
from harness.workers import kept
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Future

    from harness.engine.examiner import Ended, Studies
    from harness.engine.state import RunState, Tell
    from harness.findings.folder import FindingsFolder


class Sessions:
    """Goes through the vocabularies of a run, which share its tracker and its tally.

    A subclass may say where the events of a vocabulary go (:meth:`begin`), and do something with
    what it came to (:meth:`end`). folder: where there is one, each vocabulary has a tracker and a
    tally of its own, and its findings are written there. left: what workers left behind: by
    implementation, a line.
    """

    def __init__(
        self, run: RunState, studies: Studies, folder: FindingsFolder | None = None
    ) -> None:
        self._run, self._studies, self._folder = run, studies, folder
        self._examiners: list[Examiner | ExaminerProcess] = []
        self._loads: list[float] = []
        self.left: dict[str, str] = {}

    def begin(self, source: str) -> Tell:
        """Where the events of a vocabulary go that is about to be examined."""
        return self._run.emit

    def end(self, source: str, ended: Ended) -> None:
        """Take note of what a vocabulary came to."""

    def run(self, seconds: float | None, sources: Sequence[str]) -> None:
        """Go through vocabularies, for ``seconds`` from the first case on (None: no limit).

        An exception of an examiner, KeyboardInterrupt included, stops all and is raised again.
        """
        run, plan = self._run, self._run.plan
        if seconds != run.countdown.seconds:
            run.countdown = Countdown(seconds)
        jobs = max(1, min(plan.jobs, len(sources)))
        self._unmeasured, self._weight = set(plan.scaled), sum(map(plan.weight, sources))
        unvisited = iter(sources)  # shared by all threads, each of which takes the next
        with contextlib.ExitStack() as open_:
            with contextlib.suppress(OSError):  # who has no room for a worker says so later
                kept.ANEW.start()
                if any(registry.our_own(one.spec) for one in plan.participants):
                    kept.OURS.start()  # it imports meanwhile, once for all examiners
            for _ in range(jobs):
                examiner = self._begun(jobs)
                open_.callback(examiner.close)
                with run.lock:
                    self._examiners.append(examiner)
            # What ends one that was stopped meanwhile comes too late for those made since.
            if run.stop.is_set():
                self.stop()
            threads = open_.enter_context(ThreadPoolExecutor(jobs, thread_name_prefix="sessions"))
            futures = [
                threads.submit(self._go_through, unvisited, examiner)
                for examiner in self._examiners
            ]
            try:
                # Wake up now and then: a thread that only waits is deaf to Ctrl-C.
                failed: list[Future[None]] = []
                while not failed and wait(futures, timeout=0.2).not_done:
                    failed = [one for one in futures if one.done() and one.exception()]
                for future in (*failed, *futures):
                    future.result()
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """End the run and kill all workers, from any thread."""
        self._run.stop.set()
        with self._run.lock:
            examiners = list(self._examiners)
        for one in examiners:
            one.stop()

    def _begun(self, jobs: int) -> Examiner | ExaminerProcess:
        """One of several examiners."""

        def made() -> Examiner:
            if jobs > 1:  # in a process of its own, which has no use for the locks of this one
                self._run.lock = threading.Lock()
            return Examiner(self._run, self._folder, self._studies, jobs)

        return ExaminerProcess(made) if jobs > 1 else made()

    def _go_through(self, unvisited: Iterator[str], examiner: Examiner | ExaminerProcess) -> None:
        """Have an examiner examine what is left to do, and end it, with its workers."""
        run = self._run
        try:
            while not run.stop.is_set() and (source := next(unvisited, None)) is not None:
                if run.left <= 0 and not run.plan.owed(source):
                    run.emit(NotReached(source, NO_TIME))
                    continue
                ended = examiner.examine(self._turn(source), self.begin(source))
                self._unmeasured.discard(source)
                if ended.loading is not None:
                    with run.lock:
                        self._loads.append(ended.loading / run.plan.weight(source))
                self.end(source, ended)
                if ended.unexpected and run.plan.fail_fast:
                    self.stop()
        except BaseException as error:
            examiner.stop()
            # Where all is stopped anyway it does not matter how one of several has ended.
            if not (isinstance(error, BrokenOff) and run.stop.is_set()):
                raise
        finally:
            self.left |= examiner.close()

    def _turn(self, source: str) -> Turn:
        """A vocabulary, with what decides how long it is examined."""
        with self._run.lock:
            ahead = self._weight
            self._weight -= self._run.plan.weight(source)
            usual = sum(self._loads) / len(self._loads) if self._loads else 0.0
            hung = sorted(self._run.tally.hung)
        return Turn(source, ahead, usual, len(self._unmeasured), hung)
