"""The scanner of GPT-2's pattern (r50k_base, p50k_base).

``'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.character_classes import LETTER, NUMBER, OTHER
from impls.bpe.scanners_common import contraction_end, run_end, space_end
from impls.bpe.tables import EMPTY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLANK = ord(" ")


@njit
def _piece_end(
    data: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    start: int,
    end: int,
    options: tuple[int, bool],
) -> int:
    """Where the match at ``start`` ends; ``end`` is the end of the text. No options."""
    contracted = contraction_end(data, start, end, False)
    if contracted > start:
        return contracted
    word = start + 1 if data[start] == _BLANK and start + 1 < end else start
    kind = kinds[word]
    if kind & LETTER:
        return run_end(kinds, word, end, LETTER)
    if kind & NUMBER:
        return run_end(kinds, word, end, NUMBER)
    if kind & OTHER:
        return run_end(kinds, word, end, OTHER)
    return space_end(kinds, start, end, False, False)


@njit
def scan_parts(
    data: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    part_ends: NDArray[np.int64],
    given: NDArray[np.int64],
    options: tuple[int, bool],
    piece_ends: NDArray[np.int64],
    part_counts: NDArray[np.int64],
    state: NDArray[np.int64],
) -> bool:
    """See :class:`impls.bpe.scanners.ScanParts`."""
    part, start, count = state[0], state[1], state[2]
    capacity = len(piece_ends)
    while part < len(part_ends):
        end = part_ends[part]
        whole = len(given) > 0 and given[part] != EMPTY
        while start < end:
            if count == capacity:
                state[0], state[1], state[2] = part, start, count
                return False
            start = end if whole else _piece_end(data, kinds, start, end, options)
            piece_ends[count] = start
            count += 1
        part_counts[part] = count
        part += 1
    state[0], state[1], state[2] = part, start, count
    return True
