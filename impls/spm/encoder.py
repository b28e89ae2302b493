"""``spm.sentencepiece`` and ``spm.llama-cpp``: SentencePiece BPE in two dialects, compiled."""

from __future__ import annotations

from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, cast

import numpy as np

from corpora.vocabularies.model import Algorithm, Alphabet
from impls.interface import About, Capability, Rejected
from impls.spm import dialects
from impls.spm.decoders import decoder_of
from impls.spm.partition import partition, separate_symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode
    from impls.spm.dialects import Dialect

_NONE_GIVEN = np.empty(0, dtype=np.int64)


class SpmEncoder:
    """The compiled encoder with a vocabulary's tables. Holds no state between calls.

    Raises VocabularyError for a vocabulary that the dialect's engine refuses or dies of.
    """

    def __init__(self, vocabulary: Vocabulary, dialect: Dialect) -> None:
        # Here and not above: Numba takes a second to import, and listing names needs none of it.
        from impls.spm.lexicon import make_lexicon  # noqa: PLC0415
        from impls.spm.normalization import escape_all, make_rules, normalize_all  # noqa: PLC0415
        from impls.spm.text_kernel import encode_texts  # noqa: PLC0415

        self._lexicon = make_lexicon(vocabulary, dialect)
        self._rules = make_rules(vocabulary) if dialect.normalizes else None
        self._prefix = not dialect.normalizes and vocabulary.normalizer.add_dummy_prefix
        self._symbols = separate_symbols(vocabulary, dialect)
        self._decode = decoder_of(vocabulary, dialect)
        self._normalize_all = normalize_all
        self._escape_all = escape_all
        self._encode_texts = encode_texts

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; Rejected for a character without an id, of which llama.cpp dies."""
        ids, _ = self.encode_batch(data, np.array([len(data)], dtype=np.int64), mode)
        return cast("list[int]", ids.tolist())

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All inputs in one compiled call; see ``EncodesBatches``."""
        if self._symbols:
            return self._encode_apart(data, ends)
        # An empty input gets no dummy prefix.
        prefixed = np.diff(ends, prepend=0) > 0 if self._prefix else np.zeros(len(ends), np.bool_)
        return self._run(data, ends, _NONE_GIVEN, prefixed)

    def _encode_apart(
        self, data: bytes, ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The same with symbols cut out; a space comes before each text that follows one."""
        fragment_ends: list[int] = []
        given: list[int] = []
        prefixed: list[bool] = []
        counts = [0]
        start = 0
        for end in ends.tolist():
            after_symbol = True
            for part in partition(self._symbols, data[start:end]):
                fragment_ends.append(start + part.end)
                given.append(-1 if part.token is None else part.token)
                prefixed.append(self._prefix and after_symbol and part.token is None)
                after_symbol = part.token is not None
            counts.append(len(given))
            start = end
        ids, id_ends = self._run(
            data,
            np.array(fragment_ends, dtype=np.int64),
            np.array(given, dtype=np.int64),
            np.array(prefixed, dtype=np.bool_),
        )
        padded = np.concatenate((np.zeros(1, dtype=np.int64), id_ends))
        return ids, padded[counts[1:]]

    def _run(
        self,
        data: bytes,
        ends: NDArray[np.int64],
        given: NDArray[np.int64],
        prefixed: NDArray[np.bool_],
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        inputs = np.frombuffer(data, dtype=np.uint8)
        if self._rules is not None:
            text, text_ends = self._normalize_all(self._rules, inputs, ends)
        else:
            text, text_ends = self._escape_all(inputs, ends, prefixed)
        id_ends = np.empty(len(ends), dtype=np.int64)
        ids, lost = self._encode_texts(self._lexicon, text, text_ends, given, id_ends)
        if lost >= 0:
            raise Rejected(f"byte 0x{lost:02x} has no token")
        return ids, id_ends

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text as the engine gives it; IndexError for an id that does not exist."""
        return self._decode(ids)


class SpmImplementation:
    """SentencePiece BPE in one dialect."""

    def __init__(self, name: str, dialect: Dialect) -> None:
        self._name = name
        self._dialect = dialect

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's."""
        return About(
            name=self._name,
            version=metadata.version("tokgate"),
            capabilities=frozenset({Capability.DECODE, Capability.THREADS}),
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """SentencePiece BPE vocabularies, as text."""
        if vocabulary.algorithm is not Algorithm.BPE:
            return "byte-pair encoding only"
        if vocabulary.alphabet is not Alphabet.CHARACTERS or not vocabulary.pieces:
            return "needs scored SentencePiece pieces"
        if vocabulary.normalizer.form is not None:
            return "no Unicode normalization form but the charsmap's"
        if mode.special == "all":
            return "never reads control tokens from text"
        if not mode.pretokenize:
            return "the dialect's handling of white space cannot be left out"
        return None

    def load(self, vocabulary: Vocabulary) -> SpmEncoder:
        """Build the tables: well under a second for 32,000 pieces, once compiled."""
        return SpmEncoder(vocabulary, self._dialect)


SENTENCEPIECE = SpmImplementation("spm.sentencepiece", dialects.SENTENCEPIECE)
LLAMA_CPP = SpmImplementation("spm.llama-cpp", dialects.LLAMA_CPP)
