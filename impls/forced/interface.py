"""What a healing policy is given, and what it gives.

A grammar often forces the next bytes of a text. A policy turns them into tokens, and leaves those
bytes over that a token may span whose end nobody knows yet. Forced tokens are *canonical* for a
continuation w if encode(context + forced + w) begins with encode(context) and then them; *safely*
canonical if that holds for every continuation that the grammar admits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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


@dataclass(frozen=True, slots=True)
class Future:
    """One way in which a text can go on, and what it leaves of the forced tokens.

    continuation: bytes after the forced ones that lead there (a beginning of them, or a stand-in
    for any of their kind). kept: how many tokens of encode(context + forced) it keeps. kind:
    ``sentence`` (a whole one) and ``settled`` (nothing after it changes a thing) are real;
    ``end``, ``extension`` and ``stand-in`` are bounds that a sentence may or may not reach.
    """

    continuation: bytes
    kept: int
    kind: str


@dataclass(frozen=True, slots=True)
class Healed:
    """Forced tokens. leftover: the bytes at the end of the forced ones that none of them spells.

    proof: the futures that bound the tokens, for policies that decide rather than guess.
    """

    ids: tuple[int, ...]
    leftover: bytes
    proof: tuple[Future, ...] = field(default=(), compare=False)


class Policy(Protocol):
    """A way to turn forced bytes into tokens."""

    def heal(self, context: Context, forced: bytes, grammar: GrammarState) -> Healed:
        """The tokens of ``forced`` after ``context``. grammar: the state after the forced bytes."""
        ...


def first_tokens(steps: Sequence[tuple[int, bytes]], most: int, forced: bytes) -> Healed:
    """The longest run of tokens from the front that has at most ``most`` bytes.

    steps: the ids of ``forced``, each with its bytes.
    """
    ids, size = list[int](), 0
    for token_id, step in steps:
        if size + len(step) > most:
            break
        ids.append(token_id)
        size += len(step)
    return Healed(tuple(ids), forced[size:])
