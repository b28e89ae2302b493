"""``unigram.viterbi``: SentencePiece's unigram model, normalization and all, compiled."""

from __future__ import annotations

from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, cast

import numpy as np

from corpora.vocabularies.model import Algorithm
from impls.interface import About, Capability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode
    from impls.unigram.viterbi_kernel import Lexicon


class UnigramEncoder:
    """The compiled encoder with a vocabulary's tables. Holds no state between calls."""

    def __init__(self, lexicon: Lexicon) -> None:
        # Here and not above: Numba takes a second to import, and listing names needs none of it.
        from impls.unigram.viterbi_kernel import encode_inputs  # noqa: PLC0415

        self._lexicon = lexicon
        self._encode_inputs = encode_inputs

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; bytes that are not UTF-8 become U+FFFD, as the normalizer has it."""
        ids, _ = self.encode_batch(data, np.array([len(data)], dtype=np.int64), mode)
        return cast("list[int]", ids.tolist())

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All inputs in one compiled call; see ``EncodesBatches``."""
        id_ends = np.empty(len(ends), dtype=np.int64)
        inputs = np.frombuffer(data, dtype=np.uint8)
        return self._encode_inputs(self._lexicon, inputs, ends, id_ends), id_ends


class Implementation:
    """SentencePiece 0.2.3's unigram encoder, written anew."""

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            name="unigram.viterbi",
            version=metadata.version("tokgate"),
            capabilities=frozenset({Capability.THREADS}),
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """SentencePiece unigram vocabularies, as text."""
        if vocabulary.algorithm is not Algorithm.UNIGRAM:
            return "unigram only"
        if not vocabulary.pieces or vocabulary.unk_id is None:
            return "needs SentencePiece pieces with an unknown one"
        if vocabulary.normalizer.form is not None:
            return "no Unicode normalization form but the charsmap's"
        if mode.special == "all":
            return "never reads control tokens from text"
        if not mode.pretokenize:
            return "the dialect's handling of white space cannot be left out"
        return None

    def load(self, vocabulary: Vocabulary) -> UnigramEncoder:
        """Build the tables: a fraction of a second for 32,000 pieces, once compiled."""
        from impls.unigram.viterbi_kernel import make_lexicon  # noqa: PLC0415 - as above

        return UnigramEncoder(make_lexicon(vocabulary))


IMPLEMENTATION = Implementation()
