"""``bpe.greedy``: leftmost-longest, at each position the longest token. O(n t). No BPE.

What WordPiece does, and what a tokenizer becomes whose author forgot the merges. t is the length of
a longest token. (``encode_greedy`` of the `bpe` crate by GitHub, which skips a byte without a
token; here such a text is rejected.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.bpe.encoder import BpeImplementation
from impls.bpe.pieces import over_pieces
from impls.bpe.tokens import spellings_of
from impls.compiled.lazy import njit
from impls.interface import Law
from impls.kernels.layout import Bytes, Ints
from impls.kernels.trie import build_trie, longest_token

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


class Spelled(NamedTuple):
    """Every token, built by merges or not, in the order of ids: ids, lengths in bytes, and trie."""

    ids: Ints
    lengths: Ints
    trie: Ints


@njit
def encode_piece(spelled: Spelled, piece: Bytes, ids: Ints) -> int:
    """See :func:`impls.bpe.pieces.encode_piece`."""
    count = 0
    position = 0
    while position < len(piece):
        token = longest_token(spelled.trie, piece, position)
        ids[count] = spelled.ids[token]
        position += int(spelled.lengths[token])
        count += 1
    return count


def spelled_of(vocabulary: Vocabulary) -> Spelled:
    """The tables of a vocabulary."""
    ids = np.array(sorted(i for text, i in vocabulary.ids.items() if text), dtype=np.int32)
    spellings = spellings_of(vocabulary, ids)
    lengths = np.array([len(text) for text in spellings], dtype=np.int32)
    return Spelled(ids, lengths, build_trie(spellings)[0])


IMPLEMENTATION = BpeImplementation(
    "bpe.greedy", over_pieces(encode_piece, spelled_of), linear=True, law=Law.SPELLING
)
