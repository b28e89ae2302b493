"""``unigram.sentencepiece``, ``unigram.llama-cpp``, ``unigram.huggingface`` and older versions.

Unigram, normalization and all, written anew: an implementation for each variant of
:mod:`impls.unigram.variants`. The algorithm is in :mod:`impls.unigram.viterbi`.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import Algorithm
from impls.batch_encoder import BatchEncoder, are_texts
from impls.explanations import IDS, NORMALIZATION, SEGMENTATION, literal, shown_ids, shown_parts
from impls.interface import About, Capability, Mode, Step, Unsupported
from impls.piece_decoding import hugging_face, llama_cpp, sentencepiece
from impls.unigram import variants
from impls.unigram.variants import Decoding, Fallback, Normalization, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Bytes, Ints, Longs


_DECODERS = {
    Decoding.SENTENCEPIECE: sentencepiece,
    Decoding.LLAMA_CPP: llama_cpp,
    Decoding.HUGGING_FACE: hugging_face,
}


class UnigramEncoder(BatchEncoder):
    """The encoder of a vocabulary in one variant. Raises VocabularyError as loading does."""

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        # Here and not above: Numba takes a second to import, and listing names needs none of it.
        from impls.unigram.lexicon import make_lexicon  # noqa: PLC0415
        from impls.unigram.splitting import cutter  # noqa: PLC0415

        self._variant = variant
        self.lexicon = make_lexicon(vocabulary, variant)
        self._cut = cutter(vocabulary, variant.splitting)
        self._decode = _DECODERS[variant.decoding](vocabulary)

    def encode_batch(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
        """All inputs; bytes that are not UTF-8 become U+FFFD, or are Unsupported by tokenizers."""
        from impls.unigram.viterbi import encode_segments  # noqa: PLC0415 - as above

        if self._variant.text_only and not are_texts(data, ends):
            raise Unsupported("takes text only, and this is not UTF-8")
        return encode_segments(self.lexicon, *self.segments(data, ends))

    def segments(self, data: bytes, ends: Longs) -> tuple[Bytes, Longs, Longs]:
        """What is segmented; see :func:`impls.unigram.normalizer.prepare`."""
        from impls.unigram.graphemes import cluster_ends  # noqa: PLC0415 - as above
        from impls.unigram.normalizer import prepare  # noqa: PLC0415

        cuts, given, counts = self._cut(data, ends)
        by_clusters = self._variant.normalization is Normalization.HUGGING_FACE
        clusters = cluster_ends(data, cuts) if by_clusters else np.empty(0, dtype=np.int64)
        text, segments, segment_ends = prepare(
            self.lexicon.rules, self.lexicon.normalization, clusters,
            np.frombuffer(data, dtype=np.uint8), cuts, given,
        )  # fmt: skip
        # An input without sections (an empty one) ends where the one before it does.
        return text, segments, np.append(0, segment_ends)[counts]

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text of ``ids``, as the engine's users get it. Raises Unsupported for one of none."""
        try:
            return self._decode(ids)
        except IndexError as error:
            raise Unsupported(str(error)) from None


class Implementation:
    """An engine's unigram encoder, written anew.

    suffix: of its name, after that of the variant.
    """

    encoder_type: type[UnigramEncoder] = UnigramEncoder
    suffix = ""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's.

        SentencePiece's variant of today is what the format means; the others give the ids of
        their engines, which differ from it in known ways.
        """
        return About(
            name=f"{self.variant.name}{self.suffix}",
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
        encoder = self.encoder_type(vocabulary, self.variant)
        # Compile now, where a caller expects to wait, and not inside the first timed call.
        encoder.encode(b"a", Mode())
        return encoder

    def steps(self, vocabulary: Vocabulary, data: bytes, mode: Mode) -> list[Step]:
        """The stages of encoding ``data``. Raises Unsupported."""
        from impls.unigram.viterbi import best_paths  # noqa: PLC0415 - as above

        encoder = _encoder(vocabulary, self.variant)
        ids = encoder.encode(data, mode)
        lexicon = encoder.lexicon
        text, segments, _ = encoder.segments(data, np.array([len(data)]))
        normalized, symbols = [], []
        tokens: list[int] = []
        first = 0
        for last, symbol in segments.tolist():
            part = text[first:last]
            first = last
            if symbol >= 0:
                # What is cut out before the lattice, and the text with it: some engines leave it.
                symbols.append(vocabulary.spelling(symbol))
            normalized.append(vocabulary.spelling(symbol) if symbol >= 0 else part.tobytes())
            starts, pieces = best_paths(lexicon, part)
            path, end = [], len(part)
            while end > 0:
                known = pieces[end] >= 0
                path.append(int(lexicon.ids[pieces[end]]) if known else lexicon.unknown_id)
                end = int(starts[end])
            tokens += [symbol] if symbol >= 0 else path[::-1]
        return [
            Step(NORMALIZATION, literal(b"".join(normalized))),
            Step("user-defined", shown_parts(symbols)),
            Step(SEGMENTATION, shown_parts(map(vocabulary.spelling, tokens))),
            Step(IDS, shown_ids(ids)),
        ]


@lru_cache(maxsize=8)
def _encoder(vocabulary: Vocabulary, variant: Variant) -> UnigramEncoder:
    """The encoder that explains: of one vocabulary many texts are explained."""
    return UnigramEncoder(vocabulary, variant)


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
