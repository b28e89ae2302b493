"""The classes of many ASCII characters at once, a bit for each character.

A vector unit compares 64 bytes in one instruction or two, and what it says of them is a word whose
bits say together where pieces end (:mod:`impls.bpe.windows`). LLVM makes these instructions from
types that Numba has not; hence the intrinsic, which says the same in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from impls.bpe.machine import place_of

if TYPE_CHECKING:
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
        word, vector = ir.IntType(64), ir.VectorType(ir.IntType(8), LOADED)
        place = place_of(context, builder, signature.args[0], arguments, vector)
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
