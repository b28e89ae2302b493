"""A cache of pieces that are several tokens: real text repeats its words.

Rows of 64 bytes for pieces of up to 16 bytes: the key of :mod:`impls.bpe.words`, then
``length << 32 | number of ids`` (0 for a free row), and up to 10 ids. Behind them rows of 128
bytes for pieces of up to 32: twice the key, and up to 22 ids. A later piece takes the place of an
earlier one. A key is the whole spelling, so no two pieces are ever taken for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.prefetch import prefetch
from impls.bpe.words import LONGEST, filter_bit, key_at, may_be, probe, row_of, word_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORT = 8
"""Entries of int64 of a row for pieces of up to LONGEST bytes."""
WIDE = 16
"""Of one for pieces of up to twice as many."""
SHARE = 8
"""There are as many rows of the former for one of the latter."""

UNKNOWN = -1
"""Found neither id nor row: what a probe says of no token."""
FIRST_ROW = -2
"""Minus the row that a piece may have in the cache: what :func:`look_up` finds for it."""


def new_cache(slots: int) -> NDArray[np.int64]:
    """An empty cache. slots: of short pieces, a power of two and at least 8; 80 bytes each."""
    return np.zeros(slots * SHORT + slots // SHARE * WIDE, dtype=np.int64)


@njit
def _wide_rows(cache: NDArray[np.int64]) -> int:
    """Where the rows for longer pieces begin."""
    return len(cache) // (SHARE * SHORT + WIDE) * SHARE * SHORT


@njit
def look_up(
    words: NDArray[np.int64],
    filters: NDArray[np.int32],
    cache: NDArray[np.int64],
    text: NDArray[np.int64],
    ends: NDArray[np.int64],
    start: int,
    first: int,
    last: int,
    found: NDArray[np.int64],
) -> None:
    """What is known of the pieces ``first`` to ``last``, the first of which begins at ``start``.

    words, filters: of :mod:`impls.bpe.words`. text: of :func:`impls.bpe.words.overlapping`.
    found: receives an id for a piece that is a token; ``FIRST_ROW - row`` for one that the cache
    has or may take, where there is a cache; UNKNOWN for others (among them all long ones, and the
    last ones of the data, whose keys cannot be loaded).
    """
    wide_rows = _wide_rows(cache)
    short_mask, wide_mask = wide_rows - 1, len(cache) - wide_rows - 1
    remembers = len(cache) > 0
    # First all that is looked for is asked for, so that it is here when it is read.
    begin = start
    for piece in range(first, last):
        end = int(ends[piece])
        length = end - begin
        mixed = UNKNOWN
        if length <= LONGEST and begin + 8 < len(text):
            low, high = key_at(text, begin, length)
            mixed = word_hash(low, high)
            prefetch(filters, filter_bit(filters, mixed) >> 5)
            prefetch(words, row_of(words, mixed))
        found[piece - first] = mixed
        begin = end
    for piece in range(first, last):
        end = int(ends[piece])
        length = end - start
        mixed = int(found[piece - first])
        answer = UNKNOWN
        if mixed != UNKNOWN:
            if may_be(filters, mixed):
                low, high = key_at(text, start, length)
                answer = probe(words, low, high, length, mixed)
            if answer == UNKNOWN and remembers:
                row = mixed * SHORT & short_mask
                prefetch(cache, row)
                answer = FIRST_ROW - row
        elif remembers and LONGEST < length <= 2 * LONGEST and start + LONGEST + 8 < len(text):
            low, high = key_at(text, start + LONGEST, length - LONGEST)
            mixed = word_hash(text[start] ^ low, text[start + 8] ^ high)
            row = wide_rows + (mixed * WIDE & wide_mask)
            prefetch(cache, row)
            answer = FIRST_ROW - row
        found[piece - first] = answer
        start = end


@njit
def _numbers(row: int, wide_rows: int) -> int:
    """Where in the row its lengths stand, after the two or four entries of its key."""
    return row + (2 if row < wide_rows else 4)


@njit
def settle(
    cache: NDArray[np.int64],
    text: NDArray[np.int64],
    ends: NDArray[np.int64],
    first: int,
    last: int,
    found: NDArray[np.int64],
    left: NDArray[np.int64],
) -> int:
    """Write to ``left`` those of the pieces of :func:`look_up` that are left; returns how many.

    Left are those that are not empty, of which neither an id is known nor the cache has a row.
    """
    wide_rows = _wide_rows(cache)
    unknown = 0
    for piece in range(first, last):
        left[unknown] = piece
        unknown += found[piece - first] < 0
    count = 0
    for index in range(unknown):
        piece = int(left[index])
        start = int(ends[piece - 1]) if piece > 0 else 0
        length = int(ends[piece]) - start
        row = FIRST_ROW - int(found[piece - first])
        held = False
        if length == 0:  # no ids, and so no row
            found[piece - first] = UNKNOWN
            held = True
        elif row >= 0:
            wide = row >= wide_rows
            numbers = _numbers(row, wide_rows)
            held = bool(cache[numbers] >> 32 == length)
            if held and wide:
                held = bool(cache[row] == text[start] and cache[row + 1] == text[start + 8])
                start += LONGEST
                length -= LONGEST
            if held:
                low, high = key_at(text, start, length)
                held = bool(cache[numbers - 2] == low and cache[numbers - 1] == high)
        left[count] = piece
        count += not held
    return count


@njit
def recall(
    cache: NDArray[np.int64],
    cached_ids: NDArray[np.int32],
    row: int,
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Write the row's ids to ``ids[at:]``; returns where they end. cached_ids: the cache."""
    numbers = 2 * _numbers(row, _wide_rows(cache))
    count = int(cached_ids[numbers])
    for index in range(count):
        ids[at + index] = cached_ids[numbers + 2 + index]
    return at + count


@njit
def remember(
    cache: NDArray[np.int64],
    cached_ids: NDArray[np.int32],
    text: NDArray[np.int64],
    ends: NDArray[np.int64],
    first: int,
    found: NDArray[np.int64],
    left: NDArray[np.int64],
    counts: NDArray[np.int64],
    lefts: int,
    ids: NDArray[np.int32],
    id_ends: NDArray[np.int64],
) -> None:
    """Give the pieces ``left[:lefts]``, of so many ids each, the rows that they may have."""
    wide_rows = _wide_rows(cache)
    for index in range(lefts):
        piece = int(left[index])
        row = FIRST_ROW - int(found[piece - first])
        count = int(counts[index])
        wide = row >= wide_rows
        numbers = _numbers(row, wide_rows)
        if row >= 0 and count <= 2 * (row + (WIDE if wide else SHORT) - numbers - 1):
            start = int(ends[piece - 1]) if piece > 0 else 0
            length = int(ends[piece]) - start
            cache[numbers] = length << 32 | count
            first_id = int(id_ends[piece]) - count
            for place in range(count):
                cached_ids[2 * numbers + 2 + place] = ids[first_id + place]
            if wide:
                cache[row] = text[start]
                cache[row + 1] = text[start + 8]
                start += LONGEST
                length -= LONGEST
            cache[numbers - 2], cache[numbers - 1] = key_at(text, start, length)
