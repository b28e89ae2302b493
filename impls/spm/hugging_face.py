"""Byte-pair encoding over characters as the tokenizers library runs it, by its plain definition.

What a Llama-2 or Gemma ``tokenizer.json`` means: added tokens part the text, each part is
normalized by itself, its characters become tokens (those without one bytes, or the unknown token),
and as long as two neighbours have a merge, the first of the merges of lowest rank is done. Its
model is that of :mod:`impls.pipeline.models`: it is there to be read, not to be fast.
"""

from __future__ import annotations

from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer, RankOrder
from impls.adapters.common import text_of
from impls.interface import About, Mode
from impls.pipeline.models import Bpe
from impls.unigram.splitting import leftmost_longest

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

SPACE = "\u2581"

MAX_INPUT = 1 << 16
"""Bytes that it is asked to encode: a second of Python."""


class Encoder:
    """The definition, with what it needs of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._normalizer = vocabulary.normalizer
        texts = [piece.text for piece in vocabulary.pieces]
        merges = zip(vocabulary.merges.left.tolist(), vocabulary.merges.right.tolist(), strict=True)
        self._model = Bpe(
            {
                "vocab": {text: i for i, text in enumerate(texts)},
                "merges": [(texts[left], texts[right]) for left, right in merges],
                "unk_token": None if vocabulary.unk_id is None else texts[vocabulary.unk_id],
                "fuse_unk": True,
                "byte_fallback": vocabulary.byte_fallback,
            }
        )
        self._cut = leftmost_longest(
            {
                token.text.encode(): None if token.special else token.id
                for token in vocabulary.added_tokens
                if not token.normalized
            }
        )

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; Unsupported for what is not UTF-8."""
        if not text_of(data):
            return []
        ids: list[int] = []
        start = 0
        ends, given, _ = self._cut(data, np.array([len(data)]))
        for end, token in zip(ends.tolist(), given.tolist(), strict=True):
            part = data[start:end].decode()
            ids += [token] if token >= 0 else self._model.ids(self._normalized(part))
            start = end
        return ids

    def _normalized(self, part: str) -> str:
        escape = self._normalizer.escape_whitespaces
        part = (" " if self._normalizer.add_dummy_prefix else "") + part
        return part.replace(" ", SPACE) if escape else part


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
        for token in vocabulary.added_tokens:
            if token.special and len(token.text) == 1:
                return f"cannot tell whether {token.text!r} is a token of the model, too"
            if not token.special and (
                token.single_word or token.lstrip or token.rstrip or token.normalized
            ):
                return "an added token is matched with conditions (single_word, lstrip, normalized)"
        return None

    def load(self, vocabulary: Vocabulary) -> Encoder:
        """Build the maps: a fraction of a second for 32,000 pieces."""
        return Encoder(vocabulary)


IMPLEMENTATION = Implementation()
