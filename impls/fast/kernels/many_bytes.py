"""Sixty-four bytes at once: which of them are what is looked for, as the bits of a number.

LLVM makes one or two instructions of each question, on any processor that has vectors. Numba has no
word for them; interpreted they are NumPy's.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from llvmlite.ir import Value
from numba import types

from impls.fast.kernels.instruction import Code, instruction
from impls.kernels.layout import Bytes, Flags

LOADED = 64
"""Bytes that are read at once."""
WINDOW = 62
"""Bytes of them that are told of: as many bits can be shifted, and no number becomes negative."""
ALL = (1 << WINDOW) - 1
"""The bits of all that are told of."""

_BEYOND_ASCII, _LEAD, _FOUR = 0x80, 0xC0, 0xF0
"""The least bytes that are not ASCII, that begin a character of several bytes, and one of four."""


def leads_and_others(data: Bytes, at: int, least: int) -> tuple[int, int]:
    """Of WINDOW bytes from ``data[at]`` on those that are at least ``least`` and begin no character
    of four bytes, and those that begin none and are not ASCII.

    Bit 0 is for the first byte. LOADED bytes are read.
    """
    window = data[at : at + WINDOW]
    leads = (window >= least) & (window < _FOUR)
    return word_of(leads), word_of((window >= _BEYOND_ASCII) & (window < _LEAD))


def ascii_or(data: Bytes, at: int, byte: int) -> int:
    """Of WINDOW bytes from ``data[at]`` on those that are ASCII or this byte; LOADED are read."""
    window = data[at : at + WINDOW]
    return word_of((window < _BEYOND_ASCII) | (window == byte))


def word_of(flags: Flags) -> int:
    """Flags as the bits of a word, the first one as its lowest bit."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


_BYTE, _NUMBER, _WORD = (ir.IntType(bits) for bits in (8, 32, 64))
_VECTOR = ir.VectorType(_BYTE, LOADED)
_ALL = _WORD(ALL)


def _every(code: Code, value: Value) -> Value:
    """A number as each of LOADED bytes."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    byte = code.builder.trunc(value, _BYTE)
    first = code.builder.insert_element(undefined, byte, _NUMBER(0))
    return code.builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(_NUMBER, LOADED), [0] * LOADED)
    )


def _constant(value: int) -> ir.Constant:
    return ir.Constant(_VECTOR, [value] * LOADED)


def _loaded(code: Code, data: Value, at: Value) -> Value:
    return code.builder.load(code.place(0, data, at, _VECTOR), align=1)


def _word(code: Code, flags: Value) -> Value:
    return code.builder.and_(code.builder.bitcast(flags, _WORD), _ALL)


@instruction(
    leads_and_others,
    lambda data, at, least: types.UniTuple(types.int64, 2)(data, types.intp, types.int64),
)
def _leads_and_others(code: Code, data: Value, at: Value, least: Value) -> Value:
    builder, loaded = code.builder, _loaded(code, data, at)
    leads = builder.and_(
        builder.icmp_unsigned(">=", loaded, _every(code, least)),
        builder.icmp_unsigned("<", loaded, _constant(_FOUR)),
    )
    offset = builder.sub(loaded, _constant(_BEYOND_ASCII))
    others = builder.icmp_unsigned("<", offset, _constant(_LEAD - _BEYOND_ASCII))
    kind = types.UniTuple(types.int64, 2)
    return code.context.make_tuple(builder, kind, [_word(code, leads), _word(code, others)])


@instruction(ascii_or, lambda data, at, byte: types.int64(data, types.intp, types.int64))
def _ascii_or(code: Code, data: Value, at: Value, byte: Value) -> Value:
    builder, loaded = code.builder, _loaded(code, data, at)
    low = builder.icmp_unsigned("<", loaded, _constant(_BEYOND_ASCII))
    same = builder.icmp_unsigned("==", loaded, _every(code, byte))
    return _word(code, builder.or_(low, same))
