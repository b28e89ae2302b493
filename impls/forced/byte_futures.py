"""What the futures of a text may leave of its tokens, for byte-level BPE.

Inside a pre-token: a continuation changes the encoding of a text only through a token that spans
the text's end. For each start s such that text[s:] is a proper beginning of a token text[s:] + e
which may follow the encoding of text[:s], the text with e encodes to the encoding of text[:s] and
that token; and every continuation leaves either the whole encoding or that of text[:s] for one of
these s. So what all futures have in common is their lowest common ancestor in the tree of
beginnings (docs/algorithms.md, section 3). At the end of a text the pre-tokenizer adds the ways in
which the last pre-tokens may come out; these are finite.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from impls.forced.beginnings import Beginnings, surviving
from impls.forced.boundaries import Boundaries
from impls.forced.characters import whole_characters
from impls.forced.futures import Bound, Window, tokens_of
from impls.forced.prefix_tree import PrefixTrees
from impls.forced.states import Within

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from impls.forced.context import Context, GrammarState
    from impls.forced.futures import Token
    from impls.forced.prefix_tree import PrefixTree
    from impls.forced.tokenizer import Tokenizer


class ByteFutures:
    """See :class:`impls.forced.futures.Futures`."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._trees = PrefixTrees(tokenizer.vocabulary)
        self._boundaries = Boundaries(tokenizer)
        vocabulary, built = tokenizer.vocabulary, self._trees.by_id
        self._out_of_order = self._trees.out_of_order
        self._out_of_order_within = re.compile(b"|".join(map(re.escape, self._out_of_order)))
        self._out_of_order_to_come = lru_cache(maxsize=4096)(self._out_of_order_endings)
        # The ways in which a text may be cut have most of their pre-tokens in common.
        self._piece = lru_cache(maxsize=1 << 12)(lambda piece: tokenizer.encode_pieces([piece])[0])
        self._whole = sorted(
            text
            for text, token_id in vocabulary.ids.items()
            if vocabulary.ignore_merges and token_id not in built
        )
        """The tokens that merges do not build, or build late, and that come out where they are a
        whole pre-token."""

    def window(self, context: Context, text: bytes) -> Window:
        """From a boundary of pre-tokens that nothing after ``text`` can move."""
        start, first = self._boundaries.beginning(context, text)
        return Window(text[start:], start, first)

    def encoded(self, window: Window, ways: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """See :class:`impls.forced.futures.Futures`."""
        encoded = self._tokenizer.encode_many([window.text + way for way in ways])
        return [self._within(window, ids) for ids in encoded]

    def forceable(self, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """All of them: each spells its own bytes."""
        return tokens

    def _within(self, window: Window, ids: Iterable[int]) -> tuple[Token, ...]:
        """The tokens that lie within the window's own text."""
        size = len(window.text)
        tokens = with_ends(self._tokenizer, ids)
        return tokens[: bisect_right(tokens, size, key=itemgetter(1))]

    def bounds(self, window: Window, more: bytes, state: GrammarState) -> list[Bound]:
        """See :class:`impls.forced.futures.Futures`."""
        text = window.text + more
        whole = whole_characters(text)
        part = text[whole:]
        if part:
            state = Within(part, state)
        text = text[:whole]
        found: list[tuple[tuple[int, ...], bytes, str]] = []
        if self._tokenizer.mode.pretokenize:
            for ends, stand_in in self._boundaries.ways(text, state).items():
                found += self._inside(text, ends, more, part, state, stand_in)
        else:
            found = self._inside(text, (), more, part, state, "")
        return [
            Bound(self._within(window, ids), way, kind, not part or whole >= len(window.text))
            for ids, way, kind in found or [((), more, "stand-in")]
        ]

    def _inside(
        self,
        text: bytes,
        ends: tuple[int, ...],
        more: bytes,
        part: bytes,
        grammar: GrammarState,
        stand_in: str,
    ) -> list[tuple[tuple[int, ...], bytes, str]]:
        """The bounds where the pre-tokens end at ``ends``, and the rest is the last one.

        Ids from the window's start, the continuation, and its kind.
        """
        bounds = [0, *ends]
        before = tuple(chain(*(self._piece(text[a:b]) for a, b in pairwise(bounds))))
        last = text[bounds[-1] :]
        kind = "stand-in" if stand_in else "end"
        plain = more + stand_in.encode()[len(part) :] if part else more + stand_in.encode()
        if not last:
            return [(before, plain, kind)]
        tree = self._tree(last, grammar)
        if tree is None:
            return [(before, plain, kind)]
        found = [(before + tree.encoding(tree.size), plain, kind)]
        for place in range(bisect_right(self._whole, last), len(self._whole)):
            whole = self._whole[place]
            if not whole.startswith(last):
                break
            if grammar.viable(whole[len(last) :]):
                way = more + whole[len(last) + len(part) :]
                return [*found, (before, way, "extension")]

        def extension(start: int) -> bytes | None:
            """An e such that ``last[start:] + e`` is a token that may stand there."""
            for token_id, e in self._tokenizer.extensions(last[start:], grammar.viable):
                if tree.may_follow(start, token_id, e):
                    return e
            return None

        for start, e in surviving(tree, self._starts(last), extension):
            found.append((before + tree.encoding(start), more + e[len(part) :], "extension"))
        return found

    def _starts(self, last: bytes) -> range:
        """Where a token may begin that spans the end of a piece."""
        return range(max(0, len(last) - self._tokenizer.longest + 1), len(last))

    def _tree(self, last: bytes, grammar: GrammarState) -> PrefixTree | Beginnings | None:
        """The tree of a piece; None if it has a byte without a token."""
        if not self._may_be_out_of_order(last, grammar):
            return self._trees.tree(last)
        if not self._tokenizer.vocabulary.can_encode(last):
            return None
        return Beginnings(self._merged, last, self._starts(last))

    def _merged(self, pieces: Sequence[bytes]) -> list[tuple[Token, ...]]:
        return [with_ends(self._merging, ids) for ids in self._merging.encode_pieces(pieces)]

    @cached_property
    def _merging(self) -> Tokenizer:
        """The same vocabulary where a piece is merged, be it a token or not."""
        return self._tokenizer.merging()

    def _may_be_out_of_order(self, last: bytes, grammar: GrammarState) -> bool:
        """Whether a token out of order is spelled here, or may come to be."""
        endings = self._out_of_order_to_come(last)
        return endings is None or any(map(grammar.viable, endings))

    def _out_of_order_endings(self, last: bytes) -> tuple[bytes, ...] | None:
        """What would complete such a token that ``last`` begins; None if it has a whole one."""
        if not self._out_of_order:
            return ()
        if self._out_of_order_within.search(last):
            return None
        return tuple(
            text[size:]
            for text in self._out_of_order
            for size in range(1, min(len(text), len(last) + 1))
            if last.endswith(text[:size])
        )


def with_ends(tokenizer: Tokenizer, ids: Iterable[int]) -> tuple[Token, ...]:
    """Tokens that spell their own bytes, with their ends."""
    known = list(ids)
    return tokens_of(known, accumulate(map(tokenizer.sizes.__getitem__, known)))
