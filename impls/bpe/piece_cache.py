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
from impls.bpe.words import HIGH_MASKS, LONGEST, LOW_MASKS, probe, word_hash

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
    cache: NDArray[np.int64],
    text: NDArray[np.int64],
    ends: NDArray[np.int64],
    start: int,
    first: int,
    last: int,
    found: NDArray[np.int64],
) -> None:
    """What is known of the pieces ``first`` to ``last``, the first of which begins at ``start``.

    words: of :mod:`impls.bpe.words`. text: of :func:`impls.bpe.words.overlapping`.
    found: receives an id for a piece that is a token; ``FIRST_ROW - row`` for one that the cache
    has or may take, where there is a cache; UNKNOWN for others (among them all long ones, and the
    last ones of the data, whose keys cannot be loaded).
    """
    wide_rows = _wide_rows(cache)
    short_mask, wide_mask = wide_rows - 1, len(cache) - wide_rows - 1
    longest = LONGEST if len(cache) == 0 else 2 * LONGEST
    for piece in range(first, last):
        end = int(ends[piece])
        length = end - start
        answer = UNKNOWN
        if length <= LONGEST and start + 8 < len(text):
            low, high = text[start] & LOW_MASKS[length], text[start + 8] & HIGH_MASKS[length]
            mixed = word_hash(low, high)
            answer = probe(words, low, high, length, mixed)
            if answer == UNKNOWN and wide_mask > 0:
                answer = FIRST_ROW - (mixed * SHORT & short_mask)
        elif LONGEST < length <= longest and start + 24 < len(text):
            rest = length - LONGEST
            low, high = text[start + 16] & LOW_MASKS[rest], text[start + 24] & HIGH_MASKS[rest]
            mixed = word_hash(text[start] ^ low, text[start + 8] ^ high)
            answer = FIRST_ROW - wide_rows - (mixed * WIDE & wide_mask)
        found[piece - first] = answer
        start = end


@njit
def holds(
    cache: NDArray[np.int64], row: int, text: NDArray[np.int64], start: int, length: int
) -> bool:
    """Whether the row is that of the piece at ``start``."""
    if row < _wide_rows(cache):
        low, high = text[start] & LOW_MASKS[length], text[start + 8] & HIGH_MASKS[length]
        short = cache[row] == low and cache[row + 1] == high and cache[row + 2] >> 32 == length
        return bool(short)
    rest = length - LONGEST
    low, high = text[start + 16] & LOW_MASKS[rest], text[start + 24] & HIGH_MASKS[rest]
    same = cache[row] == text[start] and cache[row + 1] == text[start + 8]
    same = same and cache[row + 2] == low and cache[row + 3] == high
    return bool(same and cache[row + 4] >> 32 == length)


@njit
def recall(
    cache: NDArray[np.int64],
    cached_ids: NDArray[np.int32],
    row: int,
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Write the row's ids to ``ids[at:]``; returns where they end. cached_ids: the cache."""
    meta = 2 if row < _wide_rows(cache) else 4
    count = int(cached_ids[2 * (row + meta)])
    start = 2 * (row + meta + 1)
    for index in range(count):
        ids[at + index] = cached_ids[start + index]
    return at + count


@njit
def remember(
    cache: NDArray[np.int64],
    cached_ids: NDArray[np.int32],
    row: int,
    text: NDArray[np.int64],
    start: int,
    end: int,
    ids: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    """Give the row to the piece ``start`` to ``end`` with ``ids[first:last]``, if it has room."""
    count = last - first
    length = end - start
    short = row < _wide_rows(cache)
    meta = 2 if short else 4
    if count > 2 * ((SHORT if short else WIDE) - meta - 1):
        return
    if short:
        cache[row] = text[start] & LOW_MASKS[length]
        cache[row + 1] = text[start + 8] & HIGH_MASKS[length]
    else:
        rest = length - LONGEST
        cache[row] = text[start]
        cache[row + 1] = text[start + 8]
        cache[row + 2] = text[start + 16] & LOW_MASKS[rest]
        cache[row + 3] = text[start + 24] & HIGH_MASKS[rest]
    cache[row + meta] = length << 32 | count
    for index in range(count):
        cached_ids[2 * (row + meta + 1) + index] = ids[first + index]
