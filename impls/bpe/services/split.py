"""Splitting a text into chunks of at most so many tokens, at the ends of characters.

The rule, for a text that is one piece: each chunk is the longest beginning of what is left that
ends where a character does and has at most ``limit`` tokens, encoded by itself; where not even the
first character has so few, that character alone. So a token that straddles a character never cuts
it; a chunk is never empty; and only single characters exceed the limit.

With pre-tokenization: as many whole pre-tokens as have ``limit`` tokens together. A pre-token that
has more is cut by the rule above. Since a part of a pre-token may be cut into others when it
stands alone, every chunk is then encoded by itself, and one that exceeds the limit is halved, at a
character, until it does not or is a single character.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.services.characters import character_end
from impls.bpe.services.prefixes import COLUMNS, COUNT, STATE, extend, new_memo
from impls.compiled.jit import njit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ROOM = 4096
"""Rows of scratch at first."""

STRIDE = 64
"""Bytes that are looked at before the question whether to go on."""


@njit
def split_piece(
    block: NDArray[np.int32],
    data: NDArray[np.uint8],
    limit: int,
    longest: int,
    ends: NDArray[np.int64],
) -> int:
    """Split one piece; returns the number of chunks, or ``-1 - p`` where ``data[p]`` has no token.

    longest: bytes of the longest token. ends: receives where the chunks end; as long as ``data``.
    """
    rows = np.empty((ROOM, COLUMNS), dtype=np.int32)
    memo = new_memo()
    rows[0, COUNT] = 0
    rows[0, STATE] = 0
    chunks = 0
    start = 0
    while start < len(data):
        boundary = character_end(data, start)
        best = boundary  # the first character, whatever it takes
        low = start  # the last position up to which there are fewer than ``limit`` tokens
        position = start
        # An encoding has a boundary among any ``longest`` positions in a row. Where all of them
        # have ``limit`` tokens or more before them, whatever is longer has more than ``limit``.
        while position < len(data) and position - low < longest:
            end = position - start
            stop = min(position + STRIDE, len(data))
            if stop - start >= len(rows):
                wider = np.empty((2 * len(rows), COLUMNS), dtype=np.int32)
                wider[: end + 1] = rows[: end + 1]
                rows = wider
            length = extend(block, memo, rows, end, data[position:stop], False)
            if length < 0:
                return length - position
            while position < stop:
                position += 1
                count = int(rows[position - start, COUNT])
                if count < limit:
                    low = position
                if position == boundary:
                    if count <= limit:
                        best = position
                    if position < len(data):
                        boundary = character_end(data, position)
        ends[chunks] = best
        chunks += 1
        start = best
    return chunks


def whole_pieces(counts: NDArray[np.int64], limit: int) -> list[tuple[int, int]]:
    """Runs of pieces with at most ``limit`` tokens together, as long as may be; a piece with more
    is a run of its own. counts: the tokens of each piece."""
    totals = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    runs = []
    low = 0
    while low < len(counts):
        high = int(np.searchsorted(totals, totals[low] + limit, side="right")) - 1
        high = max(high, low + 1)
        runs.append((low, high))
        low = high
    return runs


def halved(
    ends: list[int],
    limit: int,
    characters: NDArray[np.int64],
    count: Callable[[list[tuple[int, int]]], list[int]],
) -> list[int]:
    """Halve chunks until each has at most ``limit`` tokens or is one character.

    ends, characters: where chunks and characters end. count: the tokens of ranges by themselves.
    """
    settled = []
    waiting = list(zip([0, *ends], ends, strict=False))
    while waiting:
        again = []
        for (start, end), tokens in zip(waiting, count(waiting), strict=True):
            first, last = np.searchsorted(characters, (start, end), side="right").tolist()
            # Characters ``first`` to ``last - 1`` are those of the range.
            if tokens <= limit or last - first == 1:
                settled.append(end)
            else:
                middle = int(characters[(first + last) // 2 - 1])
                again += [(start, middle), (middle, end)]
        waiting = again
    return sorted(settled)
