"""What vectors compile to does what their Python does."""

import operator
import os

import numba
import numpy as np
import pytest

from impls.fast.bpe import vectors
from impls.fast.bpe.vectors import WIDTH

compares = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="compares compiled code"
)
INTEGERS = (operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor)
SHIFTS = (operator.lshift, operator.rshift)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


@pytest.fixture
def table():
    """Rows of all kinds of numbers, and one of small ones."""
    rng = np.random.default_rng(1)
    numbers = rng.integers(-(1 << 31), 1 << 31, (4, 3 * WIDTH)).astype(np.int32)
    numbers[1, ::3] = numbers[0, ::3]
    numbers[0, :4] = 0, 1, -1, -(1 << 31)
    numbers[2] %= 32
    return numbers


def both(run, table, *rest):
    """The table after ``run``, and what that returned: compiled, and as Python."""
    outcomes = []
    for function in (numba.njit(run), run):
        after = table.copy()
        outcomes.append((function(after, *rest), after.tolist()))
    return outcomes


@compares
@pytest.mark.parametrize("symbol", [*INTEGERS, *SHIFTS], ids=lambda symbol: symbol.__name__)
def test_operators_of_two_vectors_and_of_one_with_a_number(symbol, table):
    other = 2 if symbol in SHIFTS else 1

    def run(table, at):
        one, two = vectors.numbers_at(table, 0, at), vectors.numbers_at(table, other, at)
        vectors.put_numbers(table, 3, at, symbol(one, two))
        vectors.put_numbers(table, 1, at, symbol(one, 7))

    compiled = numba.njit(run)
    for at in (0, 5):
        ours, theirs = table.copy(), table.copy()
        compiled(ours, at)
        run(theirs, at)
        assert ours.tolist() == theirs.tolist() != table.tolist()


@compares
@pytest.mark.parametrize("symbol", COMPARISONS, ids=lambda symbol: symbol.__name__)
def test_comparisons_and_what_is_made_of_them(symbol, table):
    def run(table):
        one, two = vectors.numbers_at(table, 0, 0), vectors.numbers_at(table, 1, 0)
        flags = symbol(one, two)
        some = (flags & (one > 0)) | (~flags & (two > 0))
        vectors.put_numbers(table, 2, 0, vectors.chosen(flags, one, two))
        vectors.put_numbers(table, 3, 0, vectors.chosen(some, 3, two))
        vectors.put_numbers(table, 3, WIDTH, vectors.chosen(some, vectors.all_of(9), 4))

    compiled, interpreted = both(run, table)
    assert compiled == interpreted
    assert 3 in compiled[1][3][:WIDTH]
    assert set(compiled[1][3][WIDTH : 2 * WIDTH]) == {4, 9}
