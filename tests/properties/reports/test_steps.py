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


DRAWN = {
    "gauss": lambda rng: rng.normal(size=60),
    "heavy": lambda rng: rng.standard_t(3, size=60) / math.sqrt(3),
    "laplace": lambda rng: rng.laplace(size=60) / math.sqrt(2),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_noise_has_no_steps_and_steps_are_found_to_the_point(kind):
    rng, drawn = np.random.default_rng(7), DRAWN[kind]
    assert sum(bool(steps([*(100 + drawn(rng))])) for _ in range(60)) <= 3
    found = 0
    for _ in range(40):
        values = 100 + drawn(rng)
        values[50:] += 3
        seen = steps([*values])
        found += len(seen) == 1 and abs(seen[0].place - 50) <= 1 and seen[0].after > seen[0].before
    assert found >= 34


LEVEL = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0]
SMALL = [1.0, 1.001, 0.999] * 8 + [1.03, 1.031, 1.029] * 8


@pytest.mark.parametrize(
    ("values", "least", "places"),
    [
        ([*LEVEL, 90.0, *LEVEL], 0, []),  # an outlier is no step
        ([*LEVEL, 20.0, 20.1, 19.9, 20.0, *LEVEL], 0, [(10, 10.0, 20.0), (14, 20.0, 10.0)]),
        ([1.0] * 50, 0, []),
        ([1.0] * 25 + [1.0002] * 25, 0, []),  # exact repetition is no proof
        ([0.0] * 10 + [5.0] * 4, 0, [(10, 0.0, 5.0)]),
        (SMALL, 0, [(24, 1.0, 1.03)]),
        (SMALL, 0.05, []),
        ([], 0, []),
        ([1.0] * 500 + [2.0] * 100, 0, [(500, 1.0, 2.0)]),  # only the last ones are looked at
    ],
)
def test_where_the_level_changes(values, least, places):
    assert [(one.place, one.before, one.after) for one in steps(values, least)] == places
