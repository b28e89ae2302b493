"""Backtracking over many short pieces abreast: none waits for memory alone.

Each piece takes the steps of :mod:`impls.bpe.backtracking_kernel`. But one piece's steps wait for
one another: the walk for the tables, the candidate for the walk, its validity for the candidate,
and the next walk for all of them. So each step is done for all pieces in turn, and ends by asking
for what the piece's next step will read: by then it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import inlined, njit
from impls.bpe.candidates import HAS_TOKEN, LESS_BITS, LESS_MASK, VALUE_BITS, VALUE_MASK
from impls.bpe.lanes import (
    ASKED_OF,
    END,
    FIRST_WORD,
    LEFT,
    LIMIT,
    OLDEST,
    PIECE,
    PLACE_OF_NEXT,
    POSITION,
    REFUSED,
    RIGHT,
    START,
    STOP,
    STOP_BEFORE,
    TOKEN,
    WORDS,
)
from impls.bpe.layout import EMPTY, INDEX, PLACE
from impls.bpe.questions import ask
from impls.bpe.trie import LABEL_MASK
from impls.bpe.validity import (
    FIRST_BITS,
    OLDEST_BITS,
    TOKEN_MASK,
    WORDS_MASK,
    seam_at,
    valid_pair,
)
from impls.bpe.vectors import (
    WIDTH,
    all_of,
    any_of,
    chosen,
    gather,
    lane_numbers,
    numbers_at,
    put_numbers,
    words_at,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_ABREAST = 62
"""Bytes of a piece at most: a bit each, and one for its end, say which positions are dead."""

BEGIN_BITS = 6
"""A token stands as ``token << 6 | where it begins``, counted from the piece's start."""
BEGIN_MASK = (1 << BEGIN_BITS) - 1


@njit
def walk_on(
    walk: NDArray[np.int32],
    data: NDArray[np.uint8],
    reached: int,
    end: int,
    value: int,
    met: int,
    stop: int,
) -> tuple[int, int, int, int]:
    """Walk down the trie, over ``data[reached:end]`` or as far as it goes.

    value: of the node to start from. met, stop: the slot of the last token met, and where it ends.
    Returns where the walk ended and the other three.
    """
    slots = len(walk)
    on = True
    while on and reached < end:
        byte = int(data[reached & PLACE])
        slot = value ^ byte
        entry = int(walk[slot])
        on = (entry & LABEL_MASK) == byte + 1
        if on:
            reached += 1
            value = (entry >> VALUE_BITS) & VALUE_MASK
            has_token = entry & HAS_TOKEN
            met = slot if has_token else met
            stop = reached if has_token else stop
            on = value < slots
    return reached, value, met, stop


@inlined
def _walk(
    walk: NDArray[np.int32],
    inner: NDArray[np.int32],
    data: NDArray[np.uint8],
    table: NDArray[np.int32],
    first: int,
    top: int,
) -> None:
    """Find the longest tokens at the positions of WIDTH pieces, and put the questions about them."""
    slots = len(walk)
    value = all_of((int(walk[0]) >> VALUE_BITS) & VALUE_MASK)
    met = last = all_of(0)
    reached = stop = numbers_at(table, POSITION, first)
    end = numbers_at(table, STOP_BEFORE, first)
    on = True
    while on:
        word = words_at(data, reached)
        unread = 4
        while unread > 0:
            byte = word & 255
            slot = value ^ byte
            entry = gather(walk, slot)
            matches = ((entry & LABEL_MASK) == byte + 1) & (reached < end)
            has_token = matches & ((entry & HAS_TOKEN) != 0)
            value = (entry >> VALUE_BITS) & VALUE_MASK
            goes_on = matches & (value < slots)
            # No node's children are at 0.
            value = chosen(goes_on, value, 0)
            on = any_of(goes_on)
            reached = reached + 1
            met = chosen(has_token, slot, met)
            last = chosen(has_token, entry, last)
            stop = chosen(has_token, reached, stop)
            word = word >> 8
            unread = unread - 1 if on else 0
        reached = chosen(reached < end, reached, end)
    value = (last >> VALUE_BITS) & VALUE_MASK
    is_last = value >= slots
    token = chosen(is_last, value - slots, gather(inner, chosen(is_last, 0, met)))
    put_numbers(table, TOKEN, first, token)
    put_numbers(table, STOP, first, stop)
    put_numbers(table, REFUSED, first, all_of(0))
    put_numbers(table, RIGHT, first, token)
    put_numbers(table, LIMIT, first, all_of(top))
    put_numbers(table, ASKED_OF, first, lane_numbers() + first)


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
    table: NDArray[np.int32],
    deads: NDArray[np.int64],
    count: int,
    tokens: NDArray[np.int32],
) -> int:
    """Encode ``count`` pieces.

    table: see :mod:`impls.bpe.lanes`; START, END and PLACE_OF_NEXT of each piece are given.
    deads: scratch, one a piece. tokens: receives each piece's, from PLACE_OF_NEXT on, which comes
    to stand behind the last one. Returns EMPTY, or where the first piece begins that has a byte
    without a token.
    """
    fault = EMPTY
    for piece in range(count):
        table[PIECE, piece] = piece
        table[POSITION, piece] = table[START, piece]
        table[STOP_BEFORE, piece] = table[END, piece]
        table[WORDS, piece] = 0
        deads[piece] = 0
    # MARK init
    while count > 0:
        for index in range(count, count + WIDTH):
            table[POSITION, index] = table[STOP_BEFORE, index] = 0
        # The longest token at each piece's position.
        for first in range(0, count, WIDTH):
            _walk(walk, inner, data, table, first, len(splits))
        # MARK walk
        ask(splits, merged, bloom, table, count)
        # MARK ask
        # It or a shorter one is taken, or else the last token is given back.
        kept = 0
        for index in range(count):
            piece = int(table[PIECE, index]) & INDEX
            start, position = int(table[START, piece]), int(table[POSITION, index])
            stop, token = int(table[STOP, index]), int(table[TOKEN, index])
            place, dead = int(table[PLACE_OF_NEXT, piece]), deads[piece]
            refused = table[REFUSED, index] != 0 or (dead >> (stop - start)) & 1 != 0
            while refused or (token == EMPTY and position > start):
                refused = False
                # Only these two bytes face each other, whichever candidate is tried.
                seam = seam_at(seams, data, position) if position > start else 0
                before = (int(tokens[(place - 1) & PLACE]) >> BEGIN_BITS) & INDEX if seam else EMPTY
                while token != EMPTY:
                    entry = int(shorter[token & INDEX])
                    if entry != EMPTY:
                        stop -= entry & LESS_MASK
                        entry = (entry & INDEX) >> LESS_BITS
                    token = entry
                    if token != EMPTY and (dead >> (stop - start)) & 1 == 0 and (
                        not seam or valid_pair(splits, merged, bloom, seam, before, token)
                    ):
                        break
                if token == EMPTY and position > start:
                    dead |= 1 << (position - start)
                    place -= 1
                    last = int(tokens[place & PLACE])
                    stop, token = position, last >> BEGIN_BITS
                    position = start + (last & BEGIN_MASK)
                    refused = True
            if token != EMPTY:
                tokens[place & PLACE] = token << BEGIN_BITS | (position - start)
                table[PLACE_OF_NEXT, piece] = place + 1
                deads[piece] = dead
                end = int(table[END, piece])
                if stop < end:
                    seam = seam_at(seams, data, stop)
                    table[PIECE, kept] = piece
                    table[POSITION, kept] = stop
                    table[STOP_BEFORE, kept] = end
                    table[LEFT, kept] = token
                    table[FIRST_WORD, kept] = seam >> FIRST_BITS
                    table[WORDS, kept] = seam & WORDS_MASK
                    table[OLDEST, kept] = (seam >> OLDEST_BITS) & TOKEN_MASK
                    kept += 1
            else:
                fault = start if fault == EMPTY else min(fault, start)
        # MARK choose
        count = kept
    return fault
