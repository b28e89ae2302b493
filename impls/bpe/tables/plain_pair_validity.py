"""Pair validity by the plain law, for what judges other implementations.

This is the law of docs/algorithms.md, section 1, with nothing added for speed; the encoders that
are compared by their speed ask :mod:`impls.bpe.tables.pair_validity`, which answers the same
question from filters over the bytes at the boundary.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.definition.heap_kernel import improper_tokens
from impls.bpe.tables.derivations import derive
from impls.compiled.jit import njit
from impls.kernels.layout import (
    AGED_PAIRS,
    BASE_TOKENS,
    EMPTY,
    IDS,
    OUT_OF_ORDER,
    PREFIXES,
    SPLITS,
    TRIE,
)
from impls.kernels.merge_tables import hashed_pairs, merge_tables, pair_row, whole_tables
from impls.kernels.trie import build_trie

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

NEVER = 1 << 31
"""A limit above all tokens, which are numbered in 31 bits."""


@njit
def valid_pair(pairs: NDArray[np.int32], splits: NDArray[np.int32], left: int, right: int) -> bool:
    """Whether token ``right`` may follow token ``left``: encoding does not merge across them.

    pairs: AGED_PAIRS. splits: SPLITS. Tokens are numbered by age, so that of two the larger one was
    merged later. The merges are undone, the latest first. If what then faces each other at the
    boundary would have merged before the limit, which is when the last undone merge was made, the
    encoding would have merged it. Of two equal tokens the left one was merged first.
    """
    limit = NEVER
    while True:
        row = pair_row(pairs, left, right)
        if row != EMPTY and pairs[row + 2] < limit:
            return False
        if left > right:
            if splits[2 * left] == left:  # a single byte, and so is ``right``, which is older
                return True
            limit = left
            left = int(splits[2 * left + 1])
        else:
            if splits[2 * right] == right:
                return True
            limit = right + 1
            right = int(splits[2 * right])


@lru_cache(maxsize=1)
def plain_sections(vocabulary: Vocabulary) -> Mapping[int, NDArray[np.int32]]:
    """Build the tables of the plain encoder; they are never read from the disk.

    Those of the last vocabulary are kept, as the exact policy asks for them twice in a row.

    Tokens by age, their trie, and the hash of their merges; what is emitted whole; and, where some
    merges act out of order (:mod:`impls.bpe.tables.out_of_order`), what the heap needs to encode
    their texts.
    """
    merges = merge_tables(vocabulary)
    tokens, out_of_order = derive(vocabulary, merges)
    spellings = [vocabulary.tokens[token_id] or b"" for token_id in tokens[IDS].tolist()]
    trie, prefixes = build_trie(spellings)
    numbers = np.arange(int(tokens[BASE_TOKENS][256]), len(spellings))
    halves = tokens[SPLITS].reshape(-1, 2)[numbers]
    rows = np.column_stack((halves, numbers, numbers))
    found = {**tokens, TRIE: trie, PREFIXES: prefixes, AGED_PAIRS: hashed_pairs(rows)}
    if vocabulary.ignore_merges:
        found |= whole_tables(vocabulary, improper_tokens(vocabulary))
    if out_of_order:
        found |= {OUT_OF_ORDER: build_trie(out_of_order)[0], **merges}
    return found
