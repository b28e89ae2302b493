"""Backtracking over many short pieces abreast: none waits for memory alone.

Each piece takes the steps of :mod:`impls.bpe.backtracking_kernel`. But one piece's steps wait for
one another: the walk for the tables, the candidate for the walk, its validity for the candidate,
and the next walk for all of them. So each step is done for all pieces in turn, and ends by asking
for what the piece's next step will read: by then it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.candidates import HAS_TOKEN, LESS_BITS, LESS_MASK, VALUE_BITS, VALUE_MASK
from impls.bpe.layout import EMPTY, INDEX, PLACE
from impls.bpe.prefetch import prefetch
from impls.bpe.trie import LABEL_MASK
from impls.bpe.validity import WORDS_BITS, seam_of, slot_of, valid_pair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_ABREAST = 62
"""Bytes of a piece at most: a bit each, and one for its end, say which positions are dead."""

BEGIN_BITS = 6
"""A token stands as ``token << 6 | where it begins``, counted from the piece's start."""
BEGIN_MASK = (1 << BEGIN_BITS) - 1

NEAR = 4
"""Bytes of a walk for which nothing is asked: what is near the root is in the caches."""

# The columns of a lane, one piece at work.
START, END = 0, 1
POSITION = 2
"""Where its next token begins."""
STOP = 3
"""Where the token to try ends."""
TOKEN = 4
"""The token to try next, EMPTY for the longest at POSITION; and ``UNREAD - slot`` for one whose
number is in INNER."""
PLACE_OF_NEXT = 5
"""Where in ``tokens`` its next token is put."""
DEAD = 6
"""Bits: the positions, counted from START, from which no token follows."""
VALUE = 7
"""Of the node where a walk goes on, EMPTY for one that has ended."""
MET = 8
"""The slot of the last token that a walk has met."""
COLUMNS = 9

UNREAD = -2


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


@njit
def encode_abreast(
    walk: NDArray[np.int32],
    inner: NDArray[np.int32],
    shorter: NDArray[np.int32],
    splits: NDArray[np.int32],
    merged: NDArray[np.int64],
    bloom: NDArray[np.int64],
    seams: NDArray[np.int64],
    atoms: int,
    data: NDArray[np.uint8],
    lanes: NDArray[np.int64],
    waiting: NDArray[np.int64],
    count: int,
    tokens: NDArray[np.int32],
) -> int:
    """Encode the pieces of ``count`` lanes.

    lanes: rows of columns as above, of which START, END and PLACE_OF_NEXT are given. waiting:
    scratch, one a lane. tokens: receives each piece's, from PLACE_OF_NEXT on, which comes to stand
    behind the last one. Returns EMPTY, or where the first piece begins that has a byte without a
    token.
    """
    slots = len(walk)
    root = (int(walk[0]) >> VALUE_BITS) & VALUE_MASK
    fault = EMPTY
    for index in range(count):
        lane = index * COLUMNS
        waiting[index] = lane
        lanes[lane + POSITION] = lanes[lane + START]
        lanes[lane + TOKEN] = EMPTY
        lanes[lane + DEAD] = 0
    while count > 0:
        for index in range(count):
            lane = int(waiting[index]) & PLACE
            if lanes[lane + TOKEN] == EMPTY:
                position, end = int(lanes[lane + POSITION]), int(lanes[lane + END])
                near = min(position + NEAR, end)
                reached, value, met, stop = walk_on(walk, data, position, near, root, 0, position)
                goes_on = reached == near and near < end and value < slots
                if goes_on:
                    prefetch(walk, value ^ int(data[reached & PLACE]))
                lanes[lane + VALUE] = value if goes_on else EMPTY
                lanes[lane + MET] = met
                lanes[lane + STOP] = stop
        for index in range(count):
            lane = int(waiting[index]) & PLACE
            if lanes[lane + TOKEN] == EMPTY:
                position = int(lanes[lane + POSITION])
                value, met = int(lanes[lane + VALUE]), int(lanes[lane + MET])
                stop = int(lanes[lane + STOP])
                if value != EMPTY:
                    reached = position + NEAR
                    end = int(lanes[lane + END])
                    _, _, met, stop = walk_on(walk, data, reached, end, value & INDEX, met, stop)
                    lanes[lane + STOP] = stop
                if stop > position:
                    prefetch(inner, met)
                    lanes[lane + TOKEN] = UNREAD - met
                if position > lanes[lane + START]:
                    seam = seam_of(
                        seams, int(data[(position - 1) & PLACE]), int(data[position & PLACE])
                    )
                    prefetch(bloom, seam >> WORDS_BITS)
                    before = int(tokens[(int(lanes[lane + PLACE_OF_NEXT]) - 1) & PLACE])
                    prefetch(splits, 2 * (before >> BEGIN_BITS))
        for index in range(count):
            lane = int(waiting[index]) & PLACE
            unread = int(lanes[lane + TOKEN])
            if unread <= UNREAD:
                met = (UNREAD - unread) & INDEX
                value = (int(walk[met]) >> VALUE_BITS) & VALUE_MASK
                token = value - slots if value >= slots else int(inner[met])
                lanes[lane + TOKEN] = token
                position = int(lanes[lane + POSITION])
                if position > lanes[lane + START]:
                    prefetch(splits, 2 * token)
                    prefetch(shorter, token)
                    before = int(tokens[(int(lanes[lane + PLACE_OF_NEXT]) - 1) & PLACE])
                    seam = seam_of(
                        seams, int(data[(position - 1) & PLACE]), int(data[position & PLACE])
                    )
                    prefetch(merged, slot_of(seam, before >> BEGIN_BITS, token))
        kept = 0
        for index in range(count):
            lane = int(waiting[index]) & PLACE
            start, position = int(lanes[lane + START]), int(lanes[lane + POSITION])
            stop, token = int(lanes[lane + STOP]), int(lanes[lane + TOKEN])
            place, dead = int(lanes[lane + PLACE_OF_NEXT]), int(lanes[lane + DEAD])
            seam = 0
            before = EMPTY
            if position > start:
                # Only these two bytes face each other, whichever candidate is tried.
                seam = seam_of(
                    seams, int(data[(position - 1) & PLACE]), int(data[position & PLACE])
                )
                before = (int(tokens[(place - 1) & PLACE]) >> BEGIN_BITS) & INDEX
            while token != EMPTY:
                token &= INDEX
                if (dead >> (stop - start)) & 1 == 0 and (
                    not seam or valid_pair(splits, merged, bloom, seam, atoms, before, token)
                ):
                    break
                entry = int(shorter[token])
                if entry != EMPTY:
                    stop -= entry & LESS_MASK
                    entry = (entry & INDEX) >> LESS_BITS
                token = entry
            waiting[kept] = lane
            if token != EMPTY:
                tokens[place & PLACE] = token << BEGIN_BITS | (position - start)
                lanes[lane + PLACE_OF_NEXT] = place + 1
                lanes[lane + POSITION] = stop
                lanes[lane + TOKEN] = EMPTY
                kept += stop < lanes[lane + END]
            elif position > start:
                last = int(tokens[(place - 1) & PLACE])
                lanes[lane + DEAD] = dead | 1 << (position - start)
                lanes[lane + PLACE_OF_NEXT] = place - 1
                lanes[lane + STOP] = position
                lanes[lane + TOKEN] = last >> BEGIN_BITS
                lanes[lane + POSITION] = start + (last & BEGIN_MASK)
                kept += 1
            else:
                fault = start if fault == EMPTY else min(fault, start)
        count = kept
    return fault
