"""A cache of pieces that are several tokens: real text repeats its words.

Rows of 64 bytes for pieces of up to 16 bytes: the key of :mod:`impls.bpe.words`, then
``length << 32 | number of ids`` (0 for a free row), and up to 10 ids. Behind them rows of 128
bytes for pieces of up to 32: twice the key, and up to 22 ids. A piece may stand in either of two
rows; a new one takes the first of them, whose piece takes the second. A key is the whole spelling,
so no two pieces are ever taken for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.layout import PLACE
from impls.bpe.machine import prefetch, word_at
from impls.bpe.words import (
    HALF,
    LONGEST,
    filter_bit,
    key_at,
    may_be,
    probe_on,
    row_of,
    token_in,
    word_hash,
)

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
"""Minus the row that a piece may have in the cache, the first of two unless it is known to be in
the second: what :func:`look_up` finds for it."""


def new_cache(slots: int) -> NDArray[np.int64]:
    """An empty cache. slots: of short pieces, a power of two and at least 16; 80 bytes each."""
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
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    start: int,
    first: int,
    last: int,
    keys: NDArray[np.int64],
    found: NDArray[np.int64],
    asked: NDArray[np.int64],
) -> int:
    """What is known of the pieces ``first`` to ``last``, the first of which begins at ``start``.

    words, filters: of :mod:`impls.bpe.words`. keys: scratch, twice as long as ``found``.
    found: receives an id for a piece that is a token; ``FIRST_ROW - row`` for one that the cache
    has or may take, where there is a cache; UNKNOWN for others (among them all long ones, and the
    last ones of the data, whose keys cannot be loaded).
    asked: receives those of which no id is known. Returns their number.
    """
    wide_rows = _wide_rows(cache)
    short_mask, wide_mask = wide_rows - 1, len(cache) - wide_rows - 1
    remembers = len(cache) > 0
    readable = len(data) - LONGEST
    # First all that is looked for is asked for, so that it is here when it is read.
    begin = start
    for index in range(last - first):
        end = int(ends[(first + index) & PLACE])
        length = end - begin
        if length <= LONGEST and begin <= readable:
            low, high = key_at(data, begin, length)
            mixed = word_hash(low, high)
            prefetch(filters, filter_bit(filters, mixed) >> 5)
            prefetch(words, row_of(words, mixed))
            keys[2 * index] = low
            keys[2 * index + 1] = high
            found[index] = length << 32 | mixed
        else:
            found[index] = UNKNOWN
        begin = end
    count = 0
    for index in range(last - first):
        looked_for = int(found[index])
        answer = UNKNOWN
        if looked_for != UNKNOWN:
            mixed = looked_for & HALF
            low, high = keys[2 * index], keys[2 * index + 1]
            row = row_of(words, mixed)
            # First the filter: what is no token waits for no row.
            if may_be(filters, mixed):
                # Nearly always its first row tells.
                answer = token_in(words, row, low, high, looked_for >> 32)
                if answer == UNKNOWN:
                    answer = probe_on(words, row, low, high, looked_for >> 32)
            if answer == UNKNOWN and remembers:
                row = mixed * 2 * SHORT & short_mask
                prefetch(cache, row)
                prefetch(cache, row + SHORT)
                answer = FIRST_ROW - row
        elif remembers:
            piece = first + index
            begin = int(ends[piece - 1]) if piece > 0 else 0
            length = int(ends[piece]) - begin
            if LONGEST < length <= 2 * LONGEST and begin + LONGEST <= readable:
                low, high = key_at(data, begin + LONGEST, length - LONGEST)
                mixed = word_hash(word_at(data, begin) ^ low, word_at(data, begin + 8) ^ high)
                row = wide_rows + (mixed * 2 * WIDE & wide_mask)
                prefetch(cache, row)
                prefetch(cache, row + WIDE)
                answer = FIRST_ROW - row
        found[index] = answer
        asked[count & PLACE] = first + index
        count += answer < 0
    return count


@njit
def _numbers(row: int, wide_rows: int) -> int:
    """Where in the row its lengths stand, after the two or four entries of its key."""
    return row + (2 if row < wide_rows else 4)


@njit
def _holds(
    cache: NDArray[np.int64],
    wide_rows: int,
    row: int,
    data: NDArray[np.uint8],
    start: int,
    length: int,
) -> bool:
    """Whether the row is that of the piece that begins at ``start``."""
    numbers = _numbers(row, wide_rows)
    before = LONGEST if row >= wide_rows else 0  # bytes that a wide row has before its key
    low, high = key_at(data, start + before, length - before)
    # Without a branch, for the sake of which the arrays would be counted (see tests).
    held = (cache[numbers] >> 32 == length) & (cache[numbers - 2] == low)
    held &= cache[numbers - 1] == high
    held &= (before == 0) | (cache[row & PLACE] == word_at(data, start))
    held &= (before == 0) | (cache[(row + 1) & PLACE] == word_at(data, start + 8))
    return bool(held)


@njit
def settle(
    cache: NDArray[np.int64],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    first: int,
    found: NDArray[np.int64],
    asked: NDArray[np.int64],
    unknown: int,
    left: NDArray[np.int64],
) -> int:
    """Write to ``left`` those of the pieces ``asked[:unknown]`` that are left; returns how many.

    Left are those that are not empty, of which neither an id is known nor the cache has a row.
    """
    wide_rows = _wide_rows(cache)
    count = 0
    for index in range(unknown):
        piece = int(asked[index])
        start = int(ends[piece - 1]) if piece > 0 else 0
        length = int(ends[piece]) - start
        row = FIRST_ROW - int(found[piece - first])
        held = found[piece - first] >= 0
        if length == 0:  # no ids, and so no row
            found[piece - first] = UNKNOWN
            held = True
        elif row >= 0:
            held = _holds(cache, wide_rows, row, data, start, length)
            if not held:
                row += WIDE if row >= wide_rows else SHORT
                held = _holds(cache, wide_rows, row, data, start, length)
                if held:
                    found[piece - first] = FIRST_ROW - row
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
    data: NDArray[np.uint8],
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
        size = WIDE if wide else SHORT
        numbers = _numbers(row, wide_rows)
        start = int(ends[piece - 1]) if piece > 0 else 0
        length = int(ends[piece]) - start
        fits = row >= 0 and count <= 2 * (row + size - numbers - 1)
        # A piece that has come twice since the look-up would else take both rows.
        if fits and not _holds(cache, wide_rows, row, data, start, length):
            for place in range(row, row + size):
                cache[place + size] = cache[place]
            cache[numbers] = length << 32 | count
            first_id = int(id_ends[piece]) - count
            for place in range(count):
                cached_ids[2 * numbers + 2 + place] = ids[first_id + place]
            if wide:
                cache[row] = word_at(data, start)
                cache[row + 1] = word_at(data, start + 8)
                start += LONGEST
                length -= LONGEST
            cache[numbers - 2], cache[numbers - 1] = key_at(data, start, length)
