"""Worker processes that walk schemas, so that one on which an engine hangs costs only itself."""

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
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from corpora.grammars.base import GrammarError
from harness.forced.policies import Policies
from harness.forced.results import SchemaResult
from impls.external import die_with_parent, signal_name
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from multiprocessing.connection import Connection

    from corpora.grammars.corpus import SchemaCase
    from corpora.grammars.json_schema import Whitespace
    from corpora.vocabularies.model import Vocabulary

READY_SECONDS = 180.0
"""For a worker to load its vocabulary, on a machine that is busy with other things."""

POLL_SECONDS = 0.2


class WorkersFailed(Exception):
    """No worker can be had: one line. supported: False where the vocabulary is none for this."""

    def __init__(self, line: str, *, supported: bool = True) -> None:
        self.supported = supported
        super().__init__(line)


@dataclass(frozen=True, slots=True)
class Task:
    """What all workers do alike.

    seconds: for one instance, or one schema to be compiled; for hangs, not for slowness.
    memory: bytes of a worker.
    """

    vocabulary: Vocabulary
    policies: Sequence[str]
    whitespace: Whitespace
    seed: int = 0
    seconds: float = 120.0
    memory: int = 4 << 30


def walk_schema(
    policies: Policies, task: Task, case: SchemaCase, beat: Connection | None = None
) -> SchemaResult:
    """Walk one schema. beat: is told after each instance that there is life."""
    from corpora.grammars.json_schema import JsonSchemaGrammar  # noqa: PLC0415
    from harness.forced.walk import Walk  # noqa: PLC0415

    try:
        grammar = JsonSchemaGrammar(case.schema, task.whitespace)
        named = policies.of_schema(task.policies, case.schema, task.whitespace)
    except (GrammarError, ValueError) as error:
        return SchemaResult(case.name, refused=one_line(error))
    walk = Walk(policies.tokenizer, grammar, named, case.name, task.seed)
    for text in case.instances:
        try:
            walk.instance(text)
        except (GrammarError, ValueError, RecursionError, MemoryError) as error:
            return SchemaResult(case.name, failed=one_line(error))
        if beat is not None:
            beat.send(None)
    return walk.finished()


def one_line(error: BaseException) -> str:
    """The kind and message of an error, on one line."""
    line = " ".join(str(error).split("<state>")[0].split())
    return f"{type(error).__name__}: {line[:200]}"


def serve(task: Task, pipe: Connection) -> None:
    """A worker: answers each case with its result, until None comes."""
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_DATA, (task.memory, task.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Engines print what they panic about: it is told by the result.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        policies = Policies(task.vocabulary)
        policies.of_schema(task.policies, True, task.whitespace)
        policies.tokenizer.encode(b"{}")
    except Unsupported as error:
        pipe.send((False, str(error)))
        return
    except Exception as error:
        pipe.send((True, one_line(error)))
        return
    pipe.send(None)
    with suppress(EOFError):
        while (case := pipe.recv()) is not None:
            try:
                result = walk_schema(policies, task, case, pipe)
            except BaseException as error:  # a panic in Rust is no Exception
                result = SchemaResult(case.name, failed=one_line(error))
            pipe.send(result)


class Worker:
    """One process and the case that it is at."""

    def __init__(self, task: Task) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(task, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._task = task
        self.case: SchemaCase | None = None
        self.ready = False
        self._deadline = time.monotonic() + READY_SECONDS

    def give(self, case: SchemaCase) -> None:
        """Have it walk a case; if it is gone, that shows when it is listened to."""
        self.case = case
        self.touch()
        with suppress(OSError):
            self.pipe.send(case)

    def touch(self) -> None:
        """It has shown life."""
        self._deadline = time.monotonic() + self._task.seconds

    @property
    def late(self) -> bool:
        """Whether it takes longer than it may."""
        return (self.case is not None or not self.ready) and time.monotonic() > self._deadline

    def end(self) -> str:
        """Kill it; how it ended by itself, if it did."""
        self._process.join(0.5 if not self.late else 0)
        code = self._process.exitcode
        self._process.kill()
        self._process.join()
        self.pipe.close()
        if code is None:
            return f"no answer within {self._task.seconds:.0f} s"
        if code < 0:
            return f"killed by {signal_name(-code)}"
        return f"its worker exited with status {code}"


def results(
    task: Task,
    cases: Iterable[SchemaCase],
    jobs: int,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[SchemaResult]:
    """The results, as they come. Raises WorkersFailed where no worker can be started.

    A case whose worker dies or hangs has a result that says so, and another worker takes over.
    Closing the generator ends all workers, as it does when ``stopped`` turns true.
    """
    waiting = iter(cases)
    first = next(waiting, None)
    if first is None:
        return
    pending: deque[SchemaCase] = deque([first])

    def upcoming() -> SchemaCase | None:
        return pending.popleft() if pending else next(waiting, None)

    workers = [Worker(task) for _ in range(max(1, jobs))]
    try:
        while workers and not stopped():
            readable = set(wait([worker.pipe for worker in workers], POLL_SECONDS))
            for worker in list(workers):
                if worker.pipe in readable:
                    heard = answer(worker)
                    if isinstance(heard, SchemaResult):
                        yield heard
                    if heard is None or isinstance(heard, SchemaResult):
                        continue
                elif not worker.late:
                    continue
                workers.remove(worker)
                case, how = worker.case, worker.end()
                if case is None:
                    if not worker.ready:
                        raise WorkersFailed(f"a worker could not be started: {how}")
                    continue
                yield SchemaResult(case.name, failed=how)
                workers.append(Worker(task))
            for worker in list(workers):
                if worker.ready and worker.case is None:
                    case = upcoming()
                    if case is None:
                        workers.remove(worker)
                        worker.end()
                    else:
                        worker.give(case)
    finally:
        for worker in workers:
            worker.end()


def answer(worker: Worker) -> SchemaResult | str | None:
    """A result, None for a sign of life, a word for the end."""
    try:
        message: Any = worker.pipe.recv()
    except (EOFError, OSError):
        return "gone"
    worker.touch()
    if isinstance(message, SchemaResult):
        worker.case = None
        return message
    if isinstance(message, tuple):
        supported, line = message
        raise WorkersFailed(line, supported=supported)
    worker.ready = True
    return None
