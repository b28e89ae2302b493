"""The classes of many characters at once, a bit for each byte.

A vector unit compares 64 bytes in one instruction or two, and what it says of them is a word whose
bits say together where pieces end (:mod:`impls.bpe.windows`). LLVM makes these instructions from
types that Numba has not; hence the intrinsics, which say the same in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from impls.bpe.character_classes import (
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
from impls.bpe.machine import place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    Masks = tuple[int, int, int, int, int, int, int, int, int, int, int, int]
    """Of the classes below, in their order; of the bytes that begin a character; and of what is not
    looked into. Bit 0 is for the first byte, and a character's bytes all have its class."""

LOADED = 64
"""Bytes that are read at once."""
WINDOW = 62
"""Bits of a mask, so that neither one that is shifted by a place nor a sum of two is negative."""
ALL = (1 << WINDOW) - 1

SIZE_BITS = 4
"""Of a character's first byte is noted ``size in bytes << 4 | class``, of the others ``class``."""
CLASS_MASK = (1 << SIZE_BITS) - 1

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
_CONTROLS = ((0, ord("\t")), (ord("\r") + 1, ord(" ") - ord("\r") - 1))
_KINDS = (UPPER, LOWER, UNCASED, MARK, NUMBER, BLANK, SPACE, LINE_END, SLASH, APOSTROPHE)
_IN_ASCII: tuple[_Looked, ...] = (
    *((0xFF, _ASCII.get(kind, ())) for kind in _KINDS),
    (0, ((0, 1),)),
    (0xFF, (*_CONTROLS, (0x80, 0x80))),
)
_IN_NOTES: tuple[_Looked, ...] = (
    *((CLASS_MASK, ((kind, 1),)) for kind in _KINDS),
    (0xFF, ((1 << SIZE_BITS, 0x100 - (1 << SIZE_BITS)),)),
    (0xFF, ()),
)


def ascii_masks(data: NDArray[np.uint8], at: int) -> Masks:
    """The masks of the WINDOW bytes from ``data[at]`` on, of LOADED that the data has there.

    Not looked into are controls, and all that is not ASCII.
    """
    return _masks(data, at, _IN_ASCII)


def noted_masks(noted: NDArray[np.uint8], at: int) -> Masks:
    """Those of bytes of which is noted what they are (see SIZE_BITS)."""
    return _masks(noted, at, _IN_NOTES)


def _masks(data: NDArray[np.uint8], at: int, looked: tuple[_Looked, ...]) -> Masks:
    window = data[at : at + WINDOW].tolist()
    a, b, c, d, e, f, g, h, i, j, k, m = (
        sum(
            any(first <= byte & bits < first + count for first, count in ranges) << place
            for place, byte in enumerate(window)
        )
        for bits, ranges in looked
    )
    return a, b, c, d, e, f, g, h, i, j, k, m


def _intrinsic(looked: tuple[_Looked, ...]) -> Callable[[NDArray[np.uint8], int], Masks]:
    @intrinsic
    def masks(typing, data, at):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            word, vector = ir.IntType(64), ir.VectorType(ir.IntType(8), LOADED)
            place = place_of(context, builder, signature.args[0], arguments, vector)
            loaded = builder.load(place, align=1)

            def all_of(value: int) -> ir.Constant:
                return ir.Constant(vector, [value] * LOADED)

            values = []
            for bits, ranges in looked:
                mask = word(0)
                seen = builder.and_(loaded, all_of(bits))
                for first, count in ranges:
                    offset = builder.sub(seen, all_of(first))
                    found = builder.icmp_unsigned("<", offset, all_of(count))
                    mask = builder.or_(mask, builder.bitcast(found, word))
                values.append(builder.and_(mask, word(ALL)))
            return context.make_tuple(builder, signature.return_type, values)

        return types.UniTuple(types.int64, len(looked))(data, types.intp), generate

    return cast("Callable[[NDArray[np.uint8], int], Masks]", masks)


_ascii_masks, _noted_masks = _intrinsic(_IN_ASCII), _intrinsic(_IN_NOTES)


@overload(ascii_masks)
def _compiled_ascii(data, at):  # type: ignore[no-untyped-def]
    del data, at
    return lambda data, at: _ascii_masks(data, at)  # noqa: PLW0108 - Numba wants a function


@overload(noted_masks)
def _compiled_noted(noted, at):  # type: ignore[no-untyped-def]
    del noted, at
    return lambda noted, at: _noted_masks(noted, at)  # noqa: PLW0108 - likewise
