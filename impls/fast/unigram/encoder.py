"""``unigram.sentencepiece.fast``: SentencePiece's unigram by words, with a cache of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.unigram.encoder import Implementation, UnigramEncoder
from impls.unigram.variants import SENTENCEPIECE

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode
    from impls.kernels.layout import Ints, Longs
    from impls.unigram.variants import Variant


class FastEncoder(UnigramEncoder):
    """The plain encoder's ids. Each thread remembers words, where the vocabulary admits it."""

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        from impls.fast.unigram.remembering import by_words  # noqa: PLC0415 - Numba takes a second

        super().__init__(vocabulary, variant)
        self._words = by_words(vocabulary, self.lexicon)

    def encode_batch(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
        """All inputs in one compiled call; see ``EncodesBatches``."""
        if self._words is None:
            return super().encode_batch(data, ends, mode)
        return self._words(np.frombuffer(data, dtype=np.uint8), ends)


class FastImplementation(Implementation):
    """SentencePiece's unigram, with all that is there for its speed."""

    encoder_type = FastEncoder
    suffix = ".fast"


IMPLEMENTATION = FastImplementation(SENTENCEPIECE)
