"""Jobs on forced tokens, done by an executor: on this machine, or on a cluster.

Each place of the executor has a worker process, so that a job on which an engine hangs or dies
costs only itself. Engines run in it (llguidance, xgrammar, our own), so that its answers are not
trusted: see :mod:`harness.workers.wire`. What a job comes to depends on the job and the task alone,
so that it does not matter where it is done, or with which others in a batch.
"""

from __future__ import annotations

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
from harness.studies.forced.jobs import WalkSchema
from harness.studies.forced.policies import of_libraries
from harness.studies.forced.results import Walked
from harness.workers.process import Process, WorkerDied
from harness.workers.requests import first_line
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from corpora.grammars.corpus import SchemaCase
    from harness.cluster.executor import Done, Executor
    from harness.events import ClusterUsed, Event
    from harness.studies.forced.jobs import Job, Task

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


class Worker:
    """The process of a place, which is started anew after its end.

    left: is told in a line what a process left behind, which has been killed by then. ready: called
    when a process has loaded the vocabulary.
    """

    def __init__(
        self, task: Task, left: Callable[[str], None], ready: Callable[[], None] = lambda: None
    ) -> None:
        self._task, self._left, self._ready = task, left, ready
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
        self._ready()

    def answer(self, job: Job) -> Any:
        """The answer to a job, or a line that says how it broke. Raises as :meth:`load` does."""
        if self._process is None:
            self.load()
        try:
            return self._ask(job, self._task.seconds, job.answer | str)
        except WorkerDied as death:
            self.close()
            return how(death)

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
            self._left(line)


def how(death: WorkerDied | OSError) -> str:
    """How a worker ended, or why there is none, on one line."""
    if isinstance(death, OSError):
        return f"{type(death).__name__}: {death}"
    line = first_line(death.outcome.message)
    return f"broke the protocol: {line}" if death.outcome.status is Status.PROTOCOL else line


@dataclass
class Batch:
    """What a batch came to.

    answers: of its jobs. left: what workers left behind. failed, unsupported: the lines of the
    errors of :meth:`Worker.load`.
    """

    answers: list[Any] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failed: str = ""
    unsupported: str = ""


def perform(
    keep: dict[str, Any], task: Task, jobs: Sequence[Job], *told: Callable[..., None]
) -> bytes:
    """Do a batch of jobs; what :func:`performed` reads.

    keep: on this machine the worker, for the next batch; elsewhere it ends with the batch. told:
    what the worker of this machine tells from its thread, as in :class:`Worker`.
    """
    batch = Batch()
    worker = keep.get("worker") or Worker(task, *(told or (batch.left.append,)))
    try:
        if told:
            keep["worker"] = worker
        for job in jobs:
            batch.answers.append(worker.answer(job))
    except SelectionError as error:
        batch.unsupported = str(error)
    except ImplementationError as error:
        batch.failed = str(error)
    finally:
        if not told:
            worker.close()
    return packed(batch, {})


def performed(
    executor: Executor,
    most: int,
    task: Any,
    batches: Iterator[tuple[str, list[J]]],
    stopped: Callable[[], bool] = lambda: False,
    told: Sequence[Callable[..., None]] = (),
) -> Iterator[tuple[list[J], Batch, Done]]:
    """Batches with what they came to, as they come. batches: by the names of their units.

    most: batches that are submitted at a time. told: see :func:`perform`. Raises as
    :meth:`Worker.load` does, and UnitError for what is no result. Closes the executor.
    """
    underway: dict[str, list[J]] = {}
    try:
        while not stopped():
            for name, batch in islice(batches, most - len(underway)):
                executor.submit(Unit(name, perform, (task,), (batch, *told)))
                underway[name] = batch
            if not underway:
                return
            if done := executor.next(POLL_SECONDS):
                jobs = underway.pop(done.name)
                yield jobs, read(done, jobs), done
    finally:
        executor.close()


def read(done: Done, jobs: Sequence[Job]) -> Batch:
    """Return what :func:`perform` gave. Raises what kept it from it, and UnitError."""
    try:
        batch = stored.typed(unpacked(done.result, MAX_BYTES)[0], Batch)
        pairs = zip(jobs, batch.answers, strict=not (batch.failed or batch.unsupported))
        batch.answers = [stored.typed(answer, job.answer | str) for job, answer in pairs]
    except ValueError as error:
        raise UnitError(f"{done.name}: its result cannot be read: {error}") from error
    if batch.unsupported:
        raise SelectionError(batch.unsupported)
    if batch.failed:
        raise ImplementationError(batch.failed)
    return batch


def results(
    task: Task,
    jobs: Iterable[J],
    processes: int,
    stopped: Callable[[], bool] = lambda: False,
    ready: Callable[[], None] = lambda: None,
    left: Callable[[str], None] = lambda line: None,
) -> Generator[tuple[J, Any]]:
    """The jobs with their answers, as they come. Raises as :meth:`Worker.load` does.

    An answer is a line that says how the job broke, where it raised, or its worker died or hung;
    another process takes over then. ready: called by the thread of each worker that has loaded its
    vocabulary, before its first job. left: called with a line for each worker that left processes
    behind; they have been killed by then. Closing the generator ends all workers, as it does when
    ``stopped`` turns true.
    """
    lines: list[str] = []
    executor = LocalExecutor(processes)
    units = ((str(number), [job]) for number, job in enumerate(jobs))
    told = lines.append, ready
    try:
        for (job,), batch, _ in performed(executor, processes, task, units, stopped, told):
            yield job, batch.answers[0]
    finally:
        executor.close()
        for line in lines:
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
        self, task: Task, cases: Iterable[SchemaCase], count: int, left: Callable[[str], None]
    ) -> Generator[tuple[WalkSchema, Walked | str]]:
        """The results of so many schemas, as they come, as :func:`results` gives them.

        Raises ClusterError, UnitError.
        """
        executor, waiting = self._executor, map(WalkSchema, cases)
        size = max(1, min(LARGEST, -(-count // (BATCHES * executor.slots))))
        batches = (
            (f"schemas {number}, {jobs[0].case.name} and {len(jobs) - 1} more", jobs)
            for number, jobs in enumerate(iter(lambda: list(islice(waiting, size)), []), 1)
        )
        executor.listen(self._tell)
        shared = executor.share("task", task)
        for jobs, found, done in performed(executor, AHEAD * executor.slots, shared, batches):
            texts = sum(one.instances for one in found.answers if isinstance(one, Walked))
            way = done.name, done.node, done.tries, done.seconds
            self._tell(UnitDone(*way, len(done.result), texts))
            for line in found.left:
                left(line)
            yield from zip(jobs, found.answers, strict=True)
