"""The fewest tokens that spell a text, by dynamic programming. O(n t), t the longest token. No BPE.

``fewest[i] = 1 + min(fewest[i - len(s)])`` over the tokens s in which the text up to i ends; of
several ways the one whose last token is longest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.algorithms.table_kernel import read_off
from impls.bpe.tables.automaton import next_state
from impls.bpe.tables.spellings import spelled_sections, spelled_suffix_sections
from impls.compiled.jit import njit
from impls.kernels.layout import (
    BYTE_IDS,
    EMPTY,
    IDS,
    LENGTHS,
    STATES,
    SUFFIXES,
    TRIE,
    pack,
    section,
)

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
    trie, states, suffixes = section(block, TRIE), section(block, STATES), section(block, SUFFIXES)
    lengths, id_of, byte_ids = (
        section(block, LENGTHS),
        section(block, IDS),
        section(block, BYTE_IDS),
    )
    lasts = np.empty(len(data), dtype=np.int32)
    fewest = np.empty(len(data), dtype=np.int32)
    at = 0
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        if len(given) > 0 and given[piece] != EMPTY:
            ids[at] = given[piece]
            at += 1
            start = end
        state = 0
        for position in range(start, end):
            byte = int(data[position])
            if byte_ids[byte] == EMPTY:
                return -1 - position
            state = next_state(trie, states, state, byte)
            token = int(states[2 * state + 1])
            best = position - start + 2
            while token != EMPTY:
                begin = position + 1 - int(lengths[token])
                count = 1 + (int(fewest[begin - 1]) if begin > start else 0)
                if count < best:
                    best = count
                    lasts[position] = token
                token = int(suffixes[token])
            fewest[position] = best
        at = read_off(lasts, lengths, id_of, start, end, ids, at)
        if len(id_ends) > 0:
            id_ends[piece] = at
        start = end
    return at


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The trie of all tokens, and the automaton over it."""
    spelled = spelled_sections(vocabulary)
    return pack({**spelled, **spelled_suffix_sections(vocabulary, spelled)})
