"""Vocabularies as the policies see them: encoding, and what extends a text. Byte-level BPE here."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from impls.forced.boundaries import Boundaries
from impls.forced.characters import SHORT, anything, cut_off, whole_characters
from impls.forced.remembering import Remembering
from impls.forced.spellings import Spellings
from impls.interface import Mode, Unsupported
from impls.pretokenize.pieces import byte_lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.bpe.encoder import BpeEncoder
    from impls.forced.context import Context

RAW = Mode(pretokenize=False)

REMEMBERED = 1 << 15
"""Pre-tokens whose ids are remembered."""


class Sizes(dict[int, int]):
    """How many bytes each id spells, looked up once. KeyError for an id of none."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, token_id: int) -> int:
        self[token_id] = size = len(self._vocabulary.spelling(token_id))
        return size


class Tokenizer:
    """A byte-level BPE vocabulary with its encoder. Texts may end inside a character.

    pretokenize: whether the vocabulary's pre-tokenizer comes first, as it does in use.
    """

    def __init__(self, vocabulary: Vocabulary, *, pretokenize: bool = True) -> None:
        # The plain encoder, since what others are judged by rests on the simplest code.
        from impls.bpe.algorithms.plain import IMPLEMENTATION  # noqa: PLC0415 - Numba takes a second

        mode = Mode(pretokenize=pretokenize)
        trouble = IMPLEMENTATION.supports(vocabulary, mode)
        if trouble is not None:
            raise Unsupported(f"forced tokens of {vocabulary.id}: {trouble}")
        self.vocabulary = vocabulary
        self.mode = mode
        self._encoder: BpeEncoder = IMPLEMENTATION.load(vocabulary)
        # Texts are short here, and ask for the same pre-tokens again and again.
        self._cut = IMPLEMENTATION.cutter(vocabulary).by_patterns(mode)
        self._ids_of_pieces = Remembering[str, tuple[int, ...]](
            lambda pieces: self.encode_pieces([piece.encode() for piece in pieces]), REMEMBERED
        )
        self._short = lru_cache(maxsize=1 << 14)(lambda data: self.encode_many([data])[0])

    @property
    def cuts_by_patterns(self) -> bool:
        """Whether the vocabulary's patterns alone decide where a text is cut."""
        return self._cut is not None

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest token."""
        return self.vocabulary.max_token_bytes

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(self.vocabulary.ids)

    def spelling(self, token_id: int) -> bytes:
        """The bytes of an id."""
        return self.vocabulary.spelling(token_id)

    @cached_property
    def sizes(self) -> Sizes:
        """How many bytes each id spells."""
        return Sizes(self.vocabulary)

    def size(self, ids: Iterable[int]) -> int:
        """How many bytes ids spell."""
        return sum(map(self.sizes.__getitem__, ids))

    def encode(self, data: bytes) -> tuple[int, ...]:
        """The ids. Parts of characters at either end are encoded as pieces of their own."""
        if len(data) <= SHORT:
            return self._short(data)  # policies ask alike
        return self.encode_many([data])[0]

    def encode_many(self, texts: Sequence[bytes]) -> list[tuple[int, ...]]:
        """The ids of many texts, by one compiled call."""
        if not self.mode.pretokenize:
            return self._batch(texts, self.mode)
        bounds = [(cut_off(text), whole_characters(text)) for text in texts]
        inner = [text[a : max(a, b)] for text, (a, b) in zip(texts, bounds, strict=True)]
        ids = self._batch(inner, self.mode) if self._cut is None else list(map(self._joined, inner))
        return [
            found
            if (a, b) == (0, len(text))
            else (*self._part(text[:a]), *found, *self._part(text[max(a, b) :]))
            for text, (a, b), found in zip(texts, bounds, ids, strict=True)
        ]

    def stands_alone(self, context: Context) -> bool:
        """See :class:`impls.forced.interface.AnyTokenizer`."""
        if not self._growing.known:
            return self.encode(context.text) == context.ids
        start, first = self._growing.beginning(context, context.text)
        return self.encode(context.text[start:]) == context.ids[first:]

    @cached_property
    def _growing(self) -> Boundaries:
        return Boundaries(self)

    def _joined(self, text: bytes) -> tuple[int, ...]:
        """The ids of the pre-tokens of a text, one after another."""
        assert self._cut is not None
        return tuple(chain.from_iterable(self._ids_of_pieces(self._cut(text))))

    def _part(self, part: bytes) -> tuple[int, ...]:
        """The ids of a part of a character, or of nothing."""
        return tuple(self._encoder.encode(part, RAW)) if part else ()

    def steps(self, text: bytes) -> list[tuple[int, bytes]]:
        """The ids of a text, each with the bytes of the text that it stands for."""
        return [(token_id, self.spelling(token_id)) for token_id in self.encode(text)]

    def steps_after(self, context: Context, data: bytes) -> list[tuple[int, bytes]]:
        """The ids of ``data`` after a context as an engine finds them, each with its bytes.

        Encoded together with the last token of the context, which is taken off again where it
        comes out unchanged; else by themselves.
        """
        if context.ids:
            last = context.ids[-1]
            together = self.steps(self.spelling(last) + data)
            if together[0][0] == last:
                return together[1:]
        return self.steps(data)

    def merging(self) -> Tokenizer:
        """The same vocabulary where a pre-token is merged, be it a token or not."""
        if not self.vocabulary.ignore_merges:
            return self
        plain = replace(self.vocabulary, ignore_merges=False)
        return Tokenizer(plain, pretokenize=self.mode.pretokenize)

    def encode_pieces(self, pieces: Sequence[bytes]) -> list[tuple[int, ...]]:
        """The ids of pre-tokens, each by itself."""
        return self._batch(pieces, RAW)

    def _batch(self, texts: Sequence[bytes], mode: Mode) -> list[tuple[int, ...]]:
        ends = np.array(list(accumulate(map(len, texts))), dtype=np.int64)
        ids, id_ends = self._encoder.encode_batch(b"".join(texts), ends, mode)
        flat = ids.tolist()
        bounds = [0, *id_ends.tolist()]
        return [tuple(flat[a:b]) for a, b in pairwise(bounds)]

    def piece_ends(self, texts: Sequence[bytes]) -> list[list[int]]:
        """Where the pre-tokens of each text (whole characters) end; just its end without any."""
        if not self.mode.pretokenize:
            return [[len(text)] if text else [] for text in texts]
        if self._cut is not None:
            return [
                list(accumulate(byte_lengths(self._cut(text), of_ascii=text.isascii())))
                for text in texts
            ]
        ends = np.array(list(accumulate(map(len, texts))), dtype=np.int64)
        pieces = self._encoder.cut(b"".join(texts), ends, self.mode)
        flat = pieces.ends.tolist()
        found, start, first = [], 0, 0
        for count, end in zip(pieces.counts.tolist(), ends.tolist(), strict=True):
            found.append([place - start for place in flat[first:count]])
            first, start = count, end
        return found

    def extensions(
        self, suffix: bytes, viable: Callable[[bytes], bool] = anything
    ) -> Iterator[tuple[int, bytes]]:
        """The tokens that begin with ``suffix`` and go on with a viable e: (id, e), lazily.

        viable: whether something may go on with these bytes; asked for beginnings of e first.
        """
        return self._spellings.extensions(suffix, viable)
