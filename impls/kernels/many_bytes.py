"""Sixty-four bytes at once: which of them are what is looked for, as the bits of a number.

LLVM makes one or two instructions of each question, on any processor that has vectors. Numba has no
word for them; interpreted they are NumPy's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from impls.kernels.eight_bytes import place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOADED = 64
"""Bytes that are read at once."""
WINDOW = 62
"""Bytes of them that are told of: as many bits can be shifted, and no number becomes negative."""
ALL = (1 << WINDOW) - 1
"""The bits of all that are told of."""

_BEYOND_ASCII, _LEAD, _FOUR = 0x80, 0xC0, 0xF0
"""The least bytes that are not ASCII, that begin a character of several bytes, and one of four."""


def leads_and_others(data: NDArray[np.uint8], at: int, least: int) -> tuple[int, int]:
    """Of WINDOW bytes from ``data[at]`` on those that are at least ``least`` and begin no character
    of four bytes, and those that begin none and are not ASCII.

    Bit 0 is for the first byte. LOADED bytes are read.
    """
    window = data[at : at + WINDOW]
    leads = (window >= least) & (window < _FOUR)
    return word_of(leads), word_of((window >= _BEYOND_ASCII) & (window < _LEAD))


def ascii_or(data: NDArray[np.uint8], at: int, byte: int) -> int:
    """Of WINDOW bytes from ``data[at]`` on those that are ASCII or this byte; LOADED are read."""
    window = data[at : at + WINDOW]
    return word_of((window < _BEYOND_ASCII) | (window == byte))


def word_of(flags: NDArray[np.bool_]) -> int:
    """Flags as the bits of a word, the first one as its lowest bit."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


_BYTE, _NUMBER, _WORD = (ir.IntType(bits) for bits in (8, 32, 64))
_VECTOR = ir.VectorType(_BYTE, LOADED)
_ALL = _WORD(ALL)


def _every(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """A number as each of LOADED bytes."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, builder.trunc(value, _BYTE), _NUMBER(0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(_NUMBER, LOADED), [0] * LOADED)
    )


def _constant(value: int) -> ir.Constant:
    return ir.Constant(_VECTOR, [value] * LOADED)


def _word(builder: ir.IRBuilder, flags: ir.Value) -> ir.Value:
    return builder.and_(builder.bitcast(flags, _WORD), _ALL)


@intrinsic
def _leads_and_others(typing, data, at, least):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = place_of(context, builder, signature.args[0], arguments[:2], _VECTOR)
        loaded = builder.load(place, align=1)
        leads = builder.and_(
            builder.icmp_unsigned(">=", loaded, _every(builder, arguments[2])),
            builder.icmp_unsigned("<", loaded, _constant(_FOUR)),
        )
        offset = builder.sub(loaded, _constant(_BEYOND_ASCII))
        others = builder.icmp_unsigned("<", offset, _constant(_LEAD - _BEYOND_ASCII))
        values = [_word(builder, leads), _word(builder, others)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.int64, 2)(data, types.intp, types.int64), generate


@intrinsic
def _ascii_or(typing, data, at, byte):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = place_of(context, builder, signature.args[0], arguments[:2], _VECTOR)
        loaded = builder.load(place, align=1)
        low = builder.icmp_unsigned("<", loaded, _constant(_BEYOND_ASCII))
        same = builder.icmp_unsigned("==", loaded, _every(builder, arguments[2]))
        return _word(builder, builder.or_(low, same))

    return types.int64(data, types.intp, types.int64), generate


@overload(leads_and_others)
def _compiled_leads_and_others(data, at, least):  # type: ignore[no-untyped-def]
    del data, at, least
    return lambda data, at, least: _leads_and_others(data, at, least)  # noqa: PLW0108 - Numba wants a function


@overload(ascii_or)
def _compiled_ascii_or(data, at, byte):  # type: ignore[no-untyped-def]
    del data, at, byte
    return lambda data, at, byte: _ascii_or(data, at, byte)  # noqa: PLW0108 - likewise
