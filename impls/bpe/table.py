"""``bpe.table``: the last token of every prefix. O(n t), t the length of a longest token.

The last token of a text's encoding is the longest of its suffixes that is a token and that the
encoding of the text before it admits, and only one is admitted at all: so for each position the
candidates, from the automaton, are tried from the longest on. A prefix has one token more than the
prefix on which its last token stands, and both are known for good once the byte is read: nothing
that comes later changes them. The ids are read off backwards. (``AppendableEncoder`` of the `bpe`
crate by GitHub, and its dynamic programming.)

The mirror holds, too: the first token of a text is the one prefix token that may stand before the
encoding of the rest. ``mirrored`` tables read a text backwards, with an automaton over reversed
tokens, and find the first token of every suffix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.bpe.automaton import Automaton, automaton_of, next_state
from impls.bpe.encoder import BpeImplementation
from impls.bpe.out_of_order import in_order
from impls.bpe.pair_validity import valid_pair
from impls.bpe.pieces import over_pieces
from impls.bpe.tokens import Tokens, tokens_of
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Bytes, Ints

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

COUNT, LAST, STATE = 0, 1, 2
"""The columns of a row: the number of tokens of a prefix, its last token (by age; EMPTY for the
empty prefix), and the automaton's state after it."""


class Tables(NamedTuple):
    """Tokens by age, and the automaton over them, or over the same reversed."""

    tokens: Tokens
    automaton: Automaton
    mirrored: bool


@njit
def new_rows(size: int) -> Ints:
    """Room for the rows of prefixes of up to ``size`` bytes; row 0 is the empty prefix's."""
    rows = np.empty((size + 1, 3), dtype=np.int32)
    rows[0, COUNT] = 0
    rows[0, LAST] = EMPTY
    rows[0, STATE] = 0
    return rows


@njit
def extend(tables: Tables, rows: Ints, length: int, data: Bytes) -> int:
    """Fill the rows after ``length`` for the bytes of ``data``, which there must be room for.

    data: in the order in which it is read, so it is reversed where the tables are mirrored. Returns
    the new length, or ``-1 - p`` where ``data[p]`` has no token; rows up to there are filled.
    """
    tokens, automaton = tables.tokens, tables.automaton
    for position in range(len(data)):
        byte = int(data[position])
        if tokens.base[byte] == EMPTY:
            return -1 - position
        end = length + position + 1
        state = next_state(automaton, int(rows[end - 1, STATE]), byte)
        token = int(automaton.longest[state])
        # The base token, at the latest, is admitted: every text has an encoding.
        while True:
            begin = end - int(tokens.lengths[token])
            if begin == 0:
                break
            left, right = int(rows[begin, LAST]), token
            if tables.mirrored:
                left, right = right, left
            if valid_pair(tokens.pairs, tokens.splits, left, right):
                break
            token = int(automaton.suffixes[token])
        rows[end, STATE] = state
        rows[end, LAST] = token
        rows[end, COUNT] = rows[begin, COUNT] + 1
    return length + len(data)


@njit
def read_off(tokens: Tokens, rows: Ints, position: int, ids: Ints) -> int:
    """Write the ids of the prefix that ends at ``position``; returns how many they are."""
    count = int(rows[position, COUNT])
    for place in range(count - 1, -1, -1):
        token = rows[position, LAST]
        ids[place] = tokens.ids[token]
        position -= int(tokens.lengths[token])
    return count


@njit
def encode_piece(tables: Tables, piece: Bytes, ids: Ints) -> int:
    """See :func:`impls.bpe.pieces.encode_piece`."""
    rows = new_rows(len(piece))
    extend(tables, rows, 0, piece)
    return read_off(tables.tokens, rows, len(piece), ids)


def forward(tokens: Tokens) -> Tables:
    """The tables for texts that are read from their beginning."""
    return Tables(tokens, automaton_of(tokens.trie, len(tokens.ids)), False)


def tables_of(vocabulary: Vocabulary) -> Tables:
    """The tables of a vocabulary."""
    return forward(tokens_of(vocabulary))


IMPLEMENTATION = BpeImplementation(
    "bpe.table", in_order(over_pieces(encode_piece, tables_of)), linear=True
)
