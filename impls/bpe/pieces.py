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

from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Bytes, Flags, Ints, Longs
from impls.kernels.trie import build_trie, child, token_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
    """The tokens that are emitted whole where they are a piece: their ids, and their trie."""

    ids: Ints
    trie: Ints


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
def whole_id(wholes: Wholes, piece: Bytes) -> int:
    """The id of the token that is emitted whole for a piece, or EMPTY."""
    slot = 0
    for position in range(len(piece)):
        slot = child(wholes.trie, slot, int(piece[position]))
        if slot == EMPTY:
            return EMPTY
    token = token_at(wholes.trie, slot)
    return int(wholes.ids[token]) if token != EMPTY else EMPTY


def wholes_of(vocabulary: Vocabulary, ids: Iterable[int]) -> Wholes:
    """The tables of tokens that are emitted whole."""
    spelled = {token_id: vocabulary.tokens[token_id] for token_id in ids}
    texts = {token_id: text for token_id, text in spelled.items() if text}
    return Wholes(np.array([*texts], dtype=np.int32), build_trie([*texts.values()])[0])


def known_of(vocabulary: Vocabulary) -> Known:
    """What is known of pieces; all tokens count as whole pieces where the vocabulary says so."""
    has_token = np.array([token_id is not None for token_id in vocabulary.byte_ids])
    whole = vocabulary.ids.values() if vocabulary.ignore_merges else ()
    return Known(has_token, wholes_of(vocabulary, whole))
