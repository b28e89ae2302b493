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
from impls.bpe.machine import prefetch
from impls.bpe.trie import LABEL_MASK
from impls.bpe.validity import FIRST_BITS, seam_at, valid_pair

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
"""The longest at POSITION, to try first; EMPTY if there is none."""
PLACE_OF_NEXT = 5
"""Where in ``tokens`` its next token is put."""
DEAD = 6
"""Bits: the positions, counted from START, from which no token follows."""
VALUE = 7
"""Of the node where a walk goes on, EMPTY for one that has ended."""
MET = 8
"""The slot of the last token that a walk has met."""
SEAM = 9
"""Of the two bytes that face each other at POSITION; 0 at START."""
COLUMNS = 10


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
def _set_out(
    walk: NDArray[np.int32],
    data: NDArray[np.uint8],
    lanes: NDArray[np.int64],
    lane: int,
    position: int,
) -> None:
    """Begin to look for the longest token at a position, and ask for where that goes on."""
    end = int(lanes[lane + END])
    near = min(position + NEAR, end)
    root = (int(walk[0]) >> VALUE_BITS) & VALUE_MASK
    reached, value, met, stop = walk_on(walk, data, position, near, root, 0, position)
    goes_on = reached == near and near < end and value < len(walk)
    # Without a branch, for the sake of which all arrays would be counted (see tests).
    onward = int(data[min(reached, end - 1) & PLACE])
    prefetch(walk, (value ^ onward) if goes_on else 0)
    lanes[lane + POSITION] = position
    lanes[lane + STOP] = stop
    lanes[lane + VALUE] = value if goes_on else EMPTY
    lanes[lane + MET] = met


@njit
def encode_abreast(
    walk: NDArray[np.int32],
    inner: NDArray[np.int32],
    shorter: NDArray[np.int32],
    splits: NDArray[np.int32],
    merged: NDArray[np.int64],
    bloom: NDArray[np.int64],
    seams: NDArray[np.int64],
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
    fault = EMPTY
    for index in range(count):
        lane = (index * COLUMNS) & PLACE
        waiting[index] = lane
        lanes[lane + DEAD] = 0
        lanes[lane + SEAM] = 0
        _set_out(walk, data, lanes, lane, int(lanes[lane + START]))
    while count > 0:
        # The longest token at each piece's position.
        for index in range(count):
            lane = int(waiting[index]) & PLACE
            position, stop = int(lanes[lane + POSITION]), int(lanes[lane + STOP])
            value, met = int(lanes[lane + VALUE]), int(lanes[lane + MET]) & INDEX
            if value != EMPTY:
                reached = position + NEAR
                end = int(lanes[lane + END])
                _, _, met, stop = walk_on(walk, data, reached, end, value & INDEX, met, stop)
                lanes[lane + STOP] = stop
            token = EMPTY
            if stop > position:
                value = (int(walk[met]) >> VALUE_BITS) & VALUE_MASK
                token = value - slots if value >= slots else int(inner[met])
                seam = int(lanes[lane + SEAM])
                if seam:
                    before = int(tokens[(int(lanes[lane + PLACE_OF_NEXT]) - 1) & PLACE])
                    before >>= BEGIN_BITS
                    prefetch(splits, 2 * before)
                    prefetch(bloom, seam >> FIRST_BITS)
                    prefetch(splits, 2 * token)
                    prefetch(shorter, token)
            lanes[lane + TOKEN] = token
        # It or a shorter one is taken, or else the last token is given back.
        kept = 0
        for index in range(count):
            lane = int(waiting[index]) & PLACE
            start, position = int(lanes[lane + START]), int(lanes[lane + POSITION])
            stop, token = int(lanes[lane + STOP]), int(lanes[lane + TOKEN])
            place, dead = int(lanes[lane + PLACE_OF_NEXT]), int(lanes[lane + DEAD])
            seam = int(lanes[lane + SEAM])
            searching = True
            while searching:
                # Only these two bytes face each other, whichever candidate is tried.
                before = (int(tokens[(place - 1) & PLACE]) >> BEGIN_BITS) & INDEX if seam else EMPTY
                while token != EMPTY:
                    token &= INDEX
                    if (dead >> (stop - start)) & 1 == 0 and (
                        not seam or valid_pair(splits, merged, bloom, seam, before, token)
                    ):
                        break
                    entry = int(shorter[token])
                    if entry != EMPTY:
                        stop -= entry & LESS_MASK
                        entry = (entry & INDEX) >> LESS_BITS
                    token = entry
                searching = token == EMPTY and position > start
                if searching:
                    dead |= 1 << (position - start)
                    place -= 1
                    last = int(tokens[place & PLACE])
                    stop, token = position, last >> BEGIN_BITS
                    position = start + (last & BEGIN_MASK)
                    seam = seam_at(seams, data, position) if position > start else 0
            if token != EMPTY:
                tokens[place & PLACE] = token << BEGIN_BITS | (position - start)
                lanes[lane + PLACE_OF_NEXT] = place + 1
                lanes[lane + DEAD] = dead
                waiting[kept] = lane
                if stop < lanes[lane + END]:
                    lanes[lane + SEAM] = seam_at(seams, data, stop)
                    _set_out(walk, data, lanes, lane, stop)
                    kept += 1
            else:
                fault = start if fault == EMPTY else min(fault, start)
        count = kept
    return fault
