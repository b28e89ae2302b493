"""``bpe.incremental``: byte by byte, from explicit merges. O(n log^2 t), t the longest token.

The last token of every prefix is found from those of shorter prefixes: the automaton names the
longest token that the text ends in; if that forms at the end (one interval), it is the last token,
else a search among its suffixes finds it (:mod:`impls.bpe.spines`). No pair is ever looked up.
(Jiang and Gong, "Incremental BPE Tokenization", arXiv 2605.30813.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.bpe.automaton import Automaton, automaton_of, next_state
from impls.bpe.encoder import BpeImplementation
from impls.bpe.out_of_order import in_order
from impls.bpe.pieces import over_pieces
from impls.bpe.spines import Spines, last_token, spines_of
from impls.bpe.tokens import Tokens, tokens_of
from impls.compiled.lazy import njit
from impls.kernels.layout import Bytes, Ints

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


class Tables(NamedTuple):
    """Tokens by age, the automaton over them, and their spines."""

    tokens: Tokens
    automaton: Automaton
    spines: Spines


@njit
def encode_piece(tables: Tables, piece: Bytes, ids: Ints) -> int:
    """See :func:`impls.bpe.pieces.encode_piece`."""
    tokens, automaton = tables.tokens, tables.automaton
    lasts = np.empty(len(piece), dtype=np.int32)
    state = 0
    for position in range(len(piece)):
        state = next_state(automaton, state, int(piece[position]))
        longest = int(automaton.longest[state])
        lasts[position] = last_token(tables.spines, lasts, position, longest)
    # The tokens are read off backwards, and turned.
    count = 0
    position = len(piece)
    while position > 0:
        token = int(lasts[position - 1])
        ids[count] = tokens.ids[token]
        count += 1
        position -= int(tokens.lengths[token])
    ids[:count] = ids[:count][::-1].copy()
    return count


def tables_of(vocabulary: Vocabulary) -> Tables:
    """The tables of a vocabulary."""
    tokens = tokens_of(vocabulary)
    automaton = automaton_of(tokens.trie, len(tokens.ids))
    return Tables(tokens, automaton, spines_of(tokens, automaton.suffixes))


IMPLEMENTATION = BpeImplementation(
    "bpe.incremental", in_order(over_pieces(encode_piece, tables_of)), linear=True
)
