"""What is left behind: leaks are told from caches, pools and allocators, in simulated passes."""

from pathlib import Path

import numpy as np
import pytest

from corpora.families.catalog import families
from corpora.vocabularies import sources
from harness.studies.costs.left import inputs_of, measure_left
from harness.verdict.exponents import Verdict
from harness.verdict.leaks import MOST, SURE, Left, judge_left
from harness.workers import meters
from tests.doubles import planted
from tests.doubles.plugged import alone

KIB = 1 << 10


def passes(held, inputs=1000):
    """The judgement, and after how many passes it was made; held: bytes after so many inputs."""
    readings = []
    found = Left(Verdict.INCONCLUSIVE, 0.0)
    while found.verdict is Verdict.INCONCLUSIVE and len(readings) <= MOST:
        readings.append(int(held(inputs * (1 + len(readings)))))
        found = judge_left(readings, inputs)
    return found, len(readings)


@pytest.mark.parametrize("rate", [1 * KIB, 4.1 * KIB, 256 * KIB])
def test_leaks_are_told_with_their_rate(rate):
    found, count = passes(lambda n: 5e7 + rate * n)
    assert (found.verdict, count) == (Verdict.SUPERLINEAR, SURE + 1)
    assert found.rate == pytest.approx(rate, rel=0.01)


def test_little_is_no_leak_and_soon_said():
    assert passes(lambda n: 5e7) == (Left(Verdict.LINEAR, 0.0), 3)
    assert passes(lambda n: 5e7 + 50 * n)[0].verdict is Verdict.LINEAR
    # Fewer inputs of who is slow see larger leaks only.
    assert passes(lambda n: 600.0 * n, 128)[0].verdict is Verdict.LINEAR
    assert passes(lambda n: 2048.0 * n, 128)[0].verdict is Verdict.SUPERLINEAR
    # What sinks and rises stays open, and is not accused.
    found, count = passes(lambda n: 4e6 * (n // 1000 % 3))
    assert (found.verdict, count) == (Verdict.INCONCLUSIVE, MOST + 1)


def test_neither_a_cache_that_fills_up_nor_an_allocator_that_finds_its_size_is_a_leak():
    rng = np.random.default_rng(13)
    for _ in range(2000):
        noise = rng.uniform(0, 256 * KIB, size=MOST + 2)
        arenas = rng.integers(0, 2, size=MOST + 2) * (1 << 20)
        full, a_input = np.exp(rng.uniform([11, 4], [18, 12]))
        until = rng.uniform(0, 64 << 20)
        # Of the same inputs a cache keeps each once: it is full, or has them, after the first pass.
        said, _ = passes(lambda n: min(full, a_input * min(n, 1000)) + noise[n // 1000] * 0.4)  # noqa: B023
        assert said.verdict is Verdict.LINEAR
        said, _ = passes(
            lambda n: (
                until * (1 - 0.5 ** (n // 1000)) + noise[n // 1000]  # noqa: B023
                + arenas[: n // 1000].max(initial=0)  # noqa: B023
            )
        )  # fmt: skip
        assert said.verdict is not Verdict.SUPERLINEAR


def said_of(spec):
    vocabulary = sources.resolve("toy_bytes")
    fitting = [f for f in families().values() if f.suits(vocabulary)]
    inputs = inputs_of(vocabulary, fitting)
    return alone(spec, lambda on: measure_left(on, inputs, lambda: False))


def test_a_leak_of_a_few_kibibytes_is_measured_and_a_cache_of_megabytes_is_not_accused():
    leaks = said_of("harness.studies.selftest.catalog:growth.leaves-behind")
    assert (leaks.verdict, leaks.measure, leaks.axis) == ("superlinear", "left", "inputs")
    assert leaks.note.startswith(("it leaves 2.0 KiB", "it leaves 2.1 KiB"))
    assert "by the allocator's count" in leaks.note
    caches = said_of(f"{Path(planted.__file__)}:Caching")
    assert (caches.verdict, caches.note) == ("linear", "")
    assert caches.points[0][1] > 4 << 20


def test_the_allocator_counts_what_is_given_out():
    before = meters.given_out()
    taken = np.ones(4 << 20, dtype=np.uint8)
    assert meters.given_out() - before == pytest.approx(len(taken), rel=0.1)
