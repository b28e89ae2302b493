"""Mistakes of byte-pair merging: order, ties, stale entries, what is offered, ranks, bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.base import longest_first
from harness.studies.selftest.plain.bpe import PlainBpe, PlainFewest

if TYPE_CHECKING:
    from harness.studies.selftest.plain.bpe import Pair

__all__ = ["longest_first", "one_each"]  # for the changed texts

WHOLE = "whole = self.tokens.get(piece) if self.vocabulary.ignore_merges else None"
MERGED = "self._merged(self.symbols(piece))"
STALE = "now is None or now[1] != merged"
KEY = "queue, (merge[0], left, merge[1])"
"""By what the next pair is chosen."""

toy = Mutant("equivalence", "toy_bytes", PlainBpe, stage="merges", at=KEY)
tekken = Mutant("equivalence", "tekken_240911", PlainBpe, stage="merges", at=KEY)
text = Mutant("equivalence", "toy_bytes", PlainBpe, stage="text", at=WHOLE)


def one_each(ranked: dict[Pair, Pair]) -> dict[Pair, Pair]:
    """The last merge to each token."""
    made = {merged: pair for pair, (_, merged) in ranked.items()}
    return {pair: ranked[pair] for pair in made.values()}


MUTANTS = (
    toy(
        "rightmost-tie", "Of pairs of one rank the rightmost is merged first.",
        b"aaa", "queue, ((merge[0], -left), left, merge[1])", vocabulary="toy_runs",
    ),
    toy(
        "stale-right", "An entry of the heap is taken for good while its left symbol is as it was.",
        b"abab", "queue, (merge[0], left, (merge[1], ids[left]))",
        "_, left, merged = heapq.heappop(queue)", "_, left, (merged, was) = heapq.heappop(queue)",
        STALE, "ids[left] != was", vocabulary="toy_ties", stage="",
    ),
    toy(
        "stale-kept", "An entry of the heap is taken for good while there is a pair at its place.",
        b"abab", STALE, "False", vocabulary="toy_ties", stage="",
    ),
    toy(
        "forgets-left", "After a merge the pair with the left neighbour is not offered.",
        b" the", "offer(before[left])", "pass",
    ),
    toy(
        "forgets-right", "After a merge the pair with the right neighbour is not offered.",
        b"the", "offer(left)\n", "pass\n",
    ),
    tekken(
        "longest-first", "The pair with the longest result is merged first, whatever its rank.",
        b"1    ",
        "queue, ((-len(self.vocabulary.spelling(merge[1])), merge[0]), left, merge[1])",
    ),
    toy(
        "ids-for-ranks", "Merges are in order of the ids that they give, not of the list.",
        b"cabc", "queue, (merge[1], left, merge[1])", vocabulary="toy_merges",
    ),
    toy(
        "longest-match", "From the left, the longest token again and again, instead of merging.",
        b"abb", MERGED,
        "self.symbols(piece) and "
        "[self.tokens[part] for part in longest_first(piece, self.tokens, len(piece))]",
        vocabulary="toy_acbb",
    ),
    tekken(
        "lost-merges", "One merge in a thousand is missing.",
        "\u200c a".encode(), "found.setdefault(", "rank % 1000 == 999 or @",
    ),
    toy(
        "one-merge-a-token", "Of several merges to one token only the last is kept.",
        b"abc", "self.ranked()", "one_each(@)", vocabulary="toy_merges",
    ),
    tekken(
        "short-ranks", "Ranks are kept in 16 bits, and wrap.",
        " \u105d".encode(), "queue, (merge[0] & 0xFFFF, left, merge[1])",
    ),
    tekken(
        "short-keys", "Tokens are looked up by their length and their first seven bytes.",
        b" preparar", "self._merges = self.ranked()",
        "@; self.short = {(len(one), one[:7]): i for one, i in self.tokens.items()}",
        WHOLE, "whole = self.short.get((len(piece), piece[:7]))", mode="text", stage="",
    ),
    toy(
        "never-whole",
        "A pre-token that is a token is merged all the same, though the vocabulary says otherwise.",
        b"abcd", WHOLE, "whole = None", vocabulary="toy_improper", mode="text",
    ),
    toy(
        "buffered", "What is beyond 500 bytes of a piece is merged by itself.",
        b"a" * 504, MERGED,
        "[i for at in range(0, len(piece), 500)"
        " for i in self._merged(self.symbols(piece[at : at + 500]))]", vocabulary="toy_runs",
    ),
    text(
        "ends-at-nul", "The text ends at its first NUL, as a string of C does.",
        b"a\0b", r"piece = piece.partition(b'\0')[0]; @",
    ),
    text(
        "replaces-invalid", "Bytes that are not UTF-8 become U+FFFD before they are encoded.",
        b"\xff", "piece = piece.decode(errors='replace').encode(); @",
    ),
    toy(
        "stops-early", "The last pair of a piece is never offered by itself: off by one.",
        b"th", "left >= 0 and after[left] >= 0", "left >= 0 and 0 <= after[left] < len(ids) - 1",
    ),
    text(
        "signed-bytes", "Bytes from 0x80 on are read as negative numbers, and index from the end.",
        b"\x80", "[self.tokens[piece[i : i + 1]] for",
        "[self.tokens[piece[i : i + 1]] if piece[i] < 128"
        " else (piece[i] - 256) % len(self.vocabulary) for",
    ),
    toy(
        "ids-from-one",
        "The id of the last token is one too great: the table begins at one there.",
        b"123", "found = self.segment(piece)",
        "found = [i + (i == len(self.vocabulary) - 1) for i in self.segment(piece)]",
        stage="unknown-id",
    ),
    toy(
        "refuses", "A run of a letter is refused as if it had no token.",
        b"bb", MERGED, r"self._merged(self.symbols(piece.replace(b'bb', b'\0')))",
        vocabulary="toy_ties", stage="rejection",
    ),
    tekken(
        "long-words",
        "In pre-tokens of more than 12 bytes, the rightmost of equal pairs is merged first.",
        "\u3042".encode() * 5,
        "queue, ((merge[0], -left if len(ids) > 12 else left), left, merge[1])", mode="text",
    ),
    tekken(
        "takes-longest", "Where the fewest tokens are claimed, the longest one is taken each time.",
        b"zeniadj", "return best[-1]",
        "return [self.tokens[part] for part in longest_first(piece, self.tokens, longest)]",
        check="minimality", base=PlainFewest, stage="length",
    ),
    toy(
        "gives-up-when-long",
        "The merging of a piece stops after 9,500 bytes; what is left over stays single bytes.",
        b"th" * 4_800, MERGED,
        "self._merged(self.symbols(piece[:9500])) + self.symbols(piece[9500:])",
        max_input=12_000, stage="",
    ),
)  # fmt: skip
