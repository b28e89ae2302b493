"""What the futures of a text may leave of its tokens, for SentencePiece BPE and unigram.

Of a normalized text x :mod:`impls.forced.beginnings` tells it. What the normalizer does not settle
before it knows what follows is no part of x; a run of unknown characters at the end of x is open,
and so no token yet.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from impls.forced.alignment import Continuations
from impls.forced.beginnings import Beginnings
from impls.forced.futures import INSIDE, Bound, Window, ids_of, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.forced.alignment import Aligned
    from impls.forced.context import Context, GrammarState
    from impls.forced.futures import Token
    from impls.forced.piece_tokenizer import PieceTokenizer


class PieceFutures:
    """See :class:`impls.forced.futures.Futures`."""

    def __init__(self, tokenizer: PieceTokenizer) -> None:
        self._tokenizer = tokenizer
        self._aligner, self._segments = tokenizer.aligner, tokenizer.segments
        vocabulary = tokenizer.vocabulary
        self._unknown = None if vocabulary.byte_fallback else vocabulary.unk_id

    def window(self, context: Context, text: bytes) -> Window:
        """The whole text, or the end of it where its words are known to be apart."""
        start, first = self._tokenizer.word_start(context)
        return Window(text[start:], start, first)

    def encoded(self, window: Window, ways: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """See :class:`impls.forced.futures.Futures`."""
        start = not window.start
        aligned = [self._aligner.closed(window.text + way, start=start) for way in ways]
        encoded = self._segments.encode(one.text for one in aligned)
        return [_within(window, one, tokens) for one, tokens in zip(aligned, encoded, strict=True)]

    def forceable(self, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """Those before the first unknown one, which spells nothing, that end between characters."""
        size = 0
        for count, token in enumerate(tokens, 1):
            if token.id == self._unknown:
                break
            if token.end != INSIDE:
                size = count
        return tokens[:size]

    def bounds(self, window: Window, more: bytes, state: GrammarState) -> list[Bound]:
        """See :class:`impls.forced.futures.Futures`."""
        aligned = self._aligner.opened(window.text + more, state, start=not window.start)
        if not aligned.text:
            return [Bound((), more, "stand-in", whole=False)]
        beginnings = Beginnings(self._segments.encode, aligned.text, self._tokenizer.pieces)
        found = [self._bound(window, aligned, beginnings.whole, more, "end")]
        symbol = b"" if aligned.owed else self._aligner.symbol(aligned.rest)
        if symbol and self._segments.parted(aligned.text, symbol):
            return found
        ways = Continuations(self._aligner, aligned, state)
        if lowest := beginnings.lowest(ways.viable):
            way = ways.input(lowest[1])
            kind = "stand-in" if way is None else "extension"
            found.append(self._bound(window, aligned, lowest[0], more + (way or b""), kind))
        return found

    def _bound(
        self, window: Window, aligned: Aligned, tokens: tuple[Token, ...], way: bytes, kind: str
    ) -> Bound:
        end = aligned.ends[len(aligned.text)]
        settled = not (aligned.owed or aligned.rest) or end >= len(window.text)
        if tokens and tokens[-1].id == self._unknown:
            # It may go on.
            tokens, settled = tokens[:-1], False
        return Bound(_within(window, aligned, tokens), way, kind, settled)


def _within(window: Window, aligned: Aligned, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The tokens that end within the window's own text, with their ends there."""
    ends = [aligned.ends[end] for end in map(itemgetter(1), tokens)]
    size = len(ends)
    while size and (ends[size - 1] == INSIDE or ends[size - 1] > len(window.text)):
        size -= 1
    return tokens_of(ids_of(tokens[:size]), ends[:size])
