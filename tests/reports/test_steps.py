"""Steps in series: exact against brute force, rare in noise, found where there are some."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.steps import MOST, PENALTY, SHORTEST, noise, steps, stretches

VALUES = st.lists(st.integers(0, 9).map(float), min_size=1, max_size=12)


def spread(values):
    """The sum of absolute deviations from the median, of which none counts for too much."""
    return float(np.minimum(np.abs(np.asarray(values) - np.median(values)), MOST).sum())


@given(VALUES)
def test_the_stretches_are_the_best_of_all(values):
    scale, price = noise(np.asarray(values)), PENALTY * math.log(len(values))

    def cost(edges):
        parts = [values[a:b] for a, b in itertools.pairwise(edges)]
        sure = len(parts) == 1 or min(map(len, parts)) >= SHORTEST
        told = sum(spread([one / scale for one in part]) + price for part in parts)
        return told if sure else math.inf

    every = (
        (0, *inner, len(values))
        for number in range(4)
        for inner in itertools.combinations(range(1, len(values)), number)
    )
    found = (0, *(one.end for one in stretches(values)))
    assert math.isclose(cost(found), min(map(cost, every)), rel_tol=1e-9)


def drawn(kind, number, rng):
    if kind == "gauss":
        return rng.normal(size=number)
    if kind == "heavy":
        return rng.standard_t(3, size=number) / math.sqrt(3)
    return rng.laplace(size=number) / math.sqrt(2)


@pytest.mark.parametrize("kind", ["gauss", "heavy", "laplace"])
def test_noise_has_no_steps_and_steps_are_found_to_the_point(kind):
    rng = np.random.default_rng(7)
    false = sum(bool(steps(list(100 + drawn(kind, 60, rng)))) for _ in range(60))
    assert false <= 3
    found = 0
    for _ in range(40):
        values = 100 + drawn(kind, 60, rng)
        values[50:] += 3
        seen = steps(list(values))
        found += len(seen) == 1 and abs(seen[0].place - 50) <= 1 and seen[0].after > seen[0].before
    assert found >= 34


def test_an_outlier_is_no_step_and_two_are_none_either():
    values = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0]
    assert steps([*values, 90.0, *values]) == []
    assert steps([*values, 90.0, 95.0, *values]) == []
    [up, down] = steps([*values, 20.0, 20.1, 19.9, 20.0, *values])
    assert (up.place, down.place) == (10, 14)
    assert (up.after, down.after) == (20.0, 10.0)


def test_exact_repetition_is_no_proof_of_a_step():
    assert steps([1.0] * 50) == []
    assert steps([1.0] * 25 + [1.0002] * 25) == []
    assert [s.place for s in steps([3.0] * 10 + [5.0] * 4)] == [10]
    assert [s.place for s in steps([0.0] * 10 + [5.0] * 4)] == [10]


def test_small_changes_can_be_left_out():
    values = [1.0, 1.001, 0.999] * 8 + [1.03, 1.031, 1.029] * 8
    assert [s.place for s in steps(values)] == [24]
    assert steps(values, least=0.05) == []


def test_short_and_long_series():
    assert stretches([]) == []
    long = stretches([1.0] * 500 + [2.0] * 100)
    assert [(s.start, s.end) for s in long] == [(200, 500), (500, 600)]
