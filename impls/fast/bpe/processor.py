"""What processors can do and Numba has no word for.

Each is an intrinsic of LLVM's, or a type that Numba has not; interpreted it does the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from llvmlite import ir
from llvmlite.ir import Value
from numba import types

from impls.fast.kernels.instruction import Code, copies, instruction
from impls.kernels.layout import Bytes, Longs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BYTE, _NUMBER, _WORD, _TWO_WORDS = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_PAIR = ir.VectorType(_WORD, 2)
_READ, _KEEP, _DATA = 0, 3, 1
"""The last arguments of ``llvm.prefetch``: for reading, into all caches, data."""


def prefetch(array: NDArray[np.generic], index: int) -> None:
    """Ask for the cache line of ``array[index]`` without waiting for it; interpreted, nothing.

    index: at least 0; it may lie outside of the array, as nothing is read.
    """


def masked_pair(data: Bytes, at: int, masks: Longs, row: int) -> tuple[int, int]:
    """The 16 bytes from ``data[at]`` on, less those that ``masks[row]`` has not, as two words.

    masks: rows of four words, two for what stays and two for what is set.
    """
    low, high = data[at : at + 16].view(np.int64) & masks[row, :2] | masks[row, 2:]
    return int(low), int(high)


def differ(one: Longs, place: int, other: Longs, other_place: int) -> int:
    """-1 if ``one`` and ``other`` have not the same two entries from these places on, else 0."""
    pair = slice(other_place, other_place + 2)
    return -int((one[place : place + 2] != other[pair]).any())


def copy_pair(source: Longs, place: int, target: Longs, target_place: int) -> None:
    """Make two entries from ``target[target_place]`` on those from ``source[place]`` on."""
    target[target_place : target_place + 2] = source[place : place + 2]


def folded(one: int, other: int) -> int:
    """Two words multiplied, and the halves of the product xored: 32 bits of that, well mixed."""
    product = (int(one) & 0xFFFFFFFFFFFFFFFF) * (int(other) & 0xFFFFFFFFFFFFFFFF)
    return (product ^ product >> 64) & 0xFFFFFFFF


@instruction(prefetch, lambda array, index: types.none(array, types.intp))
def _prefetch(code: Code, array: Value, index: Value) -> None:
    place = code.place(0, array, index, _BYTE)
    kind = ir.FunctionType(ir.VoidType(), [place.type, _NUMBER, _NUMBER, _NUMBER])
    function = code.builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
    code.builder.call(function, [place, *(_NUMBER(value) for value in (_READ, _KEEP, _DATA))])


@instruction(
    masked_pair,
    lambda data, at, masks, row: types.UniTuple(types.int64, 2)(
        data, types.intp, masks, types.intp
    ),
)
def _masked_pair(code: Code, data: Value, at: Value, masks: Value, row: Value) -> Value:
    builder = code.builder
    loaded = builder.load(code.place(0, data, at, _PAIR), align=1)
    first = builder.mul(row, _WORD(4))
    mask, tag = (
        builder.load(code.place(2, masks, place, _PAIR), align=8)
        for place in (first, builder.add(first, _WORD(2)))
    )
    words = builder.or_(builder.and_(loaded, mask), tag)
    values = [builder.extract_element(words, _NUMBER(lane)) for lane in (0, 1)]
    return code.context.make_tuple(builder, types.UniTuple(types.int64, 2), values)


@instruction(differ, lambda one, place, other, at: types.int64(one, types.intp, other, types.intp))
def _differ(code: Code, one: Value, place: Value, other: Value, other_place: Value) -> Value:
    pairs = [
        code.builder.load(pointer, align=8)
        for pointer in (
            code.place(0, one, place, _TWO_WORDS),
            code.place(2, other, other_place, _TWO_WORDS),
        )
    ]
    return code.builder.sext(code.builder.icmp_unsigned("!=", *pairs), _WORD)


copies(copy_pair, _PAIR, align=8)


@instruction(folded, lambda one, other: types.int64(types.int64, types.int64))
def _folded(code: Code, one: Value, other: Value) -> Value:
    builder = code.builder
    product = builder.mul(*(builder.zext(word, _TWO_WORDS) for word in (one, other)))
    upper = builder.trunc(builder.lshr(product, _TWO_WORDS(64)), _WORD)
    mixed = builder.xor(builder.trunc(product, _WORD), upper)
    return builder.and_(mixed, _WORD(0xFFFFFFFF))
