"""The judgement of growth on simulated cells: ``python -m tests.doubles.growth_cells``.

Each cell is measured as the harness would: minima over rounds, judged after some, until there is
a verdict or the rounds are over. What is simulated is worse than what a quiet machine does.
"""

import sys
from collections import Counter
from itertools import product

import numpy as np

from harness.studies.growth.cell import FIRST_LOOK, LAST_LOOK, proof_of
from harness.verdict.exponents import Verdict, judge, shown_noise

OVERHEAD = 2e-6
"""Seconds of a call."""

LARGE = np.array([256 << doubling for doubling in range(13)], dtype=np.float64)
SIZES, SMALL = LARGE[:9], LARGE[:5]
"""Up to 64 KiB, and what a quadratic implementation that is limited to 4 KiB is measured at."""

LAWS = {
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

STEPS = {
    "smooth": {},
    "one step": {-2: 1.6},  # the data outgrow a cache
    "two steps": {-4: 1.4, -1: 1.4},
    "deep": {-4: 2.0, -2: 1.5},  # from the first cache to the memory, one soon after the other
    "threefold late": dict.fromkeys((-4, -3, -2, -1), 3**0.25),  # most like a faster growth
}
"""How many times slower the machine gets from one of the last sizes on."""

DRIFTS = {"drift": 1.5, "threefold": 3.0}
"""How many times slower the machine gets evenly over all sizes."""


def hierarchy(name, n):
    """What a byte costs at each size, by the caches of a machine."""
    rates = DRIFTS.get(name, 1.0) ** (np.log(n / n[0]) / np.log(n[-1] / n[0]))
    for place, factor in STEPS.get(name, {}).items():
        rates = rates * np.where(n >= n[place], factor, 1.0)
    return rates


def quiet(rng, shape, noise):
    """Two-sided noise, disturbances up to fivefold, a few too quick."""
    factors = np.exp(rng.normal(0, noise, shape))
    disturbed = rng.random(shape) < 0.08
    factors = np.where(disturbed, factors * rng.uniform(1.2, 5, shape), factors)
    hurried = rng.random(shape) < 0.016
    return np.where(hurried, factors * rng.uniform(0.8, 0.95, shape), factors)


def heavy(rng, shape, noise):
    """One-sided, with a tail of the Pareto law: its mean exists, its variance does not."""
    return 1 + noise * rng.pareto(1.5, shape)


def lasting(rng, shape, noise):
    """The machine slows down by up to a half for some 20 calls, in the order of measuring."""
    calls = shape[0] * shape[1]
    speed = np.repeat(rng.uniform(1, 1.5, calls // 20 + 1), 20)[:calls].reshape(shape)
    return speed * quiet(rng, shape, noise)


def crowded(rng, shape, noise):
    """Neighbours on all cores: every other call takes up to twice as long."""
    slowed = rng.random(shape) < 0.5
    return np.where(slowed, rng.uniform(1.1, 2, shape), 1.0) * quiet(rng, shape, noise)


def preempted(rng, shape, noise):
    """As crowded, and long calls, which short ones escape, always meet a neighbour besides."""
    long = np.arange(shape[1]) >= shape[1] // 2
    met = np.where(long[None, :], rng.uniform(1.5, 2, shape), 1.0)
    return met * crowded(rng, shape, noise)


NOISES = (quiet, heavy, lasting, crowded)


def measured(law, sizes, machine, noise, seed, kind=quiet):
    """Times [rounds, sizes]."""
    true = LAWS[law](sizes) * hierarchy(machine, sizes) * 10e-9
    return true * kind(np.random.default_rng(seed), (LAST_LOOK, len(sizes)), noise) + OVERHEAD


def least(times, sizes, rounds):
    """The smallest time at each size in the first rounds."""
    return {int(n): float(t) for n, t in zip(sizes, times[:rounds].min(axis=0), strict=True)}


def looked(times, sizes, beside=None):
    """The verdict that the rounds lead to, as :class:`harness.studies.growth.cell.Cell` decides.

    beside: the times of a reference in the same rounds.
    """
    agreeing = 0
    for rounds in range(FIRST_LOOK, LAST_LOOK + 1):
        noise = 1.0 if beside is None else shown_noise(least(beside, sizes, rounds), OVERHEAD)
        growth = judge(least(times, sizes, rounds), OVERHEAD, named=False, noise=noise)
        agreeing = agreeing + 1 if growth.verdict is Verdict.SUPERLINEAR else 0
        due, due_agreeing = proof_of(growth.strength)
        if growth.verdict is Verdict.LINEAR or (agreeing >= due_agreeing and rounds >= due):
            return growth.verdict
    return Verdict.INCONCLUSIVE


def main():
    """Print how often the judgement is right, wrong, and undecided."""
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    total = Counter()
    for law in LAWS:
        sizes = {"n, n^2 above 100 kB": LARGE, "n^3": SMALL, "2^n": SMALL}.get(law, SIZES)
        right = Verdict.LINEAR if law in LINEAR else Verdict.SUPERLINEAR
        machines = ("smooth", "one step", "two steps", "drift", "deep")
        for machine, kind, noise in product(
            machines if law in ("n", "n^2") else machines[:1], NOISES, (0.05, 0.15)
        ):
            seen = Counter()
            for seed in range(cells):
                said = looked(measured(law, sizes, machine, noise, seed, kind), sizes)
                word = "right" if said is right else "wrong"
                seen["undecided" if said is Verdict.INCONCLUSIVE else word] += 1
            print(f"{law:20} {machine:9} {kind.__name__:8} {noise:4.2f} {dict(seen)}", flush=True)
            total += seen
    print(dict(total))


if __name__ == "__main__":
    main()
