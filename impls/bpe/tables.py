"""Byte-level BPE tables as flat arrays, for the compiled encoders.

Every array is int64 (uint8 for bytes), so that the interpreted run of the same source
(``NUMBA_DISABLE_JIT=1``) never mixes widths and never overflows: the hash of a pair is below
2**60 and the hash of a byte string below 2**31 * 257.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.model import RankOrder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

EMPTY = -1
"""A free slot in the tables; also "no such token"."""


class Tables(NamedTuple):
    """What an encoder looks up.

    byte_ids: the id of each single byte, EMPTY where there is none (256).
    pairs: open-addressing hash of merges, rows of (left id, right id, rank, merged id); the
        number of rows is a power of two, at most half of them used. The rank is the merged id
        where ids are ranks, else the index in the vocabulary's list of merges.
    whole_slots: open-addressing hash of the tokens that are emitted whole where they are a
        piece: indices into ``whole_ids``, EMPTY for free; no slots at all if there are none.
    whole_ids: ids of those tokens. whole_bytes, whole_ends: their concatenated bytes, and where
        each one ends.
    """

    byte_ids: NDArray[np.int64]
    pairs: NDArray[np.int64]
    whole_slots: NDArray[np.int64]
    whole_ids: NDArray[np.int64]
    whole_bytes: NDArray[np.uint8]
    whole_ends: NDArray[np.int64]


@njit
def pair_slot(pairs: NDArray[np.int64], left: int, right: int) -> int:
    """The row of the merge of ``left`` and ``right``, or EMPTY if they do not merge."""
    mask = len(pairs) - 1
    mixed = left * 0x1E3779B1 + right * 0x05EBCA6B
    row = (mixed ^ (mixed >> 23)) & mask
    while pairs[row, 0] != EMPTY:
        if pairs[row, 0] == left and pairs[row, 1] == right:
            return row
        row = (row + 1) & mask
    return EMPTY


@njit
def whole_index(
    slots: NDArray[np.int64],
    token_bytes: NDArray[np.uint8],
    token_ends: NDArray[np.int64],
    data: NDArray[np.uint8],
    start: int,
    end: int,
) -> int:
    """The index in ``whole_ids`` of the token spelled ``data[start:end]``, or EMPTY.

    slots, token_bytes, token_ends: those of :class:`Tables`. They are passed one by one because
    a tuple of arrays, passed on, costs a second of compilation.
    """
    mask = len(slots) - 1
    if mask < 0:
        return EMPTY
    slot = _hash_bytes(data, start, end) & mask
    while slots[slot] != EMPTY:
        index = slots[slot]
        token_start = token_ends[index - 1] if index > 0 else 0
        same = token_ends[index] - token_start == end - start
        for offset in range(end - start if same else 0):
            if token_bytes[token_start + offset] != data[start + offset]:
                same = False
                break
        if same:
            return int(index)
        slot = (slot + 1) & mask
    return EMPTY


@njit
def _hash_bytes(data: NDArray[np.uint8], start: int, end: int) -> int:
    mixed = end - start
    for position in range(start, end):
        mixed = (mixed * 257 + int(data[position])) & 0x7FFFFFFF
    return mixed ^ (mixed >> 15)


@njit
def _fill_pairs(pairs: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    mask = len(pairs) - 1
    for index in range(len(rows)):
        left, right = rows[index, 0], rows[index, 1]
        # Of a pair that is listed twice the first, that is the lower rank, is the one that acts.
        if pair_slot(pairs, left, right) != EMPTY:
            continue
        mixed = left * 0x1E3779B1 + right * 0x05EBCA6B
        row = (mixed ^ (mixed >> 23)) & mask
        while pairs[row, 0] != EMPTY:
            row = (row + 1) & mask
        pairs[row] = rows[index]


@njit
def _fill_wholes(
    slots: NDArray[np.int64], data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> None:
    mask = len(slots) - 1
    start = 0
    for index in range(len(ends)):
        end = ends[index]
        slot = _hash_bytes(data, start, end) & mask
        while slots[slot] != EMPTY:
            slot = (slot + 1) & mask
        slots[slot] = index
        start = end


def make_tables(vocabulary: Vocabulary, whole: Iterable[int] = ()) -> Tables:
    """Tables of a byte-level vocabulary; ``whole``: ids that are emitted whole as a piece."""
    rows = _pair_rows(vocabulary)
    pairs = np.full((_capacity(len(rows)), 4), EMPTY, dtype=np.int64)
    _fill_pairs(pairs, rows)

    whole_ids = np.fromiter(whole, dtype=np.int64)
    texts = [vocabulary.tokens[token_id] or b"" for token_id in whole_ids.tolist()]
    whole_ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    whole_bytes = np.frombuffer(b"".join(texts), dtype=np.uint8)
    slots = np.full(_capacity(len(texts)) if texts else 0, EMPTY, dtype=np.int64)
    if texts:
        _fill_wholes(slots, whole_bytes, whole_ends)

    byte_ids = np.array([EMPTY if i is None else i for i in vocabulary.byte_ids], dtype=np.int64)
    return Tables(byte_ids, pairs, slots, whole_ids, whole_bytes, whole_ends)


def _pair_rows(vocabulary: Vocabulary) -> NDArray[np.int64]:
    """All merges in order of rank: (left id, right id, rank, merged id)."""
    merges = vocabulary.merges
    columns = [merges.left, merges.right, merges.merged, merges.merged]
    rows = np.stack(columns, axis=1).astype(np.int64)
    if vocabulary.rank_order is not RankOrder.IDS:
        rows[:, 2] = np.arange(len(rows))
        return rows
    late = _late_merges(vocabulary)
    return np.concatenate((rows, np.array(late, dtype=np.int64))) if late else rows


def _late_merges(vocabulary: Vocabulary) -> list[tuple[int, int, int, int]]:
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


def _capacity(entries: int) -> int:
    """A power of two at least twice the number of entries: probes stay short."""
    return 1 << max(1, 2 * entries - 1).bit_length()
