"""The tables of the encoders that go by spelling alone: every token, built by merges or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.tables.automaton import automaton_tables
from impls.bpe.tables.linear import spelled_tokens
from impls.kernels import table_cache
from impls.kernels.layout import BYTE_IDS, EMPTY, IDS, LENGTHS, TRIE
from impls.kernels.trie import build_trie

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


def spelled_sections(vocabulary: Vocabulary) -> dict[int, NDArray[np.int32]]:
    """BYTE_IDS, IDS, LENGTHS and TRIE of all tokens, numbered by id."""

    def build() -> dict[int, NDArray[np.int32]]:
        ids = np.array(sorted(i for text, i in vocabulary.ids.items() if text), dtype=np.int32)
        spellings = spelled_tokens(vocabulary, ids)
        byte_ids = [EMPTY if i is None else i for i in vocabulary.byte_ids]
        return {
            BYTE_IDS: np.array(byte_ids, dtype=np.int32),
            IDS: ids,
            LENGTHS: np.array([len(text) for text in spellings], dtype=np.int32),
            TRIE: build_trie(spellings)[0],
        }

    return table_cache.tables(vocabulary, "spelled", build)


def spelled_suffix_sections(
    vocabulary: Vocabulary, spelled: dict[int, NDArray[np.int32]]
) -> dict[int, NDArray[np.int32]]:
    """The automaton over the trie of ``spelled``."""
    return table_cache.tables(
        vocabulary,
        "spelled-suffixes",
        lambda: automaton_tables(spelled[TRIE], len(spelled[IDS])),
    )
