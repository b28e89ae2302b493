"""Asking the processor to fetch what will be read soon, without waiting for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_READ, _KEEP, _DATA = 0, 3, 1
"""The last arguments of ``llvm.prefetch``: for reading, into all caches, data."""


def prefetch(array: NDArray[np.generic], index: int) -> None:
    """Fetch the cache line of ``array[index]``; interpreted, nothing.

    index: at least 0; it may lie outside of the array, as nothing is read.
    """


@intrinsic
def _prefetch(typing, array, index):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(made.data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(function, [place, *(number(value) for value in (_READ, _KEEP, _DATA))])
        return context.get_dummy_value()

    return types.none(array, types.intp), generate


@overload(prefetch, inline="never")
def _compiled(array, index):  # type: ignore[no-untyped-def]
    del array, index

    def fetch(array, index):  # type: ignore[no-untyped-def]
        _prefetch(array, index)

    return fetch
