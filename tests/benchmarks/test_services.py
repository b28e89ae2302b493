"""What the services cost beside one encoding: o200k, the text as one piece where not said.

Run with ``make bench``. Nothing here passes or fails by speed; each group sets a service beside
what it is measured against. That services are right is held elsewhere
(``tests/properties/impls/test_bpe_services.py``).
"""

import time

import numpy as np
import pytest

from impls import registry
from impls.interface import Mode
from tests.benchmarks.inputs import o200k, text_of

MB = 1_000_000
RAW = Mode(pretokenize=False)
TEXT = Mode()
RANGES = 1000


@pytest.fixture(scope="module")
def encoder():
    return registry.resolve("bpe.backtracking").load(o200k())


@pytest.fixture(scope="module")
def text():
    """Ten megabytes."""
    return text_of(10 * MB)


@pytest.mark.parametrize("way", ["encode", "append", "append byte by byte", "prepend"])
def test_growing_by_a_megabyte(benchmark, encoder, text, way):
    """Counts after each byte, in one call or in a call a byte, beside one encoding."""
    data = text[:MB]

    def run():
        if way == "encode":
            return encoder.count(data, RAW)
        growing = encoder.prepender() if way == "prepend" else encoder.appender()
        if way == "append byte by byte":
            for byte in data:
                growing.push(byte)
        else:
            growing.extend(data)
        return growing.count

    benchmark.group = "1 MB that grows"
    benchmark.pedantic(run, rounds=5, iterations=1, warmup_rounds=1)


@pytest.mark.parametrize("size", [1000, MB])
def test_rollback(benchmark, encoder, text, size):
    """There and back: the cost must not follow the size."""
    growing = encoder.appender()
    growing.extend(text[: size // 2])
    middle = growing.snapshot()

    def set_up():
        growing.rollback(middle)
        growing.extend(text[size // 2 : size])
        growing.rollback(len(growing))  # what the extension drove out of the caches comes back
        return (middle,), {}

    benchmark.group = "rollback"
    benchmark.pedantic(growing.rollback, setup=set_up, rounds=50)


def test_a_thousand_intervals_of_ten_megabytes(benchmark, encoder, text):
    """Counting after preparation; the latter's seconds stand beside it."""
    encoder.intervals(text[:1000])
    start = time.perf_counter()
    intervals = encoder.intervals(text)
    benchmark.extra_info["seconds of preparation"] = round(time.perf_counter() - start, 2)
    drawn = np.random.default_rng(5).integers(0, len(text) + 1, (RANGES, 2))
    benchmark.group = "1,000 random ranges of 10 MB"
    ranges = np.sort(drawn, axis=1)
    benchmark.pedantic(intervals.counts, args=(ranges,), rounds=50, warmup_rounds=1)


@pytest.mark.parametrize("mode", [RAW, TEXT], ids=["one piece", "pre-tokenized"])
@pytest.mark.parametrize("size", [12_000, 100 * MB])
def test_count_till_a_hundred(benchmark, encoder, text, size, mode):
    """Of 12 kB, which might have a hundred tokens, the beginning is read; of 100 MB nothing."""
    data = (text * 10)[:size]
    benchmark.group = "count_till_limit(100)"
    benchmark.pedantic(encoder.count_till_limit, args=(data, 100, mode), rounds=50, warmup_rounds=1)
