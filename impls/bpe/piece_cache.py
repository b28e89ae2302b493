"""A cache of pieces that are several tokens: real text repeats its words.

Rows of 64 bytes, one a slot, a later piece in the place of an earlier one: the key of
:mod:`impls.bpe.words` (16 bytes), ``length << 32 | number of ids`` (0 for a free row), and up to 10
ids. A key is the whole spelling, so no two pieces are ever taken for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.words import HIGH_MASKS, LONGEST, LOW_MASKS, probe, word_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENTRIES = 8
"""Of int64, a row."""

IDS_FROM = 6
"""Where the ids begin in a row's 16 entries of int32."""
MOST_IDS = 2 * ENTRIES - IDS_FROM

UNKNOWN = -1
"""Found neither id nor row: what a probe says of no token."""
FIRST_ROW = -2
"""Minus the row that a piece may have in the cache: what :func:`look_up` finds for it."""


def new_cache(slots: int) -> NDArray[np.int64]:
    """An empty cache. slots: a power of two, 64 bytes each."""
    return np.zeros(slots * ENTRIES, dtype=np.int64)


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
    cache_mask = len(cache) - 1
    for piece in range(first, last):
        end = int(ends[piece])
        length = end - start
        answer = UNKNOWN
        if length <= LONGEST and start + 8 < len(text):
            low = text[start] & LOW_MASKS[length]
            high = text[start + 8] & HIGH_MASKS[length]
            mixed = word_hash(low, high)
            answer = probe(words, low, high, length, mixed)
            if answer == UNKNOWN and cache_mask > 0:
                answer = FIRST_ROW - (mixed * ENTRIES & cache_mask)
        found[piece - first] = answer
        start = end


@njit
def holds(
    cache: NDArray[np.int64], row: int, text: NDArray[np.int64], start: int, length: int
) -> bool:
    """Whether the row is that of the piece at ``start``."""
    low, high = text[start] & LOW_MASKS[length], text[start + 8] & HIGH_MASKS[length]
    same = cache[row] == low and cache[row + 1] == high and cache[row + 2] >> 32 == length
    return bool(same)


@njit
def recall(cached_ids: NDArray[np.int32], row: int, ids: NDArray[np.int32], at: int) -> int:
    """Write the row's ids to ``ids[at:]``; returns where they end. cached_ids: the cache."""
    start = 2 * row + IDS_FROM
    count = int(cached_ids[2 * row + 4])
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
    if count > MOST_IDS:
        return
    length = end - start
    cache[row] = text[start] & LOW_MASKS[length]
    cache[row + 1] = text[start + 8] & HIGH_MASKS[length]
    cache[row + 2] = length << 32 | count
    for index in range(count):
        cached_ids[2 * row + IDS_FROM + index] = ids[first + index]
