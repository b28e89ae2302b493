"""The last token and the number of tokens of every prefix of a text: what all services stand on.

The last token of a text's encoding is the longest of its suffixes that is a token and that the
encoding of the text before it admits (:mod:`impls.bpe.algorithms.table_kernel`). So a prefix has
one token more than the prefix on which its last token stands, and both are known for good once the
byte is read: nothing that comes later changes them.

The mirror holds, too: the first token of a text is the one prefix token that may stand before the
encoding of the rest. ``mirrored`` kernels read a text backwards, with an automaton over reversed
tokens, and find the first token of every suffix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.tables.pair_validity import boundary_of, valid_pair
from impls.compiled.jit import njit
from impls.kernels.layout import (
    BASE_TOKENS,
    BLOOM,
    BOUNDARIES,
    EMPTY,
    LENGTHS,
    MERGED,
    SPLITS,
    STATES,
    SUFFIXES,
    TRIE,
    pack,
    section,
    wide,
)
from impls.kernels.merge_tables import pair_hash
from impls.kernels.trie import LABEL_MASK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

COUNT = 0
"""The column of a row that has the number of tokens of the prefix."""
LAST = 1
"""The column that has the prefix's last token (by age), EMPTY for the empty prefix."""
STATE = 2
"""The column that has the automaton's state after the prefix."""
BYTE = 3
"""The column that has the prefix's last byte."""
COLUMNS = 4


MEMO = 8192
"""Pairs that are remembered; a power of two."""


def new_rows(size: int) -> NDArray[np.int32]:
    """Room for the rows of prefixes of up to ``size`` bytes; row 0 is the empty prefix's."""
    rows = np.empty((size + 1, COLUMNS), dtype=np.int32)
    rows[0] = (0, EMPTY, 0, 0)
    return rows


@njit
def new_memo() -> NDArray[np.int32]:
    """Room for what is known of pairs: left, and right with a bit that says whether it is valid.

    A pair is asked for with nearly every byte, and texts repeat themselves; to look it up takes a
    tenth of the time of finding it out. 64 KiB, so as to stay in a near cache.
    """
    return np.full(2 * MEMO, EMPTY, dtype=np.int32)


def growing_block(sections: Mapping[int, NDArray[np.int32]]) -> NDArray[np.int32]:
    """The block for ``extend``, from one with an automaton: what is read together lies together.

    A memory access costs more than anything else here. STATES has four a slot: base and label as
    in TRIE, then the automaton's two. SUFFIXES has two a token: the next shorter one, and the
    bytes of the token itself. The tables keep their other meanings.
    """
    trie, states = sections[TRIE].reshape(-1, 2), sections[STATES].reshape(-1, 2)
    endings = np.stack((sections[SUFFIXES], sections[LENGTHS]), axis=1)
    machine = np.concatenate((trie, states), axis=1)
    return pack({**sections, STATES: machine.ravel(), SUFFIXES: endings.ravel()})


@njit
def extend(
    block: NDArray[np.int32],
    memo: NDArray[np.int32],
    rows: NDArray[np.int32],
    length: int,
    data: NDArray[np.uint8],
    mirrored: bool,
) -> int:
    """Fill the rows after ``length`` for the bytes of ``data``, which there must be room for.

    block: tokens by age with their trie, pair validity, the automaton; of reversed tokens where
    ``mirrored``, and ``data`` is then read as it stands, so it must be reversed, too. memo: of
    :func:`new_memo`, for calls with this block alone.
    Returns the new length, or ``-1 - p`` where ``data[p]`` has no token; rows up to there are
    filled.
    """
    machine, endings = section(block, STATES), section(block, SUFFIXES)
    merged, bloom = wide(section(block, MERGED)), section(block, BLOOM)
    boundaries, splits = wide(section(block, BOUNDARIES)), section(block, SPLITS)
    base_tokens = section(block, BASE_TOKENS)
    for position in range(len(data)):
        byte = int(data[position])
        if base_tokens[byte] == EMPTY:
            return -1 - position
        end = length + position + 1
        state = int(rows[end - 1, STATE])
        after = int(machine[4 * state]) ^ byte
        while (int(machine[4 * after + 1]) & LABEL_MASK) != byte + 1:
            if state == 0:
                after = 0
                break
            state = int(machine[4 * state + 2])
            after = int(machine[4 * state]) ^ byte
        state = after
        token = int(machine[4 * state + 3])
        rows[end, STATE] = state
        rows[end, BYTE] = byte
        begin = 0
        # The base token, at the latest, is admitted: every text has an encoding.
        while True:
            begin = end - int(endings[2 * token + 1])
            if begin == 0:
                break
            outer, inner = int(rows[begin, BYTE]), int(rows[begin + 1, BYTE])
            other = int(rows[begin, LAST])
            last, first = (inner, outer) if mirrored else (outer, inner)
            boundary = boundary_of(boundaries, last, first)
            if not boundary:
                break
            left, right = (token, other) if mirrored else (other, token)
            slot = 2 * (pair_hash(left, right) & (len(memo) // 2 - 1))
            if memo[slot] != left or memo[slot + 1] >> 1 != right:
                valid = valid_pair(splits, merged, bloom, boundary, left, right)
                memo[slot] = left
                memo[slot + 1] = right << 1 | int(valid)
            if memo[slot + 1] & 1:
                break
            token = int(endings[2 * token])
        rows[end, LAST] = token
        rows[end, COUNT] = rows[begin, COUNT] + 1
    return length + len(data)
