"""What the services cost beside one encoding: o200k, the text as one piece where not said.

Run with ``make bench``. Nothing here passes or fails by speed; each group sets a service beside
what it is measured against. What is measured is right, too: each row asserts its answer.
"""

import random
import time

import numpy as np
import pytest

from corpora.vocabularies import sources
from impls import registry
from impls.interface import Mode
from tests.data import data_path

MB = 1_000_000
RAW = Mode(pretokenize=False)
TEXT = Mode()
RANGES = 1000


@pytest.fixture(scope="module")
def encoder():
    vocabulary = sources.resolve(
        str(data_path("vocabs/o200k_base.tiktoken.gz")) + "#pattern=o200k_base"
    )
    loaded = registry.resolve("bpe.backtracking").load(vocabulary)
    return loaded


@pytest.fixture(scope="module")
def text():
    """Ten megabytes of words, punctuation and numbers."""
    rng = random.Random(10)
    words = [
        "".join(rng.choices("etaoinshrdlucmfwypvbgkjqxz", k=rng.randint(1, 10)))
        for _ in range(20_000)
    ]
    ends = (" ", " ", " ", " ", ", ", ". ", "\n", "(", " 12")
    made = "".join(rng.choice(words) + rng.choice(ends) for _ in range(1_600_000)).encode()
    return made[: 10 * MB]


@pytest.mark.parametrize("way", ["encode", "append", "append byte by byte", "prepend"])
def test_growing_by_a_megabyte(benchmark, encoder, text, way):
    """Counts after each byte, in one call or in a call a byte, beside one encoding."""
    data = text[:MB]
    total = encoder.count(data, RAW)

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

    assert run() == total  # warm: compiled, tables made
    benchmark.group = "1 MB that grows"
    assert benchmark.pedantic(run, rounds=5, iterations=1) == total


@pytest.mark.parametrize("size", [1000, MB])
def test_rollback(benchmark, encoder, text, size):
    """There and back: the cost must not follow the size."""
    growing = encoder.appender()
    growing.extend(text[: size // 2])
    middle = growing.snapshot()
    growing.extend(text[size // 2 : size])

    def set_up():
        growing.rollback(middle)
        growing.extend(text[size // 2 : size])
        growing.rollback(len(growing))  # what the extension drove out of the caches comes back
        return (middle,), {}

    benchmark.group = "rollback"
    benchmark.pedantic(growing.rollback, setup=set_up, rounds=50)

    # What is back in the middle stands as one that never went further, and goes on as it would.
    assert (len(growing), growing.count) == (size // 2, encoder.count(text[: size // 2], RAW))
    growing.extend(text[size // 2 : size])
    assert growing.count == encoder.count(text[:size], RAW)


def drawn(size):
    """Ranges of any length."""
    rng = np.random.default_rng(5)
    return np.sort(rng.integers(0, size + 1, (RANGES, 2)), axis=1)


def test_a_thousand_intervals_of_ten_megabytes(benchmark, encoder, text):
    """Counting after preparation; the latter's seconds stand beside it."""
    encoder.intervals(text[:1000])
    start = time.perf_counter()
    intervals = encoder.intervals(text)
    benchmark.extra_info["seconds of preparation"] = round(time.perf_counter() - start, 2)
    ranges = drawn(len(text))
    benchmark.group = "1,000 random ranges of 10 MB"
    counts = benchmark.pedantic(intervals.counts, args=(ranges,), rounds=50, warmup_rounds=1)

    assert len(counts) == len(ranges)
    for (a, b), count in zip(ranges[:5].tolist(), counts[:5], strict=True):
        assert count == encoder.count(text[a:b], RAW)


@pytest.mark.parametrize("mode", [RAW, TEXT], ids=["one piece", "pre-tokenized"])
@pytest.mark.parametrize("size", [12_000, 100 * MB])
def test_count_till_a_hundred(benchmark, encoder, text, size, mode):
    """Of 12 kB, which might have a hundred tokens, the beginning is read; of 100 MB nothing."""
    data = (text * 10)[:size]
    till = encoder.count_till_limit
    start = data[:12_000]
    assert till(start, len(start), mode) == encoder.count(start, mode)
    benchmark.group = "count_till_limit(100)"
    assert benchmark.pedantic(till, args=(data, 100, mode), rounds=50) is None
