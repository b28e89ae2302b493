"""Mistakes of byte-pair merging: order, ties, stale entries, what is offered, ranks, bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.plain.base import longest_first
from harness.studies.selftest.plain.bpe import PlainBpe, PlainFewest

if TYPE_CHECKING:
    from harness.studies.selftest.plain.bpe import Pair

__all__ = ["longest_first", "one_each"]  # for the changed texts

toy = Mutant("equivalence", "toy_bytes", PlainBpe)
toy_merges = replace(toy, stages=("merges",))
tekken = replace(toy_merges, vocabulary="tekken_240911")

KEY = "found[0], place"
"""By what the next pair is chosen."""
STALE = "(symbols[place], symbols[gone]) != pair"
NEAR = "(before[place], place)"
WHOLE = "whole = self.ids.get(piece) if self.vocabulary.ignore_merges else None"
MERGED = "self.merge(self.symbols(piece))"


def one_each(ranked: dict[Pair, tuple[int, int]]) -> dict[Pair, tuple[int, int]]:
    """The last merge to each token."""
    made = {merged: pair for pair, (_, merged) in ranked.items()}
    return {pair: ranked[pair] for pair in made.values()}


MUTANTS = (
    replace(toy_merges, vocabulary="toy_runs")(
        "rightmost-tie", "Of pairs of one rank the rightmost is merged first.",
        b"aaa", KEY, "found[0], -place",
    ),
    replace(toy, vocabulary="toy_ties")(
        "stale-right", "An entry of the heap is taken for good while its left symbol is as it was.",
        b"abab", STALE, "symbols[place] != pair[0]",
    ),
    replace(toy, vocabulary="toy_ties")(
        "stale-kept", "An entry of the heap is taken for good while there is a pair at its place.",
        b"abab", STALE, "symbols[place] is None",
    ),
    toy_merges(
        "forgets-left", "After a merge the pair with the left neighbour is not offered.",
        b" the", NEAR, "(place,)",
    ),
    toy_merges(
        "forgets-right", "After a merge the pair with the right neighbour is not offered.",
        b"the", NEAR, "(before[place],)",
    ),
    tekken(
        "longest-first", "The pair with the longest result is merged first, whatever its rank.",
        b"1    ", KEY, "-len(self.vocabulary.spelling(found[1])), found[0], place",
    ),
    replace(toy_merges, vocabulary="toy_merges")(
        "ids-for-ranks", "Merges are in order of the ids that they give, not of the list.",
        b"cabc", KEY, "found[1], place",
    ),
    replace(toy_merges, vocabulary="toy_acbb")(
        "longest-match", "From the left, the longest token again and again, instead of merging.",
        b"abb", MERGED,
        "self.symbols(piece) and "
        "[self.ids[part] for part in longest_first(piece, self.ids, len(piece))]",
    ),
    tekken(
        "lost-merges", "One merge in a thousand is missing.",
        "\u200c a".encode(), "found.setdefault(", "rank % 1000 == 999 or found.setdefault(",
    ),
    replace(toy_merges, vocabulary="toy_merges")(
        "one-merge-a-token", "Of several merges to one token only the last is kept.",
        b"abc", "self.ranked()", "one_each(self.ranked())",
    ),
    tekken(
        "short-ranks", "Ranks are kept in 16 bits, and wrap.",
        " \u105d".encode(), KEY, "found[0] & 0xFFFF, place",
    ),
    replace(tekken, mode="text", stages=())(
        "short-keys", "Tokens are looked up by their length and their first seven bytes.",
        b" preparar", "self.merges = self.ranked()",
        "self.merges = self.ranked(); "
        "self.short = {(len(one), one[:7]): i for one, i in self.ids.items()}",
        WHOLE, "whole = self.short.get((len(piece), piece[:7]))", modes=("text",),
    ),
    replace(toy_merges, vocabulary="toy_improper", mode="text")(
        "never-whole",
        "A pre-token that is a token is merged all the same, though the vocabulary says otherwise.",
        b"abcd", WHOLE, "whole = None",
    ),
    replace(toy_merges, vocabulary="toy_runs")(
        "buffered", "What is beyond 500 bytes of a piece is merged by itself.",
        b"a" * 504, MERGED,
        "[i for at in range(0, len(piece), 500)"
        " for i in self.merge(self.symbols(piece[at : at + 500]))]",
    ),
    replace(toy, stages=("text",))(
        "ends-at-nul", "The text ends at its first NUL, as a string of C does.",
        b"a\0b", WHOLE, rf"piece = piece.partition(b'\0')[0]; {WHOLE}",
    ),
    replace(toy, stages=("text",))(
        "replaces-invalid", "Bytes that are not UTF-8 become U+FFFD before they are encoded.",
        b"\xff", WHOLE, f"piece = piece.decode(errors='replace').encode(); {WHOLE}",
    ),
    toy_merges(
        "stops-early", "The last pair of a piece is never offered by itself: off by one.",
        b"th", "after[place] < size", "after[place] < size - 1",
    ),
    replace(toy, stages=("text",))(
        "signed-bytes", "Bytes from 0x80 on are read as negative numbers, and index from the end.",
        b"\x80", "[self.ids[piece[i : i + 1]] for",
        "[self.ids[piece[i : i + 1]] if piece[i] < 128 else (piece[i] - 256) % len(self.vocabulary)"
        " for",
    ),
    replace(toy, stages=("unknown-id",))(
        "ids-from-one",
        "The id of the last token is one too great: the table begins at one there.",
        b"123", "found = self.segment(piece)",
        "found = [i + (i == len(self.vocabulary) - 1) for i in self.segment(piece)]",
    ),
    replace(toy, vocabulary="toy_ties", stages=("rejection",))(
        "refuses", "A run of a letter is refused as if it had no token.",
        b"bb", MERGED, r"self.merge(self.symbols(piece.replace(b'bb', b'\0')))",
    ),
    replace(tekken, mode="text")(
        "long-words",
        "In pre-tokens of more than 12 bytes, the rightmost of equal pairs is merged first.",
        "\u3042".encode() * 5, KEY, "found[0], -place if size > 12 else place", modes=("text",),
    ),
    Mutant("minimality", "tekken_240911", PlainFewest, stages=("length",))(
        "takes-longest", "Where the fewest tokens are claimed, the longest one is taken each time.",
        b"zeniadj", "return best[-1]",
        "return [self.ids[part] for part in longest_first(piece, self.ids, longest)]",
    ),
    toy(
        "gives-up-when-long",
        "The merging of a piece stops after 9,500 bytes; what is left over stays single bytes.",
        b"th" * 4_800, MERGED,
        "self.merge(self.symbols(piece[:9500])) + self.symbols(piece[9500:])", max_input=12_000,
    ),
)  # fmt: skip
