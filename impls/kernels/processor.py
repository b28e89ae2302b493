"""What processors can do and Numba has no word for.

Each is an intrinsic of LLVM's, or a type that Numba has not; interpreted it does the same.
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

_BYTE, _NUMBER, _WORD, _TWO_WORDS = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_READ, _KEEP, _DATA = 0, 3, 1
"""The last arguments of ``llvm.prefetch``: for reading, into all caches, data."""


def prefetch(array: NDArray[np.generic], index: int) -> None:
    """Ask for the cache line of ``array[index]`` without waiting for it; interpreted, nothing.

    index: at least 0; it may lie outside of the array, as nothing is read.
    """


def masked_pair(
    data: NDArray[np.uint8], at: int, masks: NDArray[np.int64], row: int
) -> tuple[int, int]:
    """The 16 bytes from ``data[at]`` on, less those that ``masks[row]`` has not, as two words.

    masks: rows of four words, two for what stays and two for what is set.
    """
    low, high = data[at : at + 16].view(np.int64) & masks[row, :2] | masks[row, 2:]
    return int(low), int(high)


def differ(one: NDArray[np.int64], place: int, other: NDArray[np.int64], other_place: int) -> int:
    """-1 if ``one`` and ``other`` have not the same two entries from these places on, else 0."""
    pair = slice(other_place, other_place + 2)
    return -int((one[place : place + 2] != other[pair]).any())


def copy_pair(
    source: NDArray[np.int64], place: int, target: NDArray[np.int64], target_place: int
) -> None:
    """Make two entries from ``target[target_place]`` on those from ``source[place]`` on."""
    target[target_place : target_place + 2] = source[place : place + 2]


def folded(one: int, other: int) -> int:
    """Two words multiplied, and the halves of the product xored: 32 bits of that, well mixed."""
    product = (int(one) & 0xFFFFFFFFFFFFFFFF) * (int(other) & 0xFFFFFFFFFFFFFFFF)
    return (product ^ product >> 64) & 0xFFFFFFFF


@intrinsic
def _prefetch(typing, array, index):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = place_of(context, builder, signature.args[0], arguments, _BYTE)
        kind = ir.FunctionType(ir.VoidType(), [place.type, _NUMBER, _NUMBER, _NUMBER])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(function, [place, *(_NUMBER(value) for value in (_READ, _KEEP, _DATA))])
        return context.get_dummy_value()

    return types.none(array, types.intp), generate


@intrinsic
def _masked_pair(typing, data, at, masks, row):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        pair = ir.VectorType(_WORD, 2)
        place = place_of(context, builder, signature.args[0], arguments[:2], pair)
        loaded = builder.load(place, align=1)
        first = builder.mul(arguments[3], _WORD(4))
        second = builder.add(first, _WORD(2))
        mask, tag = (
            builder.load(
                place_of(context, builder, signature.args[2], (arguments[2], at), pair), align=8
            )
            for at in (first, second)
        )
        words = builder.or_(builder.and_(loaded, mask), tag)
        values = [builder.extract_element(words, _NUMBER(lane)) for lane in (0, 1)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.int64, 2)(data, types.intp, masks, types.intp), generate


@intrinsic
def _differ(typing, one, place, other, other_place):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kinds = signature.args
        pairs = [
            builder.load(
                place_of(context, builder, kinds[side], arguments[side : side + 2], _TWO_WORDS),
                align=8,
            )
            for side in (0, 2)
        ]
        return builder.sext(builder.icmp_unsigned("!=", *pairs), _WORD)

    return types.int64(one, types.intp, other, types.intp), generate


@intrinsic
def _copy_pair(typing, source, place, target, target_place):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        kinds = signature.args
        pair = ir.VectorType(_WORD, 2)
        start, end = (
            place_of(context, builder, kinds[side], arguments[side : side + 2], pair)
            for side in (0, 2)
        )
        builder.store(builder.load(start, align=8), end, align=8)
        return context.get_dummy_value()

    return types.none(source, types.intp, target, types.intp), generate


@intrinsic
def _folded(typing, one, other):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        product = builder.mul(*(builder.zext(word, _TWO_WORDS) for word in arguments))
        upper = builder.trunc(builder.lshr(product, _TWO_WORDS(64)), _WORD)
        mixed = builder.xor(builder.trunc(product, _WORD), upper)
        return builder.and_(mixed, _WORD(0xFFFFFFFF))

    return types.int64(types.int64, types.int64), generate


@overload(prefetch, inline="never")
def _compiled_prefetch(array, index):  # type: ignore[no-untyped-def]
    del array, index

    def fetch(array, index):  # type: ignore[no-untyped-def]
        _prefetch(array, index)

    return fetch


@overload(masked_pair)
def _compiled_masked_pair(data, at, masks, row):  # type: ignore[no-untyped-def]
    return lambda data, at, masks, row: _masked_pair(data, at, masks, row)  # noqa: PLW0108 - likewise


@overload(differ)
def _compiled_differ(one, place, other, other_place):  # type: ignore[no-untyped-def]
    def differing(one, place, other, other_place):  # type: ignore[no-untyped-def]
        return _differ(one, place, other, other_place)

    return differing


@overload(copy_pair)
def _compiled_copy_pair(source, place, target, target_place):  # type: ignore[no-untyped-def]
    def copy(source, place, target, target_place):  # type: ignore[no-untyped-def]
        _copy_pair(source, place, target, target_place)

    return copy


@overload(folded)
def _compiled_folded(one, other):  # type: ignore[no-untyped-def]
    del one, other
    return lambda one, other: _folded(one, other)  # noqa: PLW0108 - likewise
