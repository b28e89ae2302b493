"""Byte-pair encoding by a linked list of symbols and a heap of pairs. O(n log n).

The heap holds pairs keyed by (rank, position), so that its minimum is the definition's next merge.
A merge changes the pairs on either side; their old entries stay in the heap and are skipped when
they come up, since a position remembers which pair it has now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import BYTE_IDS, EMPTY, PAIRS, pack, section
from impls.kernels.merge_tables import known_id, longest_piece, merge_tables, pair_row, whole_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

POSITION_BITS = 32
"""A heap key is ``rank << 32 | position``: both fit, and compare in the right order."""


@njit
def encode_pieces(
    block: NDArray[np.int32],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    given: NDArray[np.int64],
    ids: NDArray[np.int32],
    id_ends: NDArray[np.int64],
) -> int:
    """Encode each piece; with the arguments of :class:`impls.kernels.encoding.EncodePieces`."""
    byte_ids, pairs = section(block, BYTE_IDS), section(block, PAIRS)
    longest = longest_piece(ends)
    # Rows: symbol, next position, previous position, row of the pair that begins here.
    links = np.empty((4, longest + 1), dtype=np.int64)
    # A pair for each position at first, and at most two more for each merge.
    heap = np.empty(3 * longest + 1, dtype=np.int64)

    at = 0
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        known = known_id(block, data, start, end, given, piece)
        if known != EMPTY:
            ids[at] = known
            at += 1
        elif start < end:
            for position in range(start, end):
                symbol = int(byte_ids[data[position]])
                if symbol == EMPTY:
                    return -1 - position
                links[0, position - start] = symbol
            merge(pairs, links, heap, end - start)
            position = 0
            while position != EMPTY:
                ids[at] = links[0, position]
                at += 1
                position = int(links[1, position])
        if len(id_ends) > 0:
            id_ends[piece] = at
        start = end
    return at


@njit
def merge(
    pairs: NDArray[np.int32], links: NDArray[np.int64], heap: NDArray[np.int64], length: int
) -> int:
    """Merge the symbols ``links[0, :length]`` in place; position 0 begins the list that is left.

    Returns the row of the last merge, EMPTY if there was none.
    """
    symbols, following, preceding, pair_rows = links[0], links[1], links[2], links[3]
    size = 0
    last = EMPTY
    for position in range(length):
        following[position] = position + 1
        preceding[position] = position - 1
    following[length - 1] = EMPTY
    pair_rows[length - 1] = EMPTY
    for position in range(length - 1):
        row = pair_row(pairs, symbols[position], symbols[position + 1])
        pair_rows[position] = row
        if row != EMPTY:
            size = push(heap, size, (int(pairs[row + 2]) << POSITION_BITS) | position)

    while size > 0:
        key = int(heap[0])
        size = pop(heap, size)
        position = key & ((1 << POSITION_BITS) - 1)
        row = int(pair_rows[position])
        if row == EMPTY or pairs[row + 2] != key >> POSITION_BITS:
            continue
        last = row
        gone = int(following[position])
        after = int(following[gone])
        symbols[position] = pairs[row + 3]
        following[position] = after
        pair_rows[gone] = EMPTY
        pair_rows[position] = EMPTY
        if after != EMPTY:
            preceding[after] = position
            size = repair(pairs, links, heap, size, position)
        before = int(preceding[position])
        if before != EMPTY:
            size = repair(pairs, links, heap, size, before)
    return last


@njit
def repair(
    pairs: NDArray[np.int32],
    links: NDArray[np.int64],
    heap: NDArray[np.int64],
    size: int,
    position: int,
) -> int:
    """Look up the pair at ``position`` anew, and queue it; returns the heap's new size."""
    row = pair_row(pairs, links[0, position], links[0, links[1, position]])
    links[3, position] = row
    if row == EMPTY:
        return size
    return push(heap, size, (int(pairs[row + 2]) << POSITION_BITS) | position)


@njit
def push(heap: NDArray[np.int64], size: int, key: int) -> int:
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
def pop(heap: NDArray[np.int64], size: int) -> int:
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


def improper_tokens(vocabulary: Vocabulary) -> list[int]:
    """Tokens of a byte-level vocabulary whose own encoding by merges is not the token itself.

    A token that holds a byte without an id is one of them. Of several ids with the same bytes
    only the lowest counts.
    """
    texts = list(vocabulary.ids)
    token_ids = np.fromiter(vocabulary.ids.values(), dtype=np.int64)
    encodable = np.array([vocabulary.can_encode(text) for text in texts], dtype=bool)
    kept = [text for text, possible in zip(texts, encodable.tolist(), strict=True) if possible]
    ends = np.cumsum([len(text) for text in kept], dtype=np.int64)
    data = np.frombuffer(b"".join(kept), dtype=np.uint8)
    ids = np.empty(len(data), dtype=np.int32)
    id_ends = np.empty(len(ends), dtype=np.int64)
    block = pack(merge_tables(vocabulary))
    encode_pieces(block, data, ends, np.empty(0, np.int64), ids, id_ends)

    proper = np.zeros(len(texts), dtype=bool)
    if kept:
        starts = np.concatenate((np.zeros(1, np.int64), id_ends[:-1]))
        single = id_ends - starts == 1
        single[single] &= ids[starts[single]] == token_ids[encodable][single]
        proper[encodable] = single
    return [int(token_id) for token_id in token_ids[~proper]]


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Only improper tokens need the whole-piece rule: merging finds the others by itself."""
    whole = improper_tokens(vocabulary) if vocabulary.ignore_merges else ()
    return pack({**merge_tables(vocabulary), **whole_tables(vocabulary, whole)})
