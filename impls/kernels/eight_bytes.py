"""Eight bytes at once, as one number: read, written, and asked what is among them.

These are ordinary instructions of any processor, which Numba has no word for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from impls.compiled.jit import njit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_WORD = ir.IntType(64)

WORD = 8
"""Bytes of a word."""

_HIGH_BITS = -0x7F7F7F7F7F7F7F80
_LOW_BITS = 0x0101010101010101
_FROM_A, _BEYOND_Z = _LOW_BITS * (0x80 - ord("a")), _LOW_BITS * (0x80 - ord("z") - 1)
"""In eight bytes: the highest bit of each, the lowest, and what gives each byte that is at least
``a``, or beyond ``z``, its highest bit when it is added."""


def word_at(data: NDArray[np.uint8], at: int) -> int:
    """The 8 bytes from ``data[at]`` on, which the data must have, as a little-endian int64."""
    return int(data[at : at + 8].view(np.int64)[0])


def copy_word(
    source: NDArray[np.uint8], place: int, target: NDArray[np.uint8], target_place: int
) -> None:
    """Make the 8 bytes from ``target[target_place]`` on those from ``source[place]`` on."""
    target[target_place : target_place + WORD] = source[place : place + WORD]


def place_of(
    context: Any,
    builder: Any,
    kind: types.Array,
    array_and_index: Sequence[ir.Value],
    element: ir.Type,
) -> ir.Value:
    """The pointer to ``array[index]``, to be read as of LLVM's type ``element``."""
    array, index = array_and_index
    made = context.make_array(kind)(context, builder, array)
    return builder.bitcast(builder.gep(made.data, [index]), element.as_pointer())


@intrinsic
def _word_at(typing, data, at):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = place_of(context, builder, signature.args[0], arguments, _WORD)
        return builder.load(place, align=1)

    return types.int64(data, types.intp), generate


@intrinsic
def _copy_word(typing, source, place, target, target_place):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kinds = signature.args
        start, end = (
            place_of(context, builder, kinds[side], arguments[side : side + 2], _WORD)
            for side in (0, 2)
        )
        builder.store(builder.load(start, align=1), end, align=1)
        return context.get_dummy_value()

    return types.none(source, types.intp, target, types.intp), generate


@overload(word_at)
def _compiled_word_at(data, at):  # type: ignore[no-untyped-def]
    del data, at
    return lambda data, at: _word_at(data, at)  # noqa: PLW0108 - Numba wants a function


@overload(copy_word)
def _compiled_copy_word(source, place, target, target_place):  # type: ignore[no-untyped-def]
    def copy(source, place, target, target_place):  # type: ignore[no-untyped-def]
        _copy_word(source, place, target, target_place)

    return copy


@njit
def small_letters(eight: int) -> bool:
    """Whether eight bytes are letters from a to z."""
    # The sums carry from byte to byte only where one is beyond ASCII.
    return ((eight + _FROM_A) & ~(eight + _BEYOND_Z) & ~eight) & _HIGH_BITS == _HIGH_BITS
