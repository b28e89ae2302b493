"""Batches come in an order that only the seed decides."""

from itertools import islice, repeat, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.generators import long_runs
from corpora.generators.base import FunctionGenerator
from corpora.vocabularies import sources
from harness.engine.streams import (
    BATCH_BYTES,
    BATCH_CASES,
    FIRST_BATCH_CASES,
    TIMED_BYTES,
    TIMED_FIRST_BYTES,
    TIMED_FIRST_CASES,
    batches,
)
from harness.engine.suites import Budget, parse_budget
from impls.interface import Mode

TOY = sources.resolve("toy_bytes")
ANY_LENGTH = 1 << 30


def endless(name, size):
    def cases(vocabulary, rng):
        while True:
            yield rng.randbytes(size(rng))

    return FunctionGenerator(name, "random bytes", cases)


GENERATORS = [
    endless("small", lambda rng: rng.randint(0, 40)),
    endless("even", lambda rng: rng.choice((64, 4096))),  # which comes to a limit exactly
    FunctionGenerator("three", "", lambda *_: iter((b"a", b"b" * 2000, b"c"))),
]


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 99),
    longest=st.sampled_from([1000, ANY_LENGTH]),
    timed=st.booleans(),
    most=st.sampled_from([100, BATCH_CASES]),
)
def test_batches_are_the_cases_of_each_generator_in_turns(seed, longest, timed, most):
    def made(seed):
        every = batches(GENERATORS, TOY, seed, longest, timed=timed, most=most)
        return list(islice(every, 8))

    mine = made(seed)
    assert mine == made(seed) != made(seed + 1)
    one, other, three = (generator.name for generator in GENERATORS)
    assert [batch.generator for batch in mine] == [one, other, three, *[one, other] * 2, one]
    first = (TIMED_FIRST_CASES, TIMED_FIRST_BYTES) if timed else (FIRST_BATCH_CASES, BATCH_BYTES)
    for generator in GENERATORS:
        start = 0
        cases = (data for data in generator.cases(TOY, seed) if len(data) <= longest)
        its = [batch for batch in mine if batch.generator == generator.name]
        for number, batch in enumerate(its):
            count, size = len(batch.inputs), sum(map(len, batch.inputs))
            assert batch.inputs == list(islice(cases, count))
            assert (batch.seed, batch.number, batch.start) == (seed, number, start)
            start += count
            assert batch.case(count - 1).index == start - 1
            limits = (BATCH_CASES, TIMED_BYTES if timed else BATCH_BYTES) if number else first
            full = count == min(limits[0], most) or size >= limits[1]
            assert full or generator.name == "three"
            assert count <= min(limits[0], most) and size - len(batch.inputs[-1]) < limits[1]


@pytest.mark.parametrize(
    ("cases", "kept"),
    [((b"z", b"ab", b"abz", b"ba"), [[b"ab", b"ba"]]), (repeat(b"z"), [])],
    ids=["some", "endless"],
)
def test_what_a_vocabulary_cannot_encode_is_left_out(cases, kept):
    made = FunctionGenerator("letters", "", lambda *_: cases)
    found = batches([made], sources.resolve("toy_acbb"), 0, ANY_LENGTH)
    assert [batch.inputs for batch in found] == kept


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("90s", Budget(seconds=90.0)),
        ("90", Budget(seconds=90.0)),
        ("1.5m", Budget(seconds=90.0)),
        ("8h", Budget(seconds=28_800.0)),
        ("20000cases", Budget(cases=20_000)),
        *((wrong, None) for wrong in ("", "soon", "-5s", "0s", "5 parsecs")),
    ],
)
def test_budgets(text, budget):
    if budget is None:
        with pytest.raises(ValueError, match="60s, 5m, 8h"):
            parse_budget(text)
    else:
        assert parse_budget(text) == budget


@pytest.mark.parametrize(("name", "large"), [("toy_bytes", 1), ("toy_acbb", 10_000)])
def test_long_runs_come_after_the_first_batch_whatever_the_longest_input(name, large, monkeypatch):
    monkeypatch.setattr(long_runs, "LARGE", large)
    vocabulary = sources.resolve(name)
    some = FunctionGenerator("some", "letters", lambda *_: repeat(b"a"))
    first, *made = islice(batches([some], vocabulary, 0, 100, long=True), 60)
    sure = [*takewhile(lambda batch: batch.generator != "some", made)]

    assert first.generator == "some"
    cut = [batch for batch in made if batch.generator == "cells"]
    assert {batch.generator for batch in sure} <= {"long-runs", "cells"}
    assert all(batch.certain for batch in [*sure, *cut])
    assert bool(cut) == (vocabulary.byte_alphabet is None) == any(one in sure for one in cut)
    assert all(batch.mode == Mode() and len(batch.inputs) == 1 for batch in cut)
    lengths = [len(data) for batch in sure if batch not in cut for data in batch.inputs]
    assert len(lengths) == long_runs.certain(vocabulary)
    for size in (1_000, 10_000, 100_000):
        assert any(size <= length <= size + 3 for length in lengths)
    assert any(length >= 900_000 for length in lengths) == (len(vocabulary) >= large)
    assert any(batch.generator == "some" for batch in made[len(sure) :])
