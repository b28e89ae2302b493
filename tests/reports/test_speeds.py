"""How sure a difference in speed is."""

from __future__ import annotations

import numpy as np
import pytest

from reports.speeds import DOUBT, LEAST_ROUNDS, compared


def rounds(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


def test_the_rounds_that_both_have_are_compared() -> None:
    mine = dict.fromkeys(range(7), 3.0) | {9: 100.0}
    found = compared(mine, dict.fromkeys(range(1, 9), 1.0))
    assert (found.value, found.interval, found.verdict) == (3.0, (3.0, 3.0), "ahead")


def test_of_few_rounds_the_best_are_compared() -> None:
    found = compared({0: 8.0, 1: 4.0, 2: 9.0}, {1: 2.0, 2: 3.0, 3: 1.0})
    assert (found.value, found.interval, found.verdict) == (3.0, None, "")


@pytest.mark.parametrize(
    ("count", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (15, 4, 12), (31, 10, 22)]
)
def test_ranks_are_those_of_the_table(count: int, low: int, high: int) -> None:
    # Conover, table A3: the sign test at 5 %.
    found = compared(rounds([float(i) for i in range(1, count + 1)]), rounds([1.0] * count))
    assert found.interval == (low, high)


def test_a_disturbance_that_falls_on_both_decides_nothing() -> None:
    disturbed = [1.0, 0.2, 1.0, 0.5, 0.9, 0.3, 1.0]
    found = compared(rounds([2 * one for one in disturbed]), rounds(disturbed))
    assert (found.interval, found.verdict) == ((2.0, 2.0), "ahead")
    other_way = compared(rounds(disturbed), rounds([2 * one for one in disturbed]))
    assert other_way.verdict == "behind"


@pytest.mark.parametrize("count", [LEAST_ROUNDS, 7, 9, 15, 31])
def test_equally_fast_ones_are_hardly_ever_told_apart(count: int) -> None:
    rng = np.random.default_rng(count)
    told = 0
    for _ in range(1000):
        speeds = np.exp(rng.normal(0, 0.05, (2, count)) - rng.exponential(0.1, (2, count)))
        found = compared(rounds(speeds[0].tolist()), rounds(speeds[1].tolist()))
        told += found.verdict != "no difference"
    # 50 are expected at the most; 4 standard deviations more.
    assert told <= 1000 * DOUBT + 28
