"""Pieces that spell a token out of order (:mod:`impls.bpe.tables.derivations`) go to the heap
instead.

A merge that acts out of order spells its token, so a piece that spells none is encoded as if the
merges out of order were not there. Only improper vocabularies have such tokens, and only texts that
spell them pay the heap's O(n log n).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.definition import heap_kernel
from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, OUT_OF_ORDER, section
from impls.kernels.trie import LABEL_MASK, token_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from impls.kernels.encoding import EncodePieces


@njit
def mark_out_of_order(
    block: NDArray[np.int32],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    out_of_order: NDArray[np.bool_],
) -> bool:
    """Mark the pieces that spell a token out of order anywhere; returns whether any does."""
    trie = section(block, OUT_OF_ORDER)
    found = False
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        out_of_order[piece] = False
        for begin in range(start, end):
            slot = 0
            for position in range(begin, end):
                byte = int(data[position])
                slot = int(trie[2 * slot]) ^ byte
                if (int(trie[2 * slot + 1]) & LABEL_MASK) != byte + 1:
                    break
                if token_at(trie, slot) != EMPTY:
                    out_of_order[piece] = True
                    break
            if out_of_order[piece]:
                found = True
                break
        start = end
    return found


def around_out_of_order_tokens(fast: EncodePieces) -> EncodePieces:
    """``fast`` for the pieces that spell no token out of order, the heap for the others."""

    def encode_pieces(
        block: NDArray[np.int32],
        data: NDArray[np.uint8],
        ends: NDArray[np.int64],
        given: NDArray[np.int64],
        ids: NDArray[np.int32],
        id_ends: NDArray[np.int64],
    ) -> int:
        out_of_order = np.empty(len(ends), dtype=np.bool_)
        if not mark_out_of_order(block, data, ends, out_of_order):
            return fast(block, data, ends, given, ids, id_ends)
        at = 0
        # Runs of pieces that go the same way.
        bounds = [
            0,
            *(np.nonzero(out_of_order[1:] != out_of_order[:-1])[0] + 1).tolist(),
            len(ends),
        ]
        for low, high in pairwise(bounds):
            start = int(ends[low - 1]) if low else 0
            encode = heap_kernel.encode_pieces if out_of_order[low] else fast
            count = encode(
                block,
                data[start : int(ends[high - 1])],
                ends[low:high] - start,
                given[low:high],
                ids[at:],
                id_ends[low:high],
            )
            if count < 0:
                return count - start
            id_ends[low:high] += at
            at += count
        return at

    return encode_pieces
