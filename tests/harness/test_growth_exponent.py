"""The judgement of growth on simulated noise: counts of right and wrong verdicts.

Each cell is measured as the harness would: minima over rounds, judged after 3 and 6 rounds and so
on, until there is a verdict or 24 rounds have passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.exponent import (
    LEAST_POINTS,
    RANGE,
    THRESHOLD,
    Verdict,
    fitted,
    judge,
    verdict,
)
from harness.growth import FIRST_LOOK, LAST_LOOK, SECOND_LOOK

CELLS = 500
OVERHEAD = 2e-6
"""Seconds of a call."""

Floats = NDArray[np.float64]
SIZES: Floats = np.array([256 << doubling for doubling in range(9)], dtype=np.float64)
SMALL = SIZES[:5]
"""What a quadratic implementation that is limited to 4 KiB is measured at."""

LAWS: dict[str, Callable[[Floats], Floats]] = {
    "n": lambda n: n,
    "n log n": lambda n: n * np.log2(n),
    "n^1.5": lambda n: n**1.5 / 30,
    "n^2": lambda n: n**2 / 1000,
    "n + n^2": lambda n: n + n**2 / 1000,
}


def smooth(n: Floats) -> Floats:
    """Rates that are the same at all sizes."""
    rates: Floats = np.ones_like(n)
    return rates


def one_step(n: Floats) -> Floats:
    """The rate drops where the data outgrow a cache."""
    rates: Floats = np.where(n >= n[-2], 1.6, 1.0)
    return rates


def two_steps(n: Floats) -> Floats:
    """Two caches."""
    rates: Floats = np.where(n >= n[-4], 1.4, 1.0) * np.where(n >= n[-1], 1.4, 1.0)
    return rates


def drift(n: Floats) -> Floats:
    """The rate drops by a third, evenly over all sizes."""
    spread: Floats = 1.5 ** (np.log(n / n[0]) / np.log(n[-1] / n[0]))
    return spread


def measured(
    law: str, sizes: Floats, hierarchy: Callable[[Floats], Floats], noise: float, seed: int
) -> Floats:
    """Times [rounds, sizes]: two-sided noise, disturbances up to fivefold, a few too quick."""
    rng = np.random.default_rng(seed)
    true = LAWS[law](sizes) * hierarchy(sizes) * 10e-9
    times = true * np.exp(rng.normal(0, noise, (LAST_LOOK, len(sizes))))
    disturbed = rng.random(times.shape) < 0.08
    times = np.where(disturbed, times * rng.uniform(1.2, 5, times.shape), times)
    hurried = rng.random(times.shape) < 0.016
    times = np.where(hurried, times * rng.uniform(0.8, 0.95, times.shape), times)
    return times + OVERHEAD


def looked(times: Floats, sizes: Floats) -> Verdict:
    """The verdict that the rounds lead to."""
    for rounds in range(FIRST_LOOK, LAST_LOOK + 1):
        least = times[:rounds].min(axis=0)
        points = {int(n): float(t) for n, t in zip(sizes, least, strict=True)}
        said = judge(points, OVERHEAD).verdict
        if said is Verdict.LINEAR or (said is Verdict.SUPERLINEAR and rounds >= SECOND_LOOK):
            return said
    return Verdict.INCONCLUSIVE


def counts(
    law: str,
    sizes: Floats,
    hierarchy: Callable[[Floats], Floats],
    noise: float,
) -> Counter[Verdict]:
    return Counter(
        looked(measured(law, sizes, hierarchy, noise, seed), sizes) for seed in range(CELLS)
    )


@pytest.mark.parametrize("sizes", [SIZES, SMALL], ids=["to-64K", "to-4K"])
@pytest.mark.parametrize("noise", [0.03, 0.1])
class TestSimulated:
    """500 cells each."""

    @pytest.mark.parametrize("hierarchy", [smooth, one_step, two_steps, drift])
    def test_linear_is_never_called_superlinear(
        self, sizes: Floats, noise: float, hierarchy: Callable[[Floats], Floats]
    ) -> None:
        seen = counts("n", sizes, hierarchy, noise)
        assert seen[Verdict.SUPERLINEAR] == 0, seen
        if hierarchy in (smooth, drift):
            assert seen[Verdict.LINEAR] >= 0.95 * CELLS, seen

    def test_n_log_n_is_not_called_superlinear(self, sizes: Floats, noise: float) -> None:
        seen = counts("n log n", sizes, smooth, noise)
        assert seen[Verdict.SUPERLINEAR] == 0, seen
        assert seen[Verdict.LINEAR] >= 0.75 * CELLS, seen

    @pytest.mark.parametrize("hierarchy", [smooth, one_step, two_steps])
    def test_quadratic_is_never_called_linear(
        self, sizes: Floats, noise: float, hierarchy: Callable[[Floats], Floats]
    ) -> None:
        seen = counts("n^2", sizes, hierarchy, noise)
        assert seen[Verdict.LINEAR] == 0, seen
        assert seen[Verdict.SUPERLINEAR] >= 0.95 * CELLS, seen

    def test_n_to_the_three_halves(self, sizes: Floats, noise: float) -> None:
        seen = counts("n^1.5", sizes, smooth, noise)
        assert seen[Verdict.LINEAR] == 0, seen
        assert seen[Verdict.SUPERLINEAR] >= 0.9 * CELLS, seen


def test_a_quadratic_term_that_shows_late() -> None:
    seen = counts("n + n^2", SIZES, smooth, 0.1)
    assert seen == {Verdict.SUPERLINEAR: CELLS}


def test_exact_powers_are_their_exponents() -> None:
    for power in (0.5, 1.0, 1.5, 2.0, 3.0):
        growth = judge({int(n): float(n**power) for n in SIZES}, 0.0)
        assert growth.exponent == pytest.approx(power)
        assert growth.low == pytest.approx(power)
        assert growth.high == pytest.approx(power)
        expected = Verdict.SUPERLINEAR if power > THRESHOLD else Verdict.LINEAR
        assert growth.verdict is expected


def test_overhead_is_taken_off() -> None:
    # Beside an overhead of 50 us a quadratic term looks flat.
    points = {int(n): 50e-6 + float(n**2) * 1e-12 for n in SIZES}
    assert judge(points, 0.0).verdict is not Verdict.SUPERLINEAR
    growth = judge(points, 50e-6)
    assert growth.exponent == pytest.approx(2.0)
    assert growth.verdict is Verdict.SUPERLINEAR


def test_one_wild_point_turns_no_verdict_round() -> None:
    exact = {int(n): float(n) for n in SIZES}
    for size in list(exact)[4:]:
        for factor in (20, 1 / 20):
            wild = judge({**exact, size: exact[size] * factor}, 0.0)
            assert wild.verdict is not Verdict.SUPERLINEAR
    quadratic = {int(n): float(n**2) for n in SIZES}
    for size in list(quadratic)[4:]:
        for factor in (20, 1 / 20):
            wild = judge({**quadratic, size: quadratic[size] * factor}, 0.0)
            assert wild.verdict is not Verdict.LINEAR


def test_too_few_points_are_inconclusive() -> None:
    few = {int(n): float(n) for n in SIZES[: LEAST_POINTS - 1]}
    growth = judge(few, 0.0)
    assert (growth.verdict, growth.exponent) == (Verdict.INCONCLUSIVE, None)
    assert judge({}, 0.0).verdict is Verdict.INCONCLUSIVE
    # All of it overhead: nothing is left to fit.
    assert judge({int(n): 1e-6 for n in SIZES}, 1e-6).exponent is None


def test_the_largest_sizes_are_fitted() -> None:
    sizes = fitted({int(n): float(n) for n in SIZES}, 0.0)
    assert sizes[-1] == SIZES[-1]
    assert sizes[0] == SIZES[-1] / RANGE


def test_verdict_of_an_interval() -> None:
    assert verdict(0.9, THRESHOLD) is Verdict.LINEAR
    assert verdict(THRESHOLD, 2.0) is Verdict.INCONCLUSIVE
    assert verdict(THRESHOLD + 0.01, 2.0) is Verdict.SUPERLINEAR
