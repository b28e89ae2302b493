"""Compiled checks of properness: which tokens encode to themselves, by explicit merges or by rank.

Both keep merges in a hash table of pairs, as the linear encoders do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.merges import _BASE, _MODULUS, NO_RANK, _find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.merges import Spellings
    from corpora.vocabularies.model import Merges


def encodings_by_merges(merges: Merges, symbols: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Apply ``merges``, earliest first, to each list of ids (-1: no token).

    Returns int64, one a list: the id that is left, or -1 where more than one is.
    """
    ends = np.cumsum([0, *(len(parts) for parts in symbols)]).astype(np.int64)
    flat = np.array([i for parts in symbols for i in parts], dtype=np.int64)
    slots = _slots(len(merges))
    ranks = np.full(len(slots), NO_RANK, dtype=np.int64)
    results = np.zeros(len(slots), dtype=np.int64)
    _enter_all(merges.left, merges.right, merges.merged, slots, ranks, results)
    left = np.full(len(symbols), -1, dtype=np.int64)
    _apply_all(flat, ends, slots, ranks, results, left)
    return left


def encodings_by_valid_splits(spellings: Spellings) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Derive one split a token as linear encoders do, and encode each token with those alone.

    The split of a token is the one with the longest left part whose two parts are earlier tokens
    and a valid pair (docs/algorithms.md, pair validity). Returns two boolean arrays, one entry a
    token:
    tokens of several bytes without such a split, and those that do not encode to themselves.
    In a proper vocabulary both are all false. Tokens of which a byte is missing count as lost.
    """
    size = len(spellings.ranks)
    slots = _slots(size)
    ranks = np.full(len(slots), NO_RANK, dtype=np.int64)
    left = np.arange(size, dtype=np.int64)
    right = np.arange(size, dtype=np.int64)
    without = np.zeros(size, dtype=np.bool_)
    lost = np.zeros(size, dtype=np.bool_)
    _derive(
        spellings.blob,
        spellings.starts,
        spellings.slots,
        spellings.powers,
        slots,
        ranks,
        left,
        right,
        without,
        lost,
    )
    return without, lost


def _slots(entries: int) -> NDArray[np.int64]:
    """An empty hash table of pairs, at most half full."""
    return np.full(1 << max(4, (2 * entries).bit_length()), -1, dtype=np.int64)


@njit
def _slot(slots: NDArray[np.int64], left: int, right: int) -> int:
    """Where the pair stands in ``slots``, or the free place where it would."""
    key = (np.int64(left) << 32) | np.int64(right)
    mask = len(slots) - 1
    slot = (left * 40503 + right * 25717 + (left >> 7)) & mask
    while slots[slot] >= 0 and slots[slot] != key:
        slot = (slot + 1) & mask
    return int(slot)


@njit
def _enter_all(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    merged: NDArray[np.int32],
    slots: NDArray[np.int64],
    ranks: NDArray[np.int64],
    results: NDArray[np.int64],
) -> None:
    """Fill the table; of a pair that stands twice, the first counts."""
    for rank in range(len(merged)):
        slot = _slot(slots, int(left[rank]), int(right[rank]))
        if slots[slot] < 0:
            slots[slot] = (np.int64(left[rank]) << 32) | np.int64(right[rank])
            ranks[slot] = rank
            results[slot] = merged[rank]


@njit
def _apply(
    parts: NDArray[np.int64],
    count: int,
    slots: NDArray[np.int64],
    ranks: NDArray[np.int64],
    results: NDArray[np.int64],
) -> int:
    """Merge ``parts[:count]`` in place, lowest rank first, leftmost among equals: how many stay."""
    while count > 1:
        best = NO_RANK
        at = -1
        result = np.int64(-1)
        for k in range(count - 1):
            if parts[k] < 0 or parts[k + 1] < 0:
                continue
            slot = _slot(slots, parts[k], parts[k + 1])
            if slots[slot] >= 0 and ranks[slot] < best:
                best = ranks[slot]
                at = k
                result = results[slot]
        if at < 0:
            break
        parts[at] = result
        for k in range(at + 1, count - 1):
            parts[k] = parts[k + 1]
        count -= 1
    return count


@njit
def _apply_all(
    flat: NDArray[np.int64],
    ends: NDArray[np.int64],
    slots: NDArray[np.int64],
    ranks: NDArray[np.int64],
    results: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """See :func:`encodings_by_merges`."""
    for index in range(len(out)):
        parts = flat[ends[index] : ends[index + 1]]
        if _apply(parts, len(parts), slots, ranks, results) == 1:
            out[index] = parts[0]


@njit
def _valid(
    newer: int,
    second: int,
    slots: NDArray[np.int64],
    ranks: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> bool:
    """Whether encoding keeps the two tokens apart: undo the newer until leaves meet."""
    limit = NO_RANK
    while True:
        slot = _slot(slots, newer, second)
        if slots[slot] >= 0 and ranks[slot] < limit:
            return False
        if newer > second:
            limit = newer
            if right[newer] != newer:
                newer = right[newer]
                continue
            limit = second + 1
            if left[second] == second:
                return True
            second = left[second]
        else:
            limit = second + 1
            if left[second] != second:
                second = left[second]
                continue
            limit = newer
            if right[newer] == newer:
                return True
            newer = right[newer]


@njit
def _derive(
    blob: NDArray[np.uint8],
    starts: NDArray[np.int64],
    spelled: NDArray[np.int32],
    powers: NDArray[np.int64],
    slots: NDArray[np.int64],
    ranks: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    without: NDArray[np.bool_],
    lost: NDArray[np.bool_],
) -> None:
    """See :func:`encodings_by_valid_splits`. A pair's rank is the id of its result."""
    hashes = np.zeros(len(powers) + 1, dtype=np.int64)
    parts = np.zeros(len(powers) + 1, dtype=np.int64)
    for token in range(len(starts) - 1):
        base = starts[token]
        size = starts[token + 1] - base
        if size < 2:
            continue
        for k in range(size):
            hashes[k + 1] = (hashes[k] * _BASE + np.int64(blob[base + k]) + 1) % _MODULUS
        without[token] = True
        for cut in range(size - 1, 0, -1):
            first = _find(blob, starts, spelled, hashes[cut], base, cut)
            if first < 0 or first >= token:
                continue
            key = (hashes[size] - hashes[cut] * powers[size - cut]) % _MODULUS
            second = _find(blob, starts, spelled, key, base + cut, size - cut)
            if second < 0 or second >= token:
                continue
            if _valid(first, second, slots, ranks, left, right):
                slot = _slot(slots, first, second)
                slots[slot] = (np.int64(first) << 32) | np.int64(second)
                ranks[slot] = token
                left[token] = first
                right[token] = second
                without[token] = False
                break
    single = np.full(256, -1, dtype=np.int64)
    for token in range(len(starts) - 1):
        if starts[token + 1] - starts[token] == 1 and single[blob[starts[token]]] < 0:
            single[blob[starts[token]]] = token
    for token in range(len(starts) - 1):
        size = starts[token + 1] - starts[token]
        if size < 2:
            continue
        for k in range(size):
            parts[k] = single[blob[starts[token] + k]]
        lost[token] = _apply(parts, size, slots, ranks, ranks) != 1 or parts[0] != token
