"""The definition of byte-pair encoding, literally: O(n^2).

From single bytes, replace again and again the adjacent pair of the lowest rank, the leftmost
among equals, until no pair merges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import BYTE_IDS, EMPTY, PAIRS, pack, section
from impls.kernels.merge_tables import known_id, merge_tables, pair_row, whole_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


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
    at = 0
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        known = known_id(block, data, start, end, given, piece)
        if known != EMPTY:
            ids[at] = known
            at += 1
        else:
            for position in range(start, end):
                symbol = int(byte_ids[data[position]])
                if symbol == EMPTY:
                    return -1 - position
                ids[at + position - start] = symbol
            at += _merge(pairs, ids[at : at + end - start])
        if len(id_ends) > 0:
            id_ends[piece] = at
        start = end
    return at


@njit
def _merge(pairs: NDArray[np.int32], symbols: NDArray[np.int32]) -> int:
    """Merge the symbols in place; returns how many are left."""
    count = len(symbols)
    while True:
        best = EMPTY
        where = 0
        for i in range(count - 1):
            row = pair_row(pairs, symbols[i], symbols[i + 1])
            if row != EMPTY and (best == EMPTY or pairs[row + 2] < pairs[best + 2]):
                best = row
                where = i
        if best == EMPTY:
            return count
        symbols[where] = pairs[best + 3]
        for i in range(where + 1, count - 1):
            symbols[i] = symbols[i + 1]
        count -= 1


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """All tokens count as whole pieces where the vocabulary says so: again the definition."""
    whole = vocabulary.ids.values() if vocabulary.ignore_merges else ()
    return pack({**merge_tables(vocabulary), **whole_tables(vocabulary, whole)})
