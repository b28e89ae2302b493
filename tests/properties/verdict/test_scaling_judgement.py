"""The judgement of growth on simulated noise: counts of right and wrong verdicts.

Each cell is measured as the harness would: minima over rounds, judged after 3 and 6 rounds and so
on, until there is a verdict or 24 rounds have passed.
"""

import math
from collections import Counter
from itertools import product

import pytest

from harness.studies.growth.cell import PROOFS
from harness.studies.growth.prober import STEP_SIZES
from harness.verdict.exponents import (
    LEAST_POINTS,
    MOST_NOISE,
    THRESHOLD,
    Verdict,
    judge,
    shown_noise,
)
from tests.breadth import thorough_from
from tests.doubles import growth_cells as cells
from tests.doubles.growth_cells import (
    LARGE,
    NOISES,
    OVERHEAD,
    SIZES,
    looked,
    measured,
    preempted,
    quiet,
)

CELLS = 50
LITTLE, FEW = (0.03, 0.1), cells.SMALL
LINEAR, SUPERLINEAR, INCONCLUSIVE = Verdict.LINEAR, Verdict.SUPERLINEAR, Verdict.INCONCLUSIVE
OPPOSITE = {LINEAR: SUPERLINEAR, SUPERLINEAR: LINEAR}
PLAIN = ("smooth",)
STEPPED = ("one step", "two steps")
ALMOST = 0.95

ROWS = [
    # What it is, and in which share of fifty cells that must be said; the opposite never is.
    (LINEAR, "n", [SIZES, FEW], ("smooth", "drift"), LITTLE, (quiet,), ALMOST),
    (LINEAR, "n", [SIZES], STEPPED, LITTLE, (quiet,), ALMOST),
    (LINEAR, "n", [FEW], STEPPED, LITTLE, (quiet,), 0),
    (LINEAR, "n log n", [SIZES, FEW], PLAIN, LITTLE, (quiet,), 0.75),
    (SUPERLINEAR, "n^2", [SIZES, FEW], (*PLAIN, *STEPPED), LITTLE, (quiet,), ALMOST),
    (SUPERLINEAR, "n^1.5", [SIZES], PLAIN, LITTLE, (quiet,), 0.9),
    (SUPERLINEAR, "n^1.5", [FEW], PLAIN, LITTLE, (quiet,), 0),  # what a cache may explain
    (INCONCLUSIVE, "n^1.5", [FEW], PLAIN, (0.05,), (quiet,), ALMOST),
    (LINEAR, "n", [SIZES], ("smooth", "two steps", "drift"), (0.15,), NOISES, ALMOST),
    (SUPERLINEAR, "n + n^2", [SIZES], PLAIN, (0.15,), NOISES, ALMOST),
    (SUPERLINEAR, "n, n^2 above 100 kB", [LARGE], PLAIN, (0.15,), NOISES, 1),
    (SUPERLINEAR, "n^3", [FEW], PLAIN, (0.15,), NOISES, ALMOST),
    (SUPERLINEAR, "2^n", [FEW], PLAIN, (0.15,), NOISES, ALMOST),
]

LIKE_FASTER = [
    (LINEAR, law, [sizes], (machine,), (0.05, 0.15), NOISES, 0)
    for machine in ("two steps", "deep", "threefold late")
    for law in ("n", "n log n")
    for sizes in (LARGE[:7], SIZES, LARGE)
]
"""As bad as linear ones come: no more than a few may be accused once in a long time, so that here
none is."""

FASTER = [
    (SUPERLINEAR, law, [sizes], (machine,), (0.15,), NOISES, ALMOST)
    for machine in ("smooth", "one step", "drift")
    for law, sizes in (("n^1.5", SIZES), ("n^1.5", LARGE), ("n^2", LARGE[:6]), ("n^2", LARGE))
]
"""But who deserves it is."""


@pytest.mark.parametrize(
    ("right", "law", "sizes", "machines", "noises", "kinds", "share"),
    [*ROWS, *thorough_from(6, LIKE_FASTER), *thorough_from(4, FASTER)],
)
def test_simulated(
    right,
    law,
    sizes,
    machines,
    noises,
    kinds,
    share,
):
    for at, machine, noise, kind in product(sizes, machines, noises, kinds):
        seen = Counter(
            looked(measured(law, at, machine, noise, seed, kind), at) for seed in range(CELLS)
        )
        where = law, len(at), machine, noise, kind.__name__, seen
        assert right is INCONCLUSIVE or seen[OPPOSITE[right]] == 0, where
        assert seen[right] >= share * CELLS, where


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("noise", [0.03, 0.1])
def test_the_exponents_interval_holds_the_truth(noise, kind):
    held = 0
    for seed in range(CELLS):
        times = measured("n", SIZES, "smooth", noise, seed, kind)
        growth = judge(cells.least(times, SIZES, PROOFS[-1][1]), OVERHEAD, named=False)
        held += growth.low <= 1 <= growth.high
    assert held >= 0.9 * CELLS


def test_overhead_is_taken_off():
    # Beside an overhead of 50 us a quadratic term looks flat.
    points = {int(n): 50e-6 + float(n**2) * 1e-12 for n in SIZES}
    assert judge(points, 0.0).verdict is not SUPERLINEAR
    growth = judge(points, 50e-6)
    assert growth.exponent == pytest.approx(2.0, abs=0.01)
    assert growth.verdict is SUPERLINEAR


@pytest.mark.parametrize(("power", "turned"), [(1, SUPERLINEAR), (2, LINEAR)])
def test_one_wild_point_turns_no_verdict_round(power, turned):
    exact = {int(n): float(n**power) for n in SIZES}
    for size, factor in product(list(exact)[4:], (20, 1 / 20)):
        assert judge({**exact, size: exact[size] * factor}).verdict is not turned


def test_too_few_points_are_inconclusive():
    few = {int(n): float(n) for n in SIZES[: LEAST_POINTS - 1]}
    growth = judge(few)
    assert (growth.verdict, growth.exponent) == (INCONCLUSIVE, None)
    assert judge({}).verdict is INCONCLUSIVE
    # All of it overhead: nothing is left to fit.
    assert judge({int(n): 1e-6 for n in SIZES}, 1e-6).exponent is None


def test_the_constant_is_for_a_byte_more():
    growth = judge({int(n): 5000 + 7.0 * n for n in SIZES}, 5000.0 + 16 * 7)
    assert growth.constant.value == pytest.approx(7.0)
    assert growth.constant.low <= growth.constant.value <= growth.constant.high
    assert growth.overhead == pytest.approx(5000.0)


@pytest.mark.parametrize(
    ("law", "name"),
    [
        (lambda n: n, "n"),
        (lambda n: n * math.log(n), "n log n"),
        (lambda n: n**1.5, "n^1.5"),
        (lambda n: n**2, "n^2"),
        (lambda n: n**3, "n^3"),
        (lambda n: 1.004**n, "exponential"),
        (lambda n: 7.0, "1"),
        (math.log, "log n"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_exact_laws_are_named(law, name):
    sizes = [int(n) for n in (FEW if name == "exponential" else SIZES)]
    growth = judge({size: law(size) for size in sizes})
    assert growth.law == name
    assert name in growth.laws
    slow = name in ("1", "log n", "n", "n log n")
    assert growth.verdict is (LINEAR if slow else SUPERLINEAR)


@pytest.mark.parametrize(("steepest", "named"), [(2.5, False), (3.5, True)])
def test_only_what_ends_steeper_than_a_cube_is_named_exponential(steepest, named):
    base = steepest * math.log(2) / (FEW[-1] - FEW[-2])
    growth = judge({int(n): math.exp(base * n) for n in FEW})
    assert ("exponential" in growth.laws) == named


def test_laws_that_cannot_be_told_apart_stay():
    # A rate that drops by a fifth is what both may be.
    growth = judge({int(n): float(n * (1 + 0.2 * (n > 4096))) for n in SIZES})
    assert {"n", "n log n"} <= set(growth.laws)
    assert "n^2" not in growth.laws
    # And a square that sets in is not called exponential.
    growth = judge({int(n): float(n + n**2 / 1000) for n in FEW})
    assert growth.law in ("n^1.5", "n^2")
    assert "exponential" not in growth.laws


class TestBesideAReference:
    """What another implementation takes in the same rounds tells the machine from growth."""

    @pytest.mark.parametrize(
        ("machine", "law"),
        thorough_from(
            1,
            [
                *(("threefold late", "n log n"), ("deep", "n"), ("threefold late", "n")),
                *(("threefold", "n"), ("deep", "n log n"), ("threefold", "n log n")),
            ],
        ),
    )
    def test_a_busy_machine_accuses_fewer(self, machine, law):
        sizes = LARGE[:7]
        times = [measured(law, sizes, machine, 0.15, n, preempted) for n in range(4 * CELLS)]
        for seed, one in enumerate(times):
            beside = measured("n", sizes, "one step", 0.15, seed + 10**6, preempted)
            assert looked(one, sizes, beside) is not SUPERLINEAR, seed
        if law == "n log n":
            assert any(looked(one, sizes) is SUPERLINEAR for one in times)

    @pytest.mark.parametrize("kind", (*NOISES, preempted))
    @pytest.mark.parametrize("law", ["n", "n^1.5", "n^2"])
    def test_the_reference_shields_nobody(self, kind, law):
        """Not even where it grows as fast itself: no machine makes a byte so much dearer."""
        seen = Counter()
        for seed in range(CELLS):
            times = measured("n^2", LARGE[:8], "smooth", 0.15, seed, kind)
            beside = measured(law, LARGE[:8], "smooth", 0.15, seed + 10**6, kind)
            seen[looked(times, LARGE[:8], beside)] += 1
        assert seen[LINEAR] == 0, seen
        assert seen[SUPERLINEAR] >= ALMOST * CELLS, seen

    def test_the_noise_has_bounds(self):
        square = {int(n): float(n**2) for n in SIZES}
        assert shown_noise(square) == MOST_NOISE
        assert shown_noise({int(n): float(n) for n in SIZES}) == 1.0
        assert shown_noise({256: 1.0, 512: 9.0}) == 1.0
        dear = judge(square, noise=MOST_NOISE)
        assert dear.verdict is SUPERLINEAR
        assert dear.strength == pytest.approx(judge(square).strength / MOST_NOISE)


def test_what_soars_at_the_end_has_the_exponent_of_its_end():
    points = {int(n): float(n) for n in LARGE[:6]}
    for size, factor in zip(LARGE[4:7], (2, 8, 64), strict=True):
        points[int(size)] = float(size * factor)
    growth = judge(points)
    assert growth.verdict is SUPERLINEAR
    assert growth.low is not None and growth.low > THRESHOLD


@pytest.mark.parametrize(
    ("law", "verdict"),
    [
        (lambda n: n + 40, LINEAR),
        (lambda n: n * math.log2(n) + 3 * n, LINEAR),
        (lambda n: n * math.sqrt(n) + 4 * n, SUPERLINEAR),
        (lambda n: n**2 / 8 + 20 * n, SUPERLINEAR),
    ],
)
def test_what_is_counted_is_told_over_few_sizes(law, verdict):
    # As the steps of a plug-in are counted: over these sizes times would say nothing.
    counted = {size: law(size) for size in STEP_SIZES}
    assert judge(counted, exact=True).verdict is verdict
