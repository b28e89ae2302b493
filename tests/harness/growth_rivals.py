"""Judgements of growth side by side on simulated cells: ``python -m tests.harness.growth_rivals``.

Each cell is measured as the harness would: minima over rounds, judged after some, until there is
a verdict or the rounds are over. What is simulated is worse than what a quiet machine does.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from harness.studies.growth.cell import FIRST_LOOK, LAST_LOOK, proof_of
from harness.verdict.exponents import LAWS as NAMED
from harness.verdict.exponents import (
    LEAST_POINTS,
    RANGE,
    THRESHOLD,
    Verdict,
    exponent_of,
    fitted_costs,
    intercept,
    judge,
    shown_noise,
)

OVERHEAD = 2e-6
"""Seconds of a call."""

Floats = NDArray[np.float64]
Said = tuple[Verdict, float]
"""A verdict, and how strongly it speaks for superlinear growth."""
Judge = Callable[[Mapping[int, float], float], Said]

SIZES: Floats = np.array([256 << doubling for doubling in range(9)], dtype=np.float64)
SMALL = SIZES[:5]
"""What a quadratic implementation that is limited to 4 KiB is measured at."""
LARGE: Floats = np.array([256 << doubling for doubling in range(13)], dtype=np.float64)

LAWS: dict[str, Callable[[Floats], Floats]] = {
    "n": lambda n: n,
    "n log n": lambda n: n * np.log2(n),
    "n^1.5": lambda n: n**1.5 / 30,
    "n^2": lambda n: n**2 / 1000,
    "n + n^2": lambda n: n + n**2 / 1000,
    "n, n^2 above 100 kB": lambda n: n + np.maximum(n - 1e5, 0) ** 2 / 2e4,
    "n^3": lambda n: n**3 / 1e4,
    "2^n": lambda n: 1000 * 2 ** (n / 400),
}

LINEAR = ("n", "n log n")


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


def deep(n: Floats) -> Floats:
    """From the first cache to the memory: twice by half, soon after one another."""
    rates: Floats = np.where(n >= n[-4], 2.0, 1.0) * np.where(n >= n[-2], 1.5, 1.0)
    return rates


def threefold(n: Floats) -> Floats:
    """The rate drops by as much as it does between the first cache and the memory, evenly."""
    rates: Floats = 3.0 ** (np.log(n / n[0]) / np.log(n[-1] / n[0]))
    return rates


def threefold_late(n: Floats) -> Floats:
    """Likewise within the last four doublings: what looks most like a faster growth."""
    steps = np.clip(np.arange(len(n)) - (len(n) - 5), 0, 4)
    rates: Floats = 3.0 ** (steps / 4)
    return rates


HIERARCHIES = (smooth, one_step, two_steps, drift, deep)


def quiet(rng: np.random.Generator, shape: tuple[int, int], noise: float) -> Floats:
    """Two-sided noise, disturbances up to fivefold, a few too quick."""
    factors = np.exp(rng.normal(0, noise, shape))
    disturbed = rng.random(shape) < 0.08
    factors = np.where(disturbed, factors * rng.uniform(1.2, 5, shape), factors)
    hurried = rng.random(shape) < 0.016
    return np.where(hurried, factors * rng.uniform(0.8, 0.95, shape), factors)


def heavy(rng: np.random.Generator, shape: tuple[int, int], noise: float) -> Floats:
    """One-sided, with a tail of the Pareto law: its mean exists, its variance does not."""
    return 1 + noise * rng.pareto(1.5, shape)


def lasting(rng: np.random.Generator, shape: tuple[int, int], noise: float) -> Floats:
    """The machine slows down by up to a half for some 20 calls, in the order of measuring."""
    calls = shape[0] * shape[1]
    speed = np.repeat(rng.uniform(1, 1.5, calls // 20 + 1), 20)[:calls].reshape(shape)
    return speed * quiet(rng, shape, noise)


def crowded(rng: np.random.Generator, shape: tuple[int, int], noise: float) -> Floats:
    """Neighbours on all cores: every other call takes up to twice as long."""
    slowed = rng.random(shape) < 0.5
    return np.where(slowed, rng.uniform(1.1, 2, shape), 1.0) * quiet(rng, shape, noise)


def preempted(rng: np.random.Generator, shape: tuple[int, int], noise: float) -> Floats:
    """As crowded, and long calls, which short ones escape, always meet a neighbour besides."""
    long = np.arange(shape[1]) >= shape[1] // 2
    met = np.where(long[None, :], rng.uniform(1.5, 2, shape), 1.0)
    return met * crowded(rng, shape, noise)


NOISES = (quiet, heavy, lasting, crowded)


def measured(
    law: str,
    sizes: Floats,
    hierarchy: Callable[[Floats], Floats],
    noise: float,
    seed: int,
    kind: Callable[[np.random.Generator, tuple[int, int], float], Floats] = quiet,
) -> Floats:
    """Times [rounds, sizes]."""
    rng = np.random.default_rng(seed)
    true = LAWS[law](sizes) * hierarchy(sizes) * 10e-9
    factors = kind(rng, (LAST_LOOK, len(sizes)), noise)
    return true * factors + OVERHEAD


def ours(points: Mapping[int, float], tiny: float) -> Said:
    """The judgement of the harness."""
    growth = judge(points, tiny, named=False)
    return growth.verdict, growth.strength


def beside(reference: Floats, sizes: Floats) -> Callable[[int], Judge]:
    """The judgement of the harness beside a reference with these times [rounds, sizes], by
    rounds."""

    def after(rounds: int) -> Judge:
        least = reference[:rounds].min(axis=0)
        points = {int(n): float(t) for n, t in zip(sizes, least, strict=True)}
        noise = shown_noise(points, OVERHEAD)

        def judged(points: Mapping[int, float], tiny: float) -> Said:
            growth = judge(points, tiny, named=False, noise=noise)
            return growth.verdict, growth.strength

        return judged

    return after


def tail_only(points: Mapping[int, float], tiny: float) -> Said:
    """The exponent's interval over the largest sizes alone."""
    overhead = intercept(points, tiny)
    sizes = fitted_costs(points, overhead)
    if len(sizes) < LEAST_POINTS:
        return Verdict.INCONCLUSIVE, 0.0
    largest = [size for size in sizes if size * RANGE >= sizes[-1]]
    found = exponent_of({size: points[size] - overhead for size in largest})
    if found.high <= THRESHOLD:
        return Verdict.LINEAR, 0.0
    return (Verdict.SUPERLINEAR if found.low > THRESHOLD else Verdict.INCONCLUSIVE), 1.0


def by_law(points: Mapping[int, float], tiny: float) -> Said:
    """Selection of a model, by relative least squares with an intercept, as google/benchmark does.

    Decided where no law of the other side has less than half as much error again.
    """
    sizes = sorted(points)
    n, y = np.array(sizes, dtype=np.float64), np.array([points[size] for size in sizes])
    if len(sizes) < LEAST_POINTS:
        return Verdict.INCONCLUSIVE, 0.0
    errors: dict[str, float] = {}
    for name, law in NAMED.items():
        columns = np.stack([1 / y, law(n) / y], axis=1)
        found = np.linalg.lstsq(columns, np.ones_like(y), rcond=None)[0]
        found = np.maximum(found, [0.0, 1e-300])
        errors[name] = float(np.sqrt(np.mean((columns @ found - 1) ** 2)))
    slow = min(errors[name] for name in ("1", "log n", "n", "n log n"))
    fast = min(errors[name] for name in ("n^1.5", "n^2", "n^3"))
    if slow * 1.5 < fast:
        return Verdict.LINEAR, 0.0
    return (Verdict.SUPERLINEAR if fast * 1.5 < slow else Verdict.INCONCLUSIVE), 1.0


RIVALS: dict[str, Judge] = {"ours": ours, "tail only": tail_only, "by law": by_law}


def looked(
    times: Floats,
    sizes: Floats,
    rival: Judge = ours,
    by_round: Callable[[int], Judge] | None = None,
) -> Verdict:
    """The verdict that the rounds lead to, decided as by
    :class:`harness.studies.growth.cell.Cell`. by_round: a judgement that knows the rounds."""
    agreeing = 0
    for rounds in range(FIRST_LOOK, LAST_LOOK + 1):
        least = times[:rounds].min(axis=0)
        points = {int(n): float(t) for n, t in zip(sizes, least, strict=True)}
        judgement = rival if by_round is None else by_round(rounds)
        said, strength = judgement(points, OVERHEAD)
        agreeing = agreeing + 1 if said is Verdict.SUPERLINEAR else 0
        due, due_agreeing = proof_of(strength)
        if said is Verdict.LINEAR or (agreeing >= due_agreeing and rounds >= due):
            return said
    return Verdict.INCONCLUSIVE


def kinds() -> Iterator[
    tuple[str, Floats, Callable[[Floats], Floats], float, Callable[..., Floats]]
]:
    """All that is compared: law, sizes, hierarchy, noise, kind of noise."""
    for law in LAWS:
        sizes = {"n, n^2 above 100 kB": LARGE, "n^3": SMALL, "2^n": SMALL}.get(law, SIZES)
        hierarchies = HIERARCHIES if law in ("n", "n^2") else (smooth,)
        for hierarchy in hierarchies:
            for kind in NOISES:
                for noise in (0.05, 0.15):
                    yield law, sizes, hierarchy, noise, kind


def main() -> None:
    """Print how often each judgement is right, wrong, and undecided."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    totals: dict[str, Counter[str]] = {name: Counter() for name in RIVALS}
    count = 0
    for law, sizes, hierarchy, noise, kind in kinds():
        count += 1
        row = f"{law:20} {hierarchy.__name__:9} {kind.__name__:8} {noise:4.2f}"
        for name, rival in RIVALS.items():
            seen: Counter[str] = Counter()
            for seed in range(cells):
                times = measured(law, sizes, hierarchy, noise, seed, kind)
                said = looked(times, sizes, rival)
                right = Verdict.LINEAR if law in LINEAR else Verdict.SUPERLINEAR
                word = "right" if said is right else "wrong"
                seen["undecided" if said is Verdict.INCONCLUSIVE else word] += 1
            totals[name] += seen
            row += f"   {name}: {seen['right']:4} {seen['wrong']:3} {seen['undecided']:3}"
        print(row, flush=True)
    print(f"{count} kinds of {cells} cells: right, wrong, undecided")
    for name, total in totals.items():
        print(f"{name}: {total['right']}, {total['wrong']}, {total['undecided']}")


if __name__ == "__main__":
    main()
