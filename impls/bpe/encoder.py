"""The Python side of the byte-level encoders: modes, batches, offsets, and who they are."""

from __future__ import annotations

from functools import cached_property
from importlib import metadata
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer
from impls.batch_encoder import BatchEncoder
from impls.bpe.spelling import Spellings
from impls.interface import About, Capability, Law, Mode, Rejected, Unsupported
from impls.kernels.layout import Ints, Longs
from impls.pretokenize.unicode_version import UNICODE_VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.bpe.pieces import EncodePieces, EncoderOf
    from impls.pretokenize.pieces import Pieces, PlainCutter


NONE_GIVEN = np.empty(0, dtype=np.int64)
_NOT_ASKED = np.empty(0, dtype=np.int64)

SPARE = 6
"""The array that receives ids has so many entries more than the data has bytes.

The fast kernel writes a few ids past the last one (``impls/fast/bpe/piece_results.py``).
"""
_SPECIAL: tuple[Literal["none", "all"], ...] = ("none", "all")


class BpeEncoder(BatchEncoder):
    """A compiled encoder with a vocabulary's tables. Holds no state between calls.

    Nor does it hold the vocabulary, which takes as much memory as the tables.
    """

    def __init__(
        self, vocabulary: Vocabulary, encode_pieces: EncodePieces, cutter: PlainCutter
    ) -> None:
        self._spellings = Spellings.of(vocabulary)
        self._encode_pieces = encode_pieces
        self._cutter = cutter
        self._takes_whole = {
            (pretokenize, special): cutter.takes_whole(Mode(pretokenize, special))
            for pretokenize in (False, True)
            for special in _SPECIAL
        }

    def takes_whole(self, mode: Mode) -> bool:
        """Whether each input is one piece as it is, so that nothing has to be cut."""
        return self._takes_whole[mode.pretokenize, mode.special]

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; Rejected for a byte without a token, Unsupported for invalid UTF-8."""
        return cast("list[int]", self._encode(data, mode).tolist())

    def _encode(self, data: bytes, mode: Mode) -> Ints:
        # One piece goes without a batch's bookkeeping, which costs more than a short text's ids.
        if self.takes_whole(mode):
            return self._ids(data, np.array((len(data),)), NONE_GIVEN, _NOT_ASKED)
        pieces = self.cut(data, np.array((len(data),)), mode)
        return self._ids(pieces.data, pieces.ends, pieces.given, _NOT_ASKED)

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """Bytes to a NumPy array; see ``Prepares``."""
        return lambda: self._encode(data, mode)

    def encode_batch(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
        """All inputs in one compiled call; see ``EncodesBatches``."""
        pieces = self.cut(data, ends, mode)
        ids, piece_ends = self.encode_pieces(pieces)
        if len(piece_ends) == 0:
            return ids, np.zeros(len(pieces.counts), dtype=np.int64)
        # An input ends where its last piece does; before any piece, at the beginning.
        id_ends = piece_ends[pieces.counts - 1]
        id_ends[pieces.counts == 0] = 0
        return ids, id_ends

    def cut(self, data: bytes, ends: Longs, mode: Mode) -> Pieces:
        """The pre-tokens of a batch; see :class:`impls.pretokenize.pieces.PlainCutter`."""
        return self._cutter.cut(data, ends, mode)

    def encode_pieces(self, pieces: Pieces) -> tuple[Ints, Longs]:
        """The ids of pre-tokens, and where those of each one end."""
        id_ends = np.empty(len(pieces.ends), dtype=np.int64)
        return self._ids(pieces.data, pieces.ends, pieces.given, id_ends), id_ends

    def _ids(self, data: bytes, ends: Longs, given: Longs, id_ends: Longs) -> Ints:
        """See :class:`EncodePieces`. Rejected for a byte without a token."""
        codes = np.frombuffer(data, dtype=np.uint8)
        ids = np.empty(len(data) + SPARE, dtype=np.int32)
        count = self._encode_pieces(codes, ends, given, ids, id_ends)
        if count < 0:
            raise no_token(data[-1 - count])
        return ids[:count]

    def decode(self, ids: Sequence[int]) -> bytes:
        """The tokens' bytes, concatenated. Raises KeyError for an unknown id."""
        return self._spellings.spell(list(ids))

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids and the bytes that each one spells; Unsupported where normalization acted."""
        if self._cutter.changes(data):
            raise Unsupported("offsets of a text that normalization changes")
        ids = self.encode(data, mode)
        ends = np.cumsum(list(map(len, self._spellings.each(ids))), dtype=np.int64).tolist()
        return ids, list(zip([0, *ends], ends, strict=False))


def no_token(byte: int) -> Rejected:
    """What is said of a byte without a token."""
    return Rejected(f"byte 0x{byte:02x} has no token")


class BpeImplementation:
    """An algorithm of byte-pair encoding as an implementation.

    encoder_of: makes its encoder of pieces, for a vocabulary.
    """

    capabilities = frozenset({Capability.DECODE, Capability.OFFSETS, Capability.THREADS})
    encoder_type: type[BpeEncoder] = BpeEncoder

    def __init__(
        self,
        name: str,
        encoder_of: EncoderOf,
        *,
        max_input: int | None = None,
        linear: bool = False,
        law: Law = Law.EXACT,
    ) -> None:
        self._name = name
        self._encoder_of = encoder_of
        self._max_input = max_input
        self._linear = linear
        self._law = law

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's, and that of Unicode, as engines differ in it."""
        return About(
            name=self._name,
            version=f"{metadata.version('tokgate')}+unicode{UNICODE_VERSION}",
            capabilities=self.capabilities,
            max_input=self._max_input,
            linear=self._linear,
            law=self._law,
        )

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """Byte-level BPE, with a Unicode normalization form at most before it."""
        if vocabulary.algorithm is not Algorithm.BPE:
            return "byte-pair encoding only"
        if vocabulary.alphabet is not Alphabet.BYTES:
            return "byte-level vocabularies only"
        if vocabulary.normalizer != Normalizer(form=vocabulary.normalizer.form):
            return "no normalizer but a Unicode normalization form"
        for token in vocabulary.added_tokens:
            if (not token.special or mode.special == "all") and (
                token.single_word or token.lstrip or token.rstrip
            ):
                return f"added token {token.text!r} asks for stripping or whole words"
        return None

    def cutter(self, vocabulary: Vocabulary) -> PlainCutter:
        """What cuts inputs into pieces."""
        from impls.pretokenize.pieces import Cutter  # noqa: PLC0415 - `regex` is not needed to list names

        return Cutter(vocabulary)

    def load(self, vocabulary: Vocabulary) -> BpeEncoder:
        """Build the tables: well under a second for 200,000 tokens, once compiled."""
        cutter = self.cutter(vocabulary)
        encoder = self.encoder_type(vocabulary, self._encoder_of(vocabulary), cutter)
        # Compile now, where a caller expects to wait, and not inside the first timed call.
        encoder.encode(b"", Mode(pretokenize=False))
        encoder.encode_batch(b"", np.zeros(1, dtype=np.int64), Mode())
        return encoder
