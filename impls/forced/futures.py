"""What the futures of a text may leave of its tokens: the meeting of search and tokenizers."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def common(bounds: Sequence[Bound]) -> int:
    """How many tokens all bounds begin with."""
    # What the first and the last in order share, all between them share.
    return shared(min(bound.kept for bound in bounds), max(bound.kept for bound in bounds))
