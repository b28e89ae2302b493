"""``spm.sentencepiece.fast`` and ``spm.llama-cpp.fast``: SentencePiece BPE over bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.model import Normalizer
from impls.batch_encoder import are_texts
from impls.spm import encoder as plain
from impls.spm.encoder import SpmEncoder, SpmImplementation, escaped

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
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
        # Then SentencePiece's normalizer does no more to UTF-8 than llama.cpp's: it passes symbols
        # as they are, but for their spaces.
        self._escapes_alone = spec == alike
        self._over_bytes = over_bytes(vocabulary, variant, self.lexicon, self._reading)

    def normalized(self, data: bytes, ends: Longs, given: Longs) -> tuple[Bytes, Longs]:
        """See :meth:`SpmEncoder.normalized`."""
        if self._escapes_alone and are_texts(data, ends):
            return escaped(data, ends, given, self._prefix)
        return super().normalized(data, ends, given)

    def _encoder_of(self, data: bytes, ends: Longs) -> EncodeTexts:
        # What SentencePiece's normalizer makes is UTF-8.
        utf8 = self._rules is not None or are_texts(data, ends)
        return (self._over_bytes if utf8 else None) or self._encode_texts


class FastImplementation(SpmImplementation):
    """SentencePiece BPE in one variant, with all that is there for its speed."""

    encoder_type = FastEncoder


SENTENCEPIECE = FastImplementation("spm.sentencepiece.fast", plain.SENTENCEPIECE.variant)
LLAMA_CPP = FastImplementation("spm.llama-cpp.fast", plain.LLAMA_CPP.variant)
