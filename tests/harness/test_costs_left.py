"""What is left behind: leaks are told from caches, pools and allocators, in simulated passes."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from corpora.families.catalog import families
from corpora.vocabularies import sources
from harness.engine import selection
from harness.engine.costs import loaded
from harness.studies.costs.left import inputs_of, measure_left
from harness.verdict.exponents import Verdict
from harness.verdict.leaks import MOST, SURE, Left, judge_left
from harness.workers import meters
from tests.harness import planted

PLANTED = Path(planted.__file__)
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
    assert found.verdict is Verdict.SUPERLINEAR
    assert found.rate == pytest.approx(rate, rel=0.01)
    assert count == SURE + 1


def test_little_is_no_leak_and_soon_said():
    assert passes(lambda n: 5e7) == (Left(Verdict.LINEAR, 0.0), 3)
    assert passes(lambda n: 5e7 + 50 * n)[0].verdict is Verdict.LINEAR
    # Fewer inputs of who is slow see larger leaks only.
    assert passes(lambda n: 600.0 * n, 128)[0].verdict is Verdict.LINEAR
    assert passes(lambda n: 2048.0 * n, 128)[0].verdict is Verdict.SUPERLINEAR


@pytest.mark.parametrize("a_input", [1e2, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("full", [1e5, 1e6, 12e6, 1e8])
def test_a_cache_that_fills_up_is_no_leak(full, a_input):
    # Of the same inputs a cache keeps each once: it is full, or has them, after the first pass.
    noise = np.random.default_rng(0).uniform(0, 100 * KIB, size=100)

    def cache(n):
        return min(full, a_input * min(n, 1000)) + float(noise[n // 1000])

    assert passes(cache)[0].verdict is Verdict.LINEAR


def test_an_allocator_that_finds_its_size_is_no_leak():
    rng = np.random.default_rng(13)

    def held(until, noise, arenas, n):
        turn = n // 1000
        pool = until * (1 - 0.5**turn)
        return float(pool + noise[turn] + arenas[:turn].max(initial=0))

    for _ in range(3000):
        noise = rng.uniform(0, 256 * KIB, size=MOST + 2)
        arenas = rng.integers(0, 2, size=MOST + 2) * (1 << 20)
        said, _ = passes(partial(held, rng.uniform(0, 64 << 20), noise, arenas))
        assert said.verdict is not Verdict.SUPERLINEAR


def test_memory_that_sinks_and_rises_stays_open_and_is_not_accused():
    found, count = passes(lambda n: 4e6 * (n // 1000 % 3))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert count == MOST + 1


def said_of(spec):
    vocabulary = sources.resolve("toy_bytes")
    (one,), _ = selection.participants([spec])
    fitting = [f for f in families().values() if f.suits(vocabulary)]
    with loaded(one, vocabulary) as on:
        said = measure_left(on, inputs_of(vocabulary, fitting), lambda: False)
    return said


def test_a_leak_of_a_few_kibibytes_is_measured():
    leaks = said_of("harness.studies.selftest.catalog:growth.leaves-behind")
    assert (leaks.verdict, leaks.measure, leaks.axis) == ("superlinear", "left", "inputs")
    assert leaks.note.startswith(("it leaves 2.0 KiB", "it leaves 2.1 KiB"))
    assert "by the allocator's count" in leaks.note


def test_a_cache_of_megabytes_is_not_accused():
    caches = said_of(f"{PLANTED}:Caching")
    assert (caches.verdict, caches.note) == ("linear", "")
    assert caches.points[0][1] > 4 << 20


def test_the_allocator_counts_what_is_given_out():
    before = meters.given_out()
    taken = np.ones(4 << 20, dtype=np.uint8)
    assert meters.given_out() - before == pytest.approx(len(taken), rel=0.1)
