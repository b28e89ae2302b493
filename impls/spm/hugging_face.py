"""Byte-pair encoding over characters as the tokenizers library runs it, by its plain definition.

What a Llama-2 or Gemma ``tokenizer.json`` means: added tokens part the text, each part is
normalized by itself, its characters become tokens (those without one bytes, or the unknown token),
and as long as two neighbours have a merge, the first of the merges of lowest rank is done. It is
the pipeline (:mod:`impls.pipeline.encoder`) of the file that tokenizers is given: it is there to be
read, not to be fast.
"""

from __future__ import annotations

from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer, RankOrder
from impls.adapters.tokenizers import tokenizer_json
from impls.interface import About, Mode, Unsupported
from impls.pipeline import encoder as pipeline

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

MAX_INPUT = 1 << 16
"""Bytes that it is asked to encode: a second of Python."""


class Implementation:
    """The tokenizers library's byte-pair encoding over characters, by its definition."""

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            name="spm.huggingface",
            version=metadata.version("tokgate"),
            max_input=MAX_INPUT,
            engine="tokenizers",
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Merges in a list, over characters, as text."""
        if vocabulary.algorithm is not Algorithm.BPE:
            return "byte-pair encoding only"
        if vocabulary.alphabet is not Alphabet.CHARACTERS:
            return "byte-pair encoding over characters only"
        if vocabulary.rank_order is not RankOrder.MERGES:
            return "needs a list of merges: scores are SentencePiece's"
        normalizer = vocabulary.normalizer
        plain = Normalizer(
            add_dummy_prefix=normalizer.add_dummy_prefix,
            escape_whitespaces=normalizer.escape_whitespaces,
        )
        if normalizer != plain:
            return "no normalization but the dummy space and U+2581"
        if mode != Mode():
            return "reads no special tokens, and normalizes always"
        return None

    def load(self, vocabulary: Vocabulary) -> pipeline.Encoder:
        """Build the tables of the file's steps. Raises Unsupported where one is not defined."""
        found = pipeline.read(tokenizer_json(vocabulary, Mode()).encode())
        if isinstance(found, str):
            raise Unsupported(found)
        return found


IMPLEMENTATION = Implementation()
