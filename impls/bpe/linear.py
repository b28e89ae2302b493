"""What the linear encoders share: their tables by subject, and the way around late tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe import cache
from impls.bpe.automaton import automaton_tables
from impls.bpe.derivations import derive
from impls.bpe.heap_kernel import improper_tokens
from impls.bpe.layout import (
    ATOMS,
    BYTE_IDS,
    EMPTY,
    IDS,
    LATE,
    PREFIXES,
    SPLITS,
    SUFFIXES,
    TRIE,
    section,
)
from impls.bpe.spines import spine_tables
from impls.bpe.tables import merge_tables, whole_tables
from impls.bpe.trie import LABEL_MASK, build_trie, token_at
from impls.bpe.validity import validity_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

Sections = dict[int, "NDArray[np.int32]"]


def spelled_tokens(vocabulary: Vocabulary, ids: NDArray[np.int32]) -> list[bytes]:
    """The bytes of each of ``ids``."""
    tokens = vocabulary.tokens
    return [tokens[token_id] or b"" for token_id in ids.tolist()]


def token_sections(vocabulary: Vocabulary) -> Sections:
    """Tokens by age, their trie, pair validity, and what is emitted whole or encoded by heap."""

    def build() -> Sections:
        merges = merge_tables(vocabulary)
        tokens, late = derive(vocabulary, merges)
        spellings = spelled_tokens(vocabulary, tokens[IDS])
        trie, prefixes = build_trie(spellings)
        found = {**tokens, TRIE: trie, PREFIXES: prefixes, **validity_tables(tokens, spellings)}
        if vocabulary.ignore_merges:
            found |= whole_tables(vocabulary, improper_tokens(vocabulary))
        if late:
            # The heap takes over, and needs the merges as they are.
            found |= {LATE: build_trie(late)[0], **merges}
        else:
            found[BYTE_IDS] = merges[BYTE_IDS]
        return found

    return cache.tables(vocabulary.fingerprint, "tokens", build)


def suffix_sections(vocabulary: Vocabulary, tokens: Sections) -> Sections:
    """The automaton over the trie of ``tokens`` (:func:`token_sections`)."""
    return cache.tables(
        vocabulary.fingerprint,
        "suffixes",
        lambda: automaton_tables(tokens[TRIE], len(tokens[IDS])),
    )


def spine_sections(vocabulary: Vocabulary, tokens: Sections) -> Sections:
    """Intervals and search trees. tokens: also with :func:`suffix_sections`."""
    return cache.tables(
        vocabulary.fingerprint,
        "spines",
        lambda: spine_tables(tokens[SPLITS], tokens[SUFFIXES], int(tokens[ATOMS][256])),
    )


@njit
def late_pieces(
    block: NDArray[np.int32],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    late: NDArray[np.bool_],
) -> bool:
    """Mark the pieces that spell a late token anywhere; returns whether any does."""
    trie = section(block, LATE)
    found = False
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        late[piece] = False
        for begin in range(start, end):
            slot = 0
            for position in range(begin, end):
                byte = int(data[position])
                slot = int(trie[2 * slot]) ^ byte
                if (int(trie[2 * slot + 1]) & LABEL_MASK) != byte + 1:
                    break
                if token_at(trie, slot) != EMPTY:
                    late[piece] = True
                    break
            if late[piece]:
                found = True
                break
        start = end
    return found
