"""``bpe.heap``: byte-pair encoding by a linked list of symbols and a heap of pairs. O(n log n).

The heap holds pairs keyed by (rank, position), so that its minimum is the definition's next merge.
A merge changes the pairs on either side; their old entries stay in the heap and are skipped when
they come up, since a position remembers which pair it has now. (As ``Word::merge_all`` in the
``word.rs`` of Hugging Face's tokenizers, and SentencePiece's ``bpe_model.cc``.)
"""

from __future__ import annotations

import numpy as np

from impls.bpe.encoder import BpeImplementation
from impls.bpe.pieces import over_pieces
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.kernels.merge_tables import Merges, merges_of, pair_row

POSITION_BITS = 32
"""A heap key is ``rank << 32 | position``: both fit, and compare in the right order."""
POSITION_MASK = (1 << POSITION_BITS) - 1

SYMBOL, NEXT, PREVIOUS, ROW = 0, 1, 2, 3
"""What is known of each position: its symbol, the next and the previous position, and the row of
the pair that begins here; EMPTY for none."""


@njit
def encode_piece(merges: Merges, piece: Bytes, ids: Ints) -> int:
    """See :func:`impls.bpe.pieces.encode_piece`."""
    return read_off(merge(merges, piece)[0], ids)


@njit
def merge(merges: Merges, piece: Bytes) -> tuple[Longs, int]:
    """The linked symbols that are left of a piece, and the row of the last merge, or EMPTY."""
    links, heap, size = begin(merges, piece)
    last = EMPTY
    while size > 0:
        key = int(heap[0])
        size = pop(heap, size)
        if is_current(merges.pairs, links, key):
            last = int(links[ROW, key & POSITION_MASK])
            size = replace(merges.pairs, links, heap, size, key & POSITION_MASK)
    return links, last


@njit
def begin(merges: Merges, piece: Bytes) -> tuple[Longs, Longs, int]:
    """The linked symbols of single bytes, the heap of their pairs, and the heap's size."""
    length = len(piece)
    links = np.empty((4, length), dtype=np.int64)
    # A pair for each position at first, and at most two more for each merge.
    heap = np.empty(3 * length, dtype=np.int64)
    for position in range(length):
        links[SYMBOL, position] = merges.byte_ids[piece[position]]
        links[NEXT, position] = position + 1 if position + 1 < length else EMPTY
        links[PREVIOUS, position] = position - 1
        links[ROW, position] = EMPTY
    size = 0
    for position in range(length - 1):
        size = offer(merges.pairs, links, heap, size, position)
    return links, heap, size


@njit
def offer(pairs: Ints, links: Longs, heap: Longs, size: int, position: int) -> int:
    """Look up the pair at ``position``, and queue it; returns the heap's new size."""
    row = pair_row(pairs, links[SYMBOL, position], links[SYMBOL, links[NEXT, position]])
    links[ROW, position] = row
    if row == EMPTY:
        return size
    return push(heap, size, (int(pairs[row + 2]) << POSITION_BITS) | position)


@njit
def is_current(pairs: Ints, links: Longs, key: int) -> bool:
    """Whether the pair of a key still stands at its position."""
    row = int(links[ROW, key & POSITION_MASK])
    return row != EMPTY and int(pairs[row + 2]) == key >> POSITION_BITS


@njit
def replace(pairs: Ints, links: Longs, heap: Longs, size: int, position: int) -> int:
    """Merge the pair at ``position``, and queue the new pairs; returns the heap's new size."""
    gone = int(links[NEXT, position])
    before, after = int(links[PREVIOUS, position]), int(links[NEXT, gone])
    links[SYMBOL, position] = pairs[links[ROW, position] + 3]
    links[NEXT, position] = after
    links[ROW, gone] = links[ROW, position] = EMPTY
    if after != EMPTY:
        links[PREVIOUS, after] = position
        size = offer(pairs, links, heap, size, position)
    if before != EMPTY:
        size = offer(pairs, links, heap, size, before)
    return size


@njit
def read_off(links: Longs, ids: Ints) -> int:
    """Write the symbols of a linked list to ``ids``; returns how many they are."""
    count = 0
    position = 0
    while position != EMPTY:
        ids[count] = links[SYMBOL, position]
        count += 1
        position = int(links[NEXT, position])
    return count


@njit
def push(heap: Longs, size: int, key: int) -> int:
    """Add ``key`` to the heap ``heap[:size]``; returns its new size."""
    hole = size
    while hole > 0:
        parent = (hole - 1) >> 1
        if heap[parent] <= key:
            break
        heap[hole] = heap[parent]
        hole = parent
    heap[hole] = key
    return size + 1


@njit
def pop(heap: Longs, size: int) -> int:
    """Remove the minimum, ``heap[0]``; returns the new size."""
    size -= 1
    key = int(heap[size])
    hole = 0
    child = 1
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[hole] = heap[child]
        hole = child
        child = 2 * hole + 1
    heap[hole] = key
    return size


encoder_of = over_pieces(encode_piece, merges_of)

IMPLEMENTATION = BpeImplementation("bpe.heap", encoder_of)
