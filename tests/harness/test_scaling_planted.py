"""Known truth: planted implementations are named rightly, live, in workers of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.families.catalog import families
from corpora.vocabularies import sources
from harness.core.comparisons import contracts_of
from harness.core.messages import Meter
from harness.engine import selection
from harness.engine.costs import loaded
from harness.engine.suites import SUITES
from harness.events import Measured
from harness.studies.growth.measurement import Measurement
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from tests.harness import planted_growth
from tests.harness.measured_costs import costs

PLANTED = Path(planted_growth.__file__)
TELLING = ("prose", "letter-run", "newlines", "brackets")

SUPERLINEAR = {
    ("planted.n-1.5", "prose"),
    ("planted.quadratic", "prose"),
    ("planted.quadratic", "letter-run"),
    ("planted.on-runs", "letter-run"),
    ("planted.on-newlines", "newlines"),
    ("planted.late", "prose"),
}
HARD = {("planted.n-1.5", "prose"), ("planted.late", "prose")}
"""Of those, what a very busy machine may leave undecided. It is never called linear; that it is
decided on a quieter one is told on simulated noise."""

LINEAR = {
    ("planted.linear", "prose"),
    ("planted.linear", "letter-run"),
    ("planted.n-log-n", "prose"),
    ("planted.on-runs", "prose"),
    ("planted.on-newlines", "letter-run"),
    ("planted.exponential", "letter-run"),
    ("planted.recursive", "letter-run"),
}

FAILING = {
    ("planted.exponential", "brackets"),
    ("planted.recursive", "brackets"),
    ("planted.hungry", "prose"),
}
"""What soars, what dies, and what takes memory."""


def specs() -> list[str]:
    return [f"{PLANTED}:{kind.__name__}" for kind in planted_growth.ALL]


@pytest.fixture(scope="module")
def cells() -> dict[tuple[str, str], Measured]:
    """What is said of each where it can be told, with smoke's largest size, on a few families."""
    vocabulary = sources.resolve("toy_bytes")
    participants, _ = selection.participants(specs())
    contracts = contracts_of(vocabulary, participants, frozenset(), proper=True)
    pool = WorkerPool(participants, Limits())
    said: list[Measured] = []
    try:
        assert pool.load(vocabulary, [c.name for c in participants]) == {}
        largest = SUITES["smoke"].scaling_bytes
        for family in TELLING:
            named = {who for who, where in SUPERLINEAR | LINEAR | FAILING if where == family}
            taken = [contracts[0].among(named)]
            measurement = Measurement(pool, taken, [families()[family]], largest, longest_call=0.06)
            measurement.run(900.0, said.append)  # over when all is decided
    finally:
        pool.close()
    return {(one.implementation, one.family): one for one in said}


def right(cells: dict[tuple[str, str], Measured]) -> None:
    """Fails with what is named wrongly."""
    shown = {cell: (one.verdict, one.exponent, one.note) for cell, one in cells.items()}
    for cell in SUPERLINEAR:
        undecided = {"inconclusive"} if cell in HARD else set()
        assert cells[cell].verdict in {"superlinear"} | undecided, (cell, shown[cell])
    for cell in LINEAR:
        assert cells[cell].verdict == "linear", (cell, shown[cell])
    soaring = cells["planted.exponential", "brackets"]
    assert soaring.verdict in {"superlinear", "failed"}, shown
    assert soaring.law == "exponential" or "timed-out at" in soaring.note, soaring
    overflow = cells["planted.recursive", "brackets"]
    assert overflow.verdict == "failed", overflow
    assert "crashed at" in overflow.note and "SIGSEGV" in overflow.note
    # The kernel's pages are dearer by the megabyte.
    assert cells["planted.hungry", "prose"].verdict != "superlinear"


@pytest.mark.first
@pytest.mark.thorough  # growth by the clock, of many
def test_all_are_named_rightly(cells: dict[tuple[str, str], Measured]) -> None:
    right(cells)


@pytest.mark.first
@pytest.mark.thorough  # growth by the clock, of many
def test_what_an_event_has(cells: dict[tuple[str, str], Measured]) -> None:
    linear = cells["planted.linear", "letter-run"]
    assert eval(linear.expression, {"n": 3}) in (b"aaa", b"eee")
    assert "n" in linear.laws and linear.rounds >= 3
    assert linear.low is not None and linear.high is not None and linear.constant is not None
    # Of one run on a busy machine: how often it holds the truth is told on simulated noise.
    assert linear.exponent is not None
    assert linear.low <= linear.exponent <= linear.high
    assert linear.constant_low is not None and linear.constant_high is not None
    assert linear.constant_low <= linear.constant <= linear.constant_high
    assert 0.5 < linear.constant < 500  # nanoseconds a byte
    assert linear.overhead is not None and 0 <= linear.overhead < 0.01
    assert [size for size, _ in linear.cached] == [linear.points[-1][0]]
    assert Measured.from_json(linear.to_json()) == linear


def test_deaths_are_values_and_pinned() -> None:
    (participant,), _ = selection.participants([f"{PLANTED}:Recursive"])
    vocabulary = sources.resolve("toy_bytes")
    with loaded(participant, vocabulary) as on:
        deep, flat = b"[" * 500_000, b"]" * 500_000
        found = costs(on, [lambda _: flat[:1000], lambda _: deep, lambda _: flat], rounds=2)
        assert [cost.failed for cost in found.of] == [False, True, False]
        assert found.of[1].outcome is not None and found.of[1].spent is None
        assert all(found.of[i].spent is not None for i in (0, 2))
        stacks = costs(on, [lambda _: b"[" * 2000], Meter.MEMORY, rounds=1)
        assert stacks.of[0].stack is not None and stacks.of[0].stack > 2000 * 64


def test_memory_and_steps() -> None:
    vocabulary = sources.resolve("toy_bytes")
    (hungry,), _ = selection.participants([f"{PLANTED}:Hungry"])
    with loaded(hungry, vocabulary) as on:
        size = 100_000
        found = costs(on, [lambda _: b"a" * size], Meter.MEMORY, rounds=1)
        assert found.of[0].peak == pytest.approx(1000 * size, rel=0.1)
    (heap,), _ = selection.participants(["bpe.heap"])
    with loaded(heap, vocabulary) as on:
        sizes = (500, 1000, 2000)
        subjects = [lambda _, n=n: b"ab" * n for n in sizes]  # type: ignore[misc]
        once, again = (costs(on, subjects, Meter.STEPS, rounds=1) for _ in range(2))
        assert once == again
        spent = [cost.spent or 0 for cost in once.of]
        assert spent[0] > 2 * sizes[0]
        assert spent[2] / spent[1] == pytest.approx(2.0, rel=0.1)
        # And compiled as before.
        assert all(cost.outcome is None for cost in costs(on, subjects).of)
