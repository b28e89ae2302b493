"""``bpe.naive``: the definition of byte-pair encoding, literally. O(n^2).

From single bytes, replace again and again the adjacent pair of the lowest rank, the leftmost
among equals, until no pair merges. All other algorithms are checked against this one. (Sennrich,
Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL 2016, as
tiktoken reads it, ``_byte_pair_merge`` of its ``lib.rs``: over bytes, and by rank. One difference:
a text with a byte that is no token is rejected, even where tiktoken knows a longer token for it.)
"""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation
from impls.bpe.pieces import over_pieces
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Bytes, Ints
from impls.kernels.merge_tables import Merges, merges_of, pair_row


@njit
def encode_piece(merges: Merges, piece: Bytes, ids: Ints) -> int:
    """See :func:`impls.bpe.pieces.encode_piece`."""
    pairs = merges.pairs
    count = len(piece)
    for position in range(count):
        ids[position] = merges.byte_ids[piece[position]]
    while True:
        best = EMPTY
        where = 0
        for i in range(count - 1):
            row = pair_row(pairs, ids[i], ids[i + 1])
            if row != EMPTY and (best == EMPTY or pairs[row + 2] < pairs[best + 2]):
                best = row
                where = i
        if best == EMPTY:
            return count
        ids[where] = pairs[best + 3]
        for i in range(where + 1, count - 1):
            ids[i] = ids[i + 1]
        count -= 1


IMPLEMENTATION = BpeImplementation(
    "bpe.naive",
    over_pieces(encode_piece, merges_of),
    # 4096^2 pair look-ups take about 0.1 s: the longest that a campaign can afford by the way.
    max_input=4096,
)
