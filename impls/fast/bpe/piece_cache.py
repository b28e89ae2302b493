"""A cache of pieces and their ids: real text repeats its words. How its memory is laid out.

Rows of 32 bytes for short pieces of few ids (:mod:`impls.fast.bpe.short_rows`), behind them rows of
128 bytes for others (:mod:`impls.fast.bpe.wide_rows`), and at the end how many of each have been
taken. The whole spelling is compared, so no two pieces are taken for each other.
"""

from __future__ import annotations

import numpy as np

from corpora.vocabularies.tables_on_disk import on_a_line
from impls.compiled.jit import inlined, njit
from impls.kernels.layout import Longs

SHORT = 4
"""Entries of int64 of a row for short pieces."""
WIDE = 16
"""The entries of int64 of a row for longer pieces."""
SHARE = 8
"""The number of rows for short pieces for each row for longer ones."""

COUNTS = 8
"""Entries behind the rows, a cache line of them."""
SHORT_TAKEN, WIDE_TAKEN = -1, -2
"""The places in a cache that count how often a row for short pieces, or for longer ones, was
taken."""


def new_cache(slots: int) -> Longs:
    """An empty cache. slots: of short pieces, a power of two and at least 16; 48 bytes each."""
    return on_a_line(2 * (slots * SHORT + slots // SHARE * WIDE + COUNTS)).view(np.int64)


def slots_of(cache: Longs) -> int:
    """How many rows for short pieces it has."""
    return len(cache) // (SHARE * SHORT + WIDE) * SHARE


@njit
def wide_rows_in(cache: Longs) -> int:
    """Where the wide rows begin, and so how many entries the others have: a power of two."""
    return len(cache) // (SHARE * SHORT + WIDE) * SHARE * SHORT


@inlined
def copy_row(old: Longs, place: int, cache: Longs, row: int, size: int) -> None:
    """Make ``cache[row:]`` the row of ``size`` entries that stands at ``old[place:]``."""
    for entry in range(size):
        cache[row + entry] = old[place + entry]
