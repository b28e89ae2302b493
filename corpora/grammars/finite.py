"""The two plainest languages: few sentences, and all byte strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.grammars.base import Grammar, alike

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, init=False)
class FiniteLanguage(Grammar):
    """The sentences given. Equal states have equal rests of sentences."""

    rests: tuple[bytes, ...]

    def __init__(self, sentences: Iterable[bytes]) -> None:
        object.__setattr__(self, "rests", tuple(sorted(set(sentences))))

    def forced(self) -> bytes:
        """What all sentences begin with."""
        # What the first and the last in order share, all between them share.
        first, last = (self.rests[0], self.rests[-1]) if self.rests else (b"", b"")
        return first[: alike(first, last)]

    def viable(self, data: bytes) -> bool:
        """Whether some sentence begins with ``data``."""
        return any(rest.startswith(data) for rest in self.rests)

    def after(self, data: bytes) -> FiniteLanguage:
        """The state after ``data``. Raises ValueError where it is not viable."""
        if not self.viable(data):
            raise ValueError(f"no sentence goes on with {data!r}")
        return FiniteLanguage(rest[len(data) :] for rest in self.rests if rest.startswith(data))

    @property
    def complete(self) -> bool:
        """Whether a sentence may end here."""
        return b"" in self.rests

    def next_bytes(self) -> tuple[int, ...]:
        """The bytes with which some sentence goes on, ascending."""
        return tuple(sorted({rest[0] for rest in self.rests if rest}))


@dataclass(frozen=True, slots=True)
class Unrestricted(Grammar):
    """Every byte string, valid UTF-8 or not: nothing is forced, and everywhere may be the end."""

    def forced(self) -> bytes:
        """Nothing."""
        return b""

    def viable(self, data: bytes) -> bool:
        """True for any bytes."""
        return True

    def after(self, data: bytes) -> Unrestricted:
        """The same."""
        return self

    @property
    def complete(self) -> bool:
        """True."""
        return True

    def next_bytes(self) -> tuple[int, ...]:
        """All 256."""
        return tuple(range(256))

    def sentences(self, most: int) -> None:
        """None: there are infinitely many."""
        return None
