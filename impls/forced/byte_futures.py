"""What the futures of a text may leave of its tokens, for byte-level BPE.

Inside a pre-token :mod:`impls.forced.beginnings` tells it. At the end of a text the pre-tokenizer
adds the ways in which the last pre-tokens may come out; these are finite.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from impls.forced.beginnings import Beginnings
from impls.forced.boundaries import Boundaries
from impls.forced.characters import whole_characters
from impls.forced.futures import Bound, Window, ids_of
from impls.forced.spellings import Spellings
from impls.forced.states import Within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from impls.forced.context import Context, GrammarState
    from impls.forced.futures import Token
    from impls.forced.tokenizer import Tokenizer

Found = tuple[tuple[int, ...], bytes, str]
"""Ids from the window's start, the continuation, and its kind."""


class ByteFutures:
    """See :class:`impls.forced.futures.Futures`."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._boundaries = Boundaries(tokenizer)
        self._beginnings = lru_cache(maxsize=4096)(
            lambda piece: Beginnings(self._merged, piece, tokenizer.spellings)
        )

    def window(self, context: Context, text: bytes) -> Window:
        """From a boundary of pre-tokens that nothing after ``text`` can move."""
        start, first = self._boundaries.beginning(context, text)
        return Window(text[start:], start, first)

    def encoded(self, window: Window, ways: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """See :class:`impls.forced.futures.Futures`."""
        encoded = self._tokenizer.encode_many(window.text + way for way in ways)
        return [self._within(window, ids) for ids in encoded]

    def forceable(self, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """All of them: each spells its own bytes."""
        return tokens

    def _within(self, window: Window, ids: Iterable[int]) -> tuple[Token, ...]:
        """The tokens that lie within the window's own text."""
        tokens = self._tokenizer.placed(ids)
        return tokens[: bisect_right(tokens, len(window.text), key=itemgetter(1))]

    def bounds(self, window: Window, more: bytes, state: GrammarState) -> list[Bound]:
        """See :class:`impls.forced.futures.Futures`."""
        text = window.text + more
        whole = whole_characters(text)
        text, part = text[:whole], text[whole:]
        if part:
            state = Within(part, state)
        ways = {(): ""}
        if self._tokenizer.mode.pretokenize:
            ways = self._boundaries.ways(text, state)
        found = [
            (ids, more + way[len(part) :], kind)
            for ends, stand_in in ways.items()
            for ids, way, kind in self._inside(text, ends, state, stand_in)
        ]
        settled = not part or whole >= len(window.text)
        return [
            Bound(self._within(window, ids), way, kind, settled)
            for ids, way, kind in found or [((), more, "stand-in")]
        ]

    def _inside(
        self, text: bytes, ends: tuple[int, ...], grammar: GrammarState, stand_in: str
    ) -> Iterator[Found]:
        """The bounds where the pre-tokens end at ``ends``, and the rest is the last one."""
        bounds = [0, *ends]
        before = tuple(chain(*(self._tokenizer.piece(text[a:b]) for a, b in pairwise(bounds))))
        last = text[bounds[-1] :]
        beginnings = None
        if last and self._tokenizer.vocabulary.can_encode(last):
            beginnings = self._beginnings(last)
        whole = ids_of(beginnings.whole) if beginnings else ()
        yield (*before, *whole), stand_in.encode(), "stand-in" if stand_in else "end"
        if not beginnings:
            return
        for _, e in self._unmerged.extensions(last, grammar.viable):
            yield before, e, "extension"
            return
        if lowest := beginnings.lowest(grammar.viable):
            yield (*before, *ids_of(lowest[0])), lowest[1], "extension"

    def _merged(self, pieces: Sequence[bytes]) -> list[tuple[Token, ...]]:
        return list(map(self._tokenizer.placed, self._merging.encode_pieces(pieces)))

    @cached_property
    def _merging(self) -> Tokenizer:
        """The same vocabulary where a piece is merged, be it a token or not."""
        return self._tokenizer.merging()

    @cached_property
    def _unmerged(self) -> Spellings:
        """The tokens that merges do not give, and that come out where they are a whole piece."""
        ids = self._tokenizer.vocabulary.ids
        if self._merging is self._tokenizer:
            return Spellings({})
        merged = self._merging.encode_pieces(list(ids))
        return Spellings(
            {
                text: token_id
                for (text, token_id), found in zip(ids.items(), merged, strict=True)
                if found != (token_id,)
            }
        )
