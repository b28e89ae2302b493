"""``wordpiece.bert`` and ``wordpiece.llama-cpp``: one compiled encoder, two variants."""

from __future__ import annotations

from functools import cached_property, lru_cache, partial
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import Algorithm
from corpora.vocabularies.wordpiece_file import gguf_trouble
from impls.batch_encoder import BatchEncoder
from impls.interface import About, Capability, Mode, Rejected, Unsupported
from impls.wordpiece import decoders
from impls.wordpiece.variants import BERT, LLAMA_CPP, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Ints, Longs
    from impls.wordpiece.kernel import Encode


class WordPieceEncoder(BatchEncoder):
    """The compiled encoder with a vocabulary's tables. Holds no state between calls."""

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        # Here and not above: Numba takes a second to import, and listing names needs none of it.
        from impls.wordpiece.kernel import encode_inputs, make_lexicon  # noqa: PLC0415

        self._variant = variant
        self.lexicon = make_lexicon(vocabulary, variant)
        self.encode_inputs: Encode = partial(encode_inputs, self.lexicon)
        self._decoder = decoders.make_decoder(vocabulary, variant)

    def encode_batch(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
        """All inputs; Unsupported or Rejected for what the variant cannot read."""
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


class WordPieceImplementation:
    """WordPiece in a variant. suffix: of its name, after that of the variant."""

    encoder_type: type[WordPieceEncoder] = WordPieceEncoder
    suffix = ""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's, with those of Unicode that decide the words."""
        return About(
            name=f"{self.variant.name}{self.suffix}",
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
        encoder = self.encoder_type(vocabulary, self.variant)
        # Compile now, where a caller expects to wait, and not inside the first timed call.
        encoder.encode(b"a", Mode())
        return encoder


@lru_cache(maxsize=16)
def _gguf_trouble(vocabulary: Vocabulary) -> str | None:
    return gguf_trouble(vocabulary)


BERT_IMPLEMENTATION = WordPieceImplementation(BERT)
LLAMA_CPP_IMPLEMENTATION = WordPieceImplementation(LLAMA_CPP)
