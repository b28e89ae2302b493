"""What the workers of forced tokens do: one job at a time, each with an answer of its own.

A worker is started by :mod:`harness.confinement.start`, when the process is confined. The first
request is the task, each of the others a job.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from corpora.grammars.json_schema import JsonSchemaGrammar
from harness.confinement.plan import OFF, Held
from harness.core.messages import Loaded
from harness.core.outcomes import Status
from harness.events import ForcedWitness
from harness.studies.forced.minimise import Minimiser
from harness.studies.forced.policies import Policies
from harness.studies.forced.results import Walked
from harness.studies.forced.walk import Walk
from harness.workers.inside import serve
from impls.interface import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.grammars.corpus import SchemaCase
    from corpora.grammars.json_schema import Whitespace
    from corpora.vocabularies.model import Vocabulary


@dataclass(frozen=True, slots=True)
class Task:
    """What all workers do alike.

    seconds: without a sign of life; for hangs, not for slowness. memory: bytes of a worker.
    """

    vocabulary: Vocabulary
    policies: Sequence[str]
    whitespace: Whitespace
    seed: int = 0
    seconds: float = 120.0
    memory: int = 4 << 30


class Job(Protocol):
    """A piece of work. It travels to a worker, and its answer back as plain data of a type.

    answer: that type, made of dataclasses and builtins, for :mod:`harness.workers.wire`.
    """

    answer: ClassVar[Any]

    def run(self, policies: Policies, task: Task, beat: Callable[[], None]) -> Any:
        """Do it, in a worker. beat: shows that there is life."""
        ...


@dataclass(frozen=True, slots=True)
class WalkSchema:
    """Walk the texts of one schema."""

    case: SchemaCase
    answer: ClassVar[Any] = Walked

    def run(self, policies: Policies, task: Task, beat: Callable[[], None]) -> Walked:
        """See :class:`Job`."""
        case = self.case
        try:
            grammar = JsonSchemaGrammar(case.schema, task.whitespace)
            named = policies.of_schema(task.policies, case.schema, task.whitespace)
        except ValueError as error:
            return Walked(refused={case.name: one_line(error)})
        walk = Walk(policies.tokenizer, grammar, named, case.name, task.seed, beat=beat)
        for text in case.instances:
            walk.instance(text)
        return walk.finished()


@dataclass(frozen=True, slots=True)
class MinimiseWitness:
    """Make a witness small, within so many seconds. case: its schema, with its texts.

    The answer is the smallest like it, or nothing where none was found.
    """

    witness: ForcedWitness
    case: SchemaCase
    seconds: float
    answer: ClassVar[Any] = list[ForcedWitness]

    def run(self, policies: Policies, task: Task, beat: Callable[[], None]) -> list[ForcedWitness]:
        """See :class:`Job`."""
        minimiser = Minimiser(policies, self.witness.policy, task.whitespace, beat)
        found = minimiser.minimal(self.witness, self.case, self.seconds)
        return [] if found is None else [found]


def one_line(error: BaseException) -> str:
    """The kind and message of an error, on one line."""
    line = " ".join(str(error).split("<state>")[0].split())
    return f"{type(error).__name__}: {line[:200]}"


class Server:
    """Answers the task, and then jobs."""

    def answer(self, request: Any, beat: Callable[[], None]) -> Any:
        """The answer to a request, or how a job broke. beat: shows that there is life."""
        if isinstance(request, Task):
            return self._load(request)
        try:
            return request.run(self._policies, self._task, beat)
        except BaseException as error:  # a panic in Rust is no Exception
            return one_line(error)

    def _load(self, task: Task) -> Loaded:
        self._task = task
        try:
            self._policies = Policies(task.vocabulary)
            self._policies.of_schema(task.policies, True, task.whitespace)
            self._policies.tokenizer.encode(next(iter(task.vocabulary.ids), b""))  # compiles
        except Exception as error:
            if isinstance(error, Unsupported):
                return Loaded(str(error), Status.UNSUPPORTED.label)
            return Loaded(one_line(error), Status.ERRORED.label)
        return Loaded()


def main(arguments: Sequence[str], held: Held = OFF) -> None:
    """Serve until the harness closes the pipe. held: what confines this process."""
    serve(arguments, lambda progress: Server().answer)
