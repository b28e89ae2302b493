"""The encoder that offers all services, and the implementation that loads it.

Each service is in a file of its own: :mod:`impls.bpe.append`, :mod:`impls.bpe.prepend`,
:mod:`impls.bpe.interval`, :mod:`impls.bpe.count_till_limit` and :mod:`impls.bpe.split`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from impls.bpe.append import Appender
from impls.bpe.count_till_limit import WINDOW, is_local, piece_till_limit, windows_till_limit
from impls.bpe.encoder import BpeEncoder, BpeImplementation
from impls.bpe.interval import Intervals
from impls.bpe.prepend import Prepender, mirrored
from impls.bpe.split import chunk_ends, piece_ends
from impls.bpe.table import forward
from impls.bpe.tokens import improper_tokens, tokens_of
from impls.interface import Capability, Mode, Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.bpe.pieces import EncodePieces
    from impls.bpe.table import Tables
    from impls.pretokenize.pieces import PlainCutter

RAW = Mode(pretokenize=False)


class ServingEncoder(BpeEncoder):
    """An encoder with the services. Automata, which only they need, are made on first use."""

    def __init__(
        self, vocabulary: Vocabulary, encode_pieces: EncodePieces, cutter: PlainCutter
    ) -> None:
        super().__init__(vocabulary, encode_pieces, cutter)
        self._tokens = tokens_of(vocabulary)
        self._form = vocabulary.normalizer.form
        self._local = is_local(vocabulary.splits)
        texts = [*vocabulary.special_tokens, *(token.text for token in vocabulary.added_tokens)]
        special = max((len(text.encode()) for text in texts), default=1)
        self._longest = max(special, self._spellings.longest)
        self.obstacle = self._obstacle(vocabulary)
        """Why the last token of a prefix does not determine its encoding, None if it does."""

    def _obstacle(self, vocabulary: Vocabulary) -> str | None:
        if not self.takes_whole(RAW):
            return "a normalization form or added tokens act on the text even as one piece"
        if len(self._tokens.out_of_order):
            return "tokens of this vocabulary are older than their halves"
        if vocabulary.ignore_merges and improper_tokens(vocabulary):
            return "tokens of this vocabulary come out only where they are a whole text"
        return None

    @cached_property
    def _forward(self) -> Tables:
        return forward(self._tokens)

    @cached_property
    def _backward(self) -> Tables:
        return mirrored(self._tokens, self._spellings.each(self._tokens.ids.tolist()))

    def _require_determined(self, mode: Mode) -> None:
        if mode != RAW:
            raise Unsupported("texts that grow and parts of texts: without pre-tokenization only")
        if self.obstacle is not None:
            raise Unsupported(self.obstacle)

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
        return len(self._encode(data, mode))

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        """See ``impls.interface.CountsTillLimit``. With a normalization form, all is read."""
        if limit < 0:
            raise ValueError(f"the limit must not be negative, it is {limit}")
        if self._form is None:
            if len(data) > limit * self._longest:
                return None
            if self.takes_whole(mode) and self.obstacle is None:
                return piece_till_limit(self.appender(), data, limit, self._longest)
            if mode.pretokenize and self._local:
                size = max(WINDOW, 8 * limit)
                return windows_till_limit(self, data, limit, mode, self._longest, size)
        count = self.count(data, mode)
        return count if count <= limit else None

    def split(self, data: bytes, limit: int, mode: Mode) -> list[int]:
        """See ``impls.interface.Splits``; the rule is in :mod:`impls.bpe.split`."""
        if limit < 1:
            raise ValueError(f"the limit must be positive, it is {limit}")
        if not data:
            return []
        if self._cutter.changes(data):
            raise Unsupported("splitting a text that normalization changes")
        if self.takes_whole(mode) and self.obstacle is None:
            return piece_ends(self._forward, data, limit)
        return chunk_ends(self, self._forward, data, limit, mode)


def _after_each(growing: Appender, chunks: Sequence[bytes]) -> list[int]:
    counts = []
    for chunk in chunks:
        growing.extend(chunk)
        counts.append(growing.count)
    return counts


class ServingImplementation(BpeImplementation):
    """An algorithm whose encoder has the services, too."""

    encoder_type = ServingEncoder
    capabilities = BpeImplementation.capabilities | {
        Capability.COUNT,
        Capability.COUNT_TILL_LIMIT,
        Capability.SPLIT,
        Capability.APPEND,
        Capability.PREPEND,
        Capability.INTERVAL,
    }

    def cutter(self, vocabulary: Vocabulary) -> PlainCutter:
        """What cuts inputs by nothing but the vocabulary's own patterns: who judges asks for it."""
        from impls.pretokenize.pieces import PlainCutter  # noqa: PLC0415 - as in the base class

        return PlainCutter(vocabulary)
