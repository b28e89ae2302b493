"""The last token and the number of tokens of every prefix of a text: what all services stand on.

The last token of a text's encoding is the longest of its suffixes that is a token and that the
encoding of the text before it admits (:mod:`impls.bpe.table_kernel`). So a prefix has one token
more than the prefix on which its last token stands, and both are known for good once the byte is
read: nothing that comes later changes them.

The mirror holds, too: the first token of a text is the one prefix token that may stand before the
encoding of the rest. ``mirrored`` kernels read a text backwards, with an automaton over reversed
tokens, and find the first token of every suffix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.automaton import next_state
from impls.bpe.layout import (
    ATOMS,
    BLOOM,
    EMPTY,
    LENGTHS,
    MERGED,
    SEAMS,
    SPLITS,
    STATES,
    SUFFIXES,
    TRIE,
    section,
)
from impls.bpe.validity import is_seam, valid_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

COUNT = 0
"""Columns of a row: tokens of the prefix."""
LAST = 1
"""Its last token (by age), EMPTY for the empty prefix."""
STATE = 2
"""The automaton's state after it."""
BYTE = 3
"""Its last byte."""
COLUMNS = 4


def new_rows(size: int) -> NDArray[np.int32]:
    """Room for the rows of prefixes of up to ``size`` bytes; row 0 is the empty prefix's."""
    rows = np.empty((size + 1, COLUMNS), dtype=np.int32)
    rows[0] = (0, EMPTY, 0, 0)
    return rows


@njit
def step(
    trie: NDArray[np.int32],
    states: NDArray[np.int32],
    suffixes: NDArray[np.int32],
    lengths: NDArray[np.int32],
    splits: NDArray[np.int32],
    merged: NDArray[np.int32],
    bloom: NDArray[np.int32],
    seams: NDArray[np.int32],
    atoms: int,
    rows: NDArray[np.int32],
    end: int,
    byte: int,
    mirrored: bool,
) -> None:
    """Fill row ``end`` from the rows before it and the ``byte`` that ends its prefix."""
    state = next_state(trie, states, int(rows[end - 1, STATE]), byte)
    token = int(states[2 * state + 1])
    rows[end, STATE] = state
    rows[end, BYTE] = byte
    begin = 0
    # The atom, at the latest, is admitted: every text has an encoding.
    while True:
        begin = end - int(lengths[token])
        if begin == 0:
            break
        outer, inner = int(rows[begin, BYTE]), int(rows[begin + 1, BYTE])
        other = int(rows[begin, LAST])
        if mirrored:
            if not is_seam(seams, inner, outer) or valid_pair(
                splits, merged, bloom, atoms, token, other
            ):
                break
        elif not is_seam(seams, outer, inner) or valid_pair(
            splits, merged, bloom, atoms, other, token
        ):
            break
        token = int(suffixes[token])
    rows[end, LAST] = token
    rows[end, COUNT] = rows[begin, COUNT] + 1


@njit
def extend(
    block: NDArray[np.int32],
    rows: NDArray[np.int32],
    length: int,
    data: NDArray[np.uint8],
    mirrored: bool,
) -> int:
    """Fill the rows after ``length`` for the bytes of ``data``, which there must be room for.

    block: tokens by age with their trie, pair validity, the automaton; of reversed tokens where
    ``mirrored``, and ``data`` is then read as it stands, so it must be reversed, too.
    Returns the new length, or ``-1 - p`` where ``data[p]`` has no token; rows up to there are
    filled.
    """
    trie, states, suffixes = section(block, TRIE), section(block, STATES), section(block, SUFFIXES)
    splits, merged, bloom = section(block, SPLITS), section(block, MERGED), section(block, BLOOM)
    seams, atoms, lengths = section(block, SEAMS), section(block, ATOMS), section(block, LENGTHS)
    number = int(atoms[256])
    for position in range(len(data)):
        byte = int(data[position])
        if atoms[byte] == EMPTY:
            return -1 - position
        step(
            trie,
            states,
            suffixes,
            lengths,
            splits,
            merged,
            bloom,
            seams,
            number,
            rows,
            length + position + 1,
            byte,
            mirrored,
        )
    return length + len(data)
