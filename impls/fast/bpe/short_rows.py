"""Rows of the cache for short pieces of few ids, a token or several.

A row is the key of :mod:`impls.fast.bpe.words` and the answer of
:mod:`impls.fast.bpe.piece_results`, which is copied without asking what it is. A piece may stand in
either of two rows, which share a cache line; a new one takes the first of them, whose piece takes
the second.
"""

from __future__ import annotations

from impls.compiled.jit import njit
from impls.fast.bpe.piece_cache import SHORT, SHORT_TAKEN, copy_row, wide_rows_in
from impls.fast.bpe.piece_results import FEW
from impls.fast.bpe.processor import copy_pair, differ, prefetch
from impls.fast.bpe.words import UNKNOWN, word_hash
from impls.kernels.layout import PLACE, Longs

AHEAD = 128
"""Pieces whose rows are asked for before their turn comes: all of a block together would drive one
another out of the first of the processor's caches."""


@njit
def _row(hashed: int, wide_rows: int) -> int:
    """The first of the two rows that a piece may have; wide_rows: where these end."""
    return hashed & (wide_rows - 2 * SHORT) & PLACE


@njit
def recall(
    cache: Longs,
    keys: Longs,
    hashes: Longs,
    number: int,
    results: Longs,
    asked: Longs,
) -> int:
    """Answer the first ``number`` pieces of a block, as far as their rows do.

    keys, hashes: of :func:`impls.fast.bpe.words.spell`; there are AHEAD more hashes, which may be
        anything, so that nobody has to ask where the last one is.
    asked: receives the pieces without an answer. Returns their number.
    """
    wide_rows = wide_rows_in(cache)
    for index in range(min(AHEAD, number)):
        prefetch(cache, _row(int(hashes[index]), wide_rows))
    count = 0
    for index in range(number):
        prefetch(cache, _row(int(hashes[index + AHEAD]), wide_rows))
        row = _row(int(hashes[index]), wide_rows)
        # No branch, as nobody can foresee which pieces the cache has.
        one = differ(cache, row, keys, 2 * index)
        other = differ(cache, row + SHORT, keys, 2 * index)
        copy_pair(cache, row + (one & SHORT) + 2, results, 2 * index)
        asked[count & PLACE] = index
        count -= one & other
    return count


@njit
def remember(
    cache: Longs,
    keys: Longs,
    hashes: Longs,
    asked: Longs,
    number: int,
    results: Longs,
) -> None:
    """Give those of the pieces ``asked[:number]`` a row that have a key and few ids.

    keys, hashes: of these pieces (:func:`impls.fast.bpe.words.keep_keys`). A negative number of ids
    is an answer that is not to be remembered.
    """
    wide_rows = wide_rows_in(cache)
    for number_asked in range(number):
        index = int(asked[number_asked]) & PLACE
        row = _row(int(hashes[number_asked]), wide_rows)
        few = 0 <= results[2 * index + 1] >> 32 <= FEW
        # A piece that has come twice since it was asked for would else take both rows.
        known = hashes[number_asked] != UNKNOWN
        if few and known and differ(cache, row, keys, 2 * number_asked):
            copy_row(cache, row, cache, row + SHORT, SHORT)
            copy_pair(keys, 2 * number_asked, cache, row)
            copy_pair(results, 2 * index, cache, row + 2)
            cache[SHORT_TAKEN] += 1


@njit
def move_short(old: Longs, cache: Longs) -> None:
    """Give all that have a row in ``old`` one in ``cache``, which is larger."""
    wide_rows = wide_rows_in(cache)
    for place in range(0, wide_rows_in(old), SHORT):
        low, high = old[place], old[place + 1]
        if high != 0:
            row = _row(word_hash(low, high), wide_rows)
            copy_row(cache, row, cache, row + SHORT, SHORT)
            copy_row(old, place, cache, row, SHORT)
            cache[SHORT_TAKEN] += 1
