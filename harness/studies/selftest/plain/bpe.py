"""Byte-level byte-pair encoding, with pre-tokenization and special tokens; and its services."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, ClassVar

import regex

from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer
from harness.studies.selftest.plain.base import Merging, text_of
from impls import registry
from impls.interface import Capability, Law, Mode, Rejected
from impls.pretokenize.unicode_version import as_of_unicode_16

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary

    Pair = tuple[int, int]

REMEMBERED = 1 << 15
"""Pieces whose ids are kept; then all are forgotten."""

SHORT = 64
"""Bytes of a piece up to which its ids are kept."""


class PlainBpe(Merging):
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
        self.ids = self.vocabulary.ids
        self.merges = self.ranked()
        self.specials = dict(self.vocabulary.special_tokens)
        longest = sorted(self.specials, key=len, reverse=True)
        self.special = re.compile(f"({'|'.join(map(re.escape, longest)) or '(?!)'})")
        self.expressions = [regex.compile(split) for split in self.vocabulary.splits]
        self.known: dict[bytes, list[int]] = {}

    def ranked(self) -> dict[Pair, tuple[int, int]]:
        """Each mergeable pair's rank and the id that it becomes."""
        merges = self.vocabulary.merges
        columns = (merges.left.tolist(), merges.right.tolist(), merges.merged.tolist())
        found: dict[Pair, tuple[int, int]] = {}
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
        dated = as_of_unicode_16(text)
        cuts = [0, len(text)]
        for expression in self.expressions:
            finer = {0, len(text)}
            for start, end in pairwise(cuts):
                finer.add(start)
                for match in expression.finditer(dated[start:end]):
                    finer.update((start + match.start(), start + match.end()))
            cuts = sorted(finer)
        return [text[start:end] for start, end in pairwise(cuts) if start < end]

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
        whole = self.ids.get(piece) if self.vocabulary.ignore_merges else None
        return self.merge(self.symbols(piece)) if whole is None else [whole]

    def symbols(self, piece: bytes) -> list[int]:
        """The ids of single bytes. Raises Rejected for one without."""
        try:
            return [self.ids[piece[i : i + 1]] for i in range(len(piece))]
        except KeyError as error:
            raise Rejected(f"no token for {error}") from error

    def joined(self, pair: Pair) -> tuple[int, int] | None:
        """By the list of merges."""
        return self.merges.get(pair)

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


class PlainFewest(PlainBpe):
    """The fewest tokens, by the fewest for every beginning of the text."""

    name = "plain.fewest"
    modes = ("raw",)
    max_input = 512
    law = Law.FEWEST

    def segment(self, piece: bytes) -> list[int]:
        """Of equally few, those whose last token is the longest."""
        self.symbols(piece)
        longest = self.vocabulary.max_token_bytes
        best: list[list[int]] = [[]]
        for end in range(1, len(piece) + 1):
            starts = range(max(0, end - longest), end)
            known = [start for start in starts if piece[start:end] in self.ids]
            start = min(known, key=lambda one: len(best[one]))
            best.append([*best[start], self.ids[piece[start:end]]])
        return best[-1]


class PlainDropout(PlainBpe):
    """Right with dropout, too: all merges are left out, which is a draw like any other."""

    name = "plain.dropout"
    modes = ("text",)

    def encode_with_dropout(self, data: bytes, mode: Mode) -> list[int]:
        """See ``DropsMerges``."""
        pieces = [piece.encode() for piece in self.pieces(text_of(data))]
        return [token_id for piece in pieces for token_id in self.symbols(piece)]


SERVICES = frozenset(
    {
        Capability.COUNT,
        Capability.COUNT_TILL_LIMIT,
        Capability.SPLIT,
        Capability.APPEND,
        Capability.PREPEND,
        Capability.INTERVAL,
    }
)


class PlainServices(PlainBpe):
    """Every service by ``encode``, as slow as that may be."""

    name = "plain.services"
    modes = ("raw",)
    capabilities = SERVICES
    max_input = 1024

    def prepare(self) -> None:
        """The compiled heap, since each service encodes many parts of a text."""
        self.compiled = registry.resolve("bpe.heap").load(self.vocabulary)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids."""
        return list(self.compiled.encode(data, mode))

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
        """The longest chunk that fits, again and again."""
        most = limit * self.vocabulary.max_token_bytes
        cuts = [cut for cut in range(1, len(data)) if data[cut] & 0xC0 != 0x80]
        cuts += [len(data)] if data else []
        ends: list[int] = []
        start = 0
        while start < len(data):
            later = [cut for cut in cuts if cut > start]
            near = [cut for cut in later if cut - start <= most]
            fit = [cut for cut in near if self.size(data[start:cut], mode) <= limit]
            start = max(fit, default=later[0])
            ends.append(start)
        return ends

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Each beginning, counted."""
        return [self.size(text, mode) for text in accumulate(chunks)]

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Each end, counted."""
        return [self.size(text, mode) for text in accumulate(chunks, lambda a, b: b + a)]

    def interval(self, text: bytes, ranges: Sequence[tuple[int, int]], mode: Mode) -> Sequence[int]:
        """Each part, counted."""
        return [self.size(text[start:end], mode) for start, end in ranges]
