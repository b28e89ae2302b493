"""The scanner of cl100k_base's pattern, and of Llama 3's and Qwen2's.

They are, with d = 3, or 1 for Qwen2::

    (?i:'s|'t|'re|'ve|'m|'ll|'d)
    [^\\r\\n\\p{L}\\p{N}]?\\p{L}+
    \\p{N}{1,d}
     ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*
    \\s*[\\r\\n]+
    \\s+(?!\\S)
    \\s+
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.character_classes import LETTER, NEWLINE, NUMBER, OTHER
from impls.bpe.scanners_common import (
    character_end,
    contraction_end,
    digits_end,
    run_end,
    space_end,
)
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
    """Where the match at ``start`` ends; ``end`` is the end of the text.

    options: the greatest number of digits in a piece; whether white space up to the end of the
        text is one piece (tiktoken's spelling of 2024 and later has ``\\s++$`` before line ends).
    """
    kind = kinds[start]
    if kind & LETTER:
        return run_end(kinds, start, end, LETTER)
    if kind & NUMBER:
        return digits_end(kinds, start, end, NUMBER, options[0])
    contracted = contraction_end(data, start, end, True)
    if contracted > start:
        return contracted
    if not kind & NEWLINE:
        word = character_end(kinds, start, end)
        if word < end:
            if kinds[word] & LETTER:
                return run_end(kinds, word, end, LETTER)
            if data[start] == _BLANK and kinds[word] & OTHER:
                return run_end(kinds, run_end(kinds, word, end, OTHER), end, NEWLINE)
    if kind & OTHER:
        return run_end(kinds, run_end(kinds, start, end, OTHER), end, NEWLINE)
    return space_end(kinds, start, end, True, options[1])


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
