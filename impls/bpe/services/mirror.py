"""The automaton of reversed tokens: the longest token that begins at each byte of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.bpe.tables.automaton import automaton_tables
from impls.bpe.tables.linear import Sections, spelled_tokens
from impls.kernels import table_cache
from impls.kernels.layout import IDS, TRIE
from impls.kernels.trie import build_trie

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


def mirror_sections(vocabulary: Vocabulary, tokens: Sections) -> Sections:
    """TRIE, STATES and SUFFIXES as for reversed texts; the tokens keep their numbers."""

    def build() -> Sections:
        spellings = [text[::-1] for text in spelled_tokens(vocabulary, tokens[IDS])]
        trie, _ = build_trie(spellings)
        return {TRIE: trie, **automaton_tables(trie, len(spellings))}

    return table_cache.tables(vocabulary, "mirror", build)
