"""SentencePiece BPE and unigram vocabularies as the policies see them."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from corpora.vocabularies.model import Algorithm, PieceType
from corpora.vocabularies.sentencepiece_model import byte_of
from impls.forced.alignment import SPACE_SYMBOL, Aligner
from impls.forced.characters import SHORT, anything, cut_off, whole_characters
from impls.forced.futures import INSIDE
from impls.forced.lattice import Lattices
from impls.forced.merged_characters import MergedCharacters
from impls.forced.spellings import Spellings
from impls.interface import Mode, Unsupported
from impls.spm import encoder as spm
from impls.unigram import variants
from impls.unigram.lexicon import make_lexicon
from impls.unigram.viterbi import Implementation, UnigramEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.forced.alignment import Aligned
    from impls.forced.beginnings import TokenTree
    from impls.forced.context import Context
    from impls.forced.futures import Token

USABLE = frozenset({PieceType.NORMAL, PieceType.USER_DEFINED})


class Segments(Protocol):
    """An algorithm on normalized texts."""

    def encode(self, texts: Sequence[bytes], start: int = 0) -> list[tuple[Token, ...]]:
        """The tokens of texts, with their ends there; those behind the boundary ``start`` only."""
        ...

    def lasting(self, text: bytes, longest: int) -> tuple[Token, ...]:
        """The tokens at its beginning that a text keeps whatever follows, as far as is known.

        longest: bytes of the longest piece.
        """
        ...

    def tree(self, text: bytes, pieces: Spellings) -> TokenTree:
        """All of a text, and those of its beginnings from which a piece may go on over its end."""
        ...

    def parted(self, text: bytes, symbol: bytes) -> bool:
        """Whether a token ends with a text after which a user-defined symbol comes for sure.

        Whatever follows that, be it a longer symbol, too; false where it is not known.
        """
        ...


class PieceTokenizer:
    """A SentencePiece vocabulary as SentencePiece runs it, with its normalizer.

    Raises Unsupported where what comes later may change all that came before.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        if vocabulary.algorithm is Algorithm.UNIGRAM:
            implementation: Implementation | spm.SpmImplementation = Implementation(
                variants.SENTENCEPIECE
            )
        else:
            implementation = spm.SENTENCEPIECE
        trouble = implementation.supports(vocabulary, Mode())
        if trouble is not None:
            raise Unsupported(f"forced tokens of {vocabulary.id}: {trouble}")
        self.vocabulary = vocabulary
        self.aligner = Aligner(vocabulary)
        self.segments: Segments
        if vocabulary.algorithm is Algorithm.UNIGRAM:
            self.segments = Lattices(vocabulary)
        else:
            self.segments = MergedCharacters(vocabulary)
        # What judges rests on no code that is there for speed alone.
        self._encoder = (
            UnigramEncoder(
                vocabulary, variants.SENTENCEPIECE, make_lexicon(vocabulary, variants.SENTENCEPIECE)
            )
            if isinstance(implementation, Implementation)
            else spm.SpmEncoder(vocabulary, spm.SENTENCEPIECE.variant)
        )
        # Policies ask alike.
        self._short = lru_cache(maxsize=1 << 14)(lambda data: self.encode_many([data])[0])
        self._short_inner = lru_cache(maxsize=1 << 10)(self._inner_anew)

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
        if not self.vocabulary.normalizer.escape_whitespaces:
            return text
        return text.replace(SPACE_SYMBOL, b" ")

    def _escaped(self, text: str) -> str:
        """The inside of a text, normalized, where all characters but the space stay."""
        return text.replace(" ", self.aligner.space.decode())

    def encode(self, data: bytes) -> tuple[int, ...]:
        """The ids of a text; what is no UTF-8 is U+FFFD."""
        if len(data) <= SHORT:
            return self._short(data)
        return self.encode_many([data])[0]

    def encode_many(self, texts: Sequence[bytes]) -> list[tuple[int, ...]]:
        """The ids of many texts, by one compiled call."""
        ends = np.array(list(accumulate(map(len, texts))), dtype=np.int64)
        ids, id_ends = self._encoder.encode_batch(b"".join(texts), ends, Mode())
        flat = ids.tolist()
        return [tuple(flat[a:b]) for a, b in pairwise([0, *id_ends.tolist()])]

    def stands_alone(self, context: Context) -> bool:
        """See :class:`impls.forced.interface.AnyTokenizer`."""
        return self.encode(context.text) == context.ids

    def steps(self, text: bytes) -> list[tuple[int, bytes]]:
        """See :class:`impls.forced.interface.AnyTokenizer`."""
        return self._steps(text, self.aligner.closed(text))

    def steps_after(self, context: Context, data: bytes) -> list[tuple[int, bytes]]:
        """See :class:`impls.forced.interface.AnyTokenizer`.

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
            together = self._inner_steps(before + data)
            size = len(before)
        if together and together[0][0] == last and len(together[0][1]) == size:
            return together[1:]
        return self._inner_steps(data)

    def _inner_steps(self, data: bytes) -> list[tuple[int, bytes]]:
        """The ids of bytes from inside a text, parts of characters at either end by themselves."""
        return list(self._short_inner(data) if len(data) <= SHORT else self._inner_anew(data))

    def _inner_anew(self, data: bytes) -> list[tuple[int, bytes]]:
        start, end = cut_off(data), whole_characters(data)
        inner = data[start : max(start, end)]
        steps = self._steps(inner, self.aligner.inner(inner)) if inner else []
        return [*self._part(data[:start]), *steps, *self._part(data[max(start, end) :])]

    def _part(self, part: bytes) -> list[tuple[int, bytes]]:
        """The ids of a part of a character: of its bytes, or one unknown one."""
        if self._bytes:
            return [(self._bytes[byte], bytes((byte,))) for byte in part]
        return [(self.vocabulary.unk_id or 0, part)] if part else []

    @cached_property
    def _bytes(self) -> dict[int, int]:
        """The byte pieces, if characters fall back to them."""
        if not self.vocabulary.byte_fallback:
            return {}
        return {
            byte: token_id
            for token_id, piece in enumerate(self.vocabulary.pieces)
            if piece.type is PieceType.BYTE and (byte := byte_of(piece.text)) is not None
        }

    def _steps(self, text: bytes, aligned: Aligned) -> list[tuple[int, bytes]]:
        [tokens] = self.segments.encode([aligned.text])
        found: list[tuple[int, bytes]] = []
        place = 0
        for index, token in enumerate(tokens):
            end = aligned.ends[token.end]
            if index == len(tokens) - 1:
                end = len(text)
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

        for token_id, extension in self.pieces.extensions(
            self.aligner.inner(suffix).text, may_come
        ):
            yield token_id, self._raw(extension)

    def word_start(self, context: Context) -> tuple[int, int]:
        """A place within the context's text that nothing crosses, and how many ids are before it.

        (0, 0) where none is known: unigram's rounded sums go on from the text's beginning, and the
        spaces that a normalizer removes depend on those before.
        """
        if not (self.aligner.plain and isinstance(self.segments, MergedCharacters)):
            return 0, 0
        if SPACE_SYMBOL in context.text:
            return 0, 0  # ids do not tell it from a space
        try:
            text = context.text.decode()
        except UnicodeDecodeError:
            return 0, 0
        characters = self._escaped(text)
        place = self.segments.boundary(characters)
        if not place:
            return 0, 0
        # In the normalized text, of which byte pieces may spell a space in three.
        left, first = len(characters[place:].encode()), len(context.ids)
        while left > 0 and first:
            first -= 1
            if context.ids[first] == self.vocabulary.unk_id:
                return 0, 0
            left -= len(self.vocabulary.spelling(context.ids[first]))
        return (len(text[:place].encode()), first) if left == 0 else (0, 0)
