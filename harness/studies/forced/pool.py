"""Worker processes, so that a job on which an engine hangs or dies costs only itself.

Engines run in them (llguidance, xgrammar, our own), so that their answers are not trusted: see
:mod:`harness.workers.packets`.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from corpora.vocabularies import scratch
from harness.confinement import probing
from harness.engine.selection import SelectionError
from harness.studies.forced.policies import of_libraries
from harness.workers import wire
from harness.workers.clock import Stopwatch, control, usage_of
from harness.workers.keeping import Kept, pipe
from harness.workers.packets import Inbox, Message, Outbox, answer_of
from impls.errors import ImplementationError
from impls.external import signal_name

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from corpora.errors import UserError
    from harness.studies.forced.jobs import Job, Task

Answer = TypeVar("Answer")

READY_SECONDS = 180.0
"""Seconds of CPU time for a worker to load its vocabulary, compilation included."""

POLL_SECONDS = 0.2

ENDING_SECONDS = 2.0
"""A worker that has closed its pipe has so many seconds to end by itself, so that the way in which
it ended can be told."""


class WorkersFailed(Exception):
    """No worker can be had: one line. supported: False where the vocabulary is none for this."""

    def __init__(self, line: str, *, supported: bool = True) -> None:
        self.supported = supported
        super().__init__(line)

    def mendable(self, what: str) -> UserError | ImplementationError:
        """The error that ends a command in one line. what: was to be done."""
        if self.supported:
            return ImplementationError(f"{what}: {self}")
        return SelectionError(str(self))


@dataclass(frozen=True, slots=True)
class _Done:
    """The end of a job, with its answer."""

    answer: Any


class Worker:
    """One process and the job that it is at."""

    def __init__(self, task: Task) -> None:
        # What fails here leaves nothing open.
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            inlet, outlet = pipe(theirs, ours)
            own_inlet, own_outlet = pipe(ours, theirs)
            self._scratch = scratch.temporary("forced-")
            ours.callback(self._scratch.cleanup)
            libraries = " ".join(of_libraries(task.policies))
            launch = probing.launch(
                "harness.studies.forced.server",
                self._scratch.name,
                others=f"forced {libraries}" if libraries else None,
            )
            self._kept = Kept(
                [*launch.command, str(inlet), str(own_outlet)],
                descriptors=(inlet, own_outlet),
                environment=launch.environment,
                # Engines print what they panic about: it is told by the result.
                errors=subprocess.DEVNULL,
                output=subprocess.DEVNULL,
                memory=task.memory,
            )
            ours.callback(self._kept.end)
            self._observed = psutil.Process(self._kept.pid)
            ours.pop_all()
        self.inbox, self.outbox = Inbox(own_inlet), Outbox(outlet)
        self._task = task
        self._sequence = 0
        self.job: Job[Any] | None = None
        self.ready = False
        self._broke = ""
        self._late = False
        self._watch = self._begun(READY_SECONDS)
        self._ask(task)

    @property
    def pid(self) -> int:
        """The number of the process that keeps it."""
        return self._kept.pid

    def give(self, job: Job[Any]) -> None:
        """Have it do a job; if it is gone, that shows when it is listened to."""
        self.job = job
        self.touch()
        self._ask(job)

    def _ask(self, request: Any) -> None:
        self._sequence += 1
        self.outbox.put(wire.packed_request(self._sequence, request))

    def hear(self) -> _Done | str | None:
        """An answer, None for nothing or a sign of life, a word for the end.

        Raises WorkersFailed where it says that it cannot load the vocabulary.
        """
        try:
            message = self.inbox.next()
            return None if message is None else self._heard(message)
        except EOFError:
            return "gone"
        except wire.Garbled as error:
            self._broke = str(error)
            return "garbled"

    def _heard(self, message: Message) -> _Done | None:
        self.touch()
        if not self.ready:
            if message.kind == "failed":
                raise WorkersFailed(message.line, supported=message.supported)
            self.ready = message.kind == "ready"
            if not self.ready:
                raise wire.Garbled(f"answered with {message.kind!r} before it was ready")
            return None
        if self.job is None or message.kind not in {"alive", "done"}:
            raise wire.Garbled(f"said {message.kind!r}, and was not asked")
        if message.kind == "alive":
            return None
        answer = answer_of(message, self._sequence, self.job.answer)
        try:
            fits = self.job.fits(answer)
        except ValueError as error:
            raise wire.Garbled(f"its answer is none: {error}") from error
        if not fits:
            raise wire.Garbled("its answer is to another job")
        self.job = None
        return _Done(answer)

    def touch(self) -> None:
        """It has shown life."""
        self._watch = self._begun(self._task.seconds)

    def _begun(self, seconds: float) -> Stopwatch:
        return Stopwatch.start(seconds, time.monotonic(), usage_of(self._observed))

    def look(self) -> bool:
        """Whether it takes more CPU time than it may, or sits for as long."""
        if self.job is None and self.ready:
            return False
        usage = usage_of(self._observed)
        self._watch.look(time.monotonic(), usage, place=-1, compiling=False)
        self._late = self._watch.overdue(control().slowness) is not None
        return self._late

    @property
    def left(self) -> str | None:
        """What it left behind that would not end by itself, on one line; known when it is gone."""
        return self._kept.left

    def kill(self, *, gently: bool = False) -> None:
        """End it and all that it has started, at once, whatever it is at.

        gently: what has left its session may end by itself first, and is told if it does not.
        """
        self._kept.end(gently=gently)
        self._scratch.cleanup()
        for end in (self.inbox, self.outbox):
            if end.descriptor >= 0:
                os.close(end.descriptor)
                end.descriptor = -1

    def end(self) -> str:
        """Kill it; how it ended by itself, if it did."""
        if self._broke:
            self.kill()
            return f"broke the protocol: {self._broke}"
        if self._late:
            self.kill()
            return f"no answer within {self._task.seconds:.0f} s"
        self._kept.wait(ENDING_SECONDS)
        self.kill(gently=True)
        code = self._kept.exit_code
        if code is None:
            return "killed, with its keeper"
        if code < 0:
            return f"killed by {signal_name(-code)}"
        return f"its worker exited with status {code}"


def listen(workers: Sequence[Worker], seconds: float) -> set[int]:
    """Wait until one of the workers says something; the descriptors of those that do.

    Meanwhile requests are written, as far as they are read.
    """
    poller = select.poll()
    for worker in workers:
        poller.register(worker.inbox.descriptor, select.POLLIN)
        if worker.outbox.full:
            poller.register(worker.outbox.descriptor, select.POLLOUT)
    ready = {descriptor for descriptor, _ in poller.poll(seconds * 1000)}
    for worker in workers:
        worker.outbox.flush()
    return ready


def results(
    task: Task,
    jobs: Iterable[Job[Answer]],
    processes: int,
    stopped: Callable[[], bool] = lambda: False,
    ready: Callable[[], None] = lambda: None,
    left: Callable[[str], None] = lambda line: None,
) -> Generator[Answer]:
    """The answers, as they come. Raises WorkersFailed where no worker can be started.

    ready: called whenever a worker has loaded its vocabulary, before its first job. left: called
    with a line for each worker that left processes behind; they have been killed by then.

    A job whose worker dies or hangs has an answer that says so, and another worker takes over.
    Closing the generator ends all workers, as it does when ``stopped`` turns true.
    """
    waiting = iter(jobs)
    first = next(waiting, None)
    if first is None:
        return
    pending: deque[Job[Answer]] = deque([first])

    def upcoming() -> Job[Answer] | None:
        return pending.popleft() if pending else next(waiting, None)

    def tell(worker: Worker) -> None:
        if worker.left is not None:
            left(worker.left)

    workers: list[Worker] = []
    try:
        for _ in range(max(1, processes)):
            # One that cannot be started has those before it ended.
            workers.append(Worker(task))  # noqa: PERF401
        while workers and not stopped():
            readable = listen(workers, POLL_SECONDS)
            for worker in list(workers):
                if worker.inbox.descriptor in readable:
                    loaded = worker.ready
                    heard = worker.hear()
                    if worker.ready and not loaded:
                        ready()
                    if isinstance(heard, _Done):
                        yield heard.answer
                    if heard is None or isinstance(heard, _Done):
                        continue
                elif not worker.look():
                    continue
                workers.remove(worker)
                job, how = worker.job, worker.end()
                tell(worker)
                if job is None:
                    if not worker.ready:
                        raise WorkersFailed(f"a worker could not be started: {how}")
                    continue
                yield job.broken(how)
                workers.append(Worker(task))
            for worker in list(workers):
                if worker.ready and worker.job is None:
                    job = upcoming()
                    if job is None:
                        workers.remove(worker)
                        worker.kill(gently=True)
                        tell(worker)
                    else:
                        worker.give(job)
    finally:
        for worker in workers:
            worker.kill(gently=True)  # as quick, unless something has left its session
            tell(worker)
