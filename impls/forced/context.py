"""Where forced bytes stand: the text before them, and the grammar after them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class GrammarState(Protocol):
    """A state of a grammar over bytes; the grammars of ``corpora.grammars`` are such states."""

    @property
    def complete(self) -> bool:
        """Whether a sentence may end here."""
        ...

    def forced(self) -> bytes:
        """The longest bytes with which every sentence goes on from here."""
        ...

    def viable(self, data: bytes) -> bool:
        """Whether some sentence goes on with ``data``, which may end inside a character."""
        ...

    def after(self, data: bytes) -> GrammarState:
        """The state after ``data``, which is viable."""
        ...

    def next_bytes(self) -> Sequence[int]:
        """The bytes that may come next, ascending."""
        ...

    def sentences(self, most: int) -> Sequence[bytes] | None:
        """All continuations, if there are at most ``most``; else None."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What stands before the forced bytes: a text, and its own encoding."""

    text: bytes
    ids: tuple[int, ...]
