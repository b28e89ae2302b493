"""Costs along other axes: the judgement on simulated costs, and what each axis asks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from corpora.families.catalog import families
from corpora.vocabularies import sources
from corpora.vocabularies.drawn.sized import of_size
from corpora.vocabularies.model import Algorithm
from harness.engine import selection
from harness.engine.costs import Loaded, loaded
from harness.studies.costs import axes
from harness.studies.costs.axes import AXES, SIZES, measure_axis
from harness.studies.growth.cell import LAST_LOOK, PROOFS, Axis
from harness.studies.growth.study import answering
from harness.verdict.bounds import judge_growth
from harness.verdict.exponents import LEAST_POINTS
from harness.workers import Limits
from tests.harness.growth_pools import contract, participant
from tests.harness.plugged import live

MUTANTS = "harness.studies.selftest.catalog"
RIGHT = "harness.studies.selftest.plain.growing:PlainGrowing"
PROVED_AFTER = {rounds for _, rounds, _ in PROOFS}
"""Rounds after which a square is sure that nothing disturbs."""


def never():
    return False


def measured(
    law,
    noise=lambda: 1.0,
    stopped=never,
):
    """What is said of a cost in nanoseconds."""

    def ask(asked, turn):
        return [int(law(size) * noise()) for size in asked]

    said = said_of(ask, stopped)
    return said


def said_of(ask, stopped=never):
    taking = contract([participant("mine")])
    on = Loaded(None, taking.participants[0], taking)
    return measure_axis(Axis("calls", "batch", SIZES, ask), on, families()["prose"], stopped)


def busy(seed):
    """Noise of a machine on which others work: mostly a little, now and then several times."""
    rng = np.random.default_rng(seed)
    return lambda: float(1 + rng.exponential(0.1) + (rng.random() < 0.2) * rng.exponential(2.0))


LINEAR: list[Callable[[int], float]] = [
    lambda n: 20_000 + 500 * n,
    lambda n: 3_000 + 1_000 * n,
    lambda n: 100 * n * np.log(n),
    lambda n: 900_000 + 200 * n,
    lambda n: 50_000.0,
    # A table that no longer fits a cache: a step in the cost of each.
    lambda n: 300 * n * (1.0 if n < 500 else 1.8),
]

SQUARES: list[Callable[[int], float]] = [
    lambda n: 10_000 + 100 * n + 20 * n * n,
    lambda n: 2_000 + 7 * n * n,
    lambda n: 20_000 + 500 * n + 100 * n * n,
]


@pytest.mark.parametrize("law", LINEAR)
def test_linear_costs_are_accused_on_no_busy_machine(law):
    for seed in range(60):
        assert measured(law, busy(seed)).verdict != "superlinear"
    assert measured(law).rounds == 3


@pytest.mark.parametrize("law", SQUARES)
def test_squares_are_told_on_busy_machines_as_well(law):
    assert measured(law).verdict == "superlinear"
    assert measured(law).rounds in PROVED_AFTER
    told = [measured(law, busy(seed)).verdict for seed in range(40)]
    assert told.count("superlinear") >= 36
    assert "linear" not in told


def test_what_looks_superlinear_when_time_is_up_is_looked_at_until_it_is_sure():
    said = measured(SQUARES[0], stopped=lambda: True)
    assert said.verdict == "superlinear" and said.rounds in PROVED_AFTER
    assert measured(LINEAR[0], stopped=lambda: True).rounds == 3


def test_a_square_that_is_not_answered_to_the_end_is_open():
    def ask(asked, turn):
        return None if turn == 2 else [int(SQUARES[0](size)) for size in asked]

    said = said_of(ask)
    assert (said.verdict, said.rounds) == ("inconclusive", 3)


def test_what_is_slow_has_fewer_sizes_and_enough_of_them_to_be_judged():
    said = measured(lambda n: 5e3 * n * n)
    assert len(said.points) >= LEAST_POINTS
    assert said.verdict == "superlinear"
    few = measured(lambda n: 5e6 * n)  # each call beyond what is allowed
    assert len(few.points) < LEAST_POINTS
    assert few.verdict == "inconclusive"
    assert few.rounds < LAST_LOOK


def test_who_does_not_answer_has_no_row():
    assert said_of(lambda sizes, turn: None) is None


def test_a_row_is_judged_by_the_bound_of_the_candidate():
    linear, square = measured(LINEAR[0]), measured(SQUARES[0])
    assert [one.outcome for one in judge_growth([linear], [], (), {"mine"})] == ["pass"]
    (one,) = judge_growth([square], [], (), {"mine"})
    assert (one.outcome, one.family, one.bound) == ("fail", "batch", "n log n")
    assert one.line.endswith(", where n is the number of calls")


def rows(spec, vocabulary="toy_bytes"):
    """What is measured of an implementation, by row."""
    found, family = {}, families()["prose"]
    with live([spec], vocabulary) as (pool, contracts):
        known, one = contracts[0].vocabulary, contracts[0].participants[0]
        on = answering(pool, one, contracts, family.make(known, 256, 0))
        for name, row, asking in AXES:
            ask = asking(on, contracts, family)
            said = ask and measure_axis(Axis(name, row, SIZES, ask), on, family, never)
            found |= {row: said} if said is not None else {}
    return found


def test_what_is_right_is_linear_along_each_axis_that_it_has():
    found = rows(RIGHT, "tekken_240911")
    assert {row: one.verdict for row, one in found.items()} == {
        "special-tokens": "linear",
        "batch": "linear",
        "decoding": "linear",
    }
    assert [found[row].axis for row in found] == ["special tokens", "calls", "ids"]


def test_ids_that_are_decoded_one_by_one_have_a_row():
    assert rows("tiktoken")["streaming"].verdict == "linear"


@pytest.mark.parametrize(
    ("name", "row"), [("square-in-batch", "batch"), ("square-in-decoding", "decoding")]
)
def test_each_square_shows_on_its_own_axis(name, row):
    found = rows(f"{MUTANTS}:growth.{name}")
    assert [one for one, said in found.items() if said.verdict == "superlinear"] == [row]


def loading(spec):
    (one,), _ = selection.participants([spec])
    with (
        loaded(one, sources.resolve("toy_bytes")) as on,
        axes.loading(on, Limits(), never) as axis,
    ):
        said = measure_axis(axis, on, families()["prose"], never, axes.LOAD_LIMIT)
    return said


def test_a_square_in_loading_is_told_by_the_cost_of_the_load_alone(
    monkeypatch,
):
    monkeypatch.setattr(axes, "LOADED", (1000, 16_000))
    said = loading(f"{MUTANTS}:growth.square-in-loading")
    assert (said.verdict, said.family, said.axis) == ("superlinear", "loading", "tokens")
    assert loading(RIGHT).verdict != "superlinear"


@pytest.mark.parametrize("algorithm", [Algorithm.BPE, Algorithm.UNIGRAM, Algorithm.WORDPIECE])
def test_random_vocabularies_have_their_size_and_are_the_same_each_time(
    algorithm,
):
    one, again = of_size(algorithm, 1500), of_size(algorithm, 1500)
    assert len(one) == 1500
    assert one.fingerprint == again.fingerprint
    texts = [token for token in one.tokens if token is not None]
    assert len(set(texts)) == len(texts)
    assert of_size("wordlevel", 1500) is None
