"""``spm.sentencepiece.fast`` and ``spm.llama-cpp.fast``: SentencePiece BPE over bytes."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from impls.spm import encoder as plain
from impls.spm.encoder import SpmEncoder, SpmImplementation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About
    from impls.spm.encoder import EncodeTexts
    from impls.spm.variants import Variant


class FastEncoder(SpmEncoder):
    """The plain encoder's ids. UTF-8 is encoded by the fast byte-pair encoder where that can be."""

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        from impls.fast.spm import over_bytes  # noqa: PLC0415 - Numba takes a second to import

        super().__init__(vocabulary, variant)
        self._normalizes = variant.normalizes
        self._over_bytes = over_bytes(vocabulary, variant, self.lexicon, self._reading)

    def _encoder_of(self, data: bytes, ends: NDArray[np.int64]) -> EncodeTexts:
        from impls.spm.normalization import are_valid  # noqa: PLC0415 - as above

        # What the normalizer makes is UTF-8, and is taken as it is without one.
        utf8 = self._normalizes or are_valid(data, ends)
        return (self._over_bytes if utf8 else None) or self._encode_texts


class FastImplementation(SpmImplementation):
    """SentencePiece BPE in one variant, with all that is there for its speed."""

    @cached_property
    def about(self) -> About:
        """Who it is."""
        about = super().about
        return replace(about, name=f"{about.name}.fast")

    def encoder(self, vocabulary: Vocabulary) -> FastEncoder:
        """The encoder, as yet uncompiled."""
        return FastEncoder(vocabulary, self.variant)


SENTENCEPIECE = FastImplementation("spm.sentencepiece", plain.SENTENCEPIECE.variant)
LLAMA_CPP = FastImplementation("spm.llama-cpp", plain.LLAMA_CPP.variant)
