"""The bits of a word: where they are, and how many.

Each is one instruction of any processor, which Numba has no word for; interpreted Python counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

if TYPE_CHECKING:
    from collections.abc import Callable

_FLAG, _WORD = ir.IntType(1), ir.IntType(64)


def lowest(bits: int) -> int:
    """The place of the lowest bit that is set in ``bits``, which is not negative; 64 for none."""
    return (bits & -bits).bit_length() - 1 if bits else 64


def highest(bits: int) -> int:
    """The place of the highest one; of none, -1."""
    return bits.bit_length() - 1


def ones(bits: int) -> int:
    """How many bits are set in ``bits``, which is not negative."""
    return bits.bit_count()


def _counted(name: str, *options: ir.Constant) -> Callable[[int], int]:
    """The intrinsic that counts bits of a word."""

    @intrinsic
    def count(typing, bits):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            kind = ir.FunctionType(_WORD, [_WORD, *(option.type for option in options)])
            function = builder.module.declare_intrinsic(name, [_WORD], kind)
            return builder.call(function, [arguments[0], *options])

        return types.int64(types.int64), generate

    return cast("Callable[[int], int]", count)


# Zeros are told of a word without ones, too.
_zeros_below, _zeros_above = (_counted(name, _FLAG(0)) for name in ("llvm.cttz", "llvm.ctlz"))
_ones = _counted("llvm.ctpop")


@overload(lowest)
def _compiled_lowest(bits):  # type: ignore[no-untyped-def]
    del bits
    return lambda bits: _zeros_below(bits)  # noqa: PLW0108 - Numba wants a function


@overload(highest)
def _compiled_highest(bits):  # type: ignore[no-untyped-def]
    del bits
    return lambda bits: 63 - _zeros_above(bits)


@overload(ones)
def _compiled_ones(bits):  # type: ignore[no-untyped-def]
    del bits
    return lambda bits: _ones(bits)  # noqa: PLW0108 - likewise
