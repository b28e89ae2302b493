"""The definition of byte-pair encoding, literally: O(n^2).

From single bytes, replace again and again the adjacent pair of the lowest rank, the leftmost
among equals, until no pair merges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.tables import EMPTY, Tables, make_tables, pair_slot, whole_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


@njit
def encode_pieces(
    tables: Tables,
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    given: NDArray[np.int64],
    ids: NDArray[np.int32],
    id_ends: NDArray[np.int64],
) -> int:
    """Encode each piece; the arguments are those of :class:`impls.bpe.encoder.EncodePieces`."""
    slots, token_bytes, token_ends = tables.whole_slots, tables.whole_bytes, tables.whole_ends
    at = 0
    start = 0
    for piece in range(len(ends)):
        end = ends[piece]
        known = given[piece] if len(given) > 0 else EMPTY
        if known == EMPTY:
            index = whole_index(slots, token_bytes, token_ends, data, start, end)
            known = tables.whole_ids[index] if index != EMPTY else EMPTY
        if known != EMPTY:
            ids[at] = known
            at += 1
        else:
            symbols = np.empty(end - start, dtype=np.int64)
            for position in range(start, end):
                symbol = tables.byte_ids[data[position]]
                if symbol == EMPTY:
                    return -1 - position
                symbols[position - start] = symbol
            for symbol in _merged(tables.pairs, symbols):
                ids[at] = symbol
                at += 1
        id_ends[piece] = at
        start = end
    return at


@njit
def _merged(pairs: NDArray[np.int64], symbols: NDArray[np.int64]) -> NDArray[np.int64]:
    count = len(symbols)
    while True:
        best = EMPTY
        where = 0
        for i in range(count - 1):
            row = pair_slot(pairs, symbols[i], symbols[i + 1])
            if row != EMPTY and (best == EMPTY or pairs[row, 2] < pairs[best, 2]):
                best = row
                where = i
        if best == EMPTY:
            return symbols[:count]
        symbols[where] = pairs[best, 3]
        for i in range(where + 1, count - 1):
            symbols[i] = symbols[i + 1]
        count -= 1


def whole_piece_tables(vocabulary: Vocabulary) -> Tables:
    """All tokens count as whole pieces where the vocabulary says so: again the definition."""
    return make_tables(vocabulary, vocabulary.ids.values() if vocabulary.ignore_merges else ())
