"""How sure a difference in speed is."""

from __future__ import annotations

import numpy as np
import pytest

from reports.bench_ratio import DOUBT, LEAST_ROUNDS, paired


def rounds(values: list[float]) -> dict[int, float]:
    return dict(enumerate(values))


def test_the_rounds_that_both_have_are_compared() -> None:
    found = paired({0: 8.0, 1: 4.0, 2: 9.0}, {1: 2.0, 2: 3.0, 3: 1.0})
    assert found is not None
    assert (found.median, found.rounds, found.won) == (2.5, 2, 1.0)
    assert (found.low, found.high, found.verdict) == (None, None, "")
    assert paired({0: 1.0}, {1: 1.0}) is None


@pytest.mark.parametrize(
    ("count", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (15, 4, 12), (31, 10, 22)]
)
def test_ranks_are_those_of_the_table(count: int, low: int, high: int) -> None:
    # Conover, table A3: the sign test at 5 %.
    found = paired(rounds([float(i) for i in range(1, count + 1)]), rounds([1.0] * count))
    assert found is not None
    assert (found.low, found.high) == (low, high)


def test_a_disturbance_that_falls_on_both_decides_nothing() -> None:
    disturbed = [1.0, 0.2, 1.0, 0.5, 0.9, 0.3, 1.0]
    found = paired(rounds([2 * one for one in disturbed]), rounds(disturbed))
    assert found is not None
    assert (found.low, found.high, found.verdict) == (2.0, 2.0, "ahead")
    other_way = paired(rounds(disturbed), rounds([2 * one for one in disturbed]))
    assert other_way is not None
    assert (other_way.verdict, other_way.won) == ("behind", 0.0)


@pytest.mark.parametrize("count", [LEAST_ROUNDS, 7, 9, 15, 31])
def test_equally_fast_ones_are_hardly_ever_told_apart(count: int) -> None:
    rng = np.random.default_rng(count)
    told = 0
    for _ in range(1000):
        speeds = np.exp(rng.normal(0, 0.05, (2, count)) - rng.exponential(0.1, (2, count)))
        found = paired(rounds(speeds[0].tolist()), rounds(speeds[1].tolist()))
        assert found is not None
        told += found.verdict != "no difference"
    # 50 are expected at the most; 4 standard deviations more.
    assert told <= 1000 * DOUBT + 28
