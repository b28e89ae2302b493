"""Where the characters of a byte string end, whether or not it is UTF-8.

A character is a well-formed UTF-8 sequence (The Unicode Standard, table 3-7); any other byte is a
character of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def character_end(data: NDArray[np.uint8], start: int) -> int:
    """Where the character that begins at ``data[start]`` ends."""
    lead = int(data[start])
    if lead < 0xC2 or lead > 0xF4:
        return start + 1
    size = 2 if lead < 0xE0 else (3 if lead < 0xF0 else 4)
    end = start + size
    if end > len(data):
        return start + 1
    # Overlong forms, surrogates, and what is above U+10FFFF are ruled out by the second byte.
    low, high = 0x80, 0xBF
    if lead == 0xE0:
        low = 0xA0
    elif lead == 0xED:
        high = 0x9F
    elif lead == 0xF0:
        low = 0x90
    elif lead == 0xF4:
        high = 0x8F
    second = int(data[start + 1])
    if second < low or second > high:
        return start + 1
    for position in range(start + 2, end):
        if int(data[position]) & 0xC0 != 0x80:
            return start + 1
    return end


@njit
def character_ends(data: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Where each character ends."""
    ends = np.empty(len(data), dtype=np.int64)
    count = 0
    position = 0
    while position < len(data):
        position = character_end(data, position)
        ends[count] = position
        count += 1
    return ends[:count].copy()
