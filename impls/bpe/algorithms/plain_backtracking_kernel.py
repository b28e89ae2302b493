"""Byte-pair encoding by backtracking, as plainly as it can be written. O(n).

This encoder is what the judgement of others rests on (``exact`` of ``tokgate forced``), and what
``bpe.backtracking`` falls back to where its own kernel cannot be compiled. It encodes one piece
after another, uses no vectors, no processor instruction by name and no cache of pieces, and
compiles in seconds.

The algorithm: take the longest token at the position. If the encoding of what is before does not
admit it, because the pair with the last token is invalid, try its next shorter prefix. If none is
left, no token can go on from here after this beginning of the text: mark the position as dead, take
back the last token, and try its prefixes. What stands before a position is always the encoding of
that beginning of the text, and there is just one, so a position that was taken back is never
entered again. Hence the time is linear, and a token that ends at a dead position is refused without
asking whether its pair is valid, which saves up to a third of these questions. (After the `bpe`
crate by GitHub.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.tables.plain_pair_validity import plain_sections, valid_pair
from impls.compiled.jit import njit
from impls.kernels.layout import (
    AGED_PAIRS,
    BASE_TOKENS,
    EMPTY,
    IDS,
    LENGTHS,
    PREFIXES,
    SPLITS,
    TRIE,
    pack,
    section,
)
from impls.kernels.merge_tables import known_id, longest_piece
from impls.kernels.trie import child, token_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


@njit
def encode_pieces(
    block: NDArray[np.int32],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    given: NDArray[np.int64],
    ids: NDArray[np.int32],
    id_ends: NDArray[np.int64],
) -> int:
    """Encode each piece; with the arguments of :class:`impls.kernels.encoding.EncodePieces`."""
    base_tokens, id_of = section(block, BASE_TOKENS), section(block, IDS)
    # A bit for each position of a piece, from which no token can go on.
    dead = np.zeros((longest_piece(ends) >> 5) + 1, dtype=np.int64)
    at = 0
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        known = known_id(block, data, start, end, given, piece)
        if known != EMPTY:
            ids[at] = known
            at += 1
        else:
            for position in range(start, end):
                if base_tokens[data[position]] == EMPTY:
                    return -1 - position
            count = encode_piece(block, data[start:end], dead, ids[at:])
            for place in range(at, at + count):
                ids[place] = id_of[ids[place]]
            at += count
        if len(id_ends) > 0:
            id_ends[piece] = at
        start = end
    return at


@njit
def encode_piece(
    block: NDArray[np.int32],
    piece: NDArray[np.uint8],
    dead: NDArray[np.int64],
    tokens: NDArray[np.int32],
) -> int:
    """Encode one piece, each byte of which is a token; returns the number of its tokens.

    dead: zeros, 32 bits of each entry for the positions of the piece; left as zeros.
    tokens: receives the tokens, by age.
    """
    trie, prefixes = section(block, TRIE), section(block, PREFIXES)
    pairs, splits = section(block, AGED_PAIRS), section(block, SPLITS)
    lengths = section(block, LENGTHS)
    count = 0
    position = 0
    token = longest_token(trie, piece, 0)
    while position < len(piece):
        # The longest token, from ``token`` on, that may stand here.
        while token != EMPTY:
            after = position + int(lengths[token])
            alive = (int(dead[after >> 5]) >> (after & 31)) & 1 == 0
            if alive and (count == 0 or valid_pair(pairs, splits, int(tokens[count - 1]), token)):
                break
            token = int(prefixes[token])
        if token != EMPTY:
            tokens[count] = token
            count += 1
            position += int(lengths[token])
            token = longest_token(trie, piece, position)
        elif count == 0:
            raise AssertionError("the tables are wrong: every text of known bytes has an encoding")
        else:
            dead[position >> 5] |= 1 << (position & 31)
            count -= 1
            position -= int(lengths[tokens[count]])
            token = int(prefixes[tokens[count]])
    for word in range((len(piece) >> 5) + 1):
        dead[word] = 0
    return count


@njit
def longest_token(trie: NDArray[np.int32], text: NDArray[np.uint8], start: int) -> int:
    """The longest token with which ``text[start:]`` begins; EMPTY at the text's end."""
    found = EMPTY
    slot = 0
    for position in range(start, len(text)):
        slot = child(trie, slot, int(text[position]))
        if slot == EMPTY:
            break
        token = token_at(trie, slot)
        if token != EMPTY:
            found = token
    return found


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """The tables of :func:`impls.bpe.tables.plain_pair_validity.plain_sections` in one array."""
    return pack(plain_sections(vocabulary))
