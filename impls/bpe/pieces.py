"""What all algorithms share: a text's pieces are encoded one after another.

A piece may be given (a special token), or the vocabulary may emit it whole (``ignore_merges``: a
piece that is a token is not merged). All others are an algorithm's. It encodes one piece; the loop
over pieces around it stands here once, and is compiled with each algorithm.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from impls.kernels.layout import EMPTY, Bytes, Flags, Ints, Longs
from impls.kernels.lazy import njit
from impls.kernels.merge_tables import capacity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

    EncodePiece = Callable[[Any, Bytes, Ints], int]
    EncoderOf = Callable[["Vocabulary"], "EncodePieces"]
    """Makes the encoder of a vocabulary with its tables."""


class EncodePieces(Protocol):
    """An encoder of many pieces."""

    def __call__(self, data: Bytes, ends: Longs, given: Longs, ids: Ints, id_ends: Longs) -> int:
        """Encode pieces; those of ``given`` other than EMPTY become just that id.

        data (read-only), ends, given: as in :class:`impls.pretokenize.pieces.Pieces`. ids: receives
        the ids; longer than ``data`` by SPARE of :mod:`impls.bpe.encoder`. id_ends: receives where
        the ids of each piece end; without entries, nobody asks. Returns the number of ids, or
        ``-1 - p`` where the byte at ``data[p]`` has no token.
        """
        ...


class Wholes(NamedTuple):
    """The tokens that are emitted whole where they are a piece, as an open-addressing hash.

    slots: indices into ``ids``; no slots at all where there are none. texts: the bytes of the
    tokens, one behind another, and ends: where each of them ends.
    """

    slots: Ints
    ids: Ints
    texts: NDArray[np.integer]
    ends: NDArray[np.integer]


class Known(NamedTuple):
    """What is known of pieces before any merging. has_token: whether each byte has a token."""

    has_token: Flags
    wholes: Wholes


def encode_piece(tables: Any, piece: Bytes, ids: Ints) -> int:
    """Encode a piece, each byte of which has a token: what each algorithm has under this name.

    ids: receives the ids, as many as there are bytes at most. Returns how many they are.
    """
    raise NotImplementedError


def _encode_pieces(
    known: Known, tables: Any, data: Bytes, ends: Longs, given: Longs, ids: Ints, id_ends: Longs
) -> int:
    """See :class:`EncodePieces`."""
    at = 0
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        piece = data[start:end]
        token_id = int(given[index]) if len(given) > 0 else EMPTY
        if token_id == EMPTY:
            token_id = whole_id(known.wholes, piece)
        if token_id != EMPTY:
            ids[at] = token_id
            at += 1
        elif start < end:
            for position in range(start, end):
                if not known.has_token[data[position]]:
                    return -1 - position
            at += encode_piece(tables, piece, ids[at:])
        if len(id_ends) > 0:
            id_ends[index] = at
        start = end
    return at


def over_pieces(encode_one: EncodePiece, tables_of: Callable[[Vocabulary], Any]) -> EncoderOf:
    """What makes the encoder of an algorithm, of its ``encode_piece`` and what makes its tables.

    Numba keeps nothing on disk that it compiles for a function as an argument, nor for a closure
    over one. So each algorithm has a copy of ``_encode_pieces``, in whose globals the name is its
    own; what is compiled is kept by the qualified name.
    """
    names = {**globals(), "encode_piece": encode_one}
    copy = FunctionType(_encode_pieces.__code__, names)
    copy.__qualname__ = f"{copy.__name__}.{encode_one.__module__}"
    compiled = njit(copy)
    return lambda vocabulary: partial(compiled, known_of(vocabulary), tables_of(vocabulary))


@njit
def text_hash(text: Bytes) -> int:
    """A hash of a text; at least 0, below 2**31 (and never above 2**31 * 257 on the way)."""
    mixed = len(text)
    for position in range(len(text)):
        mixed = (mixed * 257 + int(text[position])) & 0x7FFFFFFF
    return mixed ^ (mixed >> 15)


@njit
def whole_id(wholes: Wholes, piece: Bytes) -> int:
    """The id of the token that is emitted whole for a piece, or EMPTY."""
    mask = len(wholes.slots) - 1
    if mask < 0:
        return EMPTY
    slot = text_hash(piece) & mask
    while wholes.slots[slot] != EMPTY:
        index = int(wholes.slots[slot])
        start = int(wholes.ends[index - 1]) if index > 0 else 0
        same = int(wholes.ends[index]) - start == len(piece)
        for offset in range(len(piece) if same else 0):
            if wholes.texts[start + offset] != piece[offset]:
                same = False
                break
        if same:
            return int(wholes.ids[index])
        slot = (slot + 1) & mask
    return EMPTY


@njit
def _fill(slots: Ints, texts: Bytes, ends: Longs) -> None:
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        slot = text_hash(texts[start:end]) & (len(slots) - 1)
        while slots[slot] != EMPTY:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = index
        start = end


def wholes_of(vocabulary: Vocabulary, ids: Iterable[int]) -> Wholes:
    """The tables of tokens that are emitted whole."""
    whole = np.fromiter(ids, dtype=np.int32)
    spelled = [vocabulary.tokens[token_id] or b"" for token_id in whole.tolist()]
    ends = np.cumsum([len(text) for text in spelled], dtype=np.int64)
    texts = np.frombuffer(b"".join(spelled), dtype=np.uint8)
    slots = np.full(capacity(len(spelled)) if spelled else 0, EMPTY, dtype=np.int32)
    _fill(slots, texts, ends)
    return Wholes(slots, whole, texts, ends)


def known_of(vocabulary: Vocabulary) -> Known:
    """What is known of pieces; all tokens count as whole pieces where the vocabulary says so."""
    has_token = np.array([token_id is not None for token_id in vocabulary.byte_ids])
    whole = vocabulary.ids.values() if vocabulary.ignore_merges else ()
    return Known(has_token, wholes_of(vocabulary, whole))
