"""The bits of a word: where they are, and how many.

Each is one instruction of any processor, which Numba has no word for; interpreted Python counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir
from llvmlite.ir import Value
from numba import types

from impls.fast.kernels.instruction import Code, instruction

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


def _of_word(function: Callable[[int], int]) -> Callable[..., object]:
    return instruction(function, lambda bits: types.int64(types.int64))


def _counted(code: Code, bits: Value, name: str, *options: ir.Constant) -> Value:
    """What LLVM counts in a word."""
    kind = ir.FunctionType(_WORD, [_WORD, *(option.type for option in options)])
    function = code.builder.module.declare_intrinsic(name, [_WORD], kind)
    return code.builder.call(function, [bits, *options])


@_of_word(lowest)
def _lowest(code: Code, bits: Value) -> Value:
    # Zeros are told of a word without ones, too.
    return _counted(code, bits, "llvm.cttz", _FLAG(0))


@_of_word(highest)
def _highest(code: Code, bits: Value) -> Value:
    return code.builder.sub(_WORD(63), _counted(code, bits, "llvm.ctlz", _FLAG(0)))


@_of_word(ones)
def _ones(code: Code, bits: Value) -> Value:
    return _counted(code, bits, "llvm.ctpop")
