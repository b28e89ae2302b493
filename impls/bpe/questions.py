"""Pair validity (:mod:`impls.bpe.validity`), of many pairs at once.

One pair after another takes two or three rounds, of which every step goes the one way as often as
the other, and a processor that guesses wrongly throws away what it has begun. So all pairs take a
round together, without a branch; those that are not told after it are packed together for the next
one, and those that may merge for the look into the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import inlined
from impls.bpe.lanes import (
    ASKED_OF,
    FIRST_WORD,
    LEFT,
    LIMIT,
    OLDEST,
    PAIR_ENTRY,
    PAIR_LEFT,
    PAIR_LIMIT,
    PAIR_OF,
    PAIR_RIGHT,
    REFUSED,
    RIGHT,
    WORDS,
)
from impls.bpe.layout import EMPTY, PLACE
from impls.bpe.validity import (
    BIT_MASK,
    ENTRY_AT,
    ENTRY_BITS,
    ENTRY_MASK,
    FOLDED,
    LEFT_FACTOR,
    RIGHT_FACTOR,
    ROOM,
    SECOND_AT,
    TOKEN_BITS,
    TOKEN_MASK,
    WORD_AT,
)
from impls.bpe.vectors import (
    WIDTH,
    chosen,
    gather,
    lane_numbers,
    numbers_at,
    put_kept,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FOLDED_MASK = (1 << 32 - FOLDED) - 1
_WORD_MASK = (1 << 32 - WORD_AT) - 1


@inlined
def ask(
    splits: NDArray[np.int32],
    merged: NDArray[np.int64],
    bloom: NDArray[np.int32],
    table: NDArray[np.int32],
    count: int,
) -> None:
    """Set REFUSED for those of the ``count`` questions in ``table`` that encoding would merge.

    merged: MERGED as int64. table: see :mod:`impls.bpe.lanes`.
    """
    while count > 0:
        count, pairs = _round(splits, bloom, table, count)
        for index in range(pairs):
            pair = int(table[PAIR_LEFT, index]) << TOKEN_BITS | int(table[PAIR_RIGHT, index])
            slot = int(table[PAIR_ENTRY, index]) & PLACE
            entry = int(merged[slot])
            while (entry >> TOKEN_BITS != pair) & (entry != EMPTY):
                slot = (slot + 1) & PLACE
                entry = int(merged[slot])
            merges = (entry != EMPTY) & ((entry & TOKEN_MASK) < table[PAIR_LIMIT, index])
            table[REFUSED, int(table[PAIR_OF, index]) & PLACE] |= merges


@inlined
def _round(
    splits: NDArray[np.int32],
    bloom: NDArray[np.int32],
    table: NDArray[np.int32],
    count: int,
) -> tuple[int, int]:
    """Look at each pair, and undo the younger token.

    Returns how many go on, and how many pairs may merge.
    """
    kept = pairs = 0
    for first in range(0, count, WIDTH):
        words, right = numbers_at(table, WORDS, first), numbers_at(table, RIGHT, first)
        left, limit = numbers_at(table, LEFT, first), numbers_at(table, LIMIT, first)
        asked_of = numbers_at(table, ASKED_OF, first)
        first_word = numbers_at(table, FIRST_WORD, first)
        oldest = numbers_at(table, OLDEST, first)
        asked = (lane_numbers() < count - first) & (words != 0) & (right != EMPTY)

        mixed = left * LEFT_FACTOR + right * RIGHT_FACTOR
        mixed = mixed ^ (mixed >> FOLDED & _FOLDED_MASK)
        place = first_word + ((mixed >> WORD_AT & _WORD_MASK) * words >> WORD_AT & _WORD_MASK)
        word = gather(bloom, chosen(asked, place, 0))
        bits = (word >> (mixed & BIT_MASK)) & (word >> (mixed >> SECOND_AT & BIT_MASK))
        may_merge = asked & (bits & 1 != 0)
        entry = place * ROOM + ((mixed >> ENTRY_AT & ENTRY_MASK) * ROOM >> ENTRY_BITS)
        put_kept(table, PAIR_LEFT, pairs, left, may_merge)
        put_kept(table, PAIR_RIGHT, pairs, right, may_merge)
        put_kept(table, PAIR_LIMIT, pairs, limit, may_merge)
        put_kept(table, PAIR_ENTRY, pairs, entry, may_merge)
        pairs = put_kept(table, PAIR_OF, pairs, asked_of, may_merge)

        of_left = left > right
        goes_on = asked & ((of_left & (left > oldest)) | (~of_left & (right >= oldest)))
        half = chosen(of_left, 2 * left + 1, 2 * right)
        half = gather(splits, chosen(goes_on, half, 0))
        put_kept(table, LIMIT, kept, chosen(of_left, left, right + 1), goes_on)
        put_kept(table, LEFT, kept, chosen(of_left, half, left), goes_on)
        put_kept(table, RIGHT, kept, chosen(of_left, right, half), goes_on)
        put_kept(table, FIRST_WORD, kept, first_word, goes_on)
        put_kept(table, WORDS, kept, words, goes_on)
        put_kept(table, OLDEST, kept, oldest, goes_on)
        kept = put_kept(table, ASKED_OF, kept, asked_of, goes_on)
    return kept, pairs
