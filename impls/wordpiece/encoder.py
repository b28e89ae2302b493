"""``wordpiece.bert`` and ``wordpiece.llama-cpp``: one compiled encoder, two variants."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from importlib import metadata
from typing import TYPE_CHECKING, cast

import numpy as np

from corpora.vocabularies.model import Algorithm
from corpora.vocabularies.wordpiece_file import gguf_trouble
from impls.interface import About, Capability, Mode, Rejected, Unsupported
from impls.warm_up import warm_up
from impls.wordpiece import decoders
from impls.wordpiece.variants import BERT, LLAMA_CPP, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Ints, Longs
    from impls.wordpiece.kernel import Encode


class WordPieceEncoder:
    """The compiled encoder with a vocabulary's tables. Holds no state between calls."""

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        # Here and not above: Numba takes a second to import, and listing names needs none of it.
        from impls.wordpiece.kernel import encode_inputs, make_lexicon  # noqa: PLC0415

        self._variant = variant
        self.lexicon = make_lexicon(vocabulary, variant)
        self.encode_inputs: Encode = partial(encode_inputs, self.lexicon)
        self._decoder = decoders.make_decoder(vocabulary, variant)

    def warm_up(self, modes: Sequence[Mode]) -> None:
        """Compile whatever requests in these modes will need; see ``WarmsUp``."""
        warm_up(self, modes)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids of the words. Unsupported or Rejected for what the variant cannot read."""
        ids, _ = self.encode_batch(data, np.array([len(data)], dtype=np.int64), mode)
        return cast("list[int]", ids.tolist())

    def encode_batch(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
        """All inputs in one compiled call; see ``EncodesBatches``."""
        id_ends = np.empty(len(ends), dtype=np.int64)
        inputs = np.frombuffer(data, dtype=np.uint8)
        ids = self.encode_inputs(inputs, ends, id_ends)
        if (id_ends < 0).any():
            if self._variant.strict:
                raise Unsupported("takes text only, and this is not UTF-8")
            raise Rejected("a character beyond U+10FFFF, at which llama.cpp aborts")
        return ids, id_ends

    def decode(self, ids: Sequence[int]) -> bytes:
        """As the engine's users get it; see :mod:`impls.wordpiece.decoders`."""
        return self._decoder(ids)


@dataclass(frozen=True)
class WordPieceImplementation:
    """WordPiece in a variant."""

    variant: Variant

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's, with those of Unicode that decide the words."""
        return About(
            name=self.variant.name,
            version=f"{metadata.version('tokgate')}+unicode.{self.variant.unicode}",
            capabilities=frozenset({Capability.THREADS, Capability.DECODE}),
            linear=True,
            engine="llama.cpp" if self.variant is LLAMA_CPP else "",
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """WordPiece vocabularies with an unknown token, as text."""
        if vocabulary.algorithm is not Algorithm.WORDPIECE or vocabulary.wordpiece is None:
            return "WordPiece only"
        if vocabulary.unk_id is None:
            return "needs an unknown token"
        if not mode.pretokenize:
            return "the variant's words cannot be left out"
        if mode.special == "all":
            return "never reads special tokens from text"
        if self.variant.marks_words:
            return _gguf_trouble(vocabulary)
        if any(not token.special for token in vocabulary.added_tokens):
            return "has no added tokens but special ones"
        return None

    def load(self, vocabulary: Vocabulary) -> WordPieceEncoder:
        """Build the tables, or read them from disk: well under a second for 30,000 tokens."""
        encoder = self.encoder(vocabulary)
        # Compile now, where a caller expects to wait, and not inside the first timed call.
        encoder.encode(b"a", Mode())
        return encoder

    def encoder(self, vocabulary: Vocabulary) -> WordPieceEncoder:
        """The encoder, as yet uncompiled."""
        return WordPieceEncoder(vocabulary, self.variant)


@lru_cache(maxsize=16)
def _gguf_trouble(vocabulary: Vocabulary) -> str | None:
    return gguf_trouble(vocabulary)


BERT_IMPLEMENTATION = WordPieceImplementation(BERT)
LLAMA_CPP_IMPLEMENTATION = WordPieceImplementation(LLAMA_CPP)
