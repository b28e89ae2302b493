"""Runs of characters that no rule of a charsmap meets, found 64 bytes at a time.

A character is *plain* if it becomes itself wherever another plain one stands behind it: nothing
begins with it alone, and nothing goes on with it. Nearly all text is plain but for the spaces,
which all become the same bytes. Which characters are plain the marks of the charsmap say
(:mod:`impls.fast.unigram.marks`); here the ones that are frequent are noted as a few ranges, which
a vector unit compares with many characters in one instruction. LLVM makes these instructions from
types that Numba has not; hence the intrinsics, which say the same in Python.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir
from llvmlite.ir import Value
from numba import types

from impls.compiled.jit import inlined, njit
from impls.fast.kernels.bits import highest, lowest
from impls.fast.kernels.instruction import Code, copies, instruction
from impls.fast.kernels.many_bytes import ALL, LOADED, WINDOW, word_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from impls.kernels.layout import Bytes, Flags, Longs

    Range = tuple[int, int]
    Masks = tuple[int, int, int]

READ = LOADED + 2
"""Bytes that are read for it: the last one may begin a character of three."""
ENOUGH = 32
"""Bytes of a run for which it was worth looking. After a shorter one nobody looks for LOADED bytes,
as there are texts in which every second character changes."""
ASCII_RANGES, BLANK_RANGES = 3, 3
_OF_TWO, _OF_THREE = "éαиאل", "“、かカ日한"
"""Characters of two and of three bytes around which ranges are looked for, from the scripts that
most texts are in. What is in none of the ranges passes one by one."""
_KINDS = (ASCII_RANGES, BLANK_RANGES, len(_OF_TWO), len(_OF_THREE))
RANGES = sum(_KINDS)
FIRST = 256
"""Where a table begins in the array of what is known of 256 bytes (see
:func:`impls.fast.unigram.normalizer.passing`): one array more for each input would cost more than
looking at it."""
BLANK_LENGTH, BLANK_BYTE, BLANKS_MERGED = (FIRST + 2 * RANGES + i for i in range(3))
"""Where there is, behind the ranges, how many bytes a blank becomes; the first one; and whether
several become one."""
LEADS = BLANKS_MERGED + 1
"""Where there are 256 flags by a byte: whether a plain character begins with it."""

_TWO, _THREE = 0x80, 0x800
_SECOND, _THIRD = 0x96, 0x81
"""The last bytes of U+2581."""


def plain_table(plain: Flags, blank: Flags, becomes: bytes, *, merged: bool) -> NDArray[np.uint16]:
    """The ranges of plain characters, what blanks become, and with which bytes plain ones begin.

    plain: 65,536 flags by code point. blank: 128 flags by the byte: it becomes ``becomes``, one
    byte or U+2581, between plain characters. merged: so do several of them together.
    """
    ranges: list[Range] = []
    for flags, most in ((plain[:_TWO], ASCII_RANGES), (blank, BLANK_RANGES)):
        longest = sorted(_ranges(flags), key=lambda one: -one[1])[:most]
        ranges += _filled(longest, most)
    for characters, first, stop in ((_OF_TWO, _TWO, _THREE), (_OF_THREE, _THREE, 0x10000)):
        found = [(first + at, count) for at, count in _ranges(plain[first:stop])]
        points = [ord(character) for character in characters]
        around = [one for one in found if any(one[0] <= p < sum(one) for p in points)]
        ranges += _filled(around, len(characters))
    leads = np.zeros(256, dtype=np.bool_)
    for first, count in [*ranges[:ASCII_RANGES], *ranges[ASCII_RANGES + BLANK_RANGES :]]:
        leads[lead_bytes(np.arange(first, first + count))] = True
    numbers = [number for one in ranges for number in one]
    return np.array([*numbers, len(becomes), becomes[0], merged, *leads], dtype=np.uint16)


def lead_bytes(points: Longs) -> Longs:
    """The first bytes of characters of up to three."""
    more = np.where(points < _THREE, 0xC0 | points >> 6, 0xE0 | points >> 12)
    return np.where(points < _TWO, points, more)


def _ranges(flags: Flags) -> list[Range]:
    """The first place, and the length, of each run of flags that are set."""
    edges = np.flatnonzero(np.diff(flags, prepend=False, append=False))
    return [(int(first), int(stop - first)) for first, stop in edges.reshape(-1, 2)]


def _filled(ranges: Sequence[Range], count: int) -> list[Range]:
    return [*ranges, *[(0, 0)] * (count - len(ranges))]


@inlined
def begins_plain(table: NDArray[np.uint16], data: Bytes, position: int, end: int) -> bool:
    """Whether to look for a run here: one that is long enough may begin."""
    return (
        position + ENOUGH <= end
        and position + READ <= len(data)
        and table[LEADS + int(data[position])] != 0
    )


# Not compiled into its callers, which would keep vectors over all that they call.
@njit
def pass_plain(
    table: NDArray[np.uint16],
    data: Bytes,
    position: int,
    end: int,
    out: Bytes,
    size: int,
) -> tuple[int, int]:
    """Append plain characters, and what the blanks between them become; where that ends.

    At ``position`` stands a plain character. ``out`` has room for what is appended, and what is
    behind that in it is written over. All ends before READ bytes of the data, or LOADED of ``out``,
    would not be there.
    """
    length, byte = int(table[BLANK_LENGTH]), int(table[BLANK_BYTE])
    merged = int(table[BLANKS_MERGED])
    going = True
    while going and position < end and position + READ <= len(data):
        begun, covered, blanks = plain_masks(data, position, table)
        left = int(end - position)
        if left < WINDOW:
            if covered & ~begun & 1 << left:
                # A character that the end cuts in two is none.
                left = highest(begun & (1 << left) - 1)
            covered &= (1 << left) - 1
            begun &= (1 << left) - 1
        others = covered ^ ALL
        place = 0
        while others and position + place + LOADED <= len(data) and size + LOADED <= len(out):
            stop = lowest(others)
            after = lowest(covered >> stop << stop)
            if after >= WINDOW or (1 << after) - (1 << stop) & ~blanks:
                break
            copy_many(data, position + place, out, size)
            size += stop - place
            for _ in range(1 if merged else after - stop):
                out[size] = byte
                out[size + 1] = _SECOND
                out[size + 2] = _THIRD
                size += length
            place = after
            others = others >> after << after
        if position + place + LOADED > len(data) or size + LOADED > len(out):
            position += place
            break
        if others == 0:
            # The last character may not be whole here.
            stop = highest(begun)
        else:
            stop = lowest(others)
            # Blanks at the end of the window are seen whole in the next one.
            going = others & ~blanks == 0
            if blanks >> stop & 1 == 0 and position + stop < end:
                # Something may go on from the last character to the one behind it.
                stop = max(highest(begun & ((1 << stop) - 1)), 0)
        going = going and stop > 0
        copy_many(data, position + place, out, size)
        size += stop - place
        position += stop
    return position, size


def plain_masks(data: Bytes, at: int, table: NDArray[np.uint16]) -> Masks:
    """The masks of the WINDOW bytes from ``data[at]`` on, of READ that the data has there.

    Of those with which a plain character begins; of all bytes of those; and of the blanks.
    """
    window = data[at : at + READ].astype(np.int64)
    first, second, third = window[:WINDOW], window[1 : WINDOW + 1], window[2 : WINDOW + 2]
    trail, last_trail = second & 0xC0 == 0x80, third & 0xC0 == 0x80
    points_of_two = (first & 0x1F) << 6 | second & 0x3F
    points_of_three = (first & 0xF) << 12 | (second & 0x3F) << 6 | third & 0x3F
    of_two, of_three = (first & 0xE0 == 0xC0) & trail, (first & 0xF0 == 0xE0) & trail & last_trail
    pairs = iter(table[FIRST : FIRST + 2 * RANGES].astype(np.int64).reshape(-1, 2))
    one, blank, two, three = (
        np.any([(points >= a) & (points < a + n) for a, n in islice(pairs, count)], axis=0)
        for points, count in zip(
            (first, first, points_of_two, points_of_three), _KINDS, strict=True
        )
    )
    begun = word_of(one | two & of_two | three & of_three)
    more = word_of(two & of_two | three & of_three)
    covered = begun | more << 1 | word_of(three & of_three) << 2
    return begun, covered & ALL, word_of(blank)


def copy_many(source: Bytes, place: int, target: Bytes, target_place: int) -> None:
    """Make the LOADED bytes from ``target[target_place]`` on those from ``source[place]`` on."""
    target[target_place : target_place + LOADED] = source[place : place + LOADED]


_BYTE, _HALF, _MASK = ir.IntType(8), ir.IntType(16), ir.IntType(64)
_NUMBER = ir.IntType(32)
_BYTES, _HALVES = ir.VectorType(_BYTE, LOADED), ir.VectorType(_HALF, LOADED)


_THREE_MASKS = types.UniTuple(types.int64, 3)


def _all(value: int, kind: ir.VectorType = _BYTES) -> ir.Constant:
    return ir.Constant(kind, [value] * LOADED)


@instruction(plain_masks, lambda data, at, table: _THREE_MASKS(data, types.intp, table))
def _plain_masks(code: Code, data: Value, at: Value, table: Value) -> Value:
    builder = code.builder

    def spread(value: Value, kind: ir.VectorType) -> Value:
        undefined = ir.Constant(kind, ir.Undefined)
        alone = builder.insert_element(undefined, value, _NUMBER(0))
        lanes = ir.Constant(ir.VectorType(_NUMBER, LOADED), [0] * LOADED)
        return builder.shuffle_vector(alone, undefined, lanes)

    def in_ranges(points: Value, numbers: Iterable[int]) -> Value:
        kind = points.type
        found = None
        for number in numbers:
            first, count = (
                builder.load(code.place(2, table, _MASK(FIRST + 2 * number + i), _HALF), align=2)
                for i in range(2)
            )
            if kind is _BYTES:
                first, count = (builder.trunc(value, _BYTE) for value in (first, count))
            offset = builder.sub(points, spread(first, kind))
            one = builder.icmp_unsigned("<", offset, spread(count, kind))
            found = one if found is None else builder.or_(found, one)
        return found

    first, second, third = (
        builder.load(code.place(0, data, builder.add(at, _MASK(i)), _BYTES), align=1)
        for i in range(3)
    )

    def shaped(values: Value, bits: int, shape: int) -> Value:
        return builder.icmp_unsigned("==", builder.and_(values, _all(bits)), _all(shape))

    def carried(values: Value, bits: int, left: int) -> Value:
        wide = builder.zext(builder.and_(values, _all(bits)), _HALVES)
        return builder.shl(wide, _all(left, _HALVES))

    trails = shaped(second, 0xC0, 0x80)
    of_two = builder.and_(shaped(first, 0xE0, 0xC0), trails)
    of_three = builder.and_(
        builder.and_(shaped(first, 0xF0, 0xE0), trails), shaped(third, 0xC0, 0x80)
    )
    middle = carried(second, 0x3F, 6)
    points_of_two = builder.or_(carried(first, 0x1F, 6), carried(second, 0x3F, 0))
    points_of_three = builder.or_(
        builder.or_(carried(first, 0x0F, 12), middle), carried(third, 0x3F, 0)
    )
    numbers = iter(range(RANGES))
    one, blank, two, three = (
        in_ranges(points, [next(numbers) for _ in range(count)])
        for points, count in zip(
            (first, first, points_of_two, points_of_three), _KINDS, strict=True
        )
    )
    two, three = builder.and_(two, of_two), builder.and_(three, of_three)
    one, blank, two, three = (builder.bitcast(flags, _MASK) for flags in (one, blank, two, three))
    more = builder.or_(two, three)
    begun = builder.or_(one, more)
    covered = builder.or_(
        builder.or_(begun, builder.shl(more, _MASK(1))), builder.shl(three, _MASK(2))
    )
    values = [builder.and_(mask, _MASK(ALL)) for mask in (begun, covered, blank)]
    return code.context.make_tuple(builder, _THREE_MASKS, values)


copies(copy_many, _BYTES, align=1)
