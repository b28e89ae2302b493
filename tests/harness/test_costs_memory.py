"""Memory as a cost: the judgement, on simulated allocators, and a measurement of what is known."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from corpora.families.catalog import families
from corpora.vocabularies import sources
from harness.core.messages import Meter
from harness.engine import selection
from harness.engine.costs import loaded
from harness.studies.costs.memory import chosen, measure_memory
from harness.verdict.memory import (
    FLOOR,
    LIMIT,
    Taken,
    beyond,
    judge_memory,
    judge_peaks,
)
from harness.workers.meters import size_of
from tests.harness import planted

SIZES = [4096 << doubling for doubling in range(7)]
PLANTED = Path(planted.__file__)


def judged(law):
    return judge_peaks({size: int(law(size)) for size in SIZES}).verdict


def test_verdicts():
    assert judged(lambda n: 300 * n) == "ordinary"
    assert judged(lambda n: 1000 * n) == "hungry"
    assert judged(lambda n: 90_000 + 1000 * n) == "hungry"
    assert judged(lambda n: n * n) == "superlinear"
    # A buffer that doubles where it must, and one that is a page: nothing to speak of.
    assert judged(lambda n: 2 ** (n * 20).bit_length()) == "ordinary"
    assert judged(lambda n: 4096) == "ordinary"
    assert judged(lambda n: int(n**1.8) * 40) == "superlinear"
    assert judge_memory([]).per_byte is None


def test_no_allocator_is_accused_of_a_square():
    rng = np.random.default_rng(0)
    verdicts = Counter()
    for _ in range(4000):
        a_byte, growth = rng.uniform(1, 300), rng.choice([1.125, 1.5, 2.0, 4.0])
        held = rng.choice([0, rng.uniform(0, 64 << 20)])
        peaks = {}
        for size in SIZES[: rng.integers(4, 8)]:
            needed = a_byte * size
            capacity = 4096 * growth ** np.ceil(np.log(needed / 4096) / np.log(growth))
            copied = rng.choice([0.0, capacity / growth])  # both buffers, while it grows
            peaks[size] = int(max(0, capacity + copied - held) + rng.uniform(0, 256 << 10))
        verdicts[judge_peaks(peaks).verdict] += 1
    assert verdicts["superlinear"] == 0, verdicts


def test_a_square_is_told_with_all_that_an_allocator_does():
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(500):
        held, law = rng.choice([0, rng.uniform(0, 1 << 20)]), rng.uniform(0.02, 1.0)
        peaks = {n: int(max(0, 50 * n + law * n * n - held)) for n in SIZES}
        told += judge_peaks(peaks).verdict == "superlinear"
    assert told > 450, told


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
        needed = self.a_byte * size
        new = max(0.0, needed - self.pool)
        remembered = min(self.caching * size, self.until - self.cached)
        self.cached += remembered
        if self.returns:
            return Taken(int(new + remembered), int(remembered))
        self.pool += new
        return Taken(int(new + remembered), int(new + remembered))

    def round(self):
        """Each size twice."""
        return {size: (self.call(size), self.call(size)) for size in SIZES}


def over(one, limit=LIMIT):
    return beyond(judge_memory([one.round(), one.round()]).peaks, limit)


@pytest.mark.parametrize("returns", [True, False])
def test_what_is_given_back_counts_as_does_what_is_used_again(returns):
    assert over(Allocating(1024.0, returns=returns)) is True
    assert over(Allocating(60.0, returns=returns)) is False
    assert over(Allocating(70.0)) is True


def test_caches_of_any_size_are_accused_in_none_of_many():
    rng = np.random.default_rng(1)
    for _ in range(3000):
        cache = Allocating(
            rng.uniform(0, 40),
            returns=bool(rng.integers(2)),
            caching=float(np.exp(rng.uniform(0, 8))),
            until=float(np.exp(rng.uniform(10, 22))),
        )
        assert over(cache) is not True, vars(cache)


def test_one_size_alone_decides_nothing_and_little_is_nothing():
    assert beyond({4096: 1 << 30}, LIMIT) is None
    assert beyond({4096: float(FLOOR), 8192: float(FLOOR)}, LIMIT) is False
    # A buffer that doubles is twice too long at two of the sizes, say: open, and not accused.
    rates = [60.0, 70.0, 70.0]
    assert (
        beyond({1 << (18 + i): rate * (1 << (18 + i)) for i, rate in enumerate(rates)}, 64) is None
    )


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
    vocabulary = sources.resolve("toy_bytes")
    told = {}
    for spec in (f"{PLANTED}:Hungry", f"{PLANTED}:Linear"):
        (one,), _ = selection.participants([spec])
        with loaded(one, vocabulary) as on:
            said = measure_memory(on, families()["prose"], lambda: False)
        told[one.name] = said
    hungry, honest = told["hungry"], told["linear"]
    assert hungry.memory_per_byte == pytest.approx(1000, rel=0.1)
    assert (hungry.memory_verdict, honest.memory_verdict) == ("hungry", "ordinary")
    assert beyond({int(size): peak for size, peak in hungry.points}, 512) is True
    assert honest.memory_per_byte is not None and honest.memory_per_byte < 16
    assert (honest.measure, honest.axis) == ("memory", "bytes")


def test_memory_that_stays_is_told_apart_by_the_meter():
    vocabulary = sources.resolve("toy_bytes")
    (one,), _ = selection.participants([f"{PLANTED}:Keeping"])
    with loaded(one, vocabulary) as on:
        rows = gauged(on, [bytes(range(97, 123)) * 4000] * 3)
    for peak, kept in rows[1:]:
        assert peak == pytest.approx(2 << 20, rel=0.3)
        assert kept == pytest.approx(1 << 20, rel=0.3)


def gauged(on, inputs):
    """Peak and what stays, of each input."""
    costs = on.gauge(inputs, Meter.MEMORY).costs
    return [(int(row[0]), int(row[2])) for row in costs]
