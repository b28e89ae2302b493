"""Worker processes, so that a job on which an engine hangs or dies costs only itself.

Engines run in them (llguidance, xgrammar, our own), so that their answers are not trusted: see
:mod:`harness.workers.wire`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from harness.core.messages import Loaded
from harness.core.outcomes import Failed, Status
from harness.engine.selection import SelectionError
from harness.studies.forced.policies import of_libraries
from harness.workers.process import Process, WorkerDied, listen
from harness.workers.requests import first_line
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from corpora.errors import UserError
    from harness.studies.forced.jobs import Job, Task

J = TypeVar("J", bound="Job")

READY_SECONDS = 180.0
"""Seconds of CPU time for a worker to load its vocabulary, compilation included."""

POLL_SECONDS = 0.2


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


class Worker:
    """One process and the job that it is at. ready: it has loaded the vocabulary."""

    def __init__(self, task: Task) -> None:
        libraries = " ".join(of_libraries(task.policies))
        others = f"forced {libraries}" if libraries else None
        self.process = Process("harness.studies.forced.jobs", task.memory, others=others)
        self._seconds = task.seconds
        self.job: Any = None
        self.ready = False
        self.process.send(task, READY_SECONDS)

    def give(self, job: Job) -> None:
        """Have it do a job; if it is gone, that shows when it is listened to."""
        self.job = job
        self.process.send(job, self._seconds)

    def hear(self) -> Any:
        """The answer to its job, or how that broke; None where it is not there.

        Raises WorkerDied, and WorkersFailed where it says that it cannot load the vocabulary.
        """
        if not self.ready:
            loaded = self.process.answer(Loaded)
            if loaded is not None and loaded.error is not None:
                raise WorkersFailed(loaded.error, supported=not loaded.unsupported)
            self.ready = loaded is not None
            return None
        if self.job is None:
            self.process.die(Failed(Status.PROTOCOL, "said something, and was not asked"))
        return self.process.answer(self.job.answer | str)

    def close(self, left: Callable[[str], None]) -> None:
        """End it and all that it has started; left: is told what would not end by itself."""
        line = self.process.close()
        if line is not None:
            left(line)


def how(death: WorkerDied) -> str:
    """How a worker ended, on one line."""
    line = first_line(death.outcome.message)
    return f"broke the protocol: {line}" if death.outcome.status is Status.PROTOCOL else line


def results(
    task: Task,
    jobs: Iterable[J],
    processes: int,
    stopped: Callable[[], bool] = lambda: False,
    ready: Callable[[], None] = lambda: None,
    left: Callable[[str], None] = lambda line: None,
) -> Generator[tuple[J, Any]]:
    """The jobs with their answers, as they come. Raises WorkersFailed where no worker starts.

    An answer is a line that says how the job broke, where it raised, or its worker died or hung;
    another worker takes over then. ready: called whenever a worker has loaded its vocabulary,
    before its first job. left: called with a line for each worker that left processes behind; they
    have been killed by then. Closing the generator ends all workers, as it does when ``stopped``
    turns true.
    """
    waiting = iter(jobs)
    first = next(waiting, None)
    if first is None:
        return
    waiting = chain([first], waiting)
    workers: list[Worker] = []
    try:
        for _ in range(max(1, processes)):
            # One that cannot be started has those before it ended.
            workers.append(Worker(task))  # noqa: PERF401
        while workers and not stopped():
            readable = listen([one.process for one in workers], POLL_SECONDS)
            for worker in list(workers):
                loaded = worker.ready
                try:
                    answer = worker.hear() if worker.process.inlet in readable else None
                    if answer is None and (worker.job is not None or not worker.ready):
                        worker.process.look()
                except WorkerDied as death:
                    workers.remove(worker)
                    worker.close(left)
                    if not worker.ready:
                        message = f"a worker could not be started: {how(death)}"
                        raise WorkersFailed(message) from death
                    if worker.job is not None:
                        yield worker.job, how(death)
                        workers.append(Worker(task))
                    continue
                if worker.ready and not loaded:
                    ready()
                if answer is not None:
                    yield worker.job, answer
                    worker.job = None
                if worker.ready and worker.job is None:
                    job = next(waiting, None)
                    if job is None:
                        workers.remove(worker)
                        worker.close(left)
                    else:
                        worker.give(job)
    finally:
        for worker in workers:
            worker.close(left)  # as quick as to kill it, unless something has left its session
