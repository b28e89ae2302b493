"""BPE with dropout: each time a merge is next it is passed over with a probability of 0.1.

A merge that was passed over is considered again after the next merge that is done; encoding ends
when all that are left are passed over. The chances are drawn from a generator seeded with the
piece's own bytes, so that one text has one answer. Expected O(n log n), as for the heap.
(Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization",
ACL 2020.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.definition import heap_kernel
from impls.bpe.definition.heap_kernel import POSITION_BITS, pop, push, repair
from impls.compiled.jit import njit
from impls.kernels.layout import BYTE_IDS, EMPTY, PAIRS, section
from impls.kernels.merge_tables import known_id, longest_piece, pair_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

SEED = 20_240_911

# The generator of Park and Miller, "minimal standard": no product reaches 2**47.
_MODULUS = 2147483647
_MULTIPLIER = 48271
_PASSED_OVER = _MODULUS // 10


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
    links = np.empty((4, longest + 1), dtype=np.int64)
    heap = np.empty(3 * longest + 1, dtype=np.int64)
    passed = np.empty(3 * longest + 1, dtype=np.int64)
    at = 0
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        known = known_id(block, data, start, end, given, piece)
        if known != EMPTY:
            ids[at] = known
            at += 1
        elif start < end:
            state = SEED
            for position in range(start, end):
                symbol = int(byte_ids[data[position]])
                if symbol == EMPTY:
                    return -1 - position
                links[0, position - start] = symbol
                state = (state * 257 + int(data[position]) + 1) % _MODULUS
            _merge(pairs, links, heap, passed, end - start, max(state, 1))
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
def _merge(
    pairs: NDArray[np.int32],
    links: NDArray[np.int64],
    heap: NDArray[np.int64],
    passed: NDArray[np.int64],
    length: int,
    state: int,
) -> None:
    """As :func:`impls.bpe.definition.heap_kernel.merge`, with chance.

    passed: scratch as long as ``heap``.
    """
    symbols, following, preceding, pair_rows = links[0], links[1], links[2], links[3]
    size = 0
    over = 0
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
        state = state * _MULTIPLIER % _MODULUS
        if state < _PASSED_OVER:
            passed[over] = key
            over += 1
            continue
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
        while over > 0:
            over -= 1
            size = push(heap, size, int(passed[over]))


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The heap's."""
    return heap_kernel.block_of(vocabulary)
