"""The definition's tables: all merges as a hash of pairs, and the tokens emitted whole.

All arithmetic is on Python's ints or int64: the hash of a pair is below 2**60 and the hash of a
byte string below 2**31 * 257, so that the interpreted run never overflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import RankOrder
from impls.compiled.jit import njit
from impls.kernels.layout import (
    BYTE_IDS,
    EMPTY,
    PAIRS,
    WHOLE_BYTES,
    WHOLE_ENDS,
    WHOLE_IDS,
    WHOLE_SLOTS,
    section,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

__all__ = [
    "EMPTY",
    "longest_piece",
    "merge_tables",
    "pair_hash",
    "pair_row",
    "whole_id",
    "whole_tables",
]


@njit
def longest_piece(ends: NDArray[np.int64]) -> int:
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
def pair_row(pairs: NDArray[np.int32], left: int, right: int) -> int:
    """Where the row of the merge of ``left`` and ``right`` begins in PAIRS, or EMPTY."""
    mask = len(pairs) - 1
    row = (pair_hash(left, right) << 2) & mask
    while pairs[row] != EMPTY:
        if pairs[row] == left and pairs[row + 1] == right:
            return row
        row = (row + 4) & mask
    return EMPTY


@njit
def whole_id(block: NDArray[np.int32], data: NDArray[np.uint8], start: int, end: int) -> int:
    """The id of the token that is emitted whole for ``data[start:end]``, or EMPTY."""
    slots = section(block, WHOLE_SLOTS)
    mask = len(slots) - 1
    if mask < 0:
        return EMPTY
    token_bytes, token_ends = section(block, WHOLE_BYTES), section(block, WHOLE_ENDS)
    mixed = end - start
    for position in range(start, end):
        mixed = (mixed * 257 + int(data[position])) & 0x7FFFFFFF
    slot = (mixed ^ (mixed >> 15)) & mask
    while slots[slot] != EMPTY:
        index = int(slots[slot])
        token_start = int(token_ends[index - 1]) if index > 0 else 0
        same = int(token_ends[index]) - token_start == end - start
        for offset in range(end - start if same else 0):
            if token_bytes[token_start + offset] != data[start + offset]:
                same = False
                break
        if same:
            return int(section(block, WHOLE_IDS)[index])
        slot = (slot + 1) & mask
    return EMPTY


@njit
def known_id(
    block: NDArray[np.int32],
    data: NDArray[np.uint8],
    start: int,
    end: int,
    given: NDArray[np.int64],
    piece: int,
) -> int:
    """The id of a piece that needs no merging: given with it, or emitted whole; else EMPTY."""
    if len(given) > 0 and given[piece] != EMPTY:
        return int(given[piece])
    return whole_id(block, data, start, end)


@njit
def _fill_pairs(pairs: NDArray[np.int32], rows: NDArray[np.int32]) -> None:
    mask = len(pairs) - 1
    for index in range(len(rows)):
        left, right = int(rows[index, 0]), int(rows[index, 1])
        row = (pair_hash(left, right) << 2) & mask
        while pairs[row] != EMPTY and not (pairs[row] == left and pairs[row + 1] == right):
            row = (row + 4) & mask
        # Of a pair that is listed twice the first, that is the lower rank, is the one that acts.
        if pairs[row] == EMPTY:
            for column in range(4):
                pairs[row + column] = rows[index, column]


@njit
def _fill_wholes(
    slots: NDArray[np.int32], data: NDArray[np.uint8], ends: NDArray[np.int32]
) -> None:
    mask = len(slots) - 1
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        mixed = end - start
        for position in range(start, end):
            mixed = (mixed * 257 + int(data[position])) & 0x7FFFFFFF
        slot = (mixed ^ (mixed >> 15)) & mask
        while slots[slot] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot] = index
        start = end


def merge_tables(vocabulary: Vocabulary) -> dict[int, NDArray[np.int32]]:
    """BYTE_IDS and PAIRS of a byte-level vocabulary."""
    byte_ids = np.array([EMPTY if i is None else i for i in vocabulary.byte_ids], dtype=np.int32)
    return {BYTE_IDS: byte_ids, PAIRS: hashed_pairs(merge_rows(vocabulary))}


def hashed_pairs(rows: NDArray[np.integer]) -> NDArray[np.int32]:
    """Make the hash that :func:`pair_row` reads, of rows of (left, right, rank, merged).

    Of a pair that is listed twice only the first row is kept.
    """
    pairs = np.full(4 * capacity(len(rows)), EMPTY, dtype=np.int32)
    _fill_pairs(pairs, np.ascontiguousarray(rows, dtype=np.int32))
    return pairs


def whole_tables(vocabulary: Vocabulary, whole: Iterable[int]) -> dict[int, NDArray[np.int32]]:
    """The sections of tokens that are emitted whole; none if ``whole`` is empty."""
    whole_ids = np.fromiter(whole, dtype=np.int32)
    if not len(whole_ids):
        return {}
    texts = [vocabulary.tokens[token_id] or b"" for token_id in whole_ids.tolist()]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64).astype(np.int32)
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    slots = np.full(capacity(len(texts)), EMPTY, dtype=np.int32)
    _fill_wholes(slots, data, ends)
    return {
        WHOLE_SLOTS: slots,
        WHOLE_IDS: whole_ids,
        WHOLE_BYTES: data.astype(np.int32),
        WHOLE_ENDS: ends,
    }


def merge_rows(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """All merges in order of rank: (left id, right id, rank, merged id).

    The rank is the merged id where ids are ranks, else the index in the list of merges.
    """
    merges = vocabulary.merges
    columns = [merges.left, merges.right, merges.merged, merges.merged]
    rows = np.stack(columns, axis=1).astype(np.int64)
    if vocabulary.rank_order is not RankOrder.IDS:
        rows[:, 2] = np.arange(len(rows))
        return rows
    out_of_order = _out_of_order_merges(vocabulary)
    return np.concatenate((rows, np.array(out_of_order, dtype=np.int64))) if out_of_order else rows


def _out_of_order_merges(vocabulary: Vocabulary) -> list[tuple[int, int, int, int]]:
    """Rows for the tokens that lower-ranked ones do not build, where ids are ranks.

    Two neighbours that spell a token merge whatever built them, even if one of them has the
    higher rank: so Llama 3 reaches its token 111954 from a neighbour that is token 119706. A
    token with a merge needs no other split: before any token above it can be built, it is.
    """
    built = set(vocabulary.merges.merged.tolist())
    ids = vocabulary.ids
    return [
        (ids[token[:cut]], ids[token[cut:]], token_id, token_id)
        for token, token_id in ids.items()
        if len(token) > 1 and token_id not in built
        for cut in range(1, len(token))
        if token[:cut] in ids and token[cut:] in ids
    ]


def capacity(entries: int) -> int:
    """A power of two at least twice the number of entries: probes stay short."""
    return 1 << max(1, 2 * entries - 1).bit_length()
