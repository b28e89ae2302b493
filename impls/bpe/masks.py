"""The classes of many ASCII characters at once, a bit for each character.

A vector unit compares 64 bytes in one instruction or two, and what it says of them is a word whose
bits say together where pieces end (:mod:`impls.bpe.windows`). LLVM makes these instructions from
types that Numba has not; hence the intrinsics, each of which says the same in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

LOADED = 64
"""Bytes that are read at once."""
WINDOW = 62
"""Bits of a mask, so that neither one that is shifted by a place nor a sum of two is negative."""
ALL = (1 << WINDOW) - 1

_RANGES = (
    ((ord("A"), 26),),
    ((ord("a"), 26),),
    ((ord("0"), 10),),
    ((ord(" "), 1),),
    ((ord("\t"), 1), (ord("\v"), 2)),
    ((ord("\n"), 1), (ord("\r"), 1)),
    ((ord("/"), 1),),
    ((ord("'"), 1),),
    ((0, ord("\t")), (ord("\r") + 1, ord(" ") - ord("\r") - 1), (0x80, 0x80)),
)
"""By the masks' order, the first character and the number of those that have the class."""


def ascii_masks(
    data: NDArray[np.uint8], at: int
) -> tuple[int, int, int, int, int, int, int, int, int]:
    """Which of the WINDOW bytes from ``data[at]`` on are of each class; bit 0 is for the first.

    data: has LOADED bytes there. Returns the masks of capitals, small letters, digits, spaces,
    other white space, line ends, slashes, apostrophes, and of what is not looked into here:
    controls, and all that is not ASCII. Anything else is punctuation or a symbol.
    """
    window = data[at : at + WINDOW].tolist()
    upper, lower, digits, blanks, spaces, line_ends, slashes, apostrophes, foreign = (
        sum(
            any(first <= byte < first + count for first, count in ranges) << place
            for place, byte in enumerate(window)
        )
        for ranges in _RANGES
    )
    return upper, lower, digits, blanks, spaces, line_ends, slashes, apostrophes, foreign


@intrinsic
def _ascii_masks(typing, data, at):  # type: ignore[no-untyped-def]
    masks = types.UniTuple(types.int64, len(_RANGES))

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        byte, word = ir.IntType(8), ir.IntType(64)
        vector = ir.VectorType(byte, LOADED)
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(made.data, [arguments[1]]), vector.as_pointer())
        loaded = builder.load(place, align=1)

        def all_of(value: int) -> ir.Constant:
            return ir.Constant(vector, [value] * LOADED)

        def mask_of(ranges: tuple[tuple[int, int], ...]) -> ir.Value:
            mask = ir.Constant(word, 0)
            for first, count in ranges:
                found = builder.icmp_unsigned(
                    "<", builder.sub(loaded, all_of(first)), all_of(count)
                )
                mask = builder.or_(mask, builder.bitcast(found, word))
            return builder.and_(mask, ir.Constant(word, ALL))

        values = [mask_of(ranges) for ranges in _RANGES]
        return context.make_tuple(builder, signature.return_type, values)

    return masks(data, types.intp), generate


@overload(ascii_masks)
def _compiled_masks(data, at):  # type: ignore[no-untyped-def]
    del data, at
    return lambda data, at: _ascii_masks(data, at)  # noqa: PLW0108 - Numba wants a function


def lowest(bits: int) -> int:
    """The place of the lowest bit that is set in ``bits``, which is positive."""
    return (bits & -bits).bit_length() - 1


def highest(bits: int) -> int:
    """The place of the highest one."""
    return bits.bit_length() - 1


def _counting(name: str) -> Callable[[int], int]:
    """An intrinsic that counts zeros at one of a word's ends."""

    @intrinsic
    def count(typing, bits):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            word, flag = ir.IntType(64), ir.IntType(1)
            kind = ir.FunctionType(word, [word, flag])
            function = builder.module.declare_intrinsic(name, [word], kind)
            return builder.call(function, [arguments[0], flag(1)])

        return types.int64(types.int64), generate

    return cast("Callable[[int], int]", count)


_zeros_below = _counting("llvm.cttz")
_zeros_above = _counting("llvm.ctlz")


@overload(lowest)
def _compiled_lowest(bits):  # type: ignore[no-untyped-def]
    del bits
    return lambda bits: _zeros_below(bits)  # noqa: PLW0108 - likewise


@overload(highest)
def _compiled_highest(bits):  # type: ignore[no-untyped-def]
    del bits
    return lambda bits: 63 - _zeros_above(bits)
