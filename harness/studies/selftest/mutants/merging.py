"""Mistakes of byte-pair merging: order, ties, stale entries, what is offered, ranks, bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainBpe, PlainFewest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.studies.selftest.plain.bpe import Entry, Pair
    from harness.studies.selftest.plain.row import Row

BUFFER = 500
"""Bytes that ``Buffered`` takes at once."""

ROOM = 9_500
"""Bytes of a piece that ``GivesUpWhenLong`` merges."""


@planted("equivalence", on="toy_runs", stages=("merges",), shows=(b"aaa",))
class RightmostTie(PlainBpe):
    """Of pairs of one rank the rightmost is merged first."""

    def priority(self, pair: Pair, place: int) -> tuple[int, ...]:
        return self.merges[pair][0], -place


@planted("equivalence", on="toy_ties", shows=(b"abab",))
class StaleRight(PlainBpe):
    """An entry of the heap is taken for good while its left symbol is as it was."""

    def stale(self, row: Row[int], place: int, pair: Pair) -> bool:
        now = row.pair(place)
        return now is None or now[0] != pair[0]


@planted("equivalence", on="toy_ties", shows=(b"abab",))
class StaleKept(PlainBpe):
    """An entry of the heap is taken for good while there is a pair at its place."""

    def stale(self, row: Row[int], place: int, pair: Pair) -> bool:
        return row.pair(place) is None


@planted("equivalence", on="toy_bytes", stages=("merges",), shows=(b" the",))
class ForgetsLeft(PlainBpe):
    """After a merge the pair with the left neighbour is not offered."""

    def touched(self, row: Row[int], place: int) -> Sequence[int]:
        return (place,)


@planted("equivalence", on="toy_bytes", stages=("merges",), shows=(b"the",))
class ForgetsRight(PlainBpe):
    """After a merge the pair with the right neighbour is not offered."""

    def touched(self, row: Row[int], place: int) -> Sequence[int]:
        return (row.before[place],)


@planted("equivalence", on="tekken_240911", stages=("merges",), shows=(b"1    ",))
class LongestFirst(PlainBpe):
    """The pair with the longest result is merged first, whatever its rank."""

    def priority(self, pair: Pair, place: int) -> tuple[int, ...]:
        rank, merged = self.merges[pair]
        return -len(self.vocabulary.spelling(merged)), rank, place


@planted("equivalence", on="toy_merges", stages=("merges",), shows=(b"cabc",))
class IdsForRanks(PlainBpe):
    """Merges are in order of the ids that they give, not of the list."""

    def priority(self, pair: Pair, place: int) -> tuple[int, ...]:
        return self.merges[pair][1], place


@planted("equivalence", on="toy_acbb", stages=("merges",), shows=(b"abb",))
class LongestMatch(PlainBpe):
    """From the left, the longest token again and again, instead of merging."""

    def merge(self, piece: bytes) -> list[int]:
        self.symbols(piece)  # a byte without a token is refused, as it should be
        ids: list[int] = []
        start = 0
        while start < len(piece):
            end = min(len(piece), start + self.vocabulary.max_token_bytes)
            while piece[start:end] not in self.ids:
                end -= 1
            ids.append(self.ids[piece[start:end]])
            start = end
        return ids


@planted("equivalence", on="tekken_240911", stages=("merges",), shows=("\u200c a".encode(),))
class LostMerges(PlainBpe):
    """One merge in a thousand is missing."""

    def ranked(self) -> dict[Pair, tuple[int, int]]:
        return {pair: entry for pair, entry in super().ranked().items() if entry[0] % 1000 != 999}


@planted("equivalence", on="toy_merges", stages=("merges",), shows=(b"abc",))
class OneMergeAToken(PlainBpe):
    """Of several merges to one token only the last is kept."""

    def ranked(self) -> dict[Pair, tuple[int, int]]:
        made = {merged: pair for pair, (_, merged) in super().ranked().items()}
        return {pair: e for pair, e in super().ranked().items() if made[e[1]] == pair}


@planted("equivalence", on="tekken_240911", stages=("merges",), shows=(" \u105d".encode(),))
class ShortRanks(PlainBpe):
    """Ranks are kept in 16 bits, and wrap."""

    def priority(self, pair: Pair, place: int) -> tuple[int, ...]:
        return self.merges[pair][0] & 0xFFFF, place


@planted("equivalence", on="tekken_240911", mode="text", shows=(b" preparar",))
class ShortKeys(PlainBpe):
    """Tokens are looked up by their length and their first seven bytes."""

    modes = ("text",)

    def prepare(self) -> None:
        super().prepare()
        self.short = {(len(token), token[:7]): i for token, i in self.ids.items()}

    def segment(self, piece: bytes) -> list[int]:
        found = self.short.get((len(piece), piece[:7]))
        return self.merge(piece) if found is None else [found]


@planted("equivalence", on="toy_improper", mode="text", stages=("merges",), shows=(b"abcd",))
class NeverWhole(PlainBpe):
    """A pre-token that is a token is merged all the same, though the vocabulary says otherwise."""

    def segment(self, piece: bytes) -> list[int]:
        return self.merge(piece)


@planted("equivalence", on="toy_runs", stages=("merges",), shows=(b"a" * 504,))
class Buffered(PlainBpe):
    """What is beyond 500 bytes of a piece is merged by itself."""

    def segment(self, piece: bytes) -> list[int]:
        parts = [piece[start : start + BUFFER] for start in range(0, len(piece), BUFFER)]
        return [token_id for part in parts for token_id in self.merge(part)]


@planted("equivalence", on="toy_bytes", stages=("text",), shows=(b"a\0b",))
class EndsAtNul(PlainBpe):
    """The text ends at its first NUL, as a string of C does."""

    def segment(self, piece: bytes) -> list[int]:
        return super().segment(piece.partition(b"\0")[0])


@planted("equivalence", on="toy_bytes", stages=("text",), shows=(b"\xff",))
class ReplacesInvalid(PlainBpe):
    """Bytes that are not UTF-8 become U+FFFD before they are encoded."""

    def segment(self, piece: bytes) -> list[int]:
        return super().segment(piece.decode(errors="replace").encode())


@planted("equivalence", on="toy_bytes", stages=("merges",), shows=(b"th",))
class StopsEarly(PlainBpe):
    """The last pair of a piece is never offered by itself: off by one."""

    def offer(self, heap: list[Entry], row: Row[int], place: int) -> None:
        if place >= 0 and row.after[place] < len(row.symbols) - 1:
            super().offer(heap, row, place)


@planted("equivalence", on="toy_bytes", stages=("text",), shows=(b"\x80",))
class SignedBytes(PlainBpe):
    """Bytes from 0x80 on are read as negative numbers, and index from the end."""

    def symbols(self, piece: bytes) -> list[int]:
        size = len(self.vocabulary)
        return [
            (byte - 256) % size if byte > 127 else right
            for byte, right in zip(piece, super().symbols(piece), strict=True)
        ]


@planted("equivalence", on="toy_bytes", stages=("unknown-id",), shows=(b"123",))
class IdsFromOne(PlainBpe):
    """The id of the last token is one too great: the table begins at one there."""

    def segment(self, piece: bytes) -> list[int]:
        last = len(self.vocabulary) - 1
        return [token_id + (token_id == last) for token_id in super().segment(piece)]


@planted("equivalence", on="toy_ties", stages=("rejection",), shows=(b"bb",))
class Refuses(PlainBpe):
    """A run of a letter is refused as if it had no token."""

    def symbols(self, piece: bytes) -> list[int]:
        return super().symbols(piece.replace(b"bb", b"\0"))


@planted(
    "equivalence",
    on="tekken_240911",
    mode="text",
    stages=("merges",),
    shows=("\u3042".encode() * 5,),
)
class LongWords(PlainBpe):
    """In pre-tokens of more than 12 bytes, the rightmost of equal pairs is merged first."""

    modes = ("text",)

    def segment(self, piece: bytes) -> list[int]:
        self.long = len(piece) > 12
        return super().segment(piece)

    def priority(self, pair: Pair, place: int) -> tuple[int, ...]:
        return self.merges[pair][0], -place if self.long else place


@planted("minimality", on="tekken_240911", stages=("length",), shows=(b"zeniadj",))
class TakesLongest(PlainFewest):
    """Where the fewest tokens are claimed, the longest one is taken each time."""

    def merge(self, piece: bytes) -> list[int]:
        found = []
        start = 0
        while start < len(piece):
            sizes = range(min(self.longest, len(piece) - start), 0, -1)
            size = next(size for size in sizes if piece[start : start + size] in self.ids)
            found.append(self.ids[piece[start : start + size]])
            start += size
        return found


@planted("equivalence", on="toy_bytes", shows=(b"th" * 4_800,))
class GivesUpWhenLong(PlainBpe):
    """The merging of a piece stops after 9,500 bytes; what is left over stays single bytes."""

    max_input = 12_000

    def segment(self, piece: bytes) -> list[int]:
        rest = piece[ROOM:]
        return [
            *super().segment(piece[:ROOM]),
            *(self.ids[rest[i : i + 1]] for i in range(len(rest))),
        ]
