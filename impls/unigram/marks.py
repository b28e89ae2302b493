"""What a charsmap may do to a character of three bytes, told without walking it.

With most kana begins a rule that composes a voiced one, if the voicing mark follows, so two bytes
(``begun``) say nothing of Japanese. Two characters do: the one here and the one after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.unigram.charsmap import LABEL, LEAF, offsets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

CHANGES = 1
"""A rule or a symbol is found in it, whatever follows; or it is no character."""
GOES_ON = 2
"""A longer rule begins with it."""
FOLLOWS = 4
"""Some rule has it behind a first character of three bytes, or ends within it there."""

_LEADS = np.arange(0xE0, 0xF0, dtype=np.int64)
_TRAILS = np.arange(0x80, 0xC0, dtype=np.int64)

_MANY = 1 << 16
"""Ways through a double array beyond which all is marked: no real charsmap has so many."""


def marks_of(units: NDArray[np.integer], symbols: Iterable[bytes]) -> NDArray[np.uint8]:
    """65,536 marks, by the 16 bits that three bytes of the shape 1110.... 10...... 10...... carry.

    units: of a :class:`impls.unigram.charsmap.Charsmap`. symbols: non-empty.
    """
    marks = np.zeros(1 << 16, dtype=np.uint8)
    marks[:0x800] = CHANGES  # overlong forms
    marks[0xD800:0xE000] = CHANGES  # surrogates
    for text in symbols:
        if text[0] in _LEADS:
            bits = sum((byte & 0x3F) << 12 - 6 * i for i, byte in enumerate(text[:3])) & 0xFFFF
            marks[bits : bits + (1 << 18 - 6 * min(3, len(text)))] |= CHANGES
    if len(units):
        wide = units.astype(np.uint32).astype(np.int64)
        ended, blocks, points = _three_bytes(wide, offsets(wide[:1]))
        marks[ended] |= CHANGES
        marks[points] |= GOES_ON
        ended, _, points = _three_bytes(wide, np.unique(blocks))
        marks[ended] |= FOLLOWS
        marks[points] |= FOLLOWS
    return marks


def _three_bytes(
    units: NDArray[np.int64], blocks: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Walk three bytes from some blocks: which bits a rule ends in, and what lies beyond.

    That is the blocks that follow, and the bits on the way to each.
    """
    ended = np.zeros(1 << 16, dtype=np.bool_)
    points = np.zeros(len(blocks), dtype=np.int64)
    for left, labels in ((12, _LEADS), (6, _TRAILS), (0, _TRAILS)):
        if len(blocks) > _MANY:
            ended[:] = True
            return ended, blocks[:0], points[:0]
        rows, columns = np.nonzero((units[blocks[:, None] ^ labels] & LABEL) == labels)
        below = blocks[rows] ^ labels[columns]
        points = (points[rows] << 6 | labels[columns] & 0x3F) & 0xFFFF >> left
        leaves = np.unique(points[(units[below] & LEAF) != 0])
        ended[leaves[:, None] << left | np.arange(1 << left)] = True
        blocks = below ^ offsets(units[below])
    return ended, blocks, points


@njit
def pass_characters(
    marks: NDArray[np.uint8],
    data: NDArray[np.uint8],
    position: int,
    end: int,
    out: NDArray[np.uint8],
    size: int,
) -> tuple[int, int]:
    """Append characters of three bytes while they surely pass; where that ends, here and there."""
    bits = three_bytes(data, position, end)
    while bits >= 0:
        here = int(marks[bits])
        after = three_bytes(data, position + 3, end)
        if here & CHANGES:
            break
        if here & GOES_ON and (after < 0 or int(marks[after]) & FOLLOWS):
            break
        for i in range(3):
            out[size + i] = data[position + i]
        size += 3
        position += 3
        bits = after
    return position, size


@njit
def three_bytes(data: NDArray[np.uint8], position: int, end: int) -> int:
    """The 16 bits that three bytes carry, which is their code point if they are a character.

    -1 if they do not have the shape.
    """
    if position + 3 > end:
        return -1
    first, second, third = int(data[position]), int(data[position + 1]), int(data[position + 2])
    if first & 0xF0 != 0xE0 or second & 0xC0 != 0x80 or third & 0xC0 != 0x80:
        return -1
    return (first & 0xF) << 12 | (second & 0x3F) << 6 | third & 0x3F
