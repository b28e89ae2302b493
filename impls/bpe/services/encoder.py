"""The encoder that offers all services, and the implementation that loads it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.encoder import BpeEncoder
from impls.bpe.services import split
from impls.bpe.services.append import Appender
from impls.bpe.services.characters import character_ends
from impls.bpe.services.interval import Intervals
from impls.bpe.services.mirror import mirror_sections
from impls.bpe.services.prefixes import growing_block
from impls.bpe.services.prepend import Prepender
from impls.bpe.services.split import split_piece
from impls.bpe.tables.linear import suffix_sections, token_sections
from impls.interface import Mode, Rejected, Unsupported
from impls.kernels.layout import (
    BOUNDARIES,
    INNER,
    LENGTHS,
    OUT_OF_ORDER,
    REGULAR,
    SHORT,
    SHORTER,
    WALK,
    WHOLE_SLOTS,
    WORDS,
    section,
    unpack,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.bpe.services.append import Appender
    from impls.bpe.services.interval import Intervals
    from impls.bpe.services.prepend import Prepender
    from impls.kernels.encoding import EncodePieces
    from impls.pretokenize.pieces import PlainCutter

RAW = Mode(pretokenize=False)

WINDOW = 4096
"""Bytes of a text that are cut into pre-tokens at first, where a limit may end the count early."""

UNCERTAIN = 4
"""Last pre-tokens of a window that are not yet believed: with text after them they may come out
otherwise. The known patterns change two at most: a contraction joins the word before it, a run of
white space gives its last character away."""


ENCODING_ALONE = frozenset({WORDS, WALK, INNER, SHORTER, REGULAR, SHORT})
"""The sections of the fast encoder's block that no service reads."""


@dataclass(frozen=True, slots=True)
class _Named:
    """A vocabulary's name on disk; see :class:`impls.kernels.table_cache.Fingerprinted`."""

    fingerprint: str
    size: int

    def __len__(self) -> int:
        return self.size


class ServingEncoder(BpeEncoder):
    """A compiled encoder with the services. Tables that only they need are made on first use."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        encode_pieces: EncodePieces,
        block: NDArray[np.int32],
        cutter: PlainCutter,
    ) -> None:
        super().__init__(vocabulary, encode_pieces, block, cutter)
        self._named = _Named(vocabulary.fingerprint, len(vocabulary))
        self._splits = vocabulary.splits
        self._form = vocabulary.normalizer.form
        texts = [*vocabulary.special_tokens, *(token.text for token in vocabulary.added_tokens)]
        self._longest_special = max((len(text.encode()) for text in texts), default=1)
        # The plain encoder's block has other tables, so that the vocabulary stays there.
        plain = len(section(block, BOUNDARIES)) == 0
        self._find_tokens = partial(token_sections, vocabulary) if plain else None

    @cached_property
    def _tokens(self) -> dict[int, NDArray[np.int32]]:
        """Those of :func:`impls.bpe.tables.linear.token_sections`, which the block has, too."""
        if self._find_tokens is not None:
            return self._find_tokens()
        found = unpack(self._block)
        return {
            number: entries for number, entries in found.items() if number not in ENCODING_ALONE
        }

    @cached_property
    def _forward(self) -> NDArray[np.int32]:
        """Tokens by age, and the automaton."""

        return growing_block({**self._tokens, **suffix_sections(self._named, self._tokens)})

    @cached_property
    def _backward(self) -> NDArray[np.int32]:
        """Tokens by age, and the automaton of reversed tokens."""

        mirrored = mirror_sections(self._named, self._tokens, self._spellings)
        return growing_block({**self._tokens, **mirrored})

    @cached_property
    def _longest(self) -> int:
        """Bytes of the longest token of any kind."""
        return max(self._longest_special, self._spellings.longest)

    @cached_property
    def _local(self) -> bool:
        """Whether the pre-tokenizer is known to need no more than a few characters of context."""

        # It cannot be compiled on every processor, and is asked for where it can.
        from impls.pretokenize.scanners import scanner_of  # noqa: PLC0415

        return scanner_of(self._splits) is not None

    @cached_property
    def _obstacle(self) -> str | None:
        """Why the last token of a prefix does not determine its encoding, or None if it does."""
        if not self._takes_whole[False, "none"]:
            return "a normalization form or added tokens act on the text even as one piece"
        if len(section(self._block, OUT_OF_ORDER)):
            return "tokens of this vocabulary are older than their halves"
        if len(section(self._block, WHOLE_SLOTS)):
            return "tokens of this vocabulary come out only where they are a whole text"
        return None

    def _require_determined(self, mode: Mode) -> None:
        if mode != RAW:
            raise Unsupported("texts that grow and parts of texts: without pre-tokenization only")
        if self._obstacle is not None:
            raise Unsupported(self._obstacle)

    def appender(self) -> Appender:
        """An empty text to append to. Unsupported for some improper vocabularies."""

        self._require_determined(RAW)
        return Appender(self._forward)

    def prepender(self) -> Prepender:
        """An empty text to prepend to. Unsupported for some improper vocabularies."""

        self._require_determined(RAW)
        return Prepender(self._backward)

    def intervals(self, text: bytes) -> Intervals:
        """A text prepared for counting its parts. Unsupported for some improper vocabularies."""

        self._require_determined(RAW)
        return Intervals(self._forward, text)

    def append(self, chunks: Sequence[bytes], mode: Mode) -> list[int]:
        """See ``impls.interface.Appends``."""
        self._require_determined(mode)
        return _after_each(self.appender(), chunks)

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> list[int]:
        """See ``impls.interface.Prepends``."""
        self._require_determined(mode)
        return _after_each(self.prepender(), chunks)

    def interval(self, text: bytes, ranges: Sequence[tuple[int, int]], mode: Mode) -> list[int]:
        """See ``impls.interface.CountsIntervals``."""
        self._require_determined(mode)
        counts: list[int] = self.intervals(text).counts(ranges).tolist()
        return counts

    def count(self, data: bytes, mode: Mode) -> int:
        """See ``impls.interface.Counts``: no list of ids is made."""
        _, ends = self.encode_batch(data, np.array([len(data)], dtype=np.int64), mode)
        return int(ends[0])

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        """See ``impls.interface.CountsTillLimit``.

        Never reads more than ``limit`` tokens can be long. As one piece, it reads the text in
        growing parts until every place where a token may end has the limit before it. With one
        of the known pre-tokenizers it cuts and encodes growing windows of the text. Any other
        pattern, and special tokens without pre-tokenization, may look anywhere: all is cut, then.
        A text that normalization changes is read whole.
        """
        if limit < 0:
            raise ValueError(f"the limit must not be negative, it is {limit}")
        if self._form is None:
            if len(data) > limit * self._longest:
                return None
            if self._takes_whole[mode.pretokenize, mode.special] and self._obstacle is None:
                return self._piece_till_limit(data, limit)
            if mode.pretokenize and self._local:
                return self._windows_till_limit(data, limit, mode, max(WINDOW, 8 * limit))
        count = self.count(data, mode)
        return count if count <= limit else None

    def _piece_till_limit(self, data: bytes, limit: int) -> int | None:
        growing = self.appender()
        longest = self._longest
        while len(growing) < len(data):
            size = max(4 * limit + longest, len(growing))
            counts = growing.extend(data[len(growing) : len(growing) + size])
            # A token ends in every run of ``longest`` places, and one more is to come.
            if len(growing) < len(data) and counts[-longest:].min() >= limit:
                return None
        return growing.count if growing.count <= limit else None

    def _windows_till_limit(self, data: bytes, limit: int, mode: Mode, size: int) -> int | None:
        count = 0
        start = 0
        while True:
            end = min(len(data), start + size)
            while end < len(data) and data[end] & 0xC0 == 0x80:
                end += 1
            window = data[start:end]
            pieces = self._cutter.cut(window, np.array([len(window)], dtype=np.int64), mode)
            ids, id_ends = self._run(pieces)
            if end == len(data):
                count += len(ids)
                return count if count <= limit else None
            # A special token that the window's end cuts in two may begin so far before it.
            certain = int(np.searchsorted(pieces.ends, len(window) - self._longest, "right"))
            certain -= UNCERTAIN
            if certain > 0:
                count += int(id_ends[certain - 1])
                start += int(pieces.ends[certain - 1])
                if count >= limit:  # at least one more is to come
                    return None
            size *= 2

    def split(self, data: bytes, limit: int, mode: Mode) -> list[int]:
        """See ``impls.interface.Splits``; the rule is in :mod:`impls.bpe.services.split`."""

        if limit < 1:
            raise ValueError(f"the limit must be positive, it is {limit}")
        if not data:
            return []
        if self._cutter.changes(data):
            raise Unsupported("splitting a text that normalization changes")
        pieces = self._cutter.cut(data, np.array([len(data)], dtype=np.int64), mode)
        alone = self._takes_whole[mode.pretokenize, mode.special]
        if alone and self._obstacle is None:
            return self._split_piece(data, limit)
        _, id_ends = self._run(pieces)
        counts = np.diff(id_ends, prepend=0)
        stops = [0, *pieces.ends.tolist()]
        ends: list[int] = []
        for low, high in split.whole_pieces(counts, limit):
            if high - low == 1 and counts[low] > limit:
                part = data[stops[low] : stops[high]]
                ends += [stops[low] + end for end in self._split_piece(part, limit)]
            else:
                ends.append(stops[high])

        def tokens(ranges: list[tuple[int, int]]) -> list[int]:
            parts = [data[start:end] for start, end in ranges]
            sizes = np.cumsum([len(part) for part in parts], dtype=np.int64)
            _, found = self.encode_batch(b"".join(parts), sizes, mode)
            each: list[int] = np.diff(found, prepend=0).tolist()
            return each

        return split.halved(ends, limit, character_ends(np.frombuffer(data, np.uint8)), tokens)

    def _split_piece(self, data: bytes, limit: int) -> list[int]:
        ends = np.empty(len(data), dtype=np.int64)
        longest = int(section(self._forward, LENGTHS).max(initial=1))
        chunks = split_piece(self._forward, np.frombuffer(data, np.uint8), limit, longest, ends)
        if chunks < 0:
            raise Rejected(f"byte 0x{data[-1 - chunks]:02x} has no token")
        found: list[int] = ends[:chunks].tolist()
        return found


def _after_each(growing: Appender | Prepender, chunks: Sequence[bytes]) -> list[int]:
    counts = []
    for chunk in chunks:
        growing.extend(chunk)
        counts.append(growing.count)
    return counts
