"""The classes of many characters at once, a bit for each byte.

A vector unit compares 64 bytes in one instruction or two, and what it says of them is a word whose
bits say together where pieces end (:mod:`impls.fast.scanner.windows`). LLVM makes these
instructions from types that Numba has not; hence the intrinsics, which say the same in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from llvmlite import ir
from llvmlite.ir import Value
from numba import types

from impls.fast.kernels.instruction import Code, instruction
from impls.fast.kernels.many_bytes import ALL, LOADED, WINDOW
from impls.pretokenize.character_classes import (
    APOSTROPHE,
    BLANK,
    LINE_END,
    LOWER,
    MARK,
    NUMBER,
    SLASH,
    SPACE,
    UNCASED,
    UPPER,
)
from impls.pretokenize.scanner_kernel import CLASS_MASK, SIZE_BITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from impls.kernels.layout import Bytes, Flags

    Masks = tuple[int, int, int, int, int, int, int, int, int, int, int, int]
    """The masks of the classes below, in their order; of the bytes that begin a character; and of
    what is not looked into. Bit 0 is for the first byte, and a character's bytes all have its
    class."""

_ONE = 1 << SIZE_BITS
_NO_ASCII = 0x80

# Of either kind of bytes, what each mask looks at: bits of the byte, and the ranges that these are
# to be in, as the first value and how many there are.
_Range = tuple[int, int]
_Looked = tuple[int, tuple[_Range, ...]]
_ASCII: dict[int, tuple[_Range, ...]] = {
    UPPER: ((ord("A"), 26),),
    LOWER: ((ord("a"), 26),),
    NUMBER: ((ord("0"), 10),),
    BLANK: ((ord(" "), 1),),
    SPACE: ((ord("\t"), 1), (ord("\v"), 2)),
    LINE_END: ((ord("\n"), 1), (ord("\r"), 1)),
    SLASH: ((ord("/"), 1),),
    APOSTROPHE: ((ord("'"), 1),),
}
KINDS = (UPPER, LOWER, UNCASED, MARK, NUMBER, BLANK, SPACE, LINE_END, SLASH, APOSTROPHE)
"""The classes in the order of their masks."""
_IN_ASCII: tuple[_Looked, ...] = (
    *((0xFF, _ASCII.get(kind, ())) for kind in KINDS),
    (0, ((0, 1),)),
    (0xFF, ((_NO_ASCII, 0x100 - _NO_ASCII),)),
)
_IN_NOTES: tuple[_Looked, ...] = (
    *((CLASS_MASK, ((kind, 1),)) for kind in KINDS),
    (0xFF, ((_ONE, 0x100 - _ONE),)),
    (0xFF, ()),
)


def _is_in(value: int, ranges: tuple[_Range, ...]) -> bool:
    return any(first <= value < first + count for first, count in ranges)


# What the intrinsics compare, by the byte, for what runs interpreted: a step is to be one there,
# too, as an algorithm's steps are counted in lines.
_ASCII_FLAGS, _NOTED_FLAGS = (
    np.array([[_is_in(byte & bits, ranges) for bits, ranges in looked] for byte in range(256)])
    for looked in (_IN_ASCII, _IN_NOTES)
)


def ascii_masks(data: Bytes, at: int) -> Masks:
    """The masks of the WINDOW bytes from ``data[at]`` on, of LOADED that the data has there.

    Not looked into is what is not ASCII.
    """
    return _masks(data, at, _ASCII_FLAGS)


def noted_masks(noted: Bytes, at: int) -> Masks:
    """Those of bytes of which is noted what they are (see SIZE_BITS)."""
    return _masks(noted, at, _NOTED_FLAGS)


def _masks(data: Bytes, at: int, flags: Flags) -> Masks:
    a, b, c, d, e, f, g, h, i, j, k, m = _words(flags[data[at : at + WINDOW]])
    return a, b, c, d, e, f, g, h, i, j, k, m


def _words(flags: Flags) -> list[int]:
    """Each column of WINDOW flags as a word, the first one as its lowest bit."""
    packed = np.packbits(flags, axis=0, bitorder="little").T.copy()
    return cast("list[int]", packed.view("<i8").ravel().tolist())


_WORD, _VECTOR = ir.IntType(64), ir.VectorType(ir.IntType(8), LOADED)


def _all_of(value: int) -> ir.Constant:
    return ir.Constant(_VECTOR, [value] * LOADED)


def _masks_of(function: Callable[[Bytes, int], Masks], looked: tuple[_Looked, ...]) -> None:
    kind = types.UniTuple(types.int64, len(looked))

    @instruction(function, lambda data, at: kind(data, types.intp))
    def emit(code: Code, data: Value, at: Value) -> Value:
        builder = code.builder
        loaded = builder.load(code.place(0, data, at, _VECTOR), align=1)
        values = []
        for bits, ranges in looked:
            seen, mask = builder.and_(loaded, _all_of(bits)), _WORD(0)
            for first, count in ranges:
                offset = builder.sub(seen, _all_of(first))
                found = builder.icmp_unsigned("<", offset, _all_of(count))
                mask = builder.or_(mask, builder.bitcast(found, _WORD))
            values.append(builder.and_(mask, _WORD(ALL)))
        return code.context.make_tuple(builder, kind, values)


_masks_of(ascii_masks, _IN_ASCII)
_masks_of(noted_masks, _IN_NOTES)
