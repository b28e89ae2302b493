"""What the linear encoders share: their tables by subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.bpe.definition.heap_kernel import improper_tokens
from impls.bpe.tables.automaton import automaton_tables
from impls.bpe.tables.derivations import derive
from impls.bpe.tables.pair_validity import validity_tables
from impls.bpe.tables.spines import spine_tables
from impls.kernels import table_cache
from impls.kernels.layout import (
    BASE_TOKENS,
    BYTE_IDS,
    IDS,
    OUT_OF_ORDER,
    PREFIXES,
    SPLITS,
    SUFFIXES,
    TRIE,
)
from impls.kernels.merge_tables import merge_tables, whole_tables
from impls.kernels.trie import build_trie

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.table_cache import Fingerprinted

Sections = dict[int, "NDArray[np.int32]"]


def spelled_tokens(vocabulary: Vocabulary, ids: NDArray[np.int32]) -> list[bytes]:
    """The bytes of each of ``ids``."""
    tokens = vocabulary.tokens
    return [tokens[token_id] or b"" for token_id in ids.tolist()]


def token_sections(vocabulary: Vocabulary) -> Sections:
    """Tokens by age, their trie, pair validity, and what is emitted whole or encoded by heap."""

    def build() -> Sections:
        merges = merge_tables(vocabulary)
        tokens, out_of_order = derive(vocabulary, merges)
        spellings = spelled_tokens(vocabulary, tokens[IDS])
        trie, prefixes = build_trie(spellings)
        found = {**tokens, TRIE: trie, PREFIXES: prefixes, **validity_tables(tokens, spellings)}
        if vocabulary.ignore_merges:
            found |= whole_tables(vocabulary, improper_tokens(vocabulary))
        if out_of_order:
            # The heap takes over, and needs the merges as they are.
            found |= {OUT_OF_ORDER: build_trie(out_of_order)[0], **merges}
        else:
            found[BYTE_IDS] = merges[BYTE_IDS]
        return found

    return table_cache.tables(vocabulary, "tokens", build)


def suffix_sections(vocabulary: Fingerprinted, tokens: Sections) -> Sections:
    """The automaton over the trie of ``tokens`` (:func:`token_sections`)."""
    return table_cache.tables(
        vocabulary,
        "suffixes",
        lambda: automaton_tables(tokens[TRIE], len(tokens[IDS])),
    )


def spine_sections(vocabulary: Vocabulary, tokens: Sections) -> Sections:
    """Intervals and search trees. tokens: also with :func:`suffix_sections`."""
    return table_cache.tables(
        vocabulary,
        "spines",
        lambda: spine_tables(tokens[SPLITS], tokens[SUFFIXES], int(tokens[BASE_TOKENS][256])),
    )
