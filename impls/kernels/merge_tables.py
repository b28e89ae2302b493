"""All merges of a vocabulary, as a hash of pairs.

All arithmetic is on Python's ints or int64, and the hash of a pair is below 2**60, so that the
interpreted run never overflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.merges import splits_of_unbuilt
from corpora.vocabularies.model import RankOrder
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Ints, Longs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

__all__ = ["EMPTY", "Merges", "capacity", "longest_piece", "merges_of", "pair_hash", "pair_row"]


class Merges(NamedTuple):
    """The definition's tables.

    byte_ids: the id of each single byte, EMPTY where there is none. pairs: an open-addressing hash
    of the merges, in rows of (left id, right id, rank, merged id).
    """

    byte_ids: Ints
    pairs: Ints


@njit
def longest_piece(ends: Longs) -> int:
    """The bytes of the longest of the pieces that end there, one after another; 0 for none."""
    longest = 0
    start = 0
    for piece in range(len(ends)):
        end = int(ends[piece])
        longest = max(longest, end - start)
        start = end
    return longest


@njit
def pair_hash(left: int, right: int) -> int:
    """A hash of two tokens, whose low bits are well mixed; at least 0, below 2**60."""
    mixed = int(left) * 0x1E3779B1 + int(right) * 0x05EBCA6B
    return mixed ^ (mixed >> 23)


@njit
def pair_row(pairs: Ints, left: int, right: int) -> int:
    """Where the row of the merge of ``left`` and ``right`` begins in a hash, or EMPTY."""
    row = free_row(pairs, left, right)
    return row if pairs[row] != EMPTY else EMPTY


@njit
def free_row(pairs: Ints, left: int, right: int) -> int:
    """Where the row of a pair begins, or the free one that it would have."""
    mask = len(pairs) - 1
    row = (pair_hash(left, right) << 2) & mask
    while pairs[row] != EMPTY and not (pairs[row] == left and pairs[row + 1] == right):
        row = (row + 4) & mask
    return row


@njit
def _fill_pairs(pairs: Ints, rows: Ints) -> None:
    for index in range(len(rows)):
        row = free_row(pairs, int(rows[index, 0]), int(rows[index, 1]))
        # Of a pair that is listed twice the first, that is the lower rank, is the one that acts.
        if pairs[row] == EMPTY:
            for column in range(4):
                pairs[row + column] = rows[index, column]


def hashed_pairs(rows: NDArray[np.integer]) -> Ints:
    """Make the hash that :func:`pair_row` reads, of rows of (left, right, rank, merged).

    Of a pair that is listed twice only the first row is kept.
    """
    pairs = np.full(4 * capacity(len(rows)), EMPTY, dtype=np.int32)
    _fill_pairs(pairs, np.ascontiguousarray(rows, dtype=np.int32))
    pairs.flags.writeable = False
    return pairs


def merges_of(vocabulary: Vocabulary) -> Merges:
    """The tables of a byte-level vocabulary."""
    byte_ids = np.array([EMPTY if i is None else i for i in vocabulary.byte_ids], dtype=np.int32)
    return Merges(byte_ids, hashed_pairs(_merge_rows(vocabulary)))


def _merge_rows(vocabulary: Vocabulary) -> Longs:
    """All merges in order of rank: (left id, right id, rank, merged id).

    The rank is the merged id where ids are ranks, else the index in the list of merges.
    """
    merges = vocabulary.merges
    columns = [merges.left, merges.right, merges.merged, merges.merged]
    rows = np.stack(columns, axis=1).astype(np.int64)
    if vocabulary.rank_order is not RankOrder.IDS:
        rows[:, 2] = np.arange(len(rows))
        return rows
    others = np.array(splits_of_unbuilt(vocabulary), dtype=np.int64).reshape(-1, 3)
    return np.concatenate((rows, others[:, [0, 1, 2, 2]]))


def capacity(entries: int) -> int:
    """A power of two at least twice the number of entries: probes stay short."""
    return 1 << max(1, 2 * entries - 1).bit_length()
