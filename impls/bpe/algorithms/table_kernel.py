"""Byte-pair encoding by the last token of every prefix. O(n t), t the length of a longest token.

The last token of a text's encoding is the longest of its suffixes that is a token and that the
encoding of the text before it admits, and only one is admitted at all: so for each position the
candidates, from the automaton, are tried from the longest on. The ids are read off backwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.tables.automaton import next_state
from impls.bpe.tables.linear import suffix_sections, token_sections
from impls.bpe.tables.pair_validity import boundary_at, valid_pair
from impls.compiled.jit import njit
from impls.kernels.layout import (
    BASE_TOKENS,
    BLOOM,
    BOUNDARIES,
    EMPTY,
    IDS,
    LENGTHS,
    MERGED,
    SPLITS,
    STATES,
    SUFFIXES,
    TRIE,
    pack,
    section,
    wide,
)
from impls.kernels.merge_tables import known_id

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
    merged, bloom = wide(section(block, MERGED)), section(block, BLOOM)
    boundaries, splits = wide(section(block, BOUNDARIES)), section(block, SPLITS)
    id_of, base_tokens, lengths = (
        section(block, IDS),
        section(block, BASE_TOKENS),
        section(block, LENGTHS),
    )
    # The last token of the encoding of each piece's part up to and with each byte.
    lasts = np.empty(len(data), dtype=np.int32)
    at = 0
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        known = known_id(block, data, start, end, given, piece)
        if known != EMPTY:
            ids[at] = known
            at += 1
        else:
            state = 0
            for position in range(start, end):
                byte = int(data[position])
                if base_tokens[byte] == EMPTY:
                    return -1 - position
                state = next_state(trie, states, state, byte)
                token = int(states[2 * state + 1])
                while True:
                    begin = position + 1 - int(lengths[token])
                    # The base token, at the latest, is admitted: every text has an encoding.
                    if begin <= start:
                        break
                    boundary = boundary_at(boundaries, data, begin)
                    before = int(lasts[begin - 1])
                    if not boundary or valid_pair(splits, merged, bloom, boundary, before, token):
                        break
                    token = int(suffixes[token])
                lasts[position] = token
            at = read_off(lasts, lengths, id_of, start, end, ids, at)
        if len(id_ends) > 0:
            id_ends[piece] = at
        start = end
    return at


@njit
def read_off(
    lasts: NDArray[np.int32],
    lengths: NDArray[np.int32],
    id_of: NDArray[np.int32],
    start: int,
    end: int,
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Write the ids of ``data[start:end]`` to ``ids[at:]``; returns where they end."""
    position = end
    stop = at
    while position > start:
        position -= int(lengths[lasts[position - 1]])
        stop += 1
    position = end
    place = stop
    while position > start:
        token = int(lasts[position - 1])
        place -= 1
        ids[place] = id_of[token]
        position -= int(lengths[token])
    return stop


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Tokens by age with their trie, pair validity, and the automaton."""
    tokens = token_sections(vocabulary)
    return pack({**tokens, **suffix_sections(vocabulary, tokens)})
