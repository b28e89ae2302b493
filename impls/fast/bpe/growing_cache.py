"""A cache that grows with what it is asked to remember."""

from __future__ import annotations

from impls.fast.bpe.piece_cache import SHARE, SHORT_TAKEN, WIDE_TAKEN, new_cache, slots_of
from impls.fast.bpe.short_rows import move_short
from impls.fast.bpe.wide_rows import move_wide
from impls.kernels.layout import Longs

FIRST_SLOTS, MOST_SLOTS = 1 << 10, 1 << 18
"""The slots of a new cache, and of the largest one: from 48 KiB to 12 MiB. With four times as many,
25 MB of manual pages in twelve languages are read 4 % faster, and source no faster; but the memory
has to be had from the kernel, in the midst of a call, which takes up to a tenth of a second."""

STEP = 4
"""The factor by which a cache grows at a time."""

PIECES_A_SLOT = 4
"""A word comes as often in a text as once in so many pieces, or more often."""
SLOTS_A_PIECE = 8
"""The cache has so many slots for each piece that has been remembered, so that few have slots that
two others already have. In a cache that is a quarter full, a sixteenth of all pieces push out one
another, which takes longer than all others."""


def fitting(cache: Longs | None, pieces: int) -> Longs:
    """The cache, or a larger one with all that it has, for a text of so many pieces."""
    if cache is None:
        # It grows at once, so that moving rows is compiled when an encoder is loaded.
        cache = new_cache(FIRST_SLOTS // STEP)
    taken = max(int(cache[SHORT_TAKEN]), SHARE * int(cache[WIDE_TAKEN]))
    wanted = max(FIRST_SLOTS, pieces // PIECES_A_SLOT, SLOTS_A_PIECE * taken)
    slots = slots_of(cache)
    grown = slots
    while grown < min(wanted, MOST_SLOTS):
        grown *= STEP
    if grown == slots:
        return cache
    larger = new_cache(grown)
    move_short(cache, larger)
    move_wide(cache, larger)
    return larger
