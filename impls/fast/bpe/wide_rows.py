"""Rows of the cache for longer pieces, and those of more ids than a short row has room for.

A row is four words of spelling, ``length << 32 | number of ids`` (0 for a free one), and up to 22
ids. A piece may stand in either of two rows side by side; a new one takes the first of them, whose
piece takes the second.
"""

from __future__ import annotations

import numpy as np

from impls.compiled.jit import njit
from impls.fast.bpe.piece_cache import COUNTS, WIDE, WIDE_TAKEN, copy_row, wide_rows_in
from impls.fast.bpe.piece_results import FEW, RESULT, begin_of, put
from impls.fast.bpe.processor import masked_pair, prefetch
from impls.fast.bpe.words import KEYED, has_key, spelled, word_hash
from impls.kernels.layout import PLACE, Bytes, Ints, Longs

NUMBERS = 4
"""The place in a row of its length and of its number of ids."""
MOST = 2 * (WIDE - NUMBERS - 1)
"""Ids that it has room for."""
LONGEST_WIDE = 8 * NUMBERS
"""Bytes of the longest piece that has a row, and how many are read for it."""

NO_ROW = -1

_SPREAD = 0x4BB92E5C6F0A3D17
"""The words of a short piece are 0 where it has ended, and the hash is a product of them."""

_MASKS = np.array([[*spelled(n), 0, 0] for n in range(KEYED + 1)], dtype=np.int64)
"""The masks of half a spelling, by its length; see :func:`impls.fast.bpe.processor.masked_pair`."""


@njit
def _wide_key(data: Bytes, start: int, length: int) -> tuple[int, int, int, int]:
    """The bytes of a piece of at most LONGEST_WIDE, of which so many are read."""
    one, two = masked_pair(data, start, _MASKS, min(length, KEYED))
    three, four = masked_pair(data, start + KEYED, _MASKS, max(length - KEYED, 0))
    return one, two, three, four


@njit
def _row(cache: Longs, one: int, two: int, three: int, four: int) -> int:
    """The first of the two rows that a piece may have, by its words."""
    wide_rows = wide_rows_in(cache)
    mask = len(cache) - COUNTS - wide_rows - 1
    return wide_rows + (word_hash(one ^ three, two ^ four ^ _SPREAD) * 2 * WIDE & mask)


@njit
def _holds(cache: Longs, row: int, data: Bytes, start: int, length: int) -> bool:
    """Whether the row is that of the piece that begins at ``start``."""
    one, two, three, four = _wide_key(data, start, length)
    differ = (cache[row] ^ one) | (cache[row + 1] ^ two)
    differ |= (cache[row + 2] ^ three) | (cache[row + 3] ^ four)
    return bool((differ | (cache[row + NUMBERS] >> 32 ^ length)) == 0)


@njit
def recall_wide(
    cache: Longs,
    cached_ids: Ints,
    data: Bytes,
    ends: Longs,
    first: int,
    room: int,
    results: Ints,
    left: Longs,
    number: int,
    rows: Longs,
    ids: Ints,
) -> int:
    """Answer those of the pieces ``left[:number]`` that wide rows have, and leave the others there.

    first: the first piece of the block; room: the place in ``ids`` of what begins at ``data[0]``.
    rows: receives the row that each of the others may have, or NO_ROW. cached_ids: the cache.
    Returns the number of the others.
    """
    for number_left in range(number):
        piece = first + int(left[number_left])
        start = begin_of(ends, piece)
        length = int(ends[piece]) - start
        row = NO_ROW
        if length <= LONGEST_WIDE and start + LONGEST_WIDE <= len(data):
            one, two, three, four = _wide_key(data, start, length)
            row = _row(cache, one, two, three, four)
            prefetch(cache, row)
            prefetch(cache, row + WIDE)
        rows[number_left] = row
    count = 0
    for number_left in range(number):
        index = int(left[number_left])
        piece = first + index
        start = begin_of(ends, piece)
        length = int(ends[piece]) - start
        row = int(rows[number_left])
        held = NO_ROW
        if row != NO_ROW:
            if _holds(cache, row, data, start, length):
                held = row
            elif _holds(cache, row + WIDE, data, start, length):
                held = row + WIDE
        if held != NO_ROW:
            place = 2 * (held + NUMBERS)
            many = int(cached_ids[place])
            for one_id in range(many):
                ids[(room + start + one_id) & PLACE] = cached_ids[(place + 2 + one_id) & PLACE]
            put(results, index, ids, room + start, many)
        left[count] = index
        rows[count] = row
        count += held == NO_ROW
    return count


@njit
def remember_wide(
    cache: Longs,
    cached_ids: Ints,
    data: Bytes,
    ends: Longs,
    first: int,
    room: int,
    results: Ints,
    left: Longs,
    number: int,
    rows: Longs,
    ids: Ints,
) -> None:
    """Give those of the pieces ``left[:number]`` their wide row that have no short one.

    Their ids stand in their room.
    """
    for number_left in range(number):
        index = int(left[number_left])
        piece = first + index
        row = int(rows[number_left])
        count = int(results[RESULT * index + FEW])
        start = begin_of(ends, piece)
        length = int(ends[piece]) - start
        fits = row != NO_ROW and count <= MOST
        fits = fits and (count > FEW or not has_key(data, start, length))
        # As above: it may have come twice.
        if fits and not _holds(cache, row, data, start, length):
            if cache[row + NUMBERS] != 0:
                copy_row(cache, row, cache, row + WIDE, WIDE)
            one, two, three, four = _wide_key(data, start, length)
            cache[row], cache[row + 1], cache[row + 2], cache[row + 3] = one, two, three, four
            cache[row + NUMBERS] = length << 32 | count
            place = 2 * (row + NUMBERS + 1)
            for one_id in range(count):
                cached_ids[(place + one_id) & PLACE] = ids[(room + start + one_id) & PLACE]
            cache[WIDE_TAKEN] += 1


@njit
def move_wide(old: Longs, cache: Longs) -> None:
    """Give all that have a row in ``old`` one in ``cache``, which is larger."""
    for place in range(wide_rows_in(old), len(old) - COUNTS, WIDE):
        if old[place + NUMBERS] != 0:
            row = _row(cache, old[place], old[place + 1], old[place + 2], old[place + 3])
            copy_row(cache, row, cache, row + WIDE, WIDE)
            copy_row(old, place, cache, row, WIDE)
            cache[WIDE_TAKEN] += 1
