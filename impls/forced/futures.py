"""What futures leave of a text's tokens, and the encodings of its beginnings, which tell it.

Where a token of an encoding ends no merge crossed, so that on the left of it every merge went as
it goes without the rest. Hence the tokens before any boundary of encode(y) are the encoding of that
beginning of y, whatever the order of the merges; likewise for the best path of unigram. A text x
that goes on keeps the encoding of x[:s], where s is its last boundary within x, and a token
x[s:] + e comes next, of which the encoding of x + e is the proof. So what all futures have in
common is what the encoding of x shares with those of x[:s], for all s that some future leaves
(docs/algorithms.md, section 3).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import repeat
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from impls.forced.spellings import Spellings

    Encode = Callable[[Sequence[bytes]], list[tuple["Token", ...]]]

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


class Beginnings:
    """The encodings of a text, and of its beginnings after which a token may reach over its end.

    encode: texts to tokens with their ends.
    """

    def __init__(self, encode: Encode, text: bytes, spellings: Spellings) -> None:
        self._encode, self._text, self._spellings = encode, text, spellings
        starts = spellings.starts(text)
        self.whole, *encoded = encode([text, *(text[:start] for start in starts)])
        kept = (
            (shared(self.whole, one), start, one)
            for start, one in zip(starts, encoded, strict=True)
        )
        self._losing = sorted(one for one in kept if one[0] < len(self.whole))
        """The beginnings with which tokens are lost, those first that leave least."""
        self._extended: dict[bytes, tuple[Token, ...]] = {}

    def lowest(self, viable: Callable[[bytes], bool]) -> tuple[tuple[Token, ...], bytes] | None:
        """The encoding of a beginning that some future leaves, and the bytes that lead there.

        It is one that leaves least of the whole text's tokens; None if all futures keep these.
        viable: whether the text may go on with some bytes.
        """
        for _, start, before in self._losing:
            for token_id, e in self._spellings.extensions(self._text[start:], viable):
                after = self._after(e)
                if (
                    len(after) == len(before) + 1
                    and after[-1].id == token_id
                    and after[-2:-1] == before[-1:]
                ):
                    return before, e
        return None

    def _after(self, extension: bytes) -> tuple[Token, ...]:
        """The encoding of the text with more bytes."""
        if extension not in self._extended:
            [self._extended[extension]] = self._encode([self._text + extension])
        return self._extended[extension]
