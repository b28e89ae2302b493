"""Steps in series: exact against brute force, rare in noise, found where there are some."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import steps as module
from reports.steps import SHORTEST, deviations, steps, stretches

VALUES = st.lists(st.integers(0, 9).map(float), min_size=1, max_size=12)


def spread(values: list[float]) -> float:
    """The sum of absolute deviations from the median, by its definition."""
    return float(np.abs(np.asarray(values) - np.median(values)).sum())


@given(VALUES)
def test_deviations_are_those_of_the_definition(values: list[float]) -> None:
    costs = deviations(np.asarray(values))
    for start, end in itertools.combinations(range(len(values) + 1), 2):
        if end - start >= SHORTEST or end - start == len(values):
            assert math.isclose(costs[start, end], spread(values[start:end]), abs_tol=1e-9)
        else:
            assert costs[start, end] == math.inf


@given(VALUES)
def test_partitions_are_the_best_of_all(values: list[float]) -> None:
    number = len(values)
    for cost, edges in module._partitions(deviations(np.asarray(values))):
        every = [
            sum(spread(values[a:b]) for a, b in itertools.pairwise((0, *inner, number)))
            for inner in itertools.combinations(range(1, number), len(edges))
            if not inner
            or all(b - a >= SHORTEST for a, b in itertools.pairwise((0, *inner, number)))
        ]
        if not every:
            assert cost == math.inf
            continue
        assert math.isclose(cost, min(every), abs_tol=1e-9)
        shown = sum(spread(values[a:b]) for a, b in itertools.pairwise((0, *edges, number)))
        assert math.isclose(cost, shown, abs_tol=1e-9)


def noise(kind: str, number: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "gauss":
        return rng.normal(size=number)
    if kind == "heavy":
        return rng.standard_t(3, size=number) / math.sqrt(3)
    return rng.laplace(size=number) / math.sqrt(2)


@pytest.mark.parametrize("kind", ["gauss", "heavy", "laplace"])
def test_noise_has_no_steps_and_steps_are_found_to_the_point(kind: str) -> None:
    rng = np.random.default_rng(7)
    false = sum(bool(steps(list(100 + noise(kind, 60, rng)))) for _ in range(60))
    assert false <= 3
    found = 0
    for _ in range(40):
        values = 100 + noise(kind, 60, rng)
        values[50:] += 3
        seen = steps(list(values))
        found += len(seen) == 1 and abs(seen[0].place - 50) <= 1 and seen[0].after > seen[0].before
    assert found >= 34


def test_schwarz_as_it_stands_would_cry_wolf(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above can fail: with the usual price it does."""
    monkeypatch.setattr(module, "PENALTY", 1.0)
    rng = np.random.default_rng(7)
    assert sum(bool(steps(list(100 + noise("gauss", 60, rng)))) for _ in range(60)) > 3


def test_an_outlier_is_no_step_and_two_are_none_either() -> None:
    values = [10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0, 10.1, 9.9, 10.0]
    assert steps([*values, 90.0, *values]) == []
    assert steps([*values, 90.0, 95.0, *values]) == []
    [up, down] = steps([*values, 20.0, 20.1, 19.9, 20.0, *values])
    assert (up.place, down.place) == (10, 14)
    assert (up.after, down.after) == (20.0, 10.0)


def test_exact_repetition_is_no_proof_of_a_step() -> None:
    assert steps([1.0] * 50) == []
    assert steps([1.0] * 25 + [1.0002] * 25) == []
    assert [s.place for s in steps([3.0] * 10 + [5.0] * 4)] == [10]
    assert [s.place for s in steps([0.0] * 10 + [5.0] * 4)] == [10]


def test_small_changes_can_be_left_out() -> None:
    values = [1.0, 1.001, 0.999] * 8 + [1.03, 1.031, 1.029] * 8
    assert [s.place for s in steps(values)] == [24]
    assert steps(values, least=0.05) == []


def test_short_and_long_series() -> None:
    assert stretches([]) == []
    assert [(s.start, s.end, s.level) for s in stretches([4.0])] == [(0, 1, 4.0)]
    assert [(s.start, s.end) for s in stretches([1.0, 9.0])] == [(0, 2)]
    assert steps([1.0, 1.0, 9.0, 9.0, 9.0]) == []
    long = stretches([1.0] * 500 + [2.0] * 100)
    assert [(s.start, s.end) for s in long] == [(200, 500), (500, 600)]
