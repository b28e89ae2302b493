"""Who encodes a vocabulary for a comparison: one implementation, in a worker of its own."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.comparisons import Contract, algorithm_of, answer_of
from harness.core.outcomes import Inputs, Outcome
from harness.engine.joiners import installed, trusted
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from impls import registry
from impls.errors import ImplementationError
from impls.interface import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant

TEXT, SPECIAL = Mode(pretokenize=True), Mode(pretokenize=True, special="all")
"""How texts are encoded: as plain text, and with the special tokens in them."""


def reader(vocabulary: Vocabulary) -> Participant:
    """Who decides what a vocabulary means, of those that are installed.

    Raises ImplementationError where there is nobody.
    """
    for spec in trusted(vocabulary):
        one = installed(spec)
        if one is not None and answer_of(one, vocabulary, TEXT) is None:
            return one
    names = ", ".join(trusted(vocabulary)) or "nothing that tokgate knows"
    raise ImplementationError(
        f"{vocabulary.id}: nobody is installed who runs it; {names} would, see `tokgate list impls`"
    )


def plain(*vocabularies: Vocabulary) -> Participant | None:
    """Our plain implementation that runs all of these vocabularies; None where none does."""
    algorithms = {algorithm_of(one) for one in vocabularies}
    for spec in reversed(registry.DEFINITIONS.get(algorithms.pop(), ())):
        one = installed(spec)
        if one is not None and not algorithms and all(runs(one, each) for each in vocabularies):
            return one
    return None


def runs(participant: Participant, vocabulary: Vocabulary, mode: Mode = TEXT) -> bool:
    """Whether an implementation runs a vocabulary in a mode."""
    return not vocabulary.unexpressed and answer_of(participant, vocabulary, mode) is None


@dataclass(frozen=True, slots=True)
class Side:
    """A vocabulary, loaded into an implementation."""

    vocabulary: Vocabulary
    participant: Participant
    pool: WorkerPool

    def encode(self, texts: Sequence[bytes], mode: Mode) -> list[Outcome]:
        """The outcome of each text."""
        one = self.participant
        contract = Contract(self.vocabulary, mode, (one,), frozenset(), {}, proper=True)
        return [*self.pool.again(contract, Inputs.of(texts)).results[one.name]]


@contextlib.contextmanager
def opened(participant: Participant, vocabulary: Vocabulary, limits: Limits) -> Iterator[Side]:
    """Load a vocabulary. Raises ImplementationError where it cannot be loaded."""
    pool = WorkerPool([participant], limits)
    try:
        for answer in pool.load(vocabulary, [participant.name]).values():
            raise ImplementationError(f"{participant.name} on {vocabulary.id}: {answer.error}")
        yield Side(vocabulary, participant, pool)
    finally:
        pool.close()
