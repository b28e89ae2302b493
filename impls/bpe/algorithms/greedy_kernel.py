"""Leftmost-longest: at each position the longest token. O(n t), t the longest token. No BPE.

What WordPiece does, and what a tokenizer becomes whose author forgot the merges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.tables.spellings import spelled_sections
from impls.compiled.jit import njit
from impls.kernels.layout import BYTE_IDS, EMPTY, IDS, TRIE, pack, section
from impls.kernels.trie import LABEL_BITS, LABEL_MASK

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
    trie, id_of, byte_ids = section(block, TRIE), section(block, IDS), section(block, BYTE_IDS)
    at = 0
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        if len(given) > 0 and given[piece] != EMPTY:
            ids[at] = given[piece]
            at += 1
            start = end
        # A longer token may cover a byte without one, but no merge could have.
        for position in range(start, end):
            if byte_ids[data[position]] == EMPTY:
                return -1 - position
        while start < end:
            slot = 0
            stop = start
            for position in range(start, end):
                byte = int(data[position])
                slot = int(trie[2 * slot]) ^ byte
                word = int(trie[2 * slot + 1])
                if (word & LABEL_MASK) != byte + 1:
                    break
                if word > LABEL_MASK:
                    ids[at] = id_of[(word >> LABEL_BITS) - 1]
                    stop = position + 1
            at += 1
            start = stop
        if len(id_ends) > 0:
            id_ends[piece] = at
    return at


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The trie of all tokens."""
    return pack(spelled_sections(vocabulary))
