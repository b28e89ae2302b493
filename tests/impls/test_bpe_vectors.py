"""What vectors compile to does what their Python does."""

import operator
import os
from itertools import product

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


def test_what_is_kept_stands_together(table):
    def run(table, start, kept):
        numbers = vectors.numbers_at(table, 0, 3)
        return vectors.put_kept(table, 1, start, numbers, vectors.column_numbers() < kept)

    counts = (0, WIDTH, 1, 15, 16, 17, WIDTH - 1)
    for function, kept in product((run, numba.njit(run)), counts):
        after = table.copy()
        assert function(after, 5, kept) == 5 + kept
        assert after[1, 5 : 5 + kept].tolist() == table[0, 3 : 3 + kept].tolist()
        assert after[1, :5].tolist() == table[1, :5].tolist()
        assert after[[0, 2, 3]].tolist() == table[[0, 2, 3]].tolist()
        # Compiled, as many as a vector has may be written over, but no more.
        assert after[1, 5 + WIDTH :].tolist() == table[1, 5 + WIDTH :].tolist()


@compares
def test_only_those_with_a_flag_are_kept(table):
    def run(table):
        numbers = vectors.numbers_at(table, 0, 0)
        return vectors.put_kept(table, 1, 1, numbers, numbers > 0)

    (count, compiled), (expected, interpreted) = both(run, table)
    positive = [number for number in table[0, :WIDTH].tolist() if number > 0]
    assert count == expected == 1 + len(positive)
    assert compiled[1][1:count] == interpreted[1][1:count] == positive


@compares
def test_reading_and_writing_anywhere(table):
    def run(table, places, data):
        at = vectors.numbers_at(places, 0, 0)
        vectors.put_numbers(table, 0, 0, vectors.gather(table[1], at))
        vectors.put_numbers(table, 0, WIDTH, vectors.words_at(data, at))
        vectors.put_at(table, 2, at, vectors.column_numbers() + 100)

    rng = np.random.default_rng(2)
    places = rng.permutation(3 * WIDTH)[np.newaxis, :WIDTH].astype(np.int32)
    data = rng.integers(0, 256, 3 * WIDTH + 3).astype(np.uint8)

    compiled, interpreted = both(run, table, places, data)
    assert compiled == interpreted
    words = [int.from_bytes(data[at : at + 4].tobytes(), "little", signed=True) for at in places[0]]
    assert compiled[1][0] == [*table[1, places[0]], *words, *table[0, 2 * WIDTH :]]
    assert [compiled[1][2][at] for at in places[0]] == list(range(100, 100 + WIDTH))
