"""A cache of pieces and their ids: real text repeats its words.

Rows of 32 bytes for short pieces of few ids, a token or several: the key of
:mod:`impls.bpe.words` and the answer of :mod:`impls.bpe.answers`, which is copied without asking
what it is. Behind them rows of 128 bytes for pieces of up to 32 bytes: four words of spelling,
``length << 32 | number of ids`` (0 for a free row), and up to 22 ids. A piece may stand in either
of two rows, which share a cache line if they are short; a new one takes the first of them, whose
piece takes the second. The whole spelling is compared, so no two pieces are taken for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.answers import ANSWER, FEW, answer
from impls.bpe.layout import PLACE, on_a_line
from impls.bpe.machine import prefetch, word_at
from impls.bpe.words import UNKNOWN, bytes_of, word_hash

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORT = 4
"""Entries of int64 of a row for short pieces."""
WIDE = 16
"""Of one for others."""
SHARE = 8
"""There are as many rows of the former for one of the latter."""

NUMBERS = 4
"""Where in a wide row its length and its number of ids stand."""
MOST = 2 * (WIDE - NUMBERS - 1)
"""Ids that it has room for."""
LONGEST_WIDE = 8 * NUMBERS
"""Bytes of the longest piece that has a wide row, and how many are read for it."""

NO_ROW = -1


def new_cache(slots: int) -> NDArray[np.int64]:
    """An empty cache. slots: of short pieces, a power of two and at least 16; 48 bytes each."""
    return on_a_line(2 * (slots * SHORT + slots // SHARE * WIDE)).view(np.int64)


@njit
def _wide_rows(cache: NDArray[np.int64]) -> int:
    """Where the wide rows begin."""
    return len(cache) // (SHARE * SHORT + WIDE) * SHARE * SHORT


@njit
def _short_row(hashed: int, wide_rows: int) -> int:
    """The first of two rows that a short piece may have; wide_rows: where these end."""
    return (hashed * 2 * SHORT) & (wide_rows - 1) & PLACE


@njit
def recall(
    cache: NDArray[np.int64],
    keys: NDArray[np.int64],
    hashes: NDArray[np.int64],
    number: int,
    answers: NDArray[np.int64],
    asked: NDArray[np.int64],
) -> int:
    """Answer the first ``number`` pieces of a block, as far as short rows do.

    keys, hashes: of :func:`impls.bpe.words.spell`. asked: receives the pieces without an answer.
    Returns their number.
    """
    wide_rows = _wide_rows(cache)
    for index in range(number):
        prefetch(cache, _short_row(int(hashes[index]), wide_rows))
    count = 0
    for index in range(number):
        row = _short_row(int(hashes[index]), wide_rows)
        low, high = keys[2 * index], keys[2 * index + 1]
        # All bits of these are set where the row is another's: no branch, as nobody can foresee
        # which pieces the cache has.
        one = (cache[row] ^ low) | (cache[row + 1] ^ high)
        one = (one | -one) >> 63
        other = (cache[row + SHORT] ^ low) | (cache[row + SHORT + 1] ^ high)
        other = (other | -other) >> 63
        place = row + int(one & SHORT)
        first_two, third = cache[place + 2], cache[place + 3]
        answers[2 * index], answers[2 * index + 1] = first_two, third
        asked[count & PLACE] = index
        count -= one & other
    return count


@njit
def remember(
    cache: NDArray[np.int64],
    keys: NDArray[np.int64],
    hashes: NDArray[np.int64],
    asked: NDArray[np.int64],
    number: int,
    answers: NDArray[np.int64],
) -> None:
    """Give those of the pieces ``asked[:number]`` a short row that have a key and few ids."""
    wide_rows = _wide_rows(cache)
    for number_asked in range(number):
        index = int(asked[number_asked]) & PLACE
        row = _short_row(int(hashes[index]), wide_rows)
        low, high = keys[2 * index], keys[2 * index + 1]
        few = answers[2 * index + 1] >> 32 <= FEW
        # A piece that has come twice since it was asked for would else take both rows.
        if few and hashes[index] != UNKNOWN and (cache[row] != low or cache[row + 1] != high):
            for place in range(row, row + SHORT):
                cache[place + SHORT] = cache[place]
            cache[row], cache[row + 1] = low, high
            cache[row + 2], cache[row + 3] = answers[2 * index], answers[2 * index + 1]


@njit
def _wide_key(data: NDArray[np.uint8], start: int, length: int) -> tuple[int, int, int, int]:
    """The bytes of a piece, of which LONGEST_WIDE are read."""
    return (
        bytes_of(word_at(data, start), length),
        bytes_of(word_at(data, start + 8), length - 8),
        bytes_of(word_at(data, start + 16), length - 16),
        bytes_of(word_at(data, start + 24), length - 24),
    )


@njit
def _holds(
    cache: NDArray[np.int64], row: int, data: NDArray[np.uint8], start: int, length: int
) -> bool:
    """Whether the wide row is that of the piece that begins at ``start``."""
    one, two, three, four = _wide_key(data, start, length)
    differ = (cache[row] ^ one) | (cache[row + 1] ^ two)
    differ |= (cache[row + 2] ^ three) | (cache[row + 3] ^ four)
    return bool((differ | (cache[row + NUMBERS] >> 32 ^ length)) == 0)


@njit
def recall_wide(
    cache: NDArray[np.int64],
    cached_ids: NDArray[np.int32],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    first: int,
    room: int,
    answers: NDArray[np.int32],
    left: NDArray[np.int64],
    number: int,
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
) -> int:
    """Answer those of the pieces ``left[:number]`` that wide rows have, and leave the others there.

    first: the first piece of the block; room: the place in ``ids`` of what begins at ``data[0]``.
    rows: receives the row that each of the others may have, or NO_ROW. cached_ids: the cache.
    Returns the number of the others.
    """
    wide_rows = _wide_rows(cache)
    mask = len(cache) - wide_rows - 1
    for number_left in range(number):
        piece = first + int(left[number_left])
        start = int(ends[piece - 1]) if piece > 0 else 0
        length = int(ends[piece]) - start
        row = NO_ROW
        if length <= LONGEST_WIDE and start + LONGEST_WIDE <= len(data):
            one, two, three, four = _wide_key(data, start, length)
            row = wide_rows + (word_hash(one ^ three, two ^ four) * 2 * WIDE & mask)
            prefetch(cache, row)
            prefetch(cache, row + WIDE)
        rows[number_left] = row
    count = 0
    for number_left in range(number):
        index = int(left[number_left])
        piece = first + index
        start = int(ends[piece - 1]) if piece > 0 else 0
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
            answer(answers, index, ids, room + start, many)
        left[count] = index
        rows[count] = row
        count += held == NO_ROW
    return count


@njit
def remember_wide(
    cache: NDArray[np.int64],
    cached_ids: NDArray[np.int32],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    first: int,
    room: int,
    hashes: NDArray[np.int64],
    answers: NDArray[np.int32],
    left: NDArray[np.int64],
    number: int,
    rows: NDArray[np.int64],
    ids: NDArray[np.int32],
) -> None:
    """Give those of the pieces ``left[:number]`` their wide row that have no short one.

    Their ids stand in their room.
    """
    for number_left in range(number):
        index = int(left[number_left])
        piece = first + index
        row = int(rows[number_left])
        count = int(answers[ANSWER * index + FEW])
        fits = row != NO_ROW and count <= MOST and (count > FEW or hashes[index] == UNKNOWN)
        start = int(ends[piece - 1]) if piece > 0 else 0
        length = int(ends[piece]) - start
        # As above: it may have come twice.
        if fits and not _holds(cache, row, data, start, length):
            for place in range(row, row + WIDE):
                cache[place + WIDE] = cache[place]
            one, two, three, four = _wide_key(data, start, length)
            cache[row], cache[row + 1], cache[row + 2], cache[row + 3] = one, two, three, four
            cache[row + NUMBERS] = length << 32 | count
            place = 2 * (row + NUMBERS + 1)
            for one_id in range(count):
                cached_ids[(place + one_id) & PLACE] = ids[(room + start + one_id) & PLACE]
