"""Backtracking over many short pieces side by side: none waits for memory, or for a guess, alone.

Each piece takes the steps of :mod:`impls.fast.bpe.backtracking_kernel`. But one piece's steps wait
for one another: the walk for the tables, the candidate for the walk, its validity for the
candidate, and the next walk for all of them; and where each goes on nobody can foresee. So each
step is done for all pieces together: the walks (:mod:`impls.fast.bpe.trie_lookup`), then the
questions (:mod:`impls.fast.bpe.batched_pair_validity`). Only where the longest token does not fit a
piece goes on by itself, until it has one that does.
"""

from __future__ import annotations

from impls.compiled.jit import njit
from impls.fast.bpe.batched_pair_validity import ask
from impls.fast.bpe.candidates import LESS_BITS, LESS_MASK
from impls.fast.bpe.columns import (
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
from impls.fast.bpe.pair_validity import boundary_at, parts_of, valid_pair
from impls.fast.bpe.processor import prefetch
from impls.fast.bpe.trie_lookup import find_longest
from impls.kernels.layout import EMPTY, INDEX, PLACE, Bytes, Ints, Longs

LONGEST_BATCHED = 62
"""Bytes of a piece at most: a bit each, and one for its end, say which positions are dead."""

BEGIN_BITS = 6
"""A token stands as ``token << 6 | where it begins``, counted from the piece's start."""
BEGIN_MASK = (1 << BEGIN_BITS) - 1

AHEAD = 12
"""Pieces whose next shorter token is asked for before their turn comes."""


@njit
def encode_batched(
    walk: Ints,
    inner: Ints,
    shorter: Ints,
    splits: Ints,
    merged: Longs,
    bloom: Ints,
    boundaries: Longs,
    data: Bytes,
    columns: Ints,
    deads: Longs,
    count: int,
    tokens: Ints,
) -> int:
    """Encode ``count`` pieces.

    data, tokens: from where the block begins; behind the last piece READ more bytes are there
    (:mod:`impls.fast.bpe.trie_lookup`). columns: of ROWS rows (:mod:`impls.fast.bpe.columns`) with
    WIDTH columns more than there are pieces; START, END and PLACE_OF_NEXT of each piece are given.
    deads: scratch, one a piece. tokens: receives each piece's, from PLACE_OF_NEXT on, which comes
    to stand behind the last one. Returns EMPTY, or where the first piece begins that has a byte
    without a token.
    """
    fault = EMPTY
    for piece in range(count):
        deads[piece] = 0
        columns[PIECE, piece] = piece
        columns[POSITION, piece] = columns[START, piece]
        columns[LIMIT, piece] = columns[END, piece]
        columns[WORDS, piece] = 0
    while count > 0:
        find_longest(walk, inner, data, columns, count)
        ask(splits, merged, bloom, columns, count)
        # It or a shorter one is taken, or else the last token is given back.
        kept = 0
        for index in range(count):
            prefetch(shorter, int(columns[TOKEN, index + AHEAD]) & INDEX)
            piece = int(columns[PIECE, index]) & INDEX
            start, position = int(columns[START, piece]), int(columns[POSITION, index])
            token, stop = int(columns[TOKEN, index]), int(columns[STOP, index])
            place, dead = int(columns[PLACE_OF_NEXT, piece]), int(deads[piece])
            refused = int(columns[REFUSED, index]) | (dead >> (stop - start)) & 1
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
                        boundary = boundary_at(boundaries, data, position)
                        before = (int(tokens[(place - 1) & PLACE]) >> BEGIN_BITS) & INDEX
                        fits = not boundary or valid_pair(
                            splits, merged, bloom, boundary, before, token
                        )
            if token != EMPTY:
                tokens[place & PLACE] = token << BEGIN_BITS | (position - start)
                columns[PLACE_OF_NEXT, piece] = place + 1
                deads[piece] = dead
                end = int(columns[END, piece])
                if stop < end:
                    first_word, words, oldest = parts_of(boundary_at(boundaries, data, stop))
                    columns[PIECE, kept] = piece
                    columns[POSITION, kept] = stop
                    columns[LIMIT, kept] = end
                    columns[LEFT, kept] = token
                    columns[FIRST_WORD, kept] = first_word
                    columns[WORDS, kept] = words
                    columns[OLDEST, kept] = oldest
                    kept += 1
            else:
                fault = start if fault == EMPTY else min(fault, start)
        count = kept
    return fault
