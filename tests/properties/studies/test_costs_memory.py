"""Memory that is taken and left behind: judgements, simulated, and measurements of the known."""

import math
from pathlib import Path

import numpy as np
import pytest

from corpora.families.catalog import families
from corpora.vocabularies import sources
from harness.core.messages import Meter
from harness.studies.costs.left import inputs_of, measure_left
from harness.studies.costs.memory import chosen, measure_memory
from harness.verdict.exponents import Verdict
from harness.verdict.leaks import MOST, SURE, Left, judge_left
from harness.verdict.memory import FLOOR, LIMIT, Taken, beyond, judge_memory, judge_peaks, shown
from harness.workers import meters
from harness.workers.meters import size_of
from tests.doubles import planted
from tests.doubles.plugged import alone

SIZES = [4096 << doubling for doubling in range(7)]
PLANTED = Path(planted.__file__)
PROSE = families()["prose"]


@pytest.mark.parametrize(
    ("verdict", "law"),
    [
        ("ordinary", lambda n: 300 * n),
        ("hungry", lambda n: 1000 * n),
        ("hungry", lambda n: 90_000 + 1000 * n),
        ("superlinear", lambda n: n * n),
        ("superlinear", lambda n: int(n**1.8) * 40),
        # A buffer that doubles where it must, and one that is a page: nothing to speak of.
        ("ordinary", lambda n: 2 ** (n * 20).bit_length()),
        ("ordinary", lambda n: 4096),
    ],
)
def test_verdicts(verdict, law):
    assert judge_peaks({size: law(size) for size in SIZES}).verdict == verdict


def test_a_square_is_told_with_all_that_an_allocator_does_and_no_allocator_is_called_one():
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(400):
        a_byte, growth, law = rng.uniform(1, 300), rng.choice([1.125, 1.5, 2.0, 4.0]), 0.0
        held, many = rng.choice([0, rng.uniform(0, 64 << 20)]), int(rng.integers(4, 8))

        def peak(size, law=0.0, a_byte=a_byte, growth=growth, held=held):
            needed = a_byte * size + law * size * size
            capacity = 4096 * growth ** math.ceil(math.log(needed / 4096, growth))
            copied = rng.choice([0.0, capacity / growth])  # both buffers, while it grows
            return int(max(0, capacity + copied - held) + rng.uniform(0, 256 << 10))

        assert judge_peaks({n: peak(n) for n in SIZES[:many]}).verdict != "superlinear"
        law, held = rng.uniform(0.02, 1.0), rng.choice([0, rng.uniform(0, 1 << 20)])
        square = {n: int(max(0, 50 * n + law * n * n - held)) for n in SIZES}
        told += judge_peaks(square).verdict == "superlinear"
    assert told > 360, told


class Allocating:
    """The calls of an implementation whose allocator, buffers and cache are known.

    a_byte: what it takes for each byte. returns: whether that goes back to the kernel, rather than
    being used again. caching: what a cache keeps for each byte that was never seen; until it has
    so many bytes.
    """

    def __init__(self, a_byte, *, returns=True, caching=0.0, until=0.0):
        self.a_byte, self.returns = a_byte, returns
        self.caching, self.until = caching, until
        self.pool = self.cached = 0.0

    def call(self, size):
        """What one call takes and keeps."""
        new = max(0.0, self.a_byte * size - self.pool)
        remembered = min(self.caching * size, self.until - self.cached)
        self.cached += remembered
        self.pool += 0.0 if self.returns else new
        return Taken(int(new + remembered), int(remembered + new * (not self.returns)))

    def over(self):
        """Whether it is beyond the limit, by two rounds of each size twice."""
        rounds = [{size: (self.call(size), self.call(size)) for size in SIZES} for _ in range(2)]
        return beyond(judge_memory(rounds).peaks, LIMIT)


@pytest.mark.parametrize("returns", [True, False])
def test_what_is_given_back_counts_as_does_what_is_used_again_and_no_cache_does(returns):
    assert Allocating(1024.0, returns=returns).over() is True
    assert Allocating(60.0, returns=returns).over() is False
    assert Allocating(70.0).over() is True
    rng = np.random.default_rng(1)
    for _ in range(500):
        caching, until = np.exp(rng.uniform(0, 8)), np.exp(rng.uniform(10, 22))
        cache = Allocating(rng.uniform(0, 40), returns=returns, caching=caching, until=until)
        assert cache.over() is not True, vars(cache)


def test_one_size_alone_decides_nothing_and_little_is_nothing():
    assert judge_memory([]).per_byte is None
    assert beyond({4096: 1 << 30}, LIMIT) is None
    assert beyond({4096: float(FLOOR), 8192: float(FLOOR)}, LIMIT) is False
    # A buffer that doubles is twice too long at two of the sizes, say: open, and not accused.
    peaks = {1 << (18 + i): rate * (1 << (18 + i)) for i, rate in enumerate([60.0, 70.0, 70.0])}
    assert beyond(peaks, 64) is None


def test_what_an_answer_takes_is_the_callers():
    small, large = list(range(200)), list(range(1000, 1200))
    assert size_of(large) - size_of(small) == 200 * 32
    assert size_of(np.zeros(1000, dtype=np.int32)) == pytest.approx(4000, abs=200)
    assert size_of(None) < 100


def test_families_are_three_that_a_vocabulary_can_spell():
    every = list(families().values())
    assert [one.name for one in chosen(every)] == ["prose", "letter-run", "byte-fallback"]
    few = [one for one in every if one.name in ("brackets", "prose")]
    assert [one.name for one in chosen(few)] == ["prose", "brackets"]


def test_a_thousand_bytes_for_each_are_seen_and_an_honest_loop_takes_few():
    hungry, honest = (
        alone(f"{PLANTED}:{name}", lambda on: measure_memory(on, PROSE, lambda: False))
        for name in ("Hungry", "Linear")
    )
    assert hungry.memory_per_byte == pytest.approx(1000, rel=0.1)
    assert (hungry.memory_verdict, honest.memory_verdict) == ("hungry", "ordinary")
    assert beyond({int(size): peak for size, peak in hungry.points}, 512) is True
    assert honest.memory_per_byte < 16
    assert (honest.measure, honest.axis) == ("memory", "bytes")


def test_memory_that_stays_is_told_apart_by_the_meter():
    inputs = [bytes(range(97, 123)) * 4000] * 3
    costs = alone(f"{PLANTED}:Keeping", lambda on: on.gauge(inputs, Meter.MEMORY).costs)
    for peak, _, kept in costs[1:].tolist():
        assert peak == pytest.approx(2 << 20, rel=0.3)
        assert kept == pytest.approx(1 << 20, rel=0.3)


def test_a_size_in_words():
    sizes = (1023, 1024, 1536, 64 << 10, 1 << 20, (1 << 20) + 1)
    told = "1023 bytes, 1 KiB, 1536 bytes, 64 KiB, 1 MiB, 1048577 bytes"
    assert ", ".join(map(shown, sizes)) == told


def test_a_peak_is_what_was_taken_and_no_byte_more():
    rounds = [{size: (Taken(3 * size, 0), Taken(3 * size + 5, 0)) for size in (64, 128, 256)}]
    assert judge_memory(rounds).per_byte == 3.0


# What is left behind: leaks are told from caches, pools and allocators, in simulated passes.

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
