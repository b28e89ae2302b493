"""What a charsmap may do to a character of two or three bytes, told without walking it.

With most kana begins a rule that composes a voiced one, if the voicing mark follows, and with half
of the Cyrillic letters one that composes, too, so two bytes (``begun``) say nothing of Japanese or
Russian. Two characters do: the one here and the one after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import inlined, njit
from impls.fast.kernels.eight_bytes import WORD, copy_word, word_at
from impls.unigram.charsmap import LABEL, LEAF, offsets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from impls.kernels.layout import Bytes, Flags, Longs

CHANGES = 1
"""A rule or a symbol is found in it, whatever follows; or it is no character."""
GOES_ON = 2
"""A longer rule begins with it."""
FOLLOWS = 4
"""Some rule has it behind a first character of two or three bytes, or ends within it there. It is
known of ASCII, too."""

TWO, THREE = 0x80, 0x800
"""The first code points of two and of three bytes."""

_TWO_OF_THREE, _BOTH_OF_THREE = 0xC0C0F0C0C0F0, 0x8080E08080E0
"""The bits of six bytes that tell whether they are two characters of three bytes, and what they are
then."""

_ASCII = np.arange(1, 0x80, dtype=np.int64)
_TRAILS = np.arange(0x80, 0xC0, dtype=np.int64)
_SHAPES = (
    ((6, np.arange(0xC0, 0xE0, dtype=np.int64)), (0, _TRAILS)),
    ((12, np.arange(0xE0, 0xF0, dtype=np.int64)), (6, _TRAILS), (0, _TRAILS)),
)
"""The bytes of a character of two and of three, each with the place of the bits that it carries."""

_MANY = 1 << 16
"""Ways through a double array beyond which all is marked: no real charsmap has so many."""


def marks_of(units: NDArray[np.integer], symbols: Iterable[bytes]) -> Bytes:
    """65,536 marks, by code point: by the bits that two or three bytes of these shapes carry.

    units: of a :class:`impls.unigram.charsmap.Charsmap`. symbols: non-empty.
    """
    marks = np.zeros(1 << 16, dtype=np.uint8)
    marks[:0x80] = CHANGES  # overlong forms; those of three bytes are never asked for
    marks[0xD800:0xE000] = CHANGES  # surrogates
    for text in symbols:
        for shape in _SHAPES:
            if text[0] in shape[0][1]:
                parts = list(zip(text, shape, strict=False))
                bits = sum((byte & 0x3F) << left for byte, (left, _) in parts)
                # The bits of a lead byte's shape are beyond those that count.
                bits &= 0x7FF if len(shape) == 2 else 0xFFFF
                marks[bits : bits + (1 << parts[-1][1][0])] |= CHANGES
    if len(units):
        wide = units.astype(np.uint32).astype(np.int64)
        ended, blocks, points = _characters(wide, offsets(wide[:1]))
        marks[ended] |= CHANGES
        marks[points] |= GOES_ON
        blocks = np.unique(blocks)
        found = ((wide[blocks[:, None] ^ _ASCII] & LABEL) == _ASCII).any(axis=0)
        marks[_ASCII[found]] |= FOLLOWS
        ended, _, points = _characters(wide, blocks)
        marks[ended] |= FOLLOWS
        marks[points] |= FOLLOWS
    return marks


def _characters(units: Longs, first_blocks: Longs) -> tuple[Flags, Longs, Longs]:
    """Walk a character of either shape from some blocks: in which code points a rule ends.

    Also what lies beyond: the blocks that follow, and the code points on the way to each.
    """
    ended = np.zeros(1 << 16, dtype=np.bool_)
    found = [_shaped(units, first_blocks, shape, ended) for shape in _SHAPES]
    return ended, np.concatenate([one for one, _ in found]), np.concatenate([p for _, p in found])


def _shaped(
    units: Longs,
    blocks: Longs,
    shape: Sequence[tuple[int, Longs]],
    ended: Flags,
) -> tuple[Longs, Longs]:
    points = np.zeros(len(blocks), dtype=np.int64)
    for left, labels in shape:
        if len(blocks) > _MANY:
            ended[:] = True
            return blocks[:0], points[:0]
        rows, columns = np.nonzero((units[blocks[:, None] ^ labels] & LABEL) == labels)
        below = blocks[rows] ^ labels[columns]
        carried = labels[columns] & (0x3F if labels is _TRAILS else len(labels) - 1)
        points = points[rows] | carried << left
        leaves = np.unique(points[(units[below] & LEAF) != 0])
        ended[leaves[:, None] | np.arange(1 << left)] = True
        blocks = below ^ offsets(units[below])
    return blocks, points


@inlined
def pass_characters(
    marks: Bytes,
    data: Bytes,
    position: int,
    end: int,
    out: Bytes,
    size: int,
) -> tuple[int, int]:
    """Append characters of two and three bytes while they surely pass.

    Returns where that ends, here and there. Six bytes behind what is appended may be written, too,
    which is less than there must be room for what is left of the data.
    """
    point = point_at(data, position, end)
    kind = int(marks[max(point, 0)])
    if point >= 0:
        length = 2 if point < THREE else 3
        # Where there are words to be read and written, of several characters.
        while position + length + WORD <= end:
            eight = word_at(data, position + length)
            # Two characters at a time while all have three bytes, so that nobody waits for a
            # length to know where the next ones are.
            while length == 3 and eight & _TWO_OF_THREE == _BOTH_OF_THREE:
                point, second_point = _bits_of_three(eight), _bits_of_three(eight >> 24)
                after, second = int(marks[point]), int(marks[second_point])
                if (
                    ((kind | after) & CHANGES)
                    | (kind & after >> 1 & GOES_ON)
                    | (after & second >> 1 & GOES_ON)
                    | (point < THREE)
                    | (second_point < THREE)
                ):
                    break
                copy_word(data, position, out, size)
                position += 6
                size += 6
                kind = second
                if position + 3 + WORD > end:
                    break
                eight = word_at(data, position + 3)
            if position + length + WORD > end:
                break
            point, follower_length = _begun(eight)
            if follower_length == 0:
                if eight & 0x80:
                    break
                point = eight & 0x7F
            after = int(marks[point])
            if (kind & CHANGES) | (kind & after >> 1 & GOES_ON):
                return position, size
            copy_word(data, position, out, size)
            position += length
            size += length
            if follower_length == 0:
                return position, size
            length = follower_length
            kind = after
        point = point_at(data, position, end)
    while point >= 0:
        length = 2 if point < THREE else 3
        follower = position + length
        point = point_at(data, follower, end)
        if point >= 0:
            after = int(marks[point])
        elif follower < end:
            after = int(marks[data[follower]]) if data[follower] < 0x80 else FOLLOWS
        else:
            after = 0
        # One question, as nobody foresees which characters are those that may be composed.
        if (kind & CHANGES) | (kind & after >> 1 & GOES_ON):
            break
        out[size] = data[position]
        out[size + 1] = data[position + 1]
        if length == 3:
            out[size + 2] = data[position + 2]
        size += length
        position = follower
        kind = after
    return position, size


@njit
def _bits_of_three(number: int) -> int:
    """The bits of a code point that the first three bytes of a number carry, the first lowest."""
    return (number & 0xF) << 12 | number >> 2 & 0xFC0 | number >> 16 & 0x3F


@njit
def _begun(eight: int) -> tuple[int, int]:
    """The character of two or three bytes with which eight bytes begin: its code point and length.

    The length is 0 if there is none; see :func:`point_at`.
    """
    if eight & 0xC0C0F0 == 0x8080E0:
        point = _bits_of_three(eight)
        return point, 3 if point >= THREE else 0
    point = (eight & 0x1F) << 6 | eight >> 8 & 0x3F
    return point, 2 if eight & 0xC0E0 == 0x80C0 and point >= TWO else 0


@njit
def point_at(data: Bytes, position: int, end: int) -> int:
    """The code point of two or three bytes that have the shape of a character.

    -1 if they have not, or take more bytes than they need.
    """
    if position + 2 > end:
        return -1
    first, second = int(data[position]), int(data[position + 1])
    if first < 0xC2 or first >= 0xF0 or second & 0xC0 != 0x80:
        return -1
    if first < 0xE0:
        return (first & 0x1F) << 6 | second & 0x3F
    if position + 3 > end:
        return -1
    third = int(data[position + 2])
    point = (first & 0xF) << 12 | (second & 0x3F) << 6 | third & 0x3F
    return point if third & 0xC0 == 0x80 and point >= THREE else -1
