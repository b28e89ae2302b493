"""What the workers of forced tokens do: one job at a time, each with an answer of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from corpora.grammars.base import GrammarError
from harness.events import ForcedWitness
from harness.studies.forced.results import SchemaResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.grammars.corpus import SchemaCase
    from corpora.grammars.json_schema import Whitespace
    from corpora.vocabularies.model import Vocabulary
    from harness.studies.forced.policies import Policies

Answer = TypeVar("Answer")


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


class Job(Protocol[Answer]):
    """A piece of work. It travels to a worker, and its answer back as plain data of a type.

    answer: that type, made of dataclasses and builtins, for :mod:`harness.workers.wire`.
    """

    answer: ClassVar[Any]

    def fits(self, answer: Answer) -> bool:
        """Whether an answer is one to this job, as far as its type does not say.

        Raises ValueError likewise.
        """
        ...

    def run(self, policies: Policies, task: Task, beat: Callable[[], None]) -> Answer:
        """Do it, in a worker. beat: shows that there is life."""
        ...

    def broken(self, how: str) -> Answer:
        """The answer where the work raised, or its worker died or hung: ``how`` says it."""
        ...


@dataclass(frozen=True, slots=True)
class WalkSchema:
    """Walk the texts of one schema. Life shows after each of them."""

    case: SchemaCase
    answer: ClassVar[Any] = SchemaResult

    def fits(self, answer: SchemaResult) -> bool:
        """See :class:`Job`."""
        return answer.name == self.case.name

    def run(self, policies: Policies, task: Task, beat: Callable[[], None]) -> SchemaResult:
        """See :class:`Job`."""
        from corpora.grammars.json_schema import JsonSchemaGrammar  # noqa: PLC0415
        from harness.studies.forced.walk import Walk  # noqa: PLC0415 (Numba)

        case = self.case
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
            beat()
        return walk.finished()

    def broken(self, how: str) -> SchemaResult:
        """See :class:`Job`."""
        return SchemaResult(self.case.name, failed=how)


@dataclass(frozen=True, slots=True)
class Minimised:
    """A witness as it was, and the smallest like it; None where none was found."""

    witness: ForcedWitness
    smallest: ForcedWitness | None


@dataclass(frozen=True, slots=True)
class MinimiseWitness:
    """Make a witness small, within so many seconds. case: its schema, with its texts."""

    witness: ForcedWitness
    case: SchemaCase
    seconds: float
    answer: ClassVar[Any] = Minimised

    def fits(self, answer: Minimised) -> bool:
        """See :class:`Job`."""
        return answer.witness == self.witness

    def run(self, policies: Policies, task: Task, beat: Callable[[], None]) -> Minimised:
        """See :class:`Job`."""
        from harness.studies.forced.minimise import Minimiser  # noqa: PLC0415 (Numba)

        minimiser = Minimiser(policies, self.witness.policy, task.whitespace, beat)
        return Minimised(self.witness, minimiser.minimal(self.witness, self.case, self.seconds))

    def broken(self, how: str) -> Minimised:
        """See :class:`Job`."""
        return Minimised(self.witness, None)


def one_line(error: BaseException) -> str:
    """The kind and message of an error, on one line."""
    line = " ".join(str(error).split("<state>")[0].split())
    return f"{type(error).__name__}: {line[:200]}"
