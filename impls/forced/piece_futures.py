"""What the futures of a text may leave of its tokens, for SentencePiece BPE and unigram.

Both choose so that the tokens before any boundary of an encoding are the encoding of that beginning
(:mod:`impls.forced.beginnings`, :mod:`impls.forced.lattice`). So of a normalized text x, whatever
follows, the encoding of x[:s] stays for some s, which is the end of x, or from which a piece
x[s:] + e goes on that ends the encoding of x + e. What the normalizer does not settle before it
knows what follows is no part of x; a run of unknown characters at the end of x is open, and so no
token yet.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from impls.forced.alignment import Continuations
from impls.forced.beginnings import surviving
from impls.forced.futures import INSIDE, Bound, Window, ids_of, tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.forced.alignment import Aligned
    from impls.forced.context import Context, GrammarState
    from impls.forced.futures import Token
    from impls.forced.piece_tokenizer import PieceTokenizer


CONTINUING = frozenset(bytes((byte,)) for byte in range(0x80, 0xC0))
"""The bytes of UTF-8 that begin no character."""


class PieceFutures:
    """See :class:`impls.forced.futures.Futures`."""

    def __init__(self, tokenizer: PieceTokenizer) -> None:
        self._tokenizer = tokenizer
        self._aligner = tokenizer.aligner
        self._segments = tokenizer.segments
        vocabulary = tokenizer.vocabulary
        self._unknown = None if vocabulary.byte_fallback else vocabulary.unk_id

    def window(self, context: Context, text: bytes) -> Window:
        """The whole text, or the end of it where its words are known to be apart."""
        start, first = self._tokenizer.word_start(context)
        if start:
            return Window(text[start:], start, first)
        settled = self._aligner.settled(text)
        tokens = self._segments.lasting(settled.text, self._tokenizer.pieces.longest)
        # Less than the context's own, so that what is left of them shows where they change.
        size = min(len(tokens), len(context.ids) - 1)
        while size > 0 and not self._begins_window(context, settled, tokens[size - 1]):
            size -= 1
        if size <= 0 or ids_of(tokens[:size]) != context.ids[:size]:
            return Window(text, 0, 0)
        return Window(text, 0, size, tokens[size - 1].end)

    def _begins_window(self, context: Context, settled: Aligned, token: Token) -> bool:
        """Whether a window may begin behind a token: between characters, and in the context."""
        if token.id == self._unknown or settled.text[token.end : token.end + 1] in CONTINUING:
            return False
        return INSIDE != settled.ends[token.end] <= len(context.text)

    def encoded(self, window: Window, ways: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """See :class:`impls.forced.futures.Futures`."""
        start = not window.start
        aligned = [self._aligner.closed(window.text + way, start=start) for way in ways]
        encoded = self._segments.encode([one.text for one in aligned], window.normalized)
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
        text = aligned.text
        if not text:
            return [Bound((), more, "stand-in", whole=False)]
        tree = self._segments.tree(text, self._tokenizer.pieces)
        ways = Continuations(self._aligner, aligned, state)

        def extension(start: int) -> bytes | None:
            """An e such that ``text[start:] + e`` is a piece that may stand there."""
            for token_id, e in self._tokenizer.pieces.extensions(text[start:], ways.viable):
                if tree.may_follow(start, token_id, e):
                    return e
            return None

        size = window.normalized
        found = [self._bound(window, aligned, tree.tokens(len(text), size), more, "end")]
        symbol = self._aligner.symbol(aligned.rest) if aligned.rest and not aligned.owed else b""
        if symbol and self._segments.parted(text, symbol):
            return found
        for start, e in surviving(tree, tree.starts, extension):
            way = ways.input(e)
            kind, further = ("stand-in", more) if way is None else ("extension", more + way)
            found.append(self._bound(window, aligned, tree.tokens(start, size), further, kind))
        return found

    def _bound(
        self,
        window: Window,
        aligned: Aligned,
        tokens: tuple[Token, ...],
        continuation: bytes,
        kind: str,
    ) -> Bound:
        settled = not (aligned.owed or aligned.rest) or aligned.ends[-1] >= len(window.text)
        if tokens and tokens[-1].id == self._unknown:
            # It may go on.
            tokens, settled = tokens[:-1], False
        return Bound(_within(window, aligned, tokens), continuation, kind, settled)


def _within(window: Window, aligned: Aligned, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The tokens that end within the window's own text, with their ends there."""
    ends = [aligned.ends[end] for end in map(itemgetter(1), tokens)]
    size = len(ends)
    while size and (ends[size - 1] == INSIDE or ends[size - 1] > len(window.text)):
        size -= 1
    return tokens_of(ids_of(tokens[:size]), ends[:size])
