"""Backtracking over many short pieces abreast: none waits for memory, or for a guess, alone.

Each piece takes the steps of :mod:`impls.bpe.fast.backtracking_kernel`. But one piece's steps wait
for one another: the walk for the tables, the candidate for the walk, its validity for the
candidate, and the next walk for all of them; and where each goes on nobody can foresee. So each
step is done for all pieces together: the walks (:mod:`impls.bpe.fast.trie_lookup`), then the
questions (:mod:`impls.bpe.fast.batched_pair_validity`). Only where the longest token does not fit a
piece goes on by itself, until it has one that does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.fast.batched_pair_validity import ask
from impls.bpe.fast.candidates import LESS_BITS, LESS_MASK
from impls.bpe.fast.columns import (
    END,
    FIRST_WORD,
    LEFT,
    LIMIT,
    OLDEST,
    PIECE,
    PLACE_OF_NEXT,
    POSITION,
    REFUSED,
    START,
    STOP,
    TOKEN,
    WORDS,
)
from impls.bpe.fast.trie_lookup import find_longest
from impls.bpe.tables.pair_validity import parts_of, seam_at, valid_pair
from impls.kernels.layout import EMPTY, INDEX, PLACE
from impls.kernels.processor import prefetch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_ABREAST = 62
"""Bytes of a piece at most: a bit each, and one for its end, say which positions are dead."""

BEGIN_BITS = 6
"""A token stands as ``token << 6 | where it begins``, counted from the piece's start."""
BEGIN_MASK = (1 << BEGIN_BITS) - 1

AHEAD = 12
"""Pieces whose next shorter token is asked for before their turn comes."""


@njit
def encode_abreast(
    walk: NDArray[np.int32],
    inner: NDArray[np.int32],
    shorter: NDArray[np.int32],
    splits: NDArray[np.int32],
    merged: NDArray[np.int64],
    bloom: NDArray[np.int32],
    seams: NDArray[np.int64],
    data: NDArray[np.uint8],
    lanes: NDArray[np.int32],
    deads: NDArray[np.int64],
    count: int,
    tokens: NDArray[np.int32],
) -> int:
    """Encode ``count`` pieces.

    data, tokens: from where the block begins; behind the last piece READ more bytes are there
    (:mod:`impls.bpe.fast.trie_lookup`). lanes: of ROWS rows (:mod:`impls.bpe.fast.columns`) with
    WIDTH columns more than there are pieces; START, END and PLACE_OF_NEXT of each piece are given.
    deads: scratch, one a piece. tokens: receives each piece's, from PLACE_OF_NEXT on, which comes
    to stand behind the last one. Returns EMPTY, or where the first piece begins that has a byte
    without a token.
    """
    fault = EMPTY
    for piece in range(count):
        deads[piece] = 0
        lanes[PIECE, piece] = piece
        lanes[POSITION, piece] = lanes[START, piece]
        lanes[LIMIT, piece] = lanes[END, piece]
        lanes[WORDS, piece] = 0
    while count > 0:
        find_longest(walk, inner, data, lanes, count)
        ask(splits, merged, bloom, lanes, count)
        # It or a shorter one is taken, or else the last token is given back.
        kept = 0
        for index in range(count):
            prefetch(shorter, int(lanes[TOKEN, index + AHEAD]) & INDEX)
            piece = int(lanes[PIECE, index]) & INDEX
            start, position = int(lanes[START, piece]), int(lanes[POSITION, index])
            token, stop = int(lanes[TOKEN, index]), int(lanes[STOP, index])
            place, dead = int(lanes[PLACE_OF_NEXT, piece]), int(deads[piece])
            refused = int(lanes[REFUSED, index]) | (dead >> (stop - start)) & 1
            fits = token != EMPTY and refused == 0
            while not fits and (token != EMPTY or position > start):
                if token == EMPTY:
                    dead |= 1 << (position - start)
                    place -= 1
                    last = int(tokens[place & PLACE])
                    token, stop = last >> BEGIN_BITS, position
                    position = start + (last & BEGIN_MASK)
                entry = int(shorter[token & INDEX])
                token = EMPTY
                if entry != EMPTY:
                    token = (entry & INDEX) >> LESS_BITS
                    stop -= entry & LESS_MASK
                    fits = (dead >> (stop - start)) & 1 == 0
                    if fits and position > start:
                        seam = seam_at(seams, data, position)
                        before = (int(tokens[(place - 1) & PLACE]) >> BEGIN_BITS) & INDEX
                        fits = not seam or valid_pair(splits, merged, bloom, seam, before, token)
            if token != EMPTY:
                tokens[place & PLACE] = token << BEGIN_BITS | (position - start)
                lanes[PLACE_OF_NEXT, piece] = place + 1
                deads[piece] = dead
                end = int(lanes[END, piece])
                if stop < end:
                    first_word, words, oldest = parts_of(seam_at(seams, data, stop))
                    lanes[PIECE, kept] = piece
                    lanes[POSITION, kept] = stop
                    lanes[LIMIT, kept] = end
                    lanes[LEFT, kept] = token
                    lanes[FIRST_WORD, kept] = first_word
                    lanes[WORDS, kept] = words
                    lanes[OLDEST, kept] = oldest
                    kept += 1
            else:
                fault = start if fault == EMPTY else min(fault, start)
        count = kept
    return fault
