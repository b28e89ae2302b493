"""What the futures of a text may leave of its tokens: the meeting of search and tokenizers."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from impls.forced.context import Context, GrammarState

INSIDE = -1
"""The end of a token that ends inside what one character of the text became."""


class Token(NamedTuple):
    """A token and where it ends in the window's text, in bytes, or :data:`INSIDE`."""

    id: int
    end: int


def tokens_of(ids: Iterable[int], ends: Iterable[int]) -> tuple[Token, ...]:
    """Tokens of their ids and ends."""
    # Not by Token's own constructor, which is Python code: there are as many as texts are long.
    return tuple(map(tuple.__new__, repeat(Token), zip(ids, ends, strict=True)))


def ids_of(tokens: Iterable[Token]) -> tuple[int, ...]:
    """The ids alone."""
    return tuple(map(itemgetter(0), tokens))


def shared(one: Sequence[Token], other: Sequence[Token]) -> int:
    """How many tokens both begin with."""
    sizes = range(min(len(one), len(other)))
    # By whole comparisons, which are not Python code: the first tokens are those of a whole text.
    return bisect_left(sizes, True, key=lambda index: one[: index + 1] != other[: index + 1])


@dataclass(frozen=True, slots=True)
class Window:
    """The end of a text: what may still change, from byte ``start`` of the whole.

    first: how many of the context's tokens stand before it.
    """

    text: bytes
    start: int
    first: int


@dataclass(frozen=True, slots=True)
class Bound:
    """What a future leaves. kept: the tokens within the window. continuation, kind: see ``Future``.

    whole: the future keeps no more; else the end of the window is not settled, and it may.
    """

    kept: tuple[Token, ...]
    continuation: bytes
    kind: str
    whole: bool = True


class Futures(Protocol):
    """A tokenizer's side of the exact policy."""

    def window(self, context: Context, text: bytes) -> Window:
        """The end of ``text``, which begins with the context's, from where nothing can move it."""
        ...

    def encoded(self, window: Window, ways: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """Of each way to the end of the text: the tokens that lie within the window."""
        ...

    def bounds(self, window: Window, more: bytes, state: GrammarState) -> list[Bound]:
        """What the futures of the window's text and ``more`` leave: all of them, maybe more.

        At least one. state: of the grammar after ``more``.
        """
        ...

    def forceable(self, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """The longest beginning of ``tokens`` that spells a beginning of the forced bytes."""
        ...


def common(bounds: Sequence[Bound]) -> int:
    """How many tokens all bounds begin with."""
    # What the first and the last in order share, all between them share.
    return shared(min(bound.kept for bound in bounds), max(bound.kept for bound in bounds))
