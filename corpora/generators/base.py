"""What a generator is: a named, seeded stream of inputs with their provenance."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary


@dataclass(frozen=True, slots=True)
class Case:
    """One input and where it came from: the ``index``-th of ``generator`` under ``seed``.

    place: tells the file and the line of a text of the user's; it is a function, as lines may
    have to be counted for it.
    """

    data: bytes
    generator: str
    seed: int
    index: int
    place: Callable[[], str] | None = field(default=None, compare=False)

    def provenance(self) -> dict[str, Any]:
        """Where it came from, as the fields of a finding."""
        place = self.place() if self.place is not None else ""
        return {
            "generator": self.generator, "seed": self.seed, "index": self.index, "place": place,
        }  # fmt: skip


class Generator(Protocol):
    """A way of making cases. Deterministic in (vocabulary content, seed), lazily, cheaply.

    A stream may end (every token alone) or go on for ever (random bytes).
    """

    @property
    def name(self) -> str:
        """The name in provenance, options and reports: ``codepoints``."""
        ...

    @property
    def summary(self) -> str:
        """One line that says what it makes and which mistakes that exposes."""
        ...

    def cases(self, vocabulary: Vocabulary, seed: int) -> Iterator[bytes]:
        """Inputs for this vocabulary, the same for the same seed."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionGenerator:
    """A generator made of one function ``(vocabulary, rng) -> iterator of bytes``."""

    name: str
    summary: str
    make: Callable[[Vocabulary, random.Random], Iterator[bytes]]

    def cases(self, vocabulary: Vocabulary, seed: int) -> Iterator[bytes]:
        """Inputs for this vocabulary; the random state is this generator's own."""
        return self.make(vocabulary, random.Random(f"{self.name}/{seed}/{vocabulary.fingerprint}"))
