"""Batches come in an order that only the seed decides."""

import itertools

import pytest

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

ANY_LENGTH = 1 << 30


def endless(vocabulary, rng):
    while True:
        yield rng.randbytes(rng.randint(0, 40))


def three(vocabulary, rng):
    yield from (b"a", b"b" * 100, b"c")


def letters(vocabulary, rng):
    yield from (b"z", b"ab", b"abz", b"ba")


ENDLESS = FunctionGenerator("endless", "random bytes", endless)
THREE = FunctionGenerator("three", "three inputs", three)
LETTERS = FunctionGenerator("letters", "some that the toy cannot encode", letters)


@pytest.fixture(scope="module")
def whole():
    return sources.resolve("toy_bytes")


def first(vocabulary, seed, count):
    made = batches([ENDLESS, THREE], vocabulary, seed, ANY_LENGTH)
    return list(itertools.islice(made, count))


def test_one_seed_one_order(whole):
    assert first(whole, 7, 6) == first(whole, 7, 6)
    assert first(whole, 7, 6) != first(whole, 8, 6)


def test_rounds_and_sizes(whole):
    made = first(whole, 0, 5)
    assert [batch.generator for batch in made] == ["endless", "three", *["endless"] * 3]
    assert len(made[0].inputs) == FIRST_BATCH_CASES
    for batch in made[2:]:
        total = sum(map(len, batch.inputs))
        assert len(batch.inputs) == BATCH_CASES or total >= BATCH_BYTES
    assert made[2].start == FIRST_BATCH_CASES
    assert made[2].case(3).index == FIRST_BATCH_CASES + 3


def test_batches_of_a_timed_run_are_larger(whole):
    made = list(itertools.islice(batches([ENDLESS], whole, 0, ANY_LENGTH, timed=True), 3))
    limits = [(TIMED_FIRST_CASES, TIMED_FIRST_BYTES), *[(BATCH_CASES, TIMED_BYTES)] * 2]
    for batch, (cases, size) in zip(made, limits, strict=True):
        total = sum(map(len, batch.inputs))
        assert len(batch.inputs) == cases or total >= size > total - len(batch.inputs[-1])
    assert made[1].start == len(made[0].inputs) > FIRST_BATCH_CASES


def test_long_inputs_are_left_out(whole):
    (batch,) = batches([THREE], whole, 0, 50)
    assert batch.inputs == [b"a", b"c"]


def test_what_a_vocabulary_cannot_encode_is_left_out():
    (batch,) = batches([LETTERS], sources.resolve("toy_acbb"), 0, ANY_LENGTH)
    assert batch.inputs == [b"ab", b"ba"]


def test_a_generator_with_nothing_to_encode_ends():
    hopeless = FunctionGenerator("hopeless", "z", lambda v, r: itertools.repeat(b"z"))
    assert list(batches([hopeless], sources.resolve("toy_acbb"), 0, ANY_LENGTH)) == []


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("90s", Budget(seconds=90.0)),
        ("90", Budget(seconds=90.0)),
        ("1.5m", Budget(seconds=90.0)),
        ("8h", Budget(seconds=28_800.0)),
        ("20000cases", Budget(cases=20_000)),
    ],
)
def test_budgets(text, budget):
    assert parse_budget(text) == budget


@pytest.mark.parametrize("text", ["", "soon", "-5s", "0s", "5 parsecs"])
def test_no_budgets(text):
    with pytest.raises(ValueError, match="60s, 5m, 8h"):
        parse_budget(text)


@pytest.mark.parametrize(("name", "large"), [("toy_bytes", 1), ("toy_acbb", 10_000)])
def test_long_runs_come_after_the_first_batch_whatever_the_longest_input(name, large, monkeypatch):
    monkeypatch.setattr(long_runs, "LARGE", large)
    vocabulary = sources.resolve(name)
    some = FunctionGenerator("some", "letters", lambda v, rng: itertools.repeat(b"a"))
    made = list(itertools.islice(batches([some], vocabulary, 0, 100, long=True), 40))
    sure = [batch for batch in made if batch.certain]

    assert [batch.generator for batch in made[: len(sure) + 1]] == [
        "some",
        *["long-runs"] * len(sure),
    ]
    lengths = [len(data) for batch in sure for data in batch.inputs]
    assert len(lengths) == long_runs.certain(vocabulary)
    for size in (1_000, 10_000, 100_000):
        assert any(size <= length <= size + 3 for length in lengths)
    assert any(length >= 900_000 for length in lengths) == (len(vocabulary) >= large)
    assert any(batch.generator == "some" for batch in made[len(sure) + 1 :])
    assert all(
        len(data) < 101 for batch in made if batch.generator == "some" for data in batch.inputs
    )
