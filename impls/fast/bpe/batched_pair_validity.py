"""Pair validity (:mod:`impls.fast.bpe.pair_validity`), of many pairs at once.

One pair after another takes two or three rounds, of which every step goes the one way as often as
the other, and a processor that guesses wrongly throws away what it has begun. So all pairs take a
round together, without a branch; those that are not told after it are packed together for the next
one, and those that may merge for the look into the table.
"""

from __future__ import annotations

from impls.compiled.jit import inlined
from impls.fast.bpe.columns import (
    FIRST_WORD,
    LEFT,
    MERGE_ENTRY,
    MERGE_LEFT,
    MERGE_OF,
    MERGE_RIGHT,
    MERGE_YOUNGEST,
    OLDEST,
    PAIR_OF,
    REFUSED,
    RIGHT,
    TOKEN,
    WORDS,
    YOUNGEST,
)
from impls.fast.bpe.pair_validity import (
    TOKEN_BITS,
    TOKEN_MASK,
    first_entry,
    may_merge,
    pair_bits,
    word_asked,
)
from impls.fast.bpe.processor import prefetch
from impls.fast.bpe.vectors import (
    WIDTH,
    all_of,
    chosen,
    column_numbers,
    gather,
    numbers_at,
    put_kept,
    put_numbers,
)
from impls.kernels.layout import EMPTY, PLACE, Ints, Longs

AHEAD = 16
"""Pairs that are asked for before they are looked up: reading one takes as long as these."""


@inlined
def ask(
    splits: Ints,
    merged: Longs,
    bloom: Ints,
    columns: Ints,
    count: int,
) -> None:
    """Set REFUSED of the ``count`` pieces at work: whether LEFT and TOKEN would merge.

    merged: MERGED as int64. columns: see :mod:`impls.fast.bpe.columns`; of each piece at work LEFT
    and its boundary are given. Nothing is refused where TOKEN is EMPTY.
    """
    for first in range(0, count, WIDTH):
        put_numbers(columns, PAIR_OF, first, column_numbers() + first)
        put_numbers(columns, RIGHT, first, numbers_at(columns, TOKEN, first))
        put_numbers(columns, YOUNGEST, first, all_of(len(splits)))
        put_numbers(columns, REFUSED, first, all_of(0))
    # Without a token there is nothing to ask about, and nothing to read in its place.
    pairs = count if len(splits) > 0 else 0
    while pairs > 0:
        pairs, merges = _undo(splits, bloom, columns, pairs)
        for index in range(merges):
            prefetch(merged, int(columns[MERGE_ENTRY, index + AHEAD]) & PLACE)
            pair = int(columns[MERGE_LEFT, index]) << TOKEN_BITS | int(columns[MERGE_RIGHT, index])
            slot = int(columns[MERGE_ENTRY, index]) & PLACE
            entry = int(merged[slot])
            while (entry >> TOKEN_BITS != pair) & (entry != EMPTY):
                slot = (slot + 1) & PLACE
                entry = int(merged[slot])
            refused = (entry != EMPTY) & ((entry & TOKEN_MASK) < columns[MERGE_YOUNGEST, index])
            columns[REFUSED, int(columns[MERGE_OF, index]) & PLACE] |= refused


@inlined
def _undo(
    splits: Ints,
    bloom: Ints,
    columns: Ints,
    count: int,
) -> tuple[int, int]:
    """Look at each pair, and undo its younger token.

    Returns how many pairs there are still, and how many of them all may merge.
    """
    kept = merges = 0
    for first in range(0, count, WIDTH):
        pair_of = numbers_at(columns, PAIR_OF, first)
        left, right = numbers_at(columns, LEFT, first), numbers_at(columns, RIGHT, first)
        youngest, oldest = numbers_at(columns, YOUNGEST, first), numbers_at(columns, OLDEST, first)
        first_word, words = (
            numbers_at(columns, FIRST_WORD, first),
            numbers_at(columns, WORDS, first),
        )
        asked = (column_numbers() < count - first) & (words != 0) & (right != EMPTY)

        mixed = pair_bits(left, right)
        place = word_asked(first_word, words, mixed)
        word = gather(bloom, chosen(asked, place, 0))
        merging = asked & (may_merge(word, mixed) != 0)
        entry = first_entry(place, mixed)
        put_kept(columns, MERGE_LEFT, merges, left, merging)
        put_kept(columns, MERGE_RIGHT, merges, right, merging)
        put_kept(columns, MERGE_YOUNGEST, merges, youngest, merging)
        put_kept(columns, MERGE_ENTRY, merges, entry, merging)
        merges = put_kept(columns, MERGE_OF, merges, pair_of, merging)

        of_left = left > right
        goes_on = asked & ((of_left & (left > oldest)) | (~of_left & (right >= oldest)))
        half = chosen(of_left, 2 * left + 1, 2 * right)
        half = gather(splits, chosen(goes_on, half, 0))
        put_kept(columns, YOUNGEST, kept, chosen(of_left, left, right + 1), goes_on)
        put_kept(columns, LEFT, kept, chosen(of_left, half, left), goes_on)
        put_kept(columns, RIGHT, kept, chosen(of_left, right, half), goes_on)
        put_kept(columns, FIRST_WORD, kept, first_word, goes_on)
        put_kept(columns, WORDS, kept, words, goes_on)
        put_kept(columns, OLDEST, kept, oldest, goes_on)
        kept = put_kept(columns, PAIR_OF, kept, pair_of, goes_on)
    return kept, merges
