"""``spm.sentencepiece.fast`` and ``spm.llama-cpp.fast``: SentencePiece BPE over bytes."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import Normalizer, PieceType
from corpora.vocabularies.pieces import Pieces
from impls.spm import encoder as plain
from impls.spm.encoder import SpmEncoder, SpmImplementation, escaped

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About
    from impls.kernels.layout import Bytes, Longs
    from impls.spm.encoder import EncodeTexts
    from impls.spm.variants import Variant


class FastEncoder(SpmEncoder):
    """The plain encoder's ids. UTF-8 is encoded by the fast byte-pair encoder where that can be."""

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        from impls.fast.spm import over_bytes  # noqa: PLC0415 - Numba takes a second to import

        super().__init__(vocabulary, variant)
        spec = vocabulary.normalizer
        alike = Normalizer(add_dummy_prefix=spec.add_dummy_prefix, escape_whitespaces=True)
        symbols = Pieces.of(vocabulary.pieces).of_types(PieceType.USER_DEFINED)
        # Then SentencePiece's normalizer does no more to UTF-8 than llama.cpp's.
        self._escapes_alone = spec == alike and not symbols
        self._over_bytes = over_bytes(vocabulary, variant, self.lexicon, self._reading)

    def normalized(self, data: bytes, ends: Longs, given: Longs) -> tuple[Bytes, Longs]:
        """See :meth:`SpmEncoder.normalized`."""
        if self._escapes_alone and are_valid(data, ends):
            return escaped(data, ends, given, self._prefix)
        return super().normalized(data, ends, given)

    def _encoder_of(self, data: bytes, ends: Longs) -> EncodeTexts:
        # What SentencePiece's normalizer makes is UTF-8.
        utf8 = self._rules is not None or are_valid(data, ends)
        return (self._over_bytes if utf8 else None) or self._encode_texts


def are_valid(data: bytes, ends: Longs) -> bool:
    """Whether all inputs are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    inner = ends[ends < len(data)]
    # All of it is, so that only a cut inside a character spoils inputs.
    begins = np.frombuffer(data, dtype=np.uint8)[inner]
    return not ((begins & 0xC0) == 0x80).any()


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
