"""Jobs on forced tokens, done by an executor: on this machine, or on a cluster.

Each place of the executor has a worker process, so that a job on which an engine hangs or dies
costs only itself. Engines run in it (llguidance, xgrammar, our own), so that its answers are not
trusted: see :mod:`harness.workers.wire`. What a job comes to depends on the job and the task alone,
so that it does not matter where it is done, or with which others in a batch.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from harness.cluster.executor import ClusterError, Unit, UnitError
from harness.cluster.local import LocalExecutor
from harness.cluster.usage import Usage
from harness.core import stored
from harness.core.messages import Loaded
from harness.core.outcomes import Status
from harness.engine.portable import packed, unpacked
from harness.engine.selection import SelectionError
from harness.events import UnitDone
from harness.studies.forced.policies import of_libraries
from harness.workers.process import Process, WorkerDied
from harness.workers.requests import first_line
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from harness.cluster.executor import Done, Executor
    from harness.events import ClusterUsed, Event
    from harness.studies.forced.jobs import Job, Task, WalkSchema
    from harness.studies.forced.results import Walked

J = TypeVar("J", bound="Job")

READY_SECONDS = 180.0
"""Seconds of CPU time for a worker to load its vocabulary, compilation included."""

POLL_SECONDS = 0.2

WHAT = "forced tokens"
"""What was to be done where no worker starts: an error says so."""

MAX_BYTES = 1 << 30
"""The greatest size of a batch's results, unpacked."""

BATCHES = 6
"""Batches for each slot of a cluster: fewer would have slots wait for the last one, and each loads
the vocabulary."""

LARGEST = 64
"""Schemas of such a batch at the most, so that little is walked again after a loss."""

AHEAD = 2
"""Batches for each slot of a cluster that are submitted at a time."""


@dataclass
class Told:
    """What the workers of this machine tell from their threads.

    left: lines about processes that they left behind, which have been killed by then. ready: called
    when one has loaded the vocabulary.
    """

    ready: Callable[[], None] = lambda: None
    left: list[str] = field(default_factory=list)


class Worker:
    """The process of a place, which is started anew after its end."""

    def __init__(self, task: Task, told: Told) -> None:
        self._task, self._told = task, told
        self._process: Process | None = None
        self._at_work = False

    def load(self) -> None:
        """Start the process, and have it load the vocabulary.

        Raises ImplementationError where none can be had, and SelectionError for a vocabulary that
        the policies do not take.
        """
        libraries = " ".join(of_libraries(self._task.policies))
        others = f"forced {libraries}" if libraries else None
        try:
            self._process = Process("harness.studies.forced.jobs", self._task.memory, others=others)
            loaded = self._ask(self._task, READY_SECONDS, Loaded)
        except (OSError, WorkerDied) as death:
            raise ImplementationError(
                f"{WHAT}: a worker could not be started: {how(death)}"
            ) from death
        if loaded.unsupported:
            raise SelectionError(loaded.error)
        if loaded.error is not None:
            raise ImplementationError(f"{WHAT}: {loaded.error}")
        self._told.ready()

    def answer(self, job: Job) -> Any:
        """What a job comes to. Raises as :meth:`load` does."""
        if self._process is None:
            self.load()
        try:
            answer = self._ask(job, self._task.seconds, job.answer | str)
        except WorkerDied as death:
            self.close()
            answer = how(death)
        return job.broken(answer) if isinstance(answer, str) else answer

    def _ask(self, request: Any, seconds: float, kind: Any) -> Any:
        assert self._process is not None
        self._at_work = True
        try:
            return self._process.ask(request, seconds, kind)
        finally:
            self._at_work = False

    def kill(self) -> None:
        """End a process that is at work, from any thread; another ends by itself when closed."""
        if self._at_work and self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process and all that it has started."""
        process, self._process = self._process, None
        line = process.close() if process is not None else None
        if line is not None:
            self._told.left.append(line)


def how(death: WorkerDied | OSError) -> str:
    """How a worker ended, or why there is none, on one line."""
    if isinstance(death, OSError):
        return f"{type(death).__name__}: {death}"
    line = first_line(death.outcome.message)
    return f"broke the protocol: {line}" if death.outcome.status is Status.PROTOCOL else line


@dataclass
class Batch:
    """What a batch came to.

    answers: of its jobs. left: what workers left behind, as far as they have ended. failed,
    unsupported: the lines of the errors of :meth:`Worker.load`.
    """

    answers: list[Any] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failed: str = ""
    unsupported: str = ""


def perform(
    keep: dict[str, Any], task: Task, jobs: Sequence[Job], told: Told | None = None
) -> bytes:
    """Do a batch of jobs; what :func:`read` reads.

    keep: on this machine, where somebody is told, the worker for the next batch; elsewhere it ends
    with the batch.
    """
    batch = Batch()
    worker = keep.get("worker") or Worker(task, told or Told(left=batch.left))
    if told:
        keep["worker"] = worker
    try:
        batch.answers += map(worker.answer, jobs)
    except SelectionError as error:
        batch.unsupported = str(error)
    except ImplementationError as error:
        batch.failed = str(error)
    finally:
        if not told:
            worker.close()
    return packed(batch, {})


def read(done: Done, jobs: Sequence[Job]) -> Batch:
    """Return what :func:`perform` gave. Raises what kept it from it, and UnitError."""
    try:
        batch = stored.typed(unpacked(done.result, MAX_BYTES)[0], Batch)
        pairs = zip(jobs, batch.answers, strict=not (batch.failed or batch.unsupported))
        batch.answers = [stored.typed(answer, job.answer) for job, answer in pairs]
    except ValueError as error:
        raise UnitError(f"{done.name}: its result cannot be read: {error}") from error
    if batch.unsupported:
        raise SelectionError(batch.unsupported)
    if batch.failed:
        raise ImplementationError(batch.failed)
    return batch


def performed(
    executor: Executor,
    most: int,
    units: Iterator[tuple[Unit, Sequence[J]]],
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Sequence[J], Batch, Done]]:
    """The jobs of units with what they came to, as they come. Closes the executor.

    most: units that are submitted at a time. Raises as :func:`read` does.
    """
    underway: dict[str, Sequence[J]] = {}
    try:
        while not stopped():
            for unit, jobs in islice(units, most - len(underway)):
                executor.submit(unit)
                underway[unit.name] = jobs
            if not underway:
                return
            if done := executor.next(POLL_SECONDS):
                jobs = underway.pop(done.name)
                yield jobs, read(done, jobs), done
    finally:
        executor.close()


def results(
    task: Task,
    jobs: Iterable[J],
    processes: int,
    stopped: Callable[[], bool] = lambda: False,
    ready: Callable[[], None] = lambda: None,
    left: Callable[[str], None] = lambda line: None,
) -> Generator[tuple[J, Any]]:
    """The jobs with what they came to, as they come. Raises as :meth:`Worker.load` does.

    Where one raises, or its worker dies or hangs, another process takes over for the next. ready:
    called by the thread of each worker that has loaded its vocabulary, before its first job. left:
    called with a line for each worker that left processes behind; they have been killed by then.
    Closing the generator ends all workers, as it does when ``stopped`` turns true.
    """
    told = Told(ready)
    units = (
        (Unit(str(number), perform, (task,), ([job], told)), [job])
        for number, job in enumerate(jobs)
    )
    try:
        with closing(performed(LocalExecutor(processes), processes, units, stopped)) as found:  # type: ignore[type-var]
            for (job,), batch, _ in found:
                yield job, batch.answers[0]
    finally:
        for line in told.left:
            left(line)


def sendable(policies: Sequence[str]) -> None:
    """Raise ClusterError for a policy whose file other machines do not find."""
    for name in policies:
        path = name.rpartition(":")[0]
        if path.endswith(".py") and not Path(path).is_absolute():
            raise ClusterError(
                f"--cluster: {name} names a file of this machine; put it on all nodes, and name it "
                "by its absolute path"
            )


class Walks:
    """Has schemas walked by the executor of a cluster. tell: gets what happens there."""

    def __init__(self, executor: Executor, tell: Callable[[Event], None]) -> None:
        self._executor, self._emit = executor, tell
        self._usage = Usage()

    @property
    def used(self) -> ClusterUsed:
        """What the cluster did."""
        return self._usage.summary()

    def _tell(self, event: Event) -> None:
        self._usage.consume(event)
        self._emit(event)

    def results(
        self, task: Task, jobs: Iterator[WalkSchema], count: int, left: Callable[[str], None]
    ) -> Generator[tuple[WalkSchema, Walked]]:
        """The jobs, so many, with what they came to, as :func:`results` gives them.

        Raises ClusterError, UnitError.
        """
        executor = self._executor
        size = max(1, min(LARGEST, -(-count // (BATCHES * executor.slots))))
        executor.listen(self._tell)
        shared = (executor.share("task", task),)
        batches = iter(lambda: list(islice(jobs, size)), [])
        units = (
            (Unit(f"schemas {number}, {batch[0].case.name} and {len(batch) - 1} more", perform,
                  shared, (batch,)), batch)
            for number, batch in enumerate(batches, 1)
        )  # fmt: skip
        for batch, found, done in performed(executor, AHEAD * executor.slots, units):
            texts = sum(one.instances for one in found.answers)
            way = done.name, done.node, done.tries, done.seconds
            self._tell(UnitDone(*way, len(done.result), texts))
            for line in found.left:
                left(line)
            yield from zip(batch, found.answers, strict=True)
