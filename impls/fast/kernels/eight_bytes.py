"""Eight bytes at once, as one number: read, written, and asked what is among them.

These are ordinary instructions of any processor, which Numba has no word for.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from llvmlite.ir import Value
from numba import types

from impls.compiled.jit import njit
from impls.fast.kernels.instruction import Code, copies, instruction
from impls.kernels.layout import Bytes

_WORD = ir.IntType(64)

WORD = 8
"""Bytes of a word."""

_HIGH_BITS = -0x7F7F7F7F7F7F7F80
_LOW_BITS = 0x0101010101010101
_FROM_A, _BEYOND_Z = _LOW_BITS * (0x80 - ord("a")), _LOW_BITS * (0x80 - ord("z") - 1)
"""In eight bytes: the highest bit of each, the lowest, and what gives each byte that is at least
``a``, or beyond ``z``, its highest bit when it is added."""


def word_at(data: Bytes, at: int) -> int:
    """The 8 bytes from ``data[at]`` on, which the data must have, as a little-endian int64."""
    return int(data[at : at + 8].view(np.int64)[0])


def copy_word(source: Bytes, place: int, target: Bytes, target_place: int) -> None:
    """Make the 8 bytes from ``target[target_place]`` on those from ``source[place]`` on."""
    target[target_place : target_place + WORD] = source[place : place + WORD]


@instruction(word_at, lambda data, at: types.int64(data, types.intp))
def _word_at(code: Code, data: Value, at: Value) -> Value:
    return code.builder.load(code.place(0, data, at, _WORD), align=1)


copies(copy_word, _WORD, align=1)


@njit
def small_letters(eight: int) -> bool:
    """Whether eight bytes are letters from a to z."""
    # The sums carry from byte to byte only where one is beyond ASCII.
    return ((eight + _FROM_A) & ~(eight + _BEYOND_Z) & ~eight) & _HIGH_BITS == _HIGH_BITS
