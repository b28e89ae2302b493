"""``bpe.minimal``: the fewest tokens that spell a text, by dynamic programming. O(n t). No BPE.

``fewest[i] = 1 + min(fewest[i - len(s)])`` over the tokens s in which the text up to i ends; of
several ways the one whose last token is longest. t is the length of a longest token. (As
``encode_minimal`` of the `bpe` crate by GitHub.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.bpe.automaton import Automaton, automaton_of, next_state
from impls.bpe.encoder import BpeImplementation
from impls.bpe.greedy import Spelled, spelled_of
from impls.bpe.pieces import over_pieces
from impls.compiled.lazy import njit
from impls.interface import Law
from impls.kernels.layout import EMPTY, Bytes, Ints

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


class Tables(NamedTuple):
    """Every token, and the automaton over them."""

    spelled: Spelled
    automaton: Automaton


@njit
def encode_piece(tables: Tables, piece: Bytes, ids: Ints) -> int:
    """See :func:`impls.bpe.pieces.encode_piece`."""
    spelled, automaton = tables.spelled, tables.automaton
    fewest = np.zeros(len(piece) + 1, dtype=np.int32)
    lasts = np.empty(len(piece) + 1, dtype=np.int32)
    state = 0
    for position in range(1, len(piece) + 1):
        state = next_state(automaton, state, int(piece[position - 1]))
        token = int(automaton.longest[state])
        fewest[position] = position + 1
        while token != EMPTY:
            count = int(fewest[position - int(spelled.lengths[token])]) + 1
            if count < fewest[position]:
                fewest[position], lasts[position] = count, token
            token = int(automaton.suffixes[token])
    position = len(piece)
    for place in range(fewest[position] - 1, -1, -1):
        ids[place] = spelled.ids[lasts[position]]
        position -= int(spelled.lengths[lasts[position]])
    return int(fewest[len(piece)])


def tables_of(vocabulary: Vocabulary) -> Tables:
    """The tables of a vocabulary."""
    spelled = spelled_of(vocabulary)
    return Tables(spelled, automaton_of(spelled.trie, len(spelled.ids)))


IMPLEMENTATION = BpeImplementation(
    "bpe.minimal", over_pieces(encode_piece, tables_of), linear=True, law=Law.FEWEST
)
