"""Byte-level byte-pair encoding by a heap, with pre-tokenization, special tokens and services."""

from __future__ import annotations

import heapq
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, ClassVar

import regex

from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer
from harness.studies.selftest.plain.base import Plain, text_of
from harness.studies.selftest.plain.row import Row
from impls import registry
from impls.interface import Capability, Law, Mode, Rejected
from impls.pretokenize.unicode_version import as_of_unicode_16

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from corpora.vocabularies.model import Vocabulary

Pair = tuple[int, int]
Entry = tuple[tuple[int, ...], int, Pair]
"""An entry of the heap is the priority, the place, and the pair that stood there when it was
offered."""

REMEMBERED = 1 << 15
"""Pieces whose ids are kept; then all are forgotten."""


class PlainBpe(Plain):
    """Right. Every method is a rule that a mistake may change."""

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
        self.first: dict[str, list[str]] = {}
        for special in self.specials:
            self.first.setdefault(special[0], []).append(special)
        self.expressions = [regex.compile(split) for split in self.splits()]
        self.known: dict[bytes, list[int]] = {}

    def ranked(self) -> dict[Pair, tuple[int, int]]:
        """Each mergeable pair's rank and the id that it becomes."""
        merges = self.vocabulary.merges
        columns = (merges.left.tolist(), merges.right.tolist(), merges.merged.tolist())
        found: dict[Pair, tuple[int, int]] = {}
        for rank, (left, right, merged) in enumerate(zip(*columns, strict=True)):
            found.setdefault((left, right), (rank, merged))
        return found

    def splits(self) -> tuple[str, ...]:
        """The patterns of the pre-tokenizer."""
        return self.vocabulary.splits

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """Special tokens cut out, the rest split, each piece merged."""
        if not mode.pretokenize:
            return self.piece(data)
        ids: list[int] = []
        for part in self.parts(text_of(data), mode):
            if isinstance(part, int):
                ids.append(part)
                continue
            for piece in self.pieces(part):
                ids += self.piece(piece.encode())
        return ids

    def parts(self, text: str, mode: Mode) -> Iterable[str | int]:
        """Ordinary texts and special tokens, in order."""
        if mode.special == "none":
            return [text]
        found: list[str | int] = []
        place = start = 0
        while place < len(text):
            special = self.special_at(text, place)
            if special is None:
                place += 1
                continue
            found += [text[start:place], self.specials[special]]
            place += len(special)
            start = place
        found.append(text[start:])
        return found

    def special_at(self, text: str, place: int) -> str | None:
        """The longest special token that begins there."""
        every = [
            special for special in self._beginning(text[place]) if text.startswith(special, place)
        ]
        return max(every, key=len, default=None)

    def _beginning(self, character: str) -> list[str]:
        return self.first.get(character, [])

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
        if len(piece) > 64:
            return self.segment(piece)
        found = self.known.get(piece)
        if found is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            found = self.known[piece] = self.segment(piece)
        return found

    def segment(self, piece: bytes) -> list[int]:
        """The token that is the whole piece, where the vocabulary says so; else by merging."""
        whole = self.ids.get(piece) if self.vocabulary.ignore_merges else None
        return self.merge(piece) if whole is None else [whole]

    def symbols(self, piece: bytes) -> list[int]:
        """The ids of single bytes. Raises Rejected for one without."""
        try:
            return [self.ids[piece[i : i + 1]] for i in range(len(piece))]
        except KeyError as error:
            raise Rejected(f"no token for {error}") from error

    def merge(self, piece: bytes) -> list[int]:
        """The pair of the lowest rank first, of equal ranks the leftmost, until there is none."""
        row = Row.of(self.symbols(piece))
        heap: list[Entry] = []
        for place in range(len(row.symbols) - 1):
            self.offer(heap, row, place)
        while heap:
            _, place, pair = heapq.heappop(heap)
            if self.stale(row, place, pair):
                continue
            row.join(place, self.merged(pair))
            for near in self.touched(row, place):
                self.offer(heap, row, near)
        return row.left()

    def offer(self, heap: list[Entry], row: Row[int], place: int) -> None:
        """Put the pair at a place on the heap if it can be merged."""
        pair = row.pair(place)
        if pair is not None and pair in self.merges:
            heapq.heappush(heap, (self.priority(pair, place), place, pair))

    def priority(self, pair: Pair, place: int) -> tuple[int, ...]:
        """The least is merged first."""
        return self.merges[pair][0], place

    def merged(self, pair: Pair) -> int:
        """What a pair becomes."""
        return self.merges[pair][1]

    def stale(self, row: Row[int], place: int, pair: Pair) -> bool:
        """Whether another merge has changed what stood there."""
        return row.pair(place) != pair

    def touched(self, row: Row[int], place: int) -> Sequence[int]:
        """Where new pairs stand after a merge."""
        return (place, row.before[place])

    def decode(self, ids: Sequence[int]) -> bytes:
        """The tokens' bytes."""
        return self.vocabulary.spell(list(ids))

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        """The ids and the bytes that each one spells."""
        ids = self.encode(data, mode)
        sizes = (len(self.vocabulary.spelling(token_id)) for token_id in ids)
        return ids, list(pairwise(accumulate(sizes, initial=0)))


class PlainFewest(PlainBpe):
    """The fewest tokens, by the fewest for every beginning of the text."""

    name = "plain.fewest"
    modes = ("raw",)
    max_input = 512
    law = Law.FEWEST

    def prepare(self) -> None:
        """Also the length of the longest token."""
        super().prepare()
        self.longest = max(map(len, self.ids))

    def merge(self, piece: bytes) -> list[int]:
        """Of equally few, those whose last token is the longest."""
        self.symbols(piece)
        fewest = [0]
        begins = [0]
        for end in range(1, len(piece) + 1):
            starts = range(max(0, end - self.longest), end)
            known = [start for start in starts if piece[start:end] in self.ids]
            begins.append(min(known, key=fewest.__getitem__))
            fewest.append(fewest[begins[end]] + 1)
        found = []
        end = len(piece)
        while end > 0:
            found.append(self.ids[piece[begins[end] : end]])
            end = begins[end]
        return found[::-1]


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


class PlainDropout(PlainBpe):
    """Right with dropout, too: all merges are left out, which is a draw like any other."""

    name = "plain.dropout"
    modes = ("text",)

    def encode_with_dropout(self, data: bytes, mode: Mode) -> list[int]:
        """See ``DropsMerges``."""
        pieces = self.pieces(text_of(data))
        return [token_id for piece in pieces for token_id in self.drawn(piece.encode())]

    def drawn(self, piece: bytes) -> list[int]:
        """The ids of one pre-token in one draw."""
        return [self.ids[bytes([byte])] for byte in piece]


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

    def count(self, data: bytes, mode: Mode) -> int:
        """The number of ids."""
        return len(self.encode(data, mode))

    def count_till_limit(self, data: bytes, limit: int, mode: Mode) -> int | None:
        """Likewise, None past the limit."""
        count = self.count(data, mode)
        return count if count <= limit else None

    def split(self, data: bytes, limit: int, mode: Mode) -> Sequence[int]:
        """The longest chunk that fits, again and again."""
        ends: list[int] = []
        start = 0
        while start < len(data):
            cuts = [cut for cut in range(start + 1, len(data) + 1) if is_boundary(data, cut)]
            end = cuts[0]
            for cut in cuts:
                # A token has at least a byte, and at most as many as the longest.
                if cut - start > limit * self.vocabulary.max_token_bytes:
                    break
                if self.count(data[start:cut], mode) <= limit:
                    end = cut
            start = end
            ends.append(start)
        return ends

    def append(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Each beginning, counted."""
        return [self.count(text, mode) for text in accumulate(chunks)]

    def prepend(self, chunks: Sequence[bytes], mode: Mode) -> Sequence[int]:
        """Each end, counted."""
        return [self.count(text, mode) for text in accumulate(chunks, lambda a, b: b + a)]

    def interval(self, text: bytes, ranges: Sequence[tuple[int, int]], mode: Mode) -> Sequence[int]:
        """Each part, counted."""
        return [self.count(text[start:end], mode) for start, end in ranges]


def is_boundary(data: bytes, cut: int) -> bool:
    """Whether a cut is at the end, or before a byte that may begin a character."""
    return cut == len(data) or data[cut] & 0xC0 != 0x80
