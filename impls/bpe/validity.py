"""Whether two tokens may stand side by side, without encoding their text again.

The pair (left, right) is invalid if the encoding of its text merges across the boundary. Tokens
are numbered by age, so the younger one is the larger. Run the merges backwards: undo the younger
token again and again, watching which token the two neighbours of the boundary would merge to, and
until when that merge would have been the next (the limit). Of two equal tokens the left one
was made first, so undoing the right one leaves the limit one higher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.layout import BLOOM, EMPTY, INDEX, LENGTHS, MERGED, SEAMS, SPLITS, bits_of, has_bit
from impls.bpe.tables import capacity, pair_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

BITS_PER_PAIR = 16
"""Of the Bloom filter: with one hash, 1 of 16 pairs that do not merge is looked up in vain."""

_HIGH = 20
"""The filter is asked for higher bits of the hash than the table, lest their misses coincide."""


@njit
def valid_pair(
    splits: NDArray[np.int32],
    merged: NDArray[np.int32],
    bloom: NDArray[np.int32],
    atoms: int,
    left: int,
    right: int,
) -> bool:
    """Whether encoding keeps the tokens apart. atoms: their number; younger tokens have halves.

    ALGORITHMS: at most 13 rounds on o200k, about 4 on text.
    """
    mask = len(merged) - 1
    bits = 32 * len(bloom) - 1
    limit = len(splits)  # above all tokens
    while True:
        key = pair_hash(left, right)
        if has_bit(bloom, (key >> _HIGH) & bits & INDEX):
            slot = key & mask & INDEX
            token = int(merged[slot])
            while token != EMPTY:
                token &= INDEX
                if splits[2 * token] == left and splits[2 * token + 1] == right:
                    if token < limit:
                        return False
                    break
                slot = (slot + 1) & mask & INDEX
                token = int(merged[slot])
        if left > right:
            if left < atoms:
                return True
            limit = left
            left = int(splits[2 * left + 1]) & INDEX
        else:
            if right < atoms:
                return True
            limit = right + 1
            right = int(splits[2 * right]) & INDEX


@njit
def is_seam(seams: NDArray[np.int32], last: int, first: int) -> bool:
    """Whether any merge goes over the bytes ``last first``; if none does, any pair is valid."""
    return has_bit(seams, last << 8 | first)


@njit
def _fill(
    splits: NDArray[np.int32],
    edges: NDArray[np.uint8],
    merged: NDArray[np.int32],
    bloom: NDArray[np.bool_],
    seams: NDArray[np.bool_],
    atoms: int,
) -> None:
    """edges: the first and last byte of each token."""
    mask = len(merged) - 1
    bits = len(bloom) - 1
    for token in range(atoms, len(splits) >> 1):
        left, right = int(splits[2 * token]), int(splits[2 * token + 1])
        key = pair_hash(left, right)
        slot = key & mask
        while merged[slot] != EMPTY:
            slot = (slot + 1) & mask
        merged[slot] = token
        bloom[(key >> _HIGH) & bits] = True
        seams[int(edges[2 * left + 1]) << 8 | int(edges[2 * right])] = True


def validity_tables(
    tokens: Mapping[int, NDArray[np.int32]], spellings: Sequence[bytes]
) -> dict[int, NDArray[np.int32]]:
    """MERGED, BLOOM and SEAMS. tokens: the sections of :func:`impls.bpe.derivations.derive`."""
    splits = tokens[SPLITS]
    merges = int(np.count_nonzero(tokens[LENGTHS] > 1))
    edges = np.frombuffer(b"".join(text[:1] + text[-1:] for text in spellings), dtype=np.uint8)
    merged = np.full(capacity(merges), EMPTY, dtype=np.int32)
    bloom = np.zeros(max(32, capacity(merges * BITS_PER_PAIR // 2)), dtype=np.bool_)
    seams = np.zeros(1 << 16, dtype=np.bool_)
    _fill(splits, edges, merged, bloom, seams, len(spellings) - merges)
    return {MERGED: merged, BLOOM: bits_of(bloom), SEAMS: bits_of(seams)}
