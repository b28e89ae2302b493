"""Pieces that spell a token out of order (:mod:`impls.bpe.tokens`) go to the heap instead.

A merge that acts out of order spells its token, so a piece that spells none is encoded as if the
merges out of order were not there. Only improper vocabularies have such tokens, and only texts that
spell them pay the heap's O(n log n).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from impls.bpe import heap
from impls.bpe.tokens import tokens_of
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Bytes, Flags, Ints, Longs
from impls.kernels.trie import child, token_at

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.bpe.pieces import EncodePieces, EncoderOf


def in_order(linear_of: EncoderOf) -> EncoderOf:
    """What makes the encoder of an algorithm over tokens by age, with the heap where it must be."""

    def encoder_of(vocabulary: Vocabulary) -> EncodePieces:
        linear, trie = linear_of(vocabulary), tokens_of(vocabulary).out_of_order
        return around(trie, linear, heap.encoder_of(vocabulary)) if len(trie) else linear

    return encoder_of


@njit
def spells_a_token(trie: Ints, piece: Bytes) -> bool:
    """Whether a text of the trie stands anywhere in a piece."""
    for begin in range(len(piece)):
        slot = 0
        for position in range(begin, len(piece)):
            slot = child(trie, slot, int(piece[position]))
            if slot == EMPTY:
                break
            if token_at(trie, slot) != EMPTY:
                return True
    return False


@njit
def mark_out_of_order(trie: Ints, data: Bytes, ends: Longs, out_of_order: Flags) -> None:
    """Mark the pieces that spell a token out of order."""
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        out_of_order[index] = spells_a_token(trie, data[start:end])
        start = end


def around(trie: Ints, linear: EncodePieces, definition: EncodePieces) -> EncodePieces:
    """``linear`` for the pieces that spell no token of the trie, the definition for the others."""

    def encode_pieces(data: Bytes, ends: Longs, given: Longs, ids: Ints, id_ends: Longs) -> int:
        out_of_order = np.empty(len(ends), dtype=np.bool_)
        mark_out_of_order(trie, data, ends, out_of_order)
        if not out_of_order.any():
            return linear(data, ends, given, ids, id_ends)
        # Runs of pieces that go the same way.
        turns = np.flatnonzero(out_of_order[1:] != out_of_order[:-1]) + 1
        at = 0
        for low, high in pairwise([0, *turns.tolist(), len(ends)]):
            start = int(ends[low - 1]) if low else 0
            encode = definition if out_of_order[low] else linear
            count = encode(
                data[start : int(ends[high - 1])],
                ends[low:high] - start,
                given[low:high],
                ids[at:],
                id_ends[low:high],
            )
            if count < 0:
                return count - start
            id_ends[low:high] += at
            at += count
        return at

    return encode_pieces
