"""``unigram.sentencepiece``, ``unigram.llama-cpp``, ``unigram.huggingface`` and older versions.

Unigram, normalization and all, written anew and compiled: an implementation for each variant of
:mod:`impls.unigram.variants`.
"""

from __future__ import annotations

from functools import cached_property, partial
from importlib import metadata
from typing import TYPE_CHECKING, cast

import numpy as np

from corpora.vocabularies.model import Algorithm
from impls.explaining import IDS, NORMALIZATION, SEGMENTATION, literal, shown_ids, shown_parts
from impls.interface import About, Capability, Mode, Step, Unsupported
from impls.unigram import variants
from impls.unigram.variants import Decoding, Fallback, Variant
from impls.warming import warm_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.unigram.encoding import Encode
    from impls.unigram.lexicon import Lexicon


class UnigramEncoder:
    """The compiled encoder with a vocabulary's tables.

    fast: words are remembered from call to call, by each thread for itself, where the vocabulary
    admits it (:mod:`impls.unigram.fast.remembering`); no id depends on it. Else it holds no state
    between calls.
    """

    def __init__(
        self, vocabulary: Vocabulary, variant: Variant, lexicon: Lexicon, *, fast: bool = False
    ) -> None:
        # Here and not above: Numba takes a second to import, and listing names needs none of it.
        from impls.unigram.decoding import Decoder  # noqa: PLC0415
        from impls.unigram.encoding import encode  # noqa: PLC0415

        self._text_only = variant.text_only
        self._encode: Encode = partial(encode, lexicon)
        if fast:
            from impls.unigram.fast.remembering import by_words  # noqa: PLC0415 - likewise

            self._encode = by_words(vocabulary, variant, lexicon) or self._encode
        self._decoder = Decoder(vocabulary, variant)

    def warm_up(self, modes: Sequence[Mode]) -> None:
        """Compile whatever requests in these modes will need; see ``WarmsUp``."""
        warm_up(self, modes)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; bytes that are not UTF-8 become U+FFFD, or are Unsupported by tokenizers."""
        ids, _ = self.encode_batch(data, np.array([len(data)], dtype=np.int64), mode)
        return cast("list[int]", ids.tolist())

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All inputs in one compiled call; see ``EncodesBatches``."""
        if self._text_only:
            _check_text(data, ends)
        return self._encode(np.frombuffer(data, dtype=np.uint8), ends)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text of ``ids``, as the engine's users get it."""
        return self._decoder.decode(ids)


def _check_text(data: bytes, ends: NDArray[np.int64]) -> None:
    """Raise Unsupported unless each input is UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        raise Unsupported("takes text only, and this is not UTF-8") from None
    starts = np.frombuffer(data, dtype=np.uint8)[ends[:-1][ends[:-1] < len(data)]]
    if np.any(starts & 0xC0 == 0x80):
        raise Unsupported("takes text only, and an input ends inside a character")


class Implementation:
    """An engine's unigram encoder, written anew."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's.

        SentencePiece's variant of today is what the format means; the others give the ids of
        their engines, which differ from it in known ways.
        """
        return About(
            name=self.variant.name,
            version=metadata.version("tokgate"),
            capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
            engine=ENGINES[self.variant],
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Unigram vocabularies of scored pieces that the engine's format can say, as text."""
        if vocabulary.algorithm is not Algorithm.UNIGRAM:
            return "unigram only"
        if not vocabulary.pieces or vocabulary.unk_id is None:
            return "needs SentencePiece pieces with an unknown one"
        if vocabulary.normalizer.form is not None:
            return "no Unicode normalization form but the charsmap's"
        if mode.special == "all":
            return "never reads control tokens from text"
        if not mode.pretokenize:
            return "the variant's handling of white space cannot be left out"
        return self._unsayable(vocabulary)

    def _unsayable(self, vocabulary: Vocabulary) -> str | None:
        """What the engine's own format has no way to say."""
        spec = vocabulary.normalizer
        if self.variant.fallback is Fallback.UNKNOWN and vocabulary.byte_fallback:
            return "llama.cpp's unigram has no byte fallback"
        if self.variant.decoding is Decoding.LLAMA_CPP and not spec.escape_whitespaces:
            return "GGUF has white space escaped, always"
        if self.variant.decoding is not Decoding.SENTENCEPIECE and spec.treat_whitespace_as_suffix:
            return "white space as suffix is SentencePiece's own"
        if self.variant.decoding is Decoding.HUGGING_FACE and any(
            not token.special
            and (token.single_word or token.lstrip or token.rstrip or token.normalized)
            for token in vocabulary.added_tokens
        ):
            return "an added token is matched with conditions (single_word, lstrip, normalized)"
        return None

    def load(self, vocabulary: Vocabulary) -> UnigramEncoder:
        """Build the tables: a fraction of a second for 32,000 pieces, once compiled.

        Raises VocabularyError for what the engine refuses; see :mod:`impls.unigram.lexicon`.
        """
        from impls.unigram.lexicon import make_lexicon  # noqa: PLC0415 - as above

        lexicon = make_lexicon(vocabulary, self.variant)
        encoder = UnigramEncoder(vocabulary, self.variant, lexicon, fast=True)
        # Compile now, where a caller expects to wait, and not inside the first timed call.
        encoder.encode(b"a", Mode())
        return encoder

    def steps(self, vocabulary: Vocabulary, data: bytes, mode: Mode) -> list[Step]:
        """The stages of encoding ``data``; see :mod:`impls.unigram.stages`. Raises Unsupported."""
        from impls.unigram.stages import stages  # noqa: PLC0415 - as above

        if self.variant.text_only:
            _check_text(data, np.array([len(data)], dtype=np.int64))
        made = stages(vocabulary, self.variant, data)
        # What is cut out before the lattice, and the text with it: some engines leave it there.
        cut_out = [vocabulary.spelling(s.id) for s in made.segments if s.id is not None]
        parts = [s.text if s.id is None else vocabulary.spelling(s.id) for s in made.segments]
        return [
            Step(NORMALIZATION, literal(b"".join(parts))),
            Step("user-defined", shown_parts(cut_out)),
            Step(SEGMENTATION, shown_parts(map(vocabulary.spelling, made.tokens))),
            Step(IDS, shown_ids(made.ids)),
        ]


ENGINES = {
    variants.SENTENCEPIECE: "",
    variants.LLAMA_CPP: "llama.cpp",
    variants.HUGGING_FACE: "tokenizers",
    variants.SENTENCEPIECE_0_2_1: "sentencepiece==0.2.1",
    variants.LLAMA_CPP_FLOAT: "llama.cpp before its sums were doubles",
}
"""The implementation that each variant is compared with; no run has the last two by these names."""

SENTENCEPIECE = Implementation(variants.SENTENCEPIECE)
LLAMA_CPP = Implementation(variants.LLAMA_CPP)
HUGGING_FACE = Implementation(variants.HUGGING_FACE)
SENTENCEPIECE_0_2_1 = Implementation(variants.SENTENCEPIECE_0_2_1)
LLAMA_CPP_FLOAT = Implementation(variants.LLAMA_CPP_FLOAT)
