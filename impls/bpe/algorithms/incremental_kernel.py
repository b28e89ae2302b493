"""Byte-pair encoding byte by byte, from explicit merges. O(n log^2 t), t the longest token.

The last token of every prefix is found from those of shorter prefixes: the automaton names the
longest token that the text ends in; if that forms at the end (one interval), it is the last token,
else a search among its suffixes finds it (:mod:`impls.bpe.tables.spines`). No pair is ever looked
up. (Jiang and Gong, "Incremental BPE Tokenization", arXiv 2605.30813.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.algorithms.table_kernel import read_off
from impls.bpe.tables.automaton import next_state
from impls.bpe.tables.linear import spine_sections, suffix_sections, token_sections
from impls.bpe.tables.spines import find_last, formed
from impls.compiled.jit import njit
from impls.kernels.layout import (
    BASE_TOKENS,
    EMPTY,
    IDS,
    LENGTHS,
    SEARCH_STARTS,
    SEARCHES,
    SPINES,
    SPLITS,
    STATES,
    TRIE,
    pack,
    section,
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
    trie, states, splits = section(block, TRIE), section(block, STATES), section(block, SPLITS)
    spines, searches = section(block, SPINES), section(block, SEARCHES)
    starts, lengths = section(block, SEARCH_STARTS), section(block, LENGTHS)
    id_of, base_tokens = section(block, IDS), section(block, BASE_TOKENS)
    youngest_base = int(base_tokens[256]) - 1
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
                if token > youngest_base:
                    right = int(splits[2 * token + 1])
                    if not formed(spines, token, int(lasts[position - int(lengths[right])])):
                        token = find_last(
                            splits,
                            lengths,
                            spines,
                            searches,
                            youngest_base + 1,
                            lasts,
                            position,
                            int(starts[token]),
                        )
                lasts[position] = token
            at = read_off(lasts, lengths, id_of, start, end, ids, at)
        if len(id_ends) > 0:
            id_ends[piece] = at
        start = end
    return at


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Tokens by age with their trie, the automaton, and the spines."""
    tokens = token_sections(vocabulary)
    suffixes = suffix_sections(vocabulary, tokens)
    return pack({**tokens, **suffixes, **spine_sections(vocabulary, {**tokens, **suffixes})})
