"""Costs along other axes: the judgement on simulated costs, and what each axis asks."""

import numpy as np
import pytest

from corpora.families.catalog import families
from corpora.vocabularies.drawn.sized import of_size
from corpora.vocabularies.model import Algorithm
from harness.engine.costs import Loaded
from harness.studies.costs import axes
from harness.studies.costs.axes import AXES, SIZES, measure_axis
from harness.studies.growth.cell import LAST_LOOK, PROOFS, Axis
from harness.studies.growth.study import answering
from harness.verdict.bounds import judge_growth
from harness.verdict.exponents import LEAST_POINTS
from harness.workers import Limits
from tests.breadth import thorough_from
from tests.doubles.growth_pools import contract, participant
from tests.doubles.plugged import alone, live

MUTANTS = "harness.studies.selftest.catalog"
RIGHT = "harness.studies.selftest.plain.growing:PlainGrowing"
PROVED_AFTER = {rounds for _, rounds, _ in PROOFS}
"""Rounds after which a square is sure that nothing disturbs."""
PROSE = families()["prose"]


def measured(law, noise=lambda: 1.0, stopped=False, silent=()):
    """What is said of a cost in nanoseconds. silent: turns in which there is no answer."""

    def ask(asked, turn):
        return None if turn in silent else [int(law(size) * noise()) for size in asked]

    taking = contract([participant("mine")])
    on = Loaded(None, taking.participants[0], taking)
    return measure_axis(Axis("calls", "batch", SIZES, ask), on, PROSE, lambda: stopped)


def busy(seed):
    """Noise of a machine on which others work: mostly a little, now and then several times."""
    rng = np.random.default_rng(seed)
    return lambda: float(1 + rng.exponential(0.1) + (rng.random() < 0.2) * rng.exponential(2.0))


LINEAR = [
    lambda n: 20_000 + 500 * n,
    lambda n: 3_000 + 1_000 * n,
    lambda n: 100 * n * np.log(n),
    lambda n: 900_000 + 200 * n,
    lambda n: 50_000.0,
    # A table that no longer fits a cache: a step in the cost of each.
    lambda n: 300 * n * (1.0 if n < 500 else 1.8),
]
SQUARES = [
    lambda n: 10_000 + 100 * n + 20 * n * n,
    lambda n: 2_000 + 7 * n * n,
    lambda n: 20_000 + 500 * n + 100 * n * n,
]


@pytest.mark.parametrize("law", LINEAR)
def test_linear_costs_are_accused_on_no_busy_machine(law):
    for seed in range(60):
        assert measured(law, busy(seed)).verdict != "superlinear"
    assert measured(law).rounds == measured(law, stopped=True).rounds == 3
    assert [one.outcome for one in judge_growth([measured(law)], [], (), {"mine"})] == ["pass"]


@pytest.mark.parametrize("law", SQUARES)
def test_squares_are_told_on_busy_machines_as_well(law):
    # What looks superlinear when time is up is looked at until it is sure.
    for said in (measured(law), measured(law, stopped=True)):
        assert said.verdict == "superlinear" and said.rounds in PROVED_AFTER
    told = [measured(law, busy(seed)).verdict for seed in range(40)]
    assert told.count("superlinear") >= 36
    assert "linear" not in told
    (one,) = judge_growth([said], [], (), {"mine"})
    assert (one.outcome, one.family, one.bound) == ("fail", "batch", "n log n")
    assert one.line.endswith(", where n is the number of calls")


def test_who_does_not_answer_has_no_row_and_a_square_not_answered_to_the_end_is_open():
    assert measured(SQUARES[0], silent=range(99)) is None
    said = measured(SQUARES[0], silent=[2])
    assert (said.verdict, said.rounds) == ("inconclusive", 3)


def test_what_is_slow_has_fewer_sizes_and_enough_of_them_to_be_judged():
    said = measured(lambda n: 5e3 * n * n)
    assert len(said.points) >= LEAST_POINTS
    assert said.verdict == "superlinear"
    few = measured(lambda n: 5e6 * n)  # each call beyond what is allowed
    assert len(few.points) < LEAST_POINTS
    assert (few.verdict, few.rounds < LAST_LOOK) == ("inconclusive", True)


ROWS = [
    ("tiktoken", "toy_bytes", {"streaming": "linear"}),
    (RIGHT, "tekken_240911", {"special-tokens": "linear", "batch": "linear", "decoding": "linear"}),
    (f"{MUTANTS}:growth.square-in-batch", "toy_bytes", {"batch": "superlinear"}),
    (f"{MUTANTS}:growth.square-in-decoding", "toy_bytes", {"decoding": "superlinear"}),
    (f"{MUTANTS}:growth.square-in-streams", "toy_bytes", {"streaming-bytes": "superlinear"}),
]


@pytest.mark.parametrize(("spec", "vocabulary", "told"), thorough_from(1, ROWS))
def test_each_square_shows_on_its_own_axis_and_what_is_right_is_linear(spec, vocabulary, told):
    found = {}
    with live([spec], vocabulary) as (pool, contracts):
        known, one = contracts[0].vocabulary, contracts[0].participants[0]
        on = answering(pool, one, contracts, PROSE.make(known, 256, 0))
        for name, row, asking in AXES:
            ask = asking(on, contracts, PROSE)
            said = ask and measure_axis(Axis(name, row, SIZES, ask), on, PROSE, lambda: False)
            found |= {row: said.verdict} if said is not None else {}
            assert said is None or said.axis == name
    assert found | told == found
    assert {row for row, one in found.items() if one == "superlinear"} <= {*told}


@pytest.mark.parametrize(
    ("spec", "superlinear"),
    thorough_from(0, [(f"{MUTANTS}:growth.square-in-loading", True), (RIGHT, False)]),
)
def test_a_square_in_loading_is_told_by_the_cost_of_the_load_alone(spec, superlinear, monkeypatch):
    monkeypatch.setattr(axes, "LOADED", (1000, 16_000))

    def measure(on):
        with axes.loading(on, Limits(), lambda: False) as axis:
            return measure_axis(axis, on, PROSE, lambda: False, axes.LOAD_LIMIT)

    said = alone(spec, measure)
    assert (said.verdict == "superlinear") == superlinear
    assert (said.family, said.axis) == ("loading", "tokens")


@pytest.mark.parametrize("algorithm", [Algorithm.BPE, Algorithm.UNIGRAM, Algorithm.WORDPIECE])
def test_random_vocabularies_have_their_size_and_are_the_same_each_time(algorithm):
    one, again = of_size(algorithm, 1500), of_size(algorithm, 1500)
    assert len(one) == 1500
    assert one.fingerprint == again.fingerprint
    texts = [token for token in one.tokens if token is not None]
    assert len(set(texts)) == len(texts)
    assert of_size("wordlevel", 1500) is None
