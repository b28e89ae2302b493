"""Byte-level byte-pair encoding, with pre-tokenization and special tokens; and what goes with it.

Merging is that of :class:`impls.pipeline.models.Bpe`, of single bytes; the rest is here.
"""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, ClassVar

import regex

from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer
from harness.studies.selftest.plain.base import Compiled, Plain, text_of
from impls.interface import Capability, Law, Mode, Rejected
from impls.pipeline.models import Bpe
from impls.pretokenize.unicode_version import as_of_unicode_16

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary

    Pair = tuple[int, int]

REMEMBERED = 1 << 15
"""Pieces whose ids are kept; then all are forgotten."""

SHORT = 64
"""Bytes of a piece up to which its ids are kept."""


class PlainBpe(Plain, Bpe):
    """Right."""

    name = "plain.bpe"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.DECODE, Capability.OFFSETS}
    )

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """Byte-level vocabularies without a normalizer or added tokens."""
        if vocabulary.algorithm is not Algorithm.BPE or vocabulary.alphabet is not Alphabet.BYTES:
            return "byte-level byte-pair encoding only"
        if vocabulary.normalizer != Normalizer() or vocabulary.added_tokens:
            return "no normalizer, no added tokens"
        return None

    def prepare(self) -> None:
        """Tables by dictionaries."""
        self.tokens = self.vocabulary.ids
        self._merges = self.ranked()
        self.specials = dict(self.vocabulary.special_tokens)
        longest = sorted(self.specials, key=len, reverse=True)
        self.special = re.compile(f"({'|'.join(map(re.escape, longest)) or '(?!)'})")
        self.expressions = [regex.compile(split) for split in self.vocabulary.splits]
        self.known: dict[bytes, list[int]] = {}

    def ranked(self) -> dict[Pair, Pair]:
        """Each mergeable pair's rank and the id that it becomes."""
        merges = self.vocabulary.merges
        columns = (merges.left.tolist(), merges.right.tolist(), merges.merged.tolist())
        found: dict[Pair, Pair] = {}
        for rank, (left, right, merged) in enumerate(zip(*columns, strict=True)):
            found.setdefault((left, right), (rank, merged))
        return found

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids."""
        return self.coded(data, mode)

    def coded(self, data: bytes, mode: Mode) -> list[int]:
        """Special tokens cut out, the rest split, each piece merged."""
        if not mode.pretokenize:
            return [*self.piece(data)]
        ids: list[int] = []
        text = text_of(data)
        parts = [text] if mode.special == "none" else self.special.split(text)
        for at, part in enumerate(parts):  # every other one is a special token
            if at % 2:
                ids.append(self.specials[part])
            else:
                for piece in self.pieces(part):
                    ids += self.piece(piece.encode())
        return ids

    def pieces(self, text: str) -> list[str]:
        """The pre-tokens: matches and the gaps between them, pattern after pattern."""
        dated, cuts = as_of_unicode_16(text), {0, len(text)}
        for expression in self.expressions:
            for start, end in pairwise(sorted(cuts)):
                for match in expression.finditer(dated[start:end]):
                    cuts |= {start + place for place in match.span()}
        return [text[start:end] for start, end in pairwise(sorted(cuts))]

    def piece(self, piece: bytes) -> list[int]:
        """The ids of one pre-token; short ones are remembered."""
        found = self.known.get(piece)
        if found is None:
            found = self.segment(piece)
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            if len(piece) <= SHORT:
                self.known[piece] = found
        return found

    def segment(self, piece: bytes) -> list[int]:
        """The token that is the whole piece, where the vocabulary says so; else by merging."""
        whole = self.tokens.get(piece) if self.vocabulary.ignore_merges else None
        return self._merged(self.symbols(piece)) if whole is None else [whole]

    def symbols(self, piece: bytes) -> list[int]:
        """The ids of single bytes. Raises Rejected for one without."""
        try:
            return [self.tokens[piece[i : i + 1]] for i in range(len(piece))]
        except KeyError as error:
            raise Rejected(f"no token for {error}") from error

    def decode(self, ids: Sequence[int]) -> bytes:
        """The tokens' bytes."""
        return self.vocabulary.spell(list(ids))

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        """The ids and the bytes that each one spells."""
        ids = self.encode(data, mode)
        sizes = (len(self.vocabulary.spelling(token_id)) for token_id in ids)
        spans = list(pairwise(accumulate(sizes, initial=0)))
        return ids, spans


class PlainFewest(Compiled):
    """The fewest tokens."""

    name = "plain.fewest"
    engine = "bpe.minimal"
    law = Law.FEWEST


class PlainServices(Compiled):
    """Every service by ``encode``, as slow as that may be, of many parts of a text."""

    name = "plain.services"
    engine = "bpe.heap"
    capabilities = frozenset(
        map(Capability, ("count", "count_till_limit", "split", "append", "prepend", "interval"))
    )
    max_input = 1024

    def size(self, data: bytes, mode: Mode) -> int:
        """The number of ids."""
        return len(self.compiled.encode(data, mode))

    def count(self, data: bytes, mode: Mode) -> int:
        """The number of ids."""
        return self.size(data, mode)

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        """The number of ids, None past the limit."""
        count = self.size(data, mode)
        return count if count <= limit else None

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        """A chunk for each character, which is allowed whatever the limit."""
        ends = [end for end in range(1, len(data)) if data[end] & 0xC0 != 0x80]
        return [*ends, len(data)] if data else []

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Each beginning, counted."""
        return [self.size(text, mode) for text in accumulate(chunks)]

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Each end, counted."""
        return [self.size(text, mode) for text in accumulate(chunks, lambda a, b: b + a)]

    def interval(self, text: bytes, ranges: Sequence[tuple[int, int]], mode: Mode) -> Sequence[int]:
        """Each part, counted."""
        return [self.size(text[start:end], mode) for start, end in ranges]
