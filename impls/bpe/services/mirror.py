"""The automaton of reversed tokens: the longest token that begins at each byte of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.bpe.tables.automaton import automaton_tables
from impls.bpe.tables.linear import Sections
from impls.kernels import table_cache
from impls.kernels.layout import IDS, TRIE
from impls.kernels.trie import build_trie

if TYPE_CHECKING:
    from impls.bpe.spelling import Spellings
    from impls.kernels.table_cache import Fingerprinted


def mirror_sections(vocabulary: Fingerprinted, tokens: Sections, spellings: Spellings) -> Sections:
    """TRIE, STATES and SUFFIXES as for reversed texts; the tokens keep their numbers."""

    def build() -> Sections:
        reversed_texts = [text[::-1] for text in spellings.each(tokens[IDS].tolist())]
        trie, _ = build_trie(reversed_texts)
        return {TRIE: trie, **automaton_tables(trie, len(reversed_texts))}

    return table_cache.tables(vocabulary, "mirror", build)
