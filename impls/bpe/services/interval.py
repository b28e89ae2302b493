"""Interval counting: the number of tokens of any part of a text, as if it stood alone.

Preparation finds the last token of every prefix of the text. Positions form a tree: the parent of
a position is where its prefix's last token begins, so the ancestors of ``end`` are the boundaries
in the encoding of ``text[:end]``.

To count ``text[start:end]``, encode from ``start`` on by backtracking, token by token, until a
token ends at an ancestor of ``end`` and is the last token of that whole prefix, too. Then what has
been encoded since ``start`` is a valid encoding, the tokens of ``text[:end]`` from this one on are
one, both share this token, so together they are valid: the encoding of ``text[start:end]``. The
rest of the count is a difference of two stored ones. Ancestry is an inclusion of intervals of
preorder numbers. Two encodings of one text from different starts meet after a few tokens as a
rule, and then the cost does not depend on the interval's length; where they never meet, the whole
interval is encoded. (After the idea of the `bpe` crate by GitHub.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.services.prefixes import COUNT, LAST, extend, new_memo, new_rows
from impls.bpe.tables.pair_validity import boundary_at, valid_pair
from impls.compiled.jit import njit
from impls.interface import Rejected
from impls.kernels.layout import (
    BLOOM,
    BOUNDARIES,
    EMPTY,
    LENGTHS,
    MERGED,
    PREFIXES,
    SPLITS,
    TRIE,
    section,
    wide,
)
from impls.kernels.trie import LABEL_BITS, LABEL_MASK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NUMBER = 2
"""Columns of a row once prepared, in place of the state and the byte: its preorder number."""
STOP = 3
"""The first preorder number after those of its descendants."""

ROOM = 256
"""Bytes of an interval for which there is scratch room at first."""


@njit
def number_tree(block: NDArray[np.int32], rows: NDArray[np.int32]) -> None:
    """Replace the states and bytes of all rows by preorder numbers."""
    lengths = section(block, LENGTHS)
    size = len(rows)
    for position in range(size):
        rows[position, NUMBER] = 1  # of nodes below, itself included
    for position in range(size - 1, 0, -1):
        rows[position - int(lengths[rows[position, LAST]]), NUMBER] += rows[position, NUMBER]
    # Until all its children are numbered, STOP is the number of the next one.
    rows[0, NUMBER] = 0
    rows[0, STOP] = 1
    for position in range(1, size):
        parent = position - int(lengths[rows[position, LAST]])
        number = rows[parent, STOP]
        rows[parent, STOP] = number + rows[position, NUMBER]
        rows[position, NUMBER] = number
        rows[position, STOP] = number + 1


@njit
def count_ranges(
    block: NDArray[np.int32],
    rows: NDArray[np.int32],
    data: NDArray[np.uint8],
    ranges: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """Count the tokens of ``data[start:end]`` for each row (start, end) of ``ranges``.

    Returns the number of tokens that had to be encoded for it.
    """
    trie, prefixes, lengths = (
        section(block, TRIE),
        section(block, PREFIXES),
        section(block, LENGTHS),
    )
    merged, bloom = wide(section(block, MERGED)), section(block, BLOOM)
    boundaries, splits = wide(section(block, BOUNDARIES)), section(block, SPLITS)
    stack = np.empty(ROOM, dtype=np.int32)
    dead = np.zeros(ROOM + 1, dtype=np.uint8)
    work = 0
    for index in range(len(ranges)):
        start, end = int(ranges[index, 0]), int(ranges[index, 1])
        if start == 0:
            counts[index] = rows[end, COUNT]
            continue
        goal = rows[end, NUMBER]
        # As impls.bpe.fast.backtracking_kernel, over positions relative to ``start``.
        count = 0
        position = start
        furthest = start
        token = EMPTY
        joined = False
        while position < end:
            stop = position
            if token == EMPTY:
                at = position
                slot = 0
                while at < end:
                    byte = int(data[at])
                    slot = int(trie[2 * slot]) ^ byte
                    word = int(trie[2 * slot + 1])
                    if (word & LABEL_MASK) != byte + 1:
                        break
                    at += 1
                    if word > LABEL_MASK:
                        token = (word >> LABEL_BITS) - 1
                        stop = at
                if stop > furthest:
                    furthest = stop
                    if stop - start >= len(dead):
                        room = 2 * (stop - start)
                        wider = np.zeros(room + 1, dtype=np.uint8)
                        wider[: len(dead)] = dead
                        dead = wider
                        taller = np.empty(room, dtype=np.int32)
                        taller[:count] = stack[:count]
                        stack = taller
            else:
                token = int(prefixes[token])
                if token != EMPTY:
                    stop = position + int(lengths[token])
            boundary = boundary_at(boundaries, data, position) if position > start else 0
            before = int(stack[count - 1]) if boundary else EMPTY
            while token != EMPTY:
                if dead[stop - start] == 0 and (
                    not boundary or valid_pair(splits, merged, bloom, boundary, before, token)
                ):
                    break
                token = int(prefixes[token])
                if token != EMPTY:
                    stop = position + int(lengths[token])
            work += 1
            if token != EMPTY:
                stack[count] = token
                count += 1
                position = stop
                if rows[stop, LAST] == token and rows[stop, NUMBER] <= goal < rows[stop, STOP]:
                    joined = True
                    break
                token = EMPTY
            else:
                dead[position - start] = 1
                count -= 1
                token = int(stack[count])
                position -= int(lengths[token])
        counts[index] = count
        if joined:
            counts[index] += rows[end, COUNT] - rows[position, COUNT]
        dead[: furthest - start + 1] = 0
    return work


class Intervals:
    """A text prepared for counting any of its parts. 16 bytes of memory a byte.

    For all s <= e: count(s, e) = |encode(text[s:e])|. Preparation is O(n). Read-only, so for
    several threads at once.
    """

    def __init__(self, block: NDArray[np.int32], text: bytes) -> None:
        self._block = block
        self._data = np.frombuffer(text, dtype=np.uint8)
        self._rows = new_rows(len(text))
        length = extend(block, new_memo(), self._rows, 0, self._data, False)
        if length < 0:
            raise Rejected(f"byte 0x{text[-1 - length]:02x} has no token")
        number_tree(block, self._rows)

    def count(self, start: int, end: int) -> int:
        """Tokens of ``text[start:end]``; ValueError unless 0 <= start <= end <= its length."""
        return int(self.counts([(start, end)])[0])

    def counts(self, ranges: Sequence[tuple[int, int]] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Likewise for many ranges in one call. ranges: rows (start, end)."""
        table = np.array(ranges, dtype=np.int64).reshape(-1, 2)
        starts, ends = table[:, 0], table[:, 1]
        wrong = np.nonzero((starts < 0) | (starts > ends) | (ends > len(self._data)))[0]
        if len(wrong):
            start, end = table[wrong[0]].tolist()
            raise ValueError(f"[{start}, {end}) is no range of a text of {len(self._data)} bytes")
        counts = np.empty(len(table), dtype=np.int64)
        count_ranges(self._block, self._rows, self._data, table, counts)
        return counts
