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
from numba import types
from numba.extending import intrinsic, models, overload, register_model

from impls.kernels.eight_bytes import place_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

WIDTH = 32
"""Numbers of a vector: two of the widest registers, so that one's steps fill the other's waits."""

_FLAG, _NUMBER, _WORD = (ir.IntType(bits) for bits in (1, 32, 64))
_NUMBERS, _FLAGS = ir.VectorType(_NUMBER, WIDTH), ir.VectorType(_FLAG, WIDTH)
_ALIGNED = 4

_HALF = 16
"""Numbers that are packed at once, which are those of one register."""
_PART, _PART_FLAGS = ir.VectorType(_NUMBER, _HALF), ir.VectorType(_FLAG, _HALF)
_PART_BITS = ir.IntType(_HALF)
_INLINED = {"forceinline": True}
_COMPRESS = f"llvm.experimental.vector.compress.v{_HALF}i32"


def all_of(number: int) -> NDArray[np.int32]:
    """The same number WIDTH times."""
    return np.full(WIDTH, number, dtype=np.int32)


def column_numbers() -> NDArray[np.int32]:
    """0, 1, 2, and so on."""
    return np.arange(WIDTH, dtype=np.int32)


def numbers_at(table: NDArray[np.int32], row: int, at: int) -> NDArray[np.int32]:
    """WIDTH numbers from ``table[row, at]`` on, which the row must have."""
    return table[row, at : at + WIDTH].copy()


def put_numbers(table: NDArray[np.int32], row: int, at: int, numbers: NDArray[np.int32]) -> None:
    """Write them to ``table[row, at:]``."""
    table[row, at : at + WIDTH] = numbers


def put_kept(
    table: NDArray[np.int32],
    row: int,
    at: int,
    numbers: NDArray[np.int32],
    flags: NDArray[np.bool_],
) -> int:
    """Write those that have a flag to ``table[row, at:]``, which must have room for WIDTH.

    Returns where they end; compiled, what is behind them is written over.
    """
    kept = numbers[flags]
    table[row, at : at + len(kept)] = kept
    return at + len(kept)


def put_at(
    table: NDArray[np.int32], row: int, places: NDArray[np.int32], numbers: NDArray[np.int32]
) -> None:
    """Write each number to ``table[row, place]``; where places are the same, the last one stays."""
    table[row, places] = numbers


def gather(table: NDArray[np.int32], places: NDArray[np.int32]) -> NDArray[np.int32]:
    """``table[place]`` for each of the places, which must be in the table."""
    return table[places]


def words_at(data: NDArray[np.uint8], places: NDArray[np.int32]) -> NDArray[np.int32]:
    """The 4 bytes from each of the places on, which the data must have, as little-endian words."""
    return data[places[:, np.newaxis] + np.arange(4)].view(np.int32).ravel()


def chosen(
    flags: NDArray[np.bool_], ones: NDArray[np.int32] | int, others: NDArray[np.int32] | int
) -> NDArray[np.int32]:
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


def _vector(context: Any, builder: ir.IRBuilder, value: ir.Value, kind: Any) -> ir.Value:
    """The value as a vector of numbers."""
    if kind == _numbers:
        return value
    number = context.cast(builder, value, kind, types.int32)
    undefined = ir.Constant(_NUMBERS, ir.Undefined)
    first = builder.insert_element(undefined, number, _NUMBER(0))
    every = ir.Constant(ir.VectorType(_NUMBER, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(first, undefined, every)


def _operator(
    symbol: Callable[..., Any],
    result: Any,
    emit: Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value],
) -> None:
    """Teach Numba an operator between vectors of numbers, or one and a number."""

    @intrinsic
    def operate(typing, one, other):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            kinds = signature.args
            sides = [
                _vector(context, builder, *side) for side in zip(arguments, kinds, strict=True)
            ]
            return emit(builder, *sides)

        return result(one, other), generate

    @overload(symbol, jit_options=_INLINED)
    def compiled(one, other):  # type: ignore[no-untyped-def]
        sides = (one, other)
        if _numbers in sides and all(s == _numbers or isinstance(s, types.Integer) for s in sides):
            return lambda one, other: operate(one, other)  # noqa: PLW0108
        return None


def _flag_operator(symbol: Callable[..., Any], name: str) -> None:
    @intrinsic
    def operate(typing, one, other):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return getattr(builder, name)(*arguments)

        return _flags(one, other), generate

    @overload(symbol, jit_options=_INLINED)
    def compiled(one, other):  # type: ignore[no-untyped-def]
        if one == _flags and other == _flags:
            return lambda one, other: operate(one, other)  # noqa: PLW0108
        return None


def _emits(name: str) -> Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]:
    return lambda builder, one, other: getattr(builder, name)(one, other)


def _compares(name: str) -> Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]:
    return lambda builder, one, other: builder.icmp_signed(name, one, other)


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
    _operator(_symbol, _numbers, _emits(_name))
for _symbol, _name in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):
    _operator(_symbol, _flags, _compares(_name))
for _symbol, _name in ((operator.and_, "and_"), (operator.or_, "or_")):
    _flag_operator(_symbol, _name)


@intrinsic
def _invert(typing, flags):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.not_(arguments[0])

    return _flags(flags), generate


@intrinsic
def _all_of(typing, number):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _vector(context, builder, arguments[0], signature.args[0])

    return _numbers(number), generate


@intrinsic
def _chosen(typing, flags, ones, others):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        sides = zip(arguments[1:], signature.args[1:], strict=True)
        return builder.select(arguments[0], *(_vector(context, builder, *side) for side in sides))

    return _numbers(flags, ones, others), generate


@intrinsic
def _column_numbers(typing):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return ir.Constant(_NUMBERS, list(range(WIDTH)))

    return _numbers(), generate


@intrinsic
def _numbers_at(typing, table, at):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = place_of(context, builder, signature.args[0], arguments, _NUMBERS)
        return builder.load(place, align=_ALIGNED)

    return _numbers(table, types.intp), generate


@intrinsic
def _put_numbers(typing, table, at, numbers):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = place_of(context, builder, signature.args[0], arguments[:2], _NUMBERS)
        builder.store(arguments[2], place, align=_ALIGNED)
        return context.get_dummy_value()

    return types.none(table, types.intp, numbers), generate


@intrinsic
def _put_at(typing, table, first, places, numbers):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        table, first, places, numbers = arguments
        for column in map(_NUMBER, range(WIDTH)):
            index = builder.add(first, builder.zext(builder.extract_element(places, column), _WORD))
            place = place_of(context, builder, signature.args[0], (table, index), _NUMBER)
            builder.store(builder.extract_element(numbers, column), place, align=_ALIGNED)
        return context.get_dummy_value()

    return types.none(table, types.intp, places, numbers), generate


@intrinsic
def _put_kept(typing, table, at, numbers, flags):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        table, at, numbers, flags = arguments
        module = builder.module
        kind = ir.FunctionType(_PART, [_PART, _PART_FLAGS, _PART])
        compress = module.globals.get(_COMPRESS) or ir.Function(module, kind, _COMPRESS)
        count = module.declare_intrinsic("llvm.ctpop", [_PART_BITS])
        written = _WORD(0)
        for first in range(0, WIDTH, _HALF):
            columns = ir.Constant(ir.VectorType(_NUMBER, _HALF), list(range(first, first + _HALF)))
            part, kept = (
                builder.shuffle_vector(whole, ir.Constant(whole.type, ir.Undefined), columns)
                for whole in (numbers, flags)
            )
            packed = builder.call(compress, [part, kept, ir.Constant(_PART, ir.Undefined)])
            start = builder.add(at, written)
            place = place_of(context, builder, signature.args[0], (table, start), _PART)
            builder.store(packed, place, align=_ALIGNED)
            bits = builder.call(count, [builder.bitcast(kept, _PART_BITS)])
            written = builder.add(written, builder.zext(bits, _WORD))
        return written

    return types.int64(table, types.intp, numbers, flags), generate


@intrinsic
def _gather(typing, array, places):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        # Each by itself: processors that have an instruction for all take longer.
        array, places = arguments
        read = ir.Constant(_NUMBERS, ir.Undefined)
        for column in map(_NUMBER, range(WIDTH)):
            index = builder.zext(builder.extract_element(places, column), _WORD)
            place = place_of(context, builder, signature.args[0], (array, index), _NUMBER)
            read = builder.insert_element(read, builder.load(place, align=1), column)
        return read

    return _numbers(array, places), generate


# Numba wants functions, even where nothing but an intrinsic is called.
@overload(operator.invert)
def _compiled_invert(flags):  # type: ignore[no-untyped-def]
    return (lambda flags: _invert(flags)) if flags == _flags else None  # noqa: PLW0108


@overload(all_of, jit_options=_INLINED)
def _compiled_all_of(number):  # type: ignore[no-untyped-def]
    return lambda number: _all_of(number)  # noqa: PLW0108


@overload(chosen, jit_options=_INLINED)
def _compiled_chosen(flags, ones, others):  # type: ignore[no-untyped-def]
    return lambda flags, ones, others: _chosen(flags, ones, others)  # noqa: PLW0108


@overload(column_numbers)
def _compiled_column_numbers():  # type: ignore[no-untyped-def]
    return lambda: _column_numbers()  # noqa: PLW0108


@overload(numbers_at, jit_options=_INLINED)
def _compiled_numbers_at(table, row, at):  # type: ignore[no-untyped-def]
    return lambda table, row, at: _numbers_at(table, row * table.shape[1] + at)


@overload(put_numbers, jit_options=_INLINED)
def _compiled_put_numbers(table, row, at, numbers):  # type: ignore[no-untyped-def]
    return lambda table, row, at, numbers: _put_numbers(table, row * table.shape[1] + at, numbers)


@overload(put_kept, jit_options=_INLINED)
def _compiled_put_kept(table, row, at, numbers, flags):  # type: ignore[no-untyped-def]
    def put(table, row, at, numbers, flags):  # type: ignore[no-untyped-def]
        return at + _put_kept(table, row * table.shape[1] + at, numbers, flags)

    return put


@overload(put_at, jit_options=_INLINED)
def _compiled_put_at(table, row, places, numbers):  # type: ignore[no-untyped-def]
    return lambda table, row, places, numbers: _put_at(table, row * table.shape[1], places, numbers)


@overload(gather, jit_options=_INLINED)
def _compiled_gather(table, places):  # type: ignore[no-untyped-def]
    return lambda table, places: _gather(table, places)  # noqa: PLW0108


@overload(words_at, jit_options=_INLINED)
def _compiled_words_at(data, places):  # type: ignore[no-untyped-def]
    return lambda data, places: _gather(data, places)  # noqa: PLW0108
