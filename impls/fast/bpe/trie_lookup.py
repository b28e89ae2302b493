"""Walks down the trie, to the longest token at a position: one, and many at once.

A walk down the trie ends where nobody can foresee, and each of its steps waits for the one before.
Many walks side by side wait together, four bytes at a time; what goes on after these is packed
together for the next four.
"""

from __future__ import annotations

from impls.compiled.jit import inlined, njit
from impls.fast.bpe.candidates import HAS_TOKEN, VALUE_BITS, VALUE_MASK
from impls.fast.bpe.columns import (
    DONE_ENTRY,
    DONE_OF,
    DONE_SLOT,
    DONE_STOP,
    LIMIT,
    MET,
    MET_ENTRY,
    MET_STOP,
    POSITION,
    REACHABLE,
    REACHED,
    STOP,
    TOKEN,
    VALUE,
    WALK_OF,
)
from impls.fast.bpe.vectors import (
    WIDTH,
    all_of,
    chosen,
    column_numbers,
    gather,
    numbers_at,
    put_at,
    put_kept,
    put_numbers,
    words_at,
)
from impls.kernels.layout import INDEX, PLACE, Bytes, Ints
from impls.kernels.trie import LABEL_MASK

READ = 4
"""Bytes that are read at once, behind the last piece, too."""

_BYTE = 0xFF


@njit
def longest_at(
    walk: Ints,
    inner: Ints,
    data: Bytes,
    position: int,
    end: int,
) -> tuple[int, int]:
    """The longest token at ``position`` of ``data[:end]`` or EMPTY, and where it ends.

    walk, inner: WALK and INNER of :mod:`impls.fast.bpe.block`.
    """
    slots = len(walk)
    value = (int(walk[0]) >> VALUE_BITS) & VALUE_MASK
    # The root is no token.
    met = entry_met = 0
    reached = stop = position
    on = True
    while on and reached < end:
        byte = int(data[reached & PLACE])
        slot = value ^ byte
        entry = int(walk[slot])
        on = (entry & LABEL_MASK) == byte + 1
        if on:
            reached += 1
            value = (entry >> VALUE_BITS) & VALUE_MASK
            has_token = entry & HAS_TOKEN
            met = slot if has_token else met
            entry_met = entry if has_token else entry_met
            stop = reached if has_token else stop
            on = value < slots
    value = (entry_met >> VALUE_BITS) & VALUE_MASK
    token = value - slots if value >= slots else int(inner[met & INDEX])
    return token, stop


@inlined
def find_longest(
    walk: Ints,
    inner: Ints,
    data: Bytes,
    columns: Ints,
    count: int,
) -> None:
    """Set TOKEN and STOP of the ``count`` pieces at work in ``columns``:

    :mod:`impls.fast.bpe.columns`.
    """
    slots = len(walk)
    root = (int(walk[0]) >> VALUE_BITS) & VALUE_MASK
    for first in range(0, count, WIDTH):
        position = numbers_at(columns, POSITION, first)
        put_numbers(columns, WALK_OF, first, column_numbers() + first)
        put_numbers(columns, REACHED, first, position)
        put_numbers(columns, REACHABLE, first, numbers_at(columns, LIMIT, first))
        put_numbers(columns, VALUE, first, all_of(root))
        put_numbers(columns, MET, first, all_of(0))
        put_numbers(columns, MET_ENTRY, first, all_of(0))
        put_numbers(columns, MET_STOP, first, position)
    walks = count
    done = 0
    while walks > 0:
        walks, done = _go_on(walk, data, columns, walks, done)
    for first in range(0, count, WIDTH):
        value = (numbers_at(columns, DONE_ENTRY, first) >> VALUE_BITS) & VALUE_MASK
        there = column_numbers() < count - first
        inside = there & (value < slots)
        token = gather(inner, chosen(inside, numbers_at(columns, DONE_SLOT, first), 0))
        token = chosen(inside, token, value - slots)
        # The others write to a column that nobody reads.
        place = chosen(there, numbers_at(columns, DONE_OF, first), count)
        put_at(columns, TOKEN, place, token)
        put_at(columns, STOP, place, numbers_at(columns, DONE_STOP, first))


@inlined
def _go_on(
    walk: Ints,
    data: Bytes,
    columns: Ints,
    walks: int,
    done: int,
) -> tuple[int, int]:
    """Go on by READ bytes. Returns how many walks there are still, and how many have ended."""
    slots = len(walk)
    kept = 0
    for first in range(0, walks, WIDTH):
        there = column_numbers() < walks - first
        walk_of = numbers_at(columns, WALK_OF, first)
        reached, end = numbers_at(columns, REACHED, first), numbers_at(columns, REACHABLE, first)
        met, entry_met = numbers_at(columns, MET, first), numbers_at(columns, MET_ENTRY, first)
        stop = numbers_at(columns, MET_STOP, first)
        word = words_at(data, chosen(there, reached, 0))
        value = chosen(there, numbers_at(columns, VALUE, first), 0)
        for _ in range(READ):
            byte = word & _BYTE
            slot = value ^ byte
            entry = gather(walk, slot)
            matches = ((entry & LABEL_MASK) == byte + 1) & (reached < end)
            value = (entry >> VALUE_BITS) & VALUE_MASK
            # From 0 nothing goes on: there are no children of any node.
            value = chosen(matches & (value < slots), value, 0)
            reached = reached + 1
            has_token = matches & ((entry & HAS_TOKEN) != 0)
            met = chosen(has_token, slot, met)
            entry_met = chosen(has_token, entry, entry_met)
            stop = chosen(has_token, reached, stop)
            word = word >> 8
        goes_on = there & (value != 0) & (reached < end)
        ends = there & ~goes_on
        put_kept(columns, DONE_SLOT, done, met, ends)
        put_kept(columns, DONE_ENTRY, done, entry_met, ends)
        put_kept(columns, DONE_STOP, done, stop, ends)
        done = put_kept(columns, DONE_OF, done, walk_of, ends)
        put_kept(columns, REACHED, kept, reached, goes_on)
        put_kept(columns, REACHABLE, kept, end, goes_on)
        put_kept(columns, VALUE, kept, value, goes_on)
        put_kept(columns, MET, kept, met, goes_on)
        put_kept(columns, MET_ENTRY, kept, entry_met, goes_on)
        put_kept(columns, MET_STOP, kept, stop, goes_on)
        kept = put_kept(columns, WALK_OF, kept, walk_of, goes_on)
    return kept, done
