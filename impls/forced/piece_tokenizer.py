"""SentencePiece BPE and unigram vocabularies as the policies see them.

Of a normalized text x :mod:`impls.forced.futures` tells what futures leave. What the normalizer
does not settle before it knows what follows is no part of x (:mod:`impls.forced.alignment`); a run
of unknown characters at the end of x is open, and so no token yet.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, PieceType
from corpora.vocabularies.sentencepiece_model import byte_of
from impls.forced.alignment import SPACE_SYMBOL, Aligner, Continuations
from impls.forced.futures import INSIDE, Beginnings, Bound, Window, ids_of, tokens_of
from impls.forced.segments import Segments
from impls.forced.spellings import Spellings, anything, cut_off, whole_characters
from impls.forced.tokenizer import REMEMBERED_TEXTS, AnyTokenizer
from impls.interface import Mode
from impls.spm.encoder import SENTENCEPIECE as SPM
from impls.unigram.encoder import SENTENCEPIECE as UNIGRAM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.forced.alignment import Aligned
    from impls.forced.futures import Token
    from impls.forced.interface import Context, GrammarState
    from impls.forced.tokenizer import Steps

USABLE = frozenset({PieceType.NORMAL, PieceType.USER_DEFINED})


class PieceTokenizer(AnyTokenizer):
    """A SentencePiece vocabulary as SentencePiece runs it, with its normalizer.

    Raises Unsupported where what comes later may change all that came before.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        unigram = vocabulary.algorithm is Algorithm.UNIGRAM
        super().__init__(vocabulary, UNIGRAM if unigram else SPM, Mode())
        self.aligner, self.segments = Aligner(vocabulary), Segments(vocabulary)
        self._unknown = None if vocabulary.byte_fallback else vocabulary.unk_id
        self._inner_steps = lru_cache(REMEMBERED_TEXTS)(self._inner_steps_anew)
        self._bytes = {
            byte: token_id
            for token_id, piece in enumerate(vocabulary.pieces)
            if piece.type is PieceType.BYTE and (byte := byte_of(piece.text)) is not None
        }
        """The byte pieces, for characters that fall back to them."""

    @cached_property
    def pieces(self) -> Spellings:
        """The pieces that text becomes, normalized."""
        found: dict[bytes, int] = {}
        for token_id, piece in enumerate(self.vocabulary.pieces):
            if piece.type in USABLE and piece.text:
                found.setdefault(piece.text.encode(), token_id)
        return Spellings(found)

    def spelling(self, token_id: int) -> bytes:
        """The bytes of an id inside a text; of an unknown one its name."""
        return self._raw(self.vocabulary.spelling(token_id))

    def _raw(self, text: bytes) -> bytes:
        escaped = self.vocabulary.normalizer.escape_whitespaces
        return text.replace(SPACE_SYMBOL, b" ") if escaped else text

    def steps(self, text: bytes) -> Steps:
        """See :class:`AnyTokenizer`."""
        aligned = self.aligner.aligned(text)
        return self._steps(text, aligned, aligned.text)

    def steps_after(self, context: Context, data: bytes) -> Steps:
        """See :class:`AnyTokenizer`.

        Inside a text no dummy space is added, and none is removed.
        """
        if not context.ids:
            end = whole_characters(data)
            return [*self.steps(data[:end]), *self._part(data[end:])]
        last = context.ids[-1]
        if len(context.ids) == 1:
            together, size = self.steps(context.text + data), len(context.text)
        else:
            before = self.spelling(last)
            together, size = self._inner_steps(before + data), len(before)
        if together and together[0][0] == last and len(together[0][1]) == size:
            return together[1:]
        return self._inner_steps(data)

    def _inner_steps_anew(self, data: bytes) -> Steps:
        """The ids of bytes from inside a text, parts of characters at either end by themselves."""
        start = cut_off(data)
        end = max(start, whole_characters(data))
        inner = data[start:end]
        aligned = self.aligner.aligned(inner, start=False)
        steps = self._steps(inner, aligned, aligned.text + aligned.owed)
        return [*self._part(data[:start]), *steps, *self._part(data[end:])]

    def _part(self, part: bytes) -> Steps:
        """The ids of a part of a character: of its bytes, or one unknown one."""
        if self._bytes and self.vocabulary.byte_fallback:
            return [(self._bytes[byte], bytes((byte,))) for byte in part]
        return [(self.vocabulary.unk_id or 0, part)] if part else []

    def _steps(self, text: bytes, aligned: Aligned, normalized: bytes) -> Steps:
        tokens = self.segments.tokens(normalized)
        ends = [aligned.ends[token.end] for token in tokens]
        found, place = [], 0
        for token, end in zip(tokens, [*ends[:-1], len(text)], strict=False):
            after = place if end == INSIDE else end
            found.append((token.id, text[place:after]))
            place = after
        return found

    def extensions(
        self, suffix: bytes, viable: Callable[[bytes], bool] = anything
    ) -> Iterator[tuple[int, bytes]]:
        """The pieces that begin with ``suffix`` and go on, as if all but the space were itself."""

        def may_come(extension: bytes) -> bool:
            whole = extension[: whole_characters(extension)]
            if SPACE_SYMBOL.startswith(extension[len(whole) :]) and whole != extension:
                return viable(self._raw(whole) + b" ") or viable(extension)
            return viable(self._raw(extension))

        inner = self.aligner.aligned(suffix, start=False)
        for token_id, extension in self.pieces.extensions(inner.text + inner.owed, may_come):
            yield token_id, self._raw(extension)

    def word_start(self, context: Context) -> tuple[int, int]:
        """A place within the context's text that nothing crosses, and how many ids are before it.

        (0, 0) where none is known: the spaces that a normalizer removes depend on those before.
        """
        try:
            text = context.text.decode()
        except UnicodeDecodeError:
            return 0, 0
        # Ids do not tell the symbol of a space from a space.
        if not self.aligner.plain or SPACE_SYMBOL in context.text:
            return 0, 0
        normalized = text.replace(" ", self.aligner.space.decode())
        place = self.segments.boundary(normalized)
        # In the normalized text, of which byte pieces may spell a space in three.
        left, first = len(normalized[place:].encode()), len(context.ids)
        while left > 0 and first and context.ids[first - 1] != self.vocabulary.unk_id:
            first -= 1
            left -= len(self.vocabulary.spelling(context.ids[first]))
        return (len(text[:place].encode()), first) if place and not left else (0, 0)

    def window(self, context: Context, text: bytes) -> Window:
        """The whole text, or the end of it where its words are known to be apart."""
        start, first = self.word_start(context)
        return Window(text[start:], start, first)

    def encoded(self, window: Window, ways: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """See :class:`AnyTokenizer`."""
        start = not window.start
        aligned = [self.aligner.aligned(window.text + way, start=start) for way in ways]
        encoded = self.segments.encode(one.text for one in aligned)
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
        """See :class:`AnyTokenizer`."""
        aligned = self.aligner.aligned(window.text + more, state, start=not window.start)
        if not aligned.text:
            return [Bound((), more, "stand-in", whole=False)]
        beginnings = Beginnings(self.segments.encode, aligned.text, self.pieces)
        found = [self._bound(window, aligned, beginnings.whole, more, "end")]
        symbol = b"" if aligned.owed else self.aligner.symbol(aligned.rest)
        if symbol and self.segments.parted(aligned.text, symbol):
            return found
        ways = Continuations(self.aligner, aligned, state)
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
