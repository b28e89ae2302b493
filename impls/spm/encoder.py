"""``spm.sentencepiece`` and ``spm.llama-cpp``: SentencePiece BPE in two variants, compiled."""

from __future__ import annotations

import contextlib
from functools import cache, cached_property, partial
from importlib import metadata
from typing import TYPE_CHECKING, cast

import numpy as np

from corpora.vocabularies.gguf_controls import controls_of
from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer, RankOrder
from corpora.vocabularies.sentencepiece_model import unknown_trouble
from impls.explaining import IDS, NORMALIZATION, SEGMENTATION, literal, shown_ids, shown_parts
from impls.interface import About, Capability, Mode, Rejected, Step
from impls.piece_decoding import llama_cpp, sentencepiece
from impls.spm import variants
from impls.spm.partition import partition, separate_symbols
from impls.warming import warm_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.spm.text_kernel import EncodeTexts
    from impls.spm.variants import Variant

_NONE_GIVEN = np.empty(0, dtype=np.int64)


class SpmEncoder:
    """The compiled encoder with a vocabulary's tables. Holds no state between calls.

    fast: UTF-8 is encoded by the fast byte-pair encoder. Whatever judges does without it.
    Raises VocabularyError for a vocabulary that the variant's engine refuses or dies of.
    """

    def __init__(self, vocabulary: Vocabulary, variant: Variant, *, fast: bool = False) -> None:
        # Here and not above: Numba takes a second to import, and listing names needs none of it.
        from impls.spm.lexicon import make_lexicon  # noqa: PLC0415
        from impls.spm.normalization import are_valid, make_normalize  # noqa: PLC0415
        from impls.spm.reading import read_pieces  # noqa: PLC0415
        from impls.spm.text_kernel import encode_texts  # noqa: PLC0415

        reading = cache(partial(read_pieces, vocabulary, variant))
        self._lexicon = make_lexicon(vocabulary, variant, reading)
        self._normalize = make_normalize(vocabulary, variant)
        self._normalizes, self._are_valid = variant.normalizes, are_valid
        self._symbols = separate_symbols(vocabulary, variant)
        self._decode = (sentencepiece if variant.normalizes else llama_cpp)(vocabulary)
        self._encode_texts: EncodeTexts = encode_texts
        self._encode_utf8: EncodeTexts = encode_texts
        if fast:
            with contextlib.suppress(ModuleNotFoundError):  # all that is there for speed may go
                from impls.spm.fast.over_bytes import over_bytes  # noqa: PLC0415

                self._encode_utf8 = (
                    over_bytes(vocabulary, variant, self._lexicon, reading) or encode_texts
                )

    def warm_up(self, modes: Sequence[Mode]) -> None:
        """Compile whatever requests in these modes will need; see ``WarmsUp``."""
        warm_up(self, modes)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; Rejected for a character without an id, of which llama.cpp dies."""
        ids, _ = self.encode_batch(data, np.array([len(data)], dtype=np.int64), mode)
        return cast("list[int]", ids.tolist())

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All inputs in one compiled call; see ``EncodesBatches``."""
        symbols = self._symbols[mode.special == "all"]
        if not symbols:
            return self._run(data, ends, _NONE_GIVEN, np.diff(ends, prepend=0) > 0)
        fragments = [
            (start + part.end, part.token, part.spaced)
            for start, end in zip([0, *ends.tolist()], ends.tolist(), strict=False)
            for part in partition(symbols, data[start:end])
        ]
        fragment_ends = np.array([end for end, _, _ in fragments], dtype=np.int64)
        ids, id_ends = self._run(
            data,
            fragment_ends,
            np.array([token for _, token, _ in fragments], dtype=np.int64),
            np.array([spaced for _, _, spaced in fragments], dtype=np.bool_),
        )
        # An input without fragments (empty) ends where the one before it does.
        padded = np.concatenate((np.zeros(1, dtype=np.int64), id_ends))
        return ids, padded[np.searchsorted(fragment_ends, ends, side="right")]

    def _run(
        self,
        data: bytes,
        ends: NDArray[np.int64],
        given: NDArray[np.int64],
        spaced: NDArray[np.bool_],
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        text, text_ends = self._normalize(data, ends, spaced)
        text.flags.writeable = False  # the code for arrays that nobody writes to is far quicker
        id_ends = np.empty(len(ends), dtype=np.int64)
        # What the normalizer makes is UTF-8, and is taken as it is without one.
        utf8 = self._normalizes or self._are_valid(data, ends)
        run = self._encode_utf8 if utf8 else self._encode_texts
        ids, lost = run(self._lexicon, text, text_ends, given, id_ends)
        if lost >= 0:
            raise Rejected(f"byte 0x{lost:02x} has no token")
        return ids, id_ends

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text as the engine gives it; IndexError for an id that does not exist."""
        return self._decode(ids)


class SpmImplementation:
    """SentencePiece BPE in one variant."""

    def __init__(self, name: str, variant: Variant) -> None:
        self._name = name
        self.variant = variant

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            name=self._name,
            version=metadata.version("tokgate"),
            capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
            engine="" if self.variant.normalizes else "llama.cpp",
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """SentencePiece BPE vocabularies that the engine can be given, as text."""
        if vocabulary.algorithm is not Algorithm.BPE:
            return "byte-pair encoding only"
        if vocabulary.alphabet is not Alphabet.CHARACTERS or not vocabulary.pieces:
            return "needs scored SentencePiece pieces"
        if vocabulary.rank_order is not RankOrder.SCORES:
            return "its merges have no scores"
        normalizer = vocabulary.normalizer
        if normalizer.form is not None:
            return "no Unicode normalization form but the charsmap's"
        if not mode.pretokenize:
            return "the variant's handling of white space cannot be left out"
        if self.variant.normalizes:
            if mode.special == "all":
                return "never reads control tokens from text"
            return unknown_trouble(vocabulary)
        if controls_of(piece.text for piece in vocabulary.pieces).unknown:
            return "several tokens for one part of filling a gap, of which llama.cpp takes any"
        plain = Normalizer(add_dummy_prefix=normalizer.add_dummy_prefix, escape_whitespaces=True)
        if normalizer != plain:
            return "no normalization but escaped spaces and the dummy space before the text"
        return None if vocabulary.byte_fallback else "always has byte fallback"

    def load(self, vocabulary: Vocabulary) -> SpmEncoder:
        """Build the tables: well under a second for 32,000 pieces, once compiled."""
        encoder = SpmEncoder(vocabulary, self.variant, fast=True)
        # Compile now, where a caller expects to wait, and not inside the first timed call.
        with contextlib.suppress(Rejected):
            encoder.encode(b"a", Mode())
        return encoder

    def steps(self, vocabulary: Vocabulary, data: bytes, mode: Mode) -> list[Step]:
        """The stages of one input; see :class:`impls.interface.Explains`."""
        from impls.spm.stages import stages  # noqa: PLC0415 - Numba takes a second

        found = stages(vocabulary, self.variant, data, special=mode.special == "all")
        return [
            Step(NORMALIZATION, literal(found.normalized)),
            Step("symbols", shown_parts(found.symbols)),
            Step(SEGMENTATION, shown_parts(found.merged)),
            Step("resegmentation", shown_parts(found.resegmented)),
            Step(IDS, shown_ids(found.ids or ())),
        ]


SENTENCEPIECE = SpmImplementation("spm.sentencepiece", variants.SENTENCEPIECE)
LLAMA_CPP = SpmImplementation("spm.llama-cpp", variants.LLAMA_CPP)
