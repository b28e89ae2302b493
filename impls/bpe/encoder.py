"""The Python side of the compiled byte-level encoders: modes, batches, offsets."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from corpora.vocabularies.model import Algorithm, Alphabet, Normalizer
from impls.bpe.spelling import Spellings
from impls.interface import About, Capability, Law, Mode, Rejected, Unsupported
from impls.pretokenize.unicode_version import UNICODE_VERSION
from impls.warming import warm_up

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.encoding import EncodePieces, Kernel
    from impls.pretokenize.pieces import Pieces, PlainCutter


NONE_GIVEN = np.empty(0, dtype=np.int64)
_NOT_ASKED = np.empty(0, dtype=np.int64)

SPARE = 6
"""The array that receives ids has so many entries more than the data has bytes.

The fast kernel writes a few ids past the last one (``impls/bpe/fast/piece_results.py``).
"""
_SPECIAL: tuple[Literal["none", "all"], ...] = ("none", "all")


class BpeEncoder:
    """A compiled encoder with a vocabulary's tables. Holds no state between calls.

    Nor does it hold the vocabulary, which takes as much memory as the tables.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        encode_pieces: EncodePieces,
        block: NDArray[np.int32],
        cutter: PlainCutter,
    ) -> None:
        self._spellings = Spellings.of(vocabulary)
        self._encode_pieces = encode_pieces
        self._block = block
        self._cutter = cutter
        self._takes_whole = {
            (pretokenize, special): cutter.takes_whole(Mode(pretokenize, special))
            for pretokenize in (False, True)
            for special in _SPECIAL
        }

    def warm_up(self, modes: Sequence[Mode]) -> None:
        """Compile whatever requests in these modes will need; see ``WarmsUp``."""
        warm_up(self, modes)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids; Rejected for a byte without a token, Unsupported for invalid UTF-8."""
        if self._takes_whole[mode.pretokenize, mode.special]:
            return cast("list[int]", self._encode_whole(data).tolist())
        return cast("list[int]", self._encode_cut(data, mode).tolist())

    def _encode_cut(self, data: bytes, mode: Mode) -> NDArray[np.int32]:
        pieces = self._cutter.cut(data, np.array((len(data),)), mode)
        return self._ids(pieces.data, pieces.ends, pieces.given, _NOT_ASKED)

    def _encode_whole(self, data: bytes) -> NDArray[np.int32]:
        """One piece, without a batch's bookkeeping, which costs more than a short text's ids."""
        return self._ids(data, np.array((len(data),)), NONE_GIVEN, _NOT_ASKED)

    def prepare(self, data: bytes, mode: Mode) -> Callable[[], object]:
        """Bytes to a NumPy array; see ``Prepares``."""
        if self._takes_whole[mode.pretokenize, mode.special]:
            return lambda: self._encode_whole(data)
        return lambda: self._encode_cut(data, mode)

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All inputs in one compiled call; see ``EncodesBatches``."""
        pieces = self._cutter.cut(data, ends, mode)
        ids, piece_ends = self._run(pieces)
        if len(piece_ends) == 0:
            return ids, np.zeros(len(pieces.counts), dtype=np.int64)
        # An input ends where its last piece does; before any piece, at the beginning.
        id_ends = piece_ends[pieces.counts - 1]
        id_ends[pieces.counts == 0] = 0
        return ids, id_ends

    def cut(self, data: bytes, ends: NDArray[np.int64], mode: Mode) -> Pieces:
        """The pre-tokens of a batch; see :class:`impls.pretokenize.pieces.PlainCutter`."""
        return self._cutter.cut(data, ends, mode)

    def _run(self, pieces: Pieces) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        id_ends = np.empty(len(pieces.ends), dtype=np.int64)
        return self._ids(pieces.data, pieces.ends, pieces.given, id_ends), id_ends

    def _ids(
        self,
        data: bytes,
        ends: NDArray[np.int64],
        given: NDArray[np.int64],
        id_ends: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        """The ids of pieces; see :class:`EncodePieces`. Rejected for a byte without a token."""
        codes = np.frombuffer(data, dtype=np.uint8)
        ids = np.empty(len(data) + SPARE, dtype=np.int32)
        count = self._encode_pieces(self._block, codes, ends, given, ids, id_ends)
        if count < 0:
            raise Rejected(f"byte 0x{data[-1 - count]:02x} has no token")
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


class BpeImplementation:
    """One of the compiled encoders as an implementation; ``kernel`` is its module's name."""

    services: frozenset[Capability] = frozenset()
    """The capabilities of its encoder beyond those of :class:`BpeEncoder`."""

    def __init__(
        self,
        name: str,
        kernel: str,
        max_input: int | None = None,
        *,
        linear: bool = False,
        law: Law = Law.EXACT,
    ) -> None:
        self._name = name
        self._kernel = kernel
        self._max_input = max_input
        self._linear = linear
        self._law = law

    @property
    def encoder_type(self) -> type[BpeEncoder]:
        """What ``load`` makes."""
        return BpeEncoder

    @cached_property
    def about(self) -> About:
        """Who it is; its version is tokgate's, and that of Unicode, as engines differ in it."""
        return About(
            name=self._name,
            version=f"{metadata.version('tokgate')}+unicode{UNICODE_VERSION}",
            capabilities=self.services
            | {Capability.DECODE, Capability.OFFSETS, Capability.THREADS},
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

    def encode_pieces(self) -> EncodePieces:
        """The compiled function of an encoder that is loaded now."""
        return self._module().encode_pieces

    def block(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """The tables that the function reads."""
        return self._module().block_of(vocabulary)

    def _module(self) -> Kernel:
        return cast("Kernel", import_module(self._kernel))

    def cutter(self, vocabulary: Vocabulary) -> PlainCutter:
        """What cuts inputs into pieces for the encoder."""
        from impls.pretokenize.pieces import Cutter  # noqa: PLC0415 - `regex` is not needed to list names

        return Cutter(vocabulary)

    def load(self, vocabulary: Vocabulary) -> BpeEncoder:
        """Build the tables: well under a second for 200,000 tokens, once compiled."""
        from impls.kernels.layout import OUT_OF_ORDER, section  # noqa: PLC0415 - Numba takes a second

        block = self.block(vocabulary)
        encode_pieces = self.encode_pieces()
        if len(section(block, OUT_OF_ORDER)):
            from impls.bpe.tables.out_of_order import around_out_of_order_tokens  # noqa: PLC0415 - hardly ever needed

            encode_pieces = around_out_of_order_tokens(encode_pieces)
        encoder = self.encoder_type(vocabulary, encode_pieces, block, self.cutter(vocabulary))
        # Compile now, where a caller expects to wait, and not inside the first timed call.
        encoder.encode(b"", Mode(pretokenize=False))
        encoder.encode_batch(b"", np.zeros(1, dtype=np.int64), Mode())
        return encoder
