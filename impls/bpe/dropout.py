"""``bpe.dropout``: each time a merge is next it is passed over with a probability of 0.1.

A merge that was passed over is considered again after the next merge that is done; encoding ends
when all that are left are passed over. The chances are drawn from a generator seeded with the
piece's own bytes, so that one text has one answer. Expected O(n log n), as for the heap.
(Provilkov, Emelianenko and Voita, "BPE-Dropout: Simple and Effective Subword Regularization",
ACL 2020. ``Word::merge_all`` of tokenizers draws for stale pairs, too, each of which gives those
that were passed over another chance.)
"""

from __future__ import annotations

import numpy as np

from impls.bpe.encoder import BpeImplementation
from impls.bpe.heap import POSITION_MASK, begin, is_current, pop, push, read_off, replace
from impls.bpe.pieces import over_pieces
from impls.compiled.lazy import njit
from impls.interface import Law
from impls.kernels.layout import Bytes, Ints
from impls.kernels.merge_tables import Merges, merges_of

SEED = 20_240_911

# The generator of Park and Miller, "minimal standard": no product reaches 2**47.
_MODULUS = 2147483647
_MULTIPLIER = 48271
_PASSED_OVER = _MODULUS // 10


@njit
def encode_piece(merges: Merges, piece: Bytes, ids: Ints) -> int:
    """See :func:`impls.bpe.pieces.encode_piece`."""
    state = SEED
    for position in range(len(piece)):
        state = (state * 257 + int(piece[position]) + 1) % _MODULUS
    state = max(state, 1)
    links, heap, size = begin(merges, piece)
    passed = np.empty(len(heap), dtype=np.int64)
    over = 0
    while size > 0:
        key = int(heap[0])
        size = pop(heap, size)
        if not is_current(merges.pairs, links, key):
            continue
        state = state * _MULTIPLIER % _MODULUS
        if state < _PASSED_OVER:
            passed[over] = key
            over += 1
            continue
        size = replace(merges.pairs, links, heap, size, key & POSITION_MASK)
        while over > 0:
            over -= 1
            size = push(heap, size, int(passed[over]))
    return read_off(links, ids)


IMPLEMENTATION = BpeImplementation(
    "bpe.dropout", over_pieces(encode_piece, merges_of), law=Law.REACHABLE
)
