"""``bpe.backtracking``: longest token first, back where it does not fit. O(n).

Take the longest token at the position. If the encoding of what is before does not admit it,
because the pair with the last token is invalid, try its next shorter prefix. If none is left, no
token can go on from here after this beginning of the text: mark the position as dead, take back
the last token, and try its prefixes. What stands before a position is always the encoding of that
beginning of the text, and there is just one, so a position that was taken back is never entered
again. Hence the time is linear, and a token that ends at a dead position is refused without asking
whether its pair is valid, which saves up to a third of these questions. (After the
``BacktrackEncoder`` of the `bpe` crate by GitHub.)

The judgement of others rests on this encoder (``exact`` of ``tokgate forced``), and so do the
services. What is there for speed alone is in ``bpe.backtracking.fast``.
"""

from __future__ import annotations

import numpy as np

from impls.bpe.out_of_order import in_order
from impls.bpe.pair_validity import valid_pair
from impls.bpe.pieces import over_pieces
from impls.bpe.services import ServingImplementation
from impls.bpe.tokens import Tokens, tokens_of
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.kernels.trie import longest_token


@njit
def encode_piece(tokens: Tokens, piece: Bytes, ids: Ints) -> int:
    """See :func:`impls.bpe.pieces.encode_piece`."""
    pairs, splits = tokens.pairs, tokens.splits
    dead = np.zeros((len(piece) >> 5) + 1, dtype=np.int64)
    count = 0
    position = 0
    token = longest_token(tokens.trie, piece, 0)
    while position < len(piece):
        # The longest token, from ``token`` on, that may stand here.
        while token != EMPTY:
            alive = not is_dead(dead, position + int(tokens.lengths[token]))
            if alive and (count == 0 or valid_pair(pairs, splits, int(ids[count - 1]), token)):
                break
            token = int(tokens.prefixes[token])
        if token != EMPTY:
            ids[count] = token
            count += 1
            position += int(tokens.lengths[token])
            token = longest_token(tokens.trie, piece, position)
        elif count == 0:
            raise AssertionError("the tables are wrong: every text of known bytes has an encoding")
        else:
            dead[position >> 5] |= 1 << (position & 31)
            count -= 1
            position -= int(tokens.lengths[ids[count]])
            token = int(tokens.prefixes[ids[count]])
    for place in range(count):
        ids[place] = tokens.ids[ids[place]]
    return count


@njit
def is_dead(dead: Longs, position: int) -> bool:
    """Whether no token can go on from a position; 32 bits of each entry are for positions."""
    return (int(dead[position >> 5]) >> (position & 31)) & 1 == 1


IMPLEMENTATION = ServingImplementation(
    "bpe.backtracking", in_order(over_pieces(encode_piece, tokens_of)), linear=True
)
