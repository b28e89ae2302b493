"""Many numbers at once, for loops whose steps nobody can foresee.

A loop over one piece after another waits for each read, and where a walk ends or a question is told
a processor guesses, and throws away what it has begun. Thirty-two at once wait together, and what
goes on is *packed* for the next step in place of a branch. LLVM makes the instructions of such
vectors on any processor; Numba has no word for them, so here they are a type of it, with the
operators of numbers. Interpreted they are NumPy's arrays of WIDTH numbers.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import Value
from numba import types
from numba.extending import models, register_model

from impls.fast.kernels.instruction import Code, instruction
from impls.kernels.layout import Bytes, Flags, Ints

if TYPE_CHECKING:
    from collections.abc import Callable


WIDTH = 32
"""Numbers of a vector: two of the widest registers, so that one's steps fill the other's waits."""

_FLAG, _NUMBER, _WORD = (ir.IntType(bits) for bits in (1, 32, 64))
_NUMBERS, _FLAGS = ir.VectorType(_NUMBER, WIDTH), ir.VectorType(_FLAG, WIDTH)
_ALIGNED = 4

_HALF = 16
"""Numbers that are packed at once, which are those of one register."""
_PART, _PART_FLAGS = ir.VectorType(_NUMBER, _HALF), ir.VectorType(_FLAG, _HALF)
_PART_BITS = ir.IntType(_HALF)
_COMPRESS = f"llvm.experimental.vector.compress.v{_HALF}i32"


def all_of(number: int) -> Ints:
    """The same number WIDTH times."""
    return np.full(WIDTH, number, dtype=np.int32)


def column_numbers() -> Ints:
    """0, 1, 2, and so on."""
    return np.arange(WIDTH, dtype=np.int32)


def numbers_at(table: Ints, row: int, at: int) -> Ints:
    """WIDTH numbers from ``table[row, at]`` on, which the row must have."""
    return table[row, at : at + WIDTH].copy()


def put_numbers(table: Ints, row: int, at: int, numbers: Ints) -> None:
    """Write them to ``table[row, at:]``."""
    table[row, at : at + WIDTH] = numbers


def put_kept(
    table: Ints,
    row: int,
    at: int,
    numbers: Ints,
    flags: Flags,
) -> int:
    """Write those that have a flag to ``table[row, at:]``, which must have room for WIDTH.

    Returns where they end; compiled, what is behind them is written over.
    """
    kept = numbers[flags]
    table[row, at : at + len(kept)] = kept
    return at + len(kept)


def put_at(table: Ints, row: int, places: Ints, numbers: Ints) -> None:
    """Write each number to ``table[row, place]``; where places are the same, the last one stays."""
    table[row, places] = numbers


def gather(table: Ints, places: Ints) -> Ints:
    """``table[place]`` for each of the places, which must be in the table."""
    return table[places]


def words_at(data: Bytes, places: Ints) -> Ints:
    """The 4 bytes from each of the places on, which the data must have, as little-endian words."""
    return data[places[:, np.newaxis] + np.arange(4)].view(np.int32).ravel()


def chosen(flags: Flags, ones: Ints | int, others: Ints | int) -> Ints:
    """Of ``ones`` where a flag is set, else of ``others``."""
    return np.where(flags, ones, others)


class _Numbers(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name=f"numbers x {WIDTH}")


class _Flags(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name=f"flags x {WIDTH}")


_numbers, _flags = _Numbers(), _Flags()


@register_model(_Numbers)
class _NumbersModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _NUMBERS)


@register_model(_Flags)
class _FlagsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _FLAGS)


def _vector(code: Code, number: int, value: Value) -> Value:
    """An argument as a vector of numbers."""
    kind = code.kinds[number]
    if kind == _numbers:
        return value
    undefined = ir.Constant(_NUMBERS, ir.Undefined)
    single = code.context.cast(code.builder, value, kind, types.int32)
    first = code.builder.insert_element(undefined, single, _NUMBER(0))
    every = ir.Constant(ir.VectorType(_NUMBER, WIDTH), [0] * WIDTH)
    return code.builder.shuffle_vector(first, undefined, every)


def _of_numbers(result: types.Type) -> Callable[..., Any]:
    """The signature of an operator between vectors of numbers, or one and a number."""

    def signature(*sides: types.Type) -> Any:
        ours = all(side == _numbers or isinstance(side, types.Integer) for side in sides)
        return result(*sides) if ours and _numbers in sides else None

    return signature


def _of_flags(*sides: types.Type) -> Any:
    return _flags(*sides) if all(side == _flags for side in sides) else None


def _arithmetic(symbol: Callable[..., Any], name: str) -> None:
    @instruction(symbol, _of_numbers(_numbers))
    def emit(code: Code, one: Value, other: Value) -> Value:
        return getattr(code.builder, name)(_vector(code, 0, one), _vector(code, 1, other))


def _comparison(symbol: Callable[..., Any], name: str) -> None:
    @instruction(symbol, _of_numbers(_flags))
    def emit(code: Code, one: Value, other: Value) -> Value:
        return code.builder.icmp_signed(name, _vector(code, 0, one), _vector(code, 1, other))


def _logic(symbol: Callable[..., Any], name: str) -> None:
    @instruction(symbol, _of_flags)
    def emit(code: Code, *sides: Value) -> Value:
        return getattr(code.builder, name)(*sides)


for _symbol, _name in (
    (operator.add, "add"),
    (operator.sub, "sub"),
    (operator.mul, "mul"),
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.lshift, "shl"),
    (operator.rshift, "ashr"),
):
    _arithmetic(_symbol, _name)
for _symbol, _name in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):
    _comparison(_symbol, _name)
_logic(operator.and_, "and_")
_logic(operator.or_, "or_")
_logic(operator.invert, "not_")


@instruction(all_of, _numbers)
def _all_of(code: Code, number: Value) -> Value:
    return _vector(code, 0, number)


@instruction(chosen, _numbers)
def _chosen(code: Code, flags: Value, ones: Value, others: Value) -> Value:
    return code.builder.select(flags, _vector(code, 1, ones), _vector(code, 2, others))


@instruction(column_numbers, _numbers)
def _column_numbers(code: Code) -> Value:
    return ir.Constant(_NUMBERS, list(range(WIDTH)))


def _in_table(code: Code, table: Value, row: Value, at: Value, element: ir.Type) -> Value:
    """The pointer to ``table[row, at]``."""
    made = code.context.make_array(code.kinds[0])(code.context, code.builder, table)
    columns = code.builder.extract_value(made.shape, 1)
    index = code.builder.add(code.builder.mul(row, columns), at)
    return code.place(0, table, index, element)


@instruction(numbers_at, lambda table, row, at: _numbers(table, types.intp, types.intp))
def _numbers_at(code: Code, table: Value, row: Value, at: Value) -> Value:
    return code.builder.load(_in_table(code, table, row, at, _NUMBERS), align=_ALIGNED)


@instruction(
    put_numbers,
    lambda table, row, at, numbers: types.none(table, types.intp, types.intp, numbers),
)
def _put_numbers(code: Code, table: Value, row: Value, at: Value, numbers: Value) -> None:
    code.builder.store(numbers, _in_table(code, table, row, at, _NUMBERS), align=_ALIGNED)


@instruction(
    put_at, lambda table, row, places, numbers: types.none(table, types.intp, places, numbers)
)
def _put_at(code: Code, table: Value, row: Value, places: Value, numbers: Value) -> None:
    builder = code.builder
    for column in map(_NUMBER, range(WIDTH)):
        index = builder.zext(builder.extract_element(places, column), _WORD)
        place = _in_table(code, table, row, index, _NUMBER)
        builder.store(builder.extract_element(numbers, column), place, align=_ALIGNED)


@instruction(
    put_kept,
    lambda table, row, at, numbers, flags: types.int64(
        table, types.intp, types.intp, numbers, flags
    ),
)
def _put_kept(
    code: Code, table: Value, row: Value, at: Value, numbers: Value, flags: Value
) -> Value:
    builder, module = code.builder, code.builder.module
    kind = ir.FunctionType(_PART, [_PART, _PART_FLAGS, _PART])
    compress = module.globals.get(_COMPRESS) or ir.Function(module, kind, _COMPRESS)
    count = module.declare_intrinsic("llvm.ctpop", [_PART_BITS])
    for first in range(0, WIDTH, _HALF):
        columns = ir.Constant(ir.VectorType(_NUMBER, _HALF), list(range(first, first + _HALF)))
        part, kept = (
            builder.shuffle_vector(whole, ir.Constant(whole.type, ir.Undefined), columns)
            for whole in (numbers, flags)
        )
        packed = builder.call(compress, [part, kept, ir.Constant(_PART, ir.Undefined)])
        builder.store(packed, _in_table(code, table, row, at, _PART), align=_ALIGNED)
        bits = builder.call(count, [builder.bitcast(kept, _PART_BITS)])
        at = builder.add(at, builder.zext(bits, _WORD))
    return at


@instruction(gather, _numbers)
@instruction(words_at, _numbers)
def _gather(code: Code, table: Value, places: Value) -> Value:
    # Each by itself: processors that have an instruction for all take longer.
    builder = code.builder
    read = ir.Constant(_NUMBERS, ir.Undefined)
    for column in map(_NUMBER, range(WIDTH)):
        index = builder.zext(builder.extract_element(places, column), _WORD)
        place = code.place(0, table, index, _NUMBER)
        read = builder.insert_element(read, builder.load(place, align=1), column)
    return read
