"""Worker processes, so that a job on which an engine hangs or dies costs only itself."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import signal
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from harness.confinement.probing import confine_child
from harness.forced.jobs import one_line
from harness.forced.policies import Policies
from harness.workers.clock import Stopwatch, control, usage_of
from impls.external import die_with_parent, signal_name
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from multiprocessing.connection import Connection

    from harness.forced.jobs import Job, Task

Answer = TypeVar("Answer")

READY_SECONDS = 180.0
"""Seconds of CPU time for a worker to load its vocabulary, compilation included."""

POLL_SECONDS = 0.2

ENDING = frozenset({signal.SIGINT, signal.SIGTERM})
"""The signals by which a user ends a command."""


class WorkersFailed(Exception):
    """No worker can be had: one line. supported: False where the vocabulary is none for this."""

    def __init__(self, line: str, *, supported: bool = True) -> None:
        self.supported = supported
        super().__init__(line)


@dataclass(frozen=True, slots=True)
class _Done:
    """The end of a job, on its way back."""

    answer: Any


def serve(task: Task, pipe: Connection) -> None:
    """A worker: answers each job, until None comes."""
    die_with_parent()
    # Ctrl-C and SIGTERM, which a terminal and ``timeout`` send to the whole group, are the
    # parent's to handle: it ends this process.
    os.setpgrp()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_DATA, (task.memory, task.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    confine_child()
    # Engines print what they panic about: it is told by the result.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        policies = Policies(task.vocabulary)
        policies.of_schema(task.policies, True, task.whitespace)
        policies.tokenizer.encode(next(iter(task.vocabulary.ids), b""))  # compiles
    except Unsupported as error:
        pipe.send((False, str(error)))
        return
    except Exception as error:
        pipe.send((True, one_line(error)))
        return
    pipe.send(None)
    with suppress(EOFError):
        while (job := pipe.recv()) is not None:
            try:
                found = job.run(policies, task, lambda: pipe.send(None))
            except BaseException as error:  # a panic in Rust is no Exception
                found = job.broken(one_line(error))
            pipe.send(_Done(found))


class Worker:
    """One process and the job that it is at."""

    def __init__(self, task: Task) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(task, theirs), daemon=True)
        # Until it has taken leave of the terminal, Ctrl-C waits for it: it would die with a word.
        # The tracker comes first, as starting it would let the signals through again.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        self._task = task
        self.job: Job[Any] | None = None
        self.ready = False
        self._late = False
        self._observed = psutil.Process(self._process.pid)
        self._watch = self._begun(READY_SECONDS)

    def give(self, job: Job[Any]) -> None:
        """Have it do a job; if it is gone, that shows when it is listened to."""
        self.job = job
        self.touch()
        with suppress(OSError):
            self.pipe.send(job)

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

    def kill(self) -> None:
        """End it at once, whatever it is at."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def end(self) -> str:
        """Kill it; how it ended by itself, if it did."""
        self._process.join(0.5 if not self._late else 0)
        code = self._process.exitcode
        self.kill()
        if code is None:
            return f"no answer within {self._task.seconds:.0f} s"
        if code < 0:
            return f"killed by {signal_name(-code)}"
        return f"its worker exited with status {code}"


def results(
    task: Task,
    jobs: Iterable[Job[Answer]],
    processes: int,
    stopped: Callable[[], bool] = lambda: False,
    ready: Callable[[], None] = lambda: None,
) -> Generator[Answer]:
    """The answers, as they come. Raises WorkersFailed where no worker can be started.

    ready: called whenever a worker has loaded its vocabulary, before its first job.

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

    workers = [Worker(task) for _ in range(max(1, processes))]
    try:
        while workers and not stopped():
            readable = set(wait([worker.pipe for worker in workers], POLL_SECONDS))
            for worker in list(workers):
                if worker.pipe in readable:
                    loaded = worker.ready
                    heard = answer(worker)
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
                        worker.end()
                    else:
                        worker.give(job)
    finally:
        for worker in workers:
            worker.kill()


def answer(worker: Worker) -> _Done | str | None:
    """An answer, None for a sign of life, a word for the end."""
    try:
        message: Any = worker.pipe.recv()
    except (EOFError, OSError):
        return "gone"
    worker.touch()
    if isinstance(message, _Done):
        worker.job = None
        return message
    if isinstance(message, tuple):
        supported, line = message
        raise WorkersFailed(line, supported=supported)
    worker.ready = True
    return None
