"""Bounds on growth: how they are written, which one counts, and what keeps or breaks one."""

from dataclasses import replace

import pytest

from harness.core.participants import Participant
from harness.events import Measured
from harness.verdict import expectations
from harness.verdict.bounds import (
    Bound,
    judge_growth,
    load,
    outcome_of,
    own_candidates,
)
from harness.verdict.expectations import ExpectationsError
from impls import registry
from tests.doubles import planted

CELL = Measured("mine", "v", "letter-run", 1.0, 0.9, 1.1, "linear", [])


def cell(exponent, low, high, verdict, measure="time"):
    points = [[float(256 << i), 1e-5 * 2 ** (exponent * i)] for i in range(8)]
    how = {"verdict": verdict, "measure": measure, "note": "why", "points": points}
    return replace(CELL, exponent=exponent, low=low, high=high, **how)


SQUARE = cell(2.0, 1.9, 2.1, "superlinear")
CACHED = replace(cell(1.9, 1.8, 2.0, "superlinear"), points=SQUARE.points[:4])
UNKNOWN = replace(CELL, exponent=None, low=None, high=None, verdict="inconclusive")
DIED = replace(CELL, verdict="failed", note="crashed at 2 KiB")


@pytest.mark.parametrize(
    ("measured", "bound", "outcome"),
    [
        (CELL, "linear", "pass"),
        (CELL, "cubic", "pass"),
        (SQUARE, "n^1.5", "fail"),
        (SQUARE, "quadratic", "pass"),
        (cell(1.5, 1.4, 1.6, "superlinear"), "n^1.5", "pass"),
        (cell(1.5, 1.4, 1.6, "superlinear"), "linear", "fail"),
        # The caches may have made a cost of n^1.5 look like this, over so few sizes.
        (CACHED, "n^1.5", "inconclusive"),
        # An interval on both sides, or no interval at all.
        (cell(1.3, 1.1, 1.5, "inconclusive"), "linear", "inconclusive"),
        (cell(2.2, 1.9, 2.5, "superlinear"), "quadratic", "inconclusive"),
        # Not called superlinear, as caches may explain it.
        (cell(1.5, 1.4, 1.6, "inconclusive"), "linear", "inconclusive"),
        (UNKNOWN, "linear", "inconclusive"),
        # It died: nothing is within a bound.
        (DIED, "cubic", "fail"),
        # Steps are exact, so that n log n is told from n.
        (cell(1.15, 1.14, 1.16, "linear", "steps"), "linear", "fail"),
        (cell(1.15, 1.14, 1.16, "linear", "steps"), "n log n", "pass"),
        (cell(1.02, 0.9, 1.2, "linear", "steps"), "linear", "pass"),
        (cell(1.15, 0.9, 1.4, "linear", "steps"), "linear", "inconclusive"),
        (cell(1.15, 1.14, 1.16, "linear", "instructions"), "linear", "fail"),
    ],
)
def test_outcomes(measured, bound, outcome):
    told, line = outcome_of(measured, bound)
    assert told == outcome
    assert told != "pass" or line == ""
    assert measured is not DIED or line == "crashed at 2 KiB"
    assert (
        measured is not SQUARE or told == "pass" or line == "time grew like n^2.00 (1.90 to 2.10)"
    )


MINE = {"mine"}
ONLY_RUNS = Bound("quadratic", "known", "mine", family="*-run")
ELSE, NONE = Bound("linear", "else", "mine"), Bound("none", "let it")
CLAIM, DEFAULT = "it claims linear cost", "the default; to change it, add a [[scaling]] entry"


@pytest.mark.parametrize(
    ("one", "bounds", "claiming", "own", "judged"),
    [
        (SQUARE, [ONLY_RUNS, ELSE], MINE, (), ("quadratic", "pass", "known")),
        (replace(SQUARE, family="prose"), [ONLY_RUNS, ELSE], MINE, (), ("linear", "fail", "else")),
        (SQUARE, [], MINE, (), ("linear", "fail", CLAIM)),
        (SQUARE, [], {"other"}, {"another"}, None),
        (SQUARE, [NONE], MINE, MINE, None),
        (SQUARE, [], (), MINE, ("n log n", "fail", DEFAULT)),
        (CELL, [], (), MINE, ("n log n", "pass", DEFAULT)),
        (SQUARE, [ONLY_RUNS], (), MINE, ("quadratic", "pass", "known")),
        # What no time tells for certain fails nobody.
        (cell(1.4, 1.2, 1.6, "inconclusive"), [], (), MINE, ("n log n", "inconclusive", DEFAULT)),
    ],
)
def test_the_first_entry_that_matches_counts_then_claims_then_the_default(
    one,
    bounds,
    claiming,
    own,
    judged,
):
    found = judge_growth([one], bounds, claiming, own)
    assert [(row.bound, row.outcome) for row in found] == ([judged[:2]] if judged else [])
    assert all(judged and row.reason.startswith(judged[2]) for row in found)


def present(*specs):
    about = planted.Linear().about
    return [Participant(spec, spec, about, planted.Linear()) for spec in specs]


def test_candidates_are_the_users_own_and_nobody_elses():
    specs = (
        "mine.py:Mine",
        "cmd:./mine",
        "pip:tokenizers==0.21.0",
        "an-entry-point",
        "tiktoken",
        "gigatoken",
        "impls.bpe.naive:IMPLEMENTATION",
        "trusted.py:Trusted",
        "never-named.py:X",
    )
    named = [spec for spec in specs if spec != "never-named.py:X"]
    found = own_candidates(present(*specs), named, {"trusted.py:Trusted"})
    assert found == set(specs[:4])
    assert own_candidates(present(*specs), [], ()) == set()


def memory_cell(rate, verdict="ordinary", power=1.0):
    """Of so many bytes a byte at 4 KiB, and at all sizes if the power is 1."""
    peaks = [[float(4096 << i), rate * 4096 * 2.0 ** (i * power)] for i in range(6)]
    return replace(
        CELL, measure="memory", points=peaks, memory_per_byte=rate, memory_verdict=verdict
    )


LITTLE, MUCH = memory_cell(60.0), memory_cell(1030.0, "hungry")
OPEN = replace(LITTLE, points=[*memory_cell(70.0).points[:-1], LITTLE.points[-1]])
SQUARED = memory_cell(244.0, "superlinear", 2.0)
SMALL = Bound("none", "a small machine", memory=64)
MANY = "it takes 1,030 bytes of memory per byte (1,030 bytes per byte at 32 KiB, 1,030 at 128 KiB)"
FASTER = "its memory grows faster than the input (244 bytes per byte at 4 KiB, 7,808 at 128 KiB)"


@pytest.mark.parametrize(
    ("one", "bounds", "own", "outcome", "line"),
    [
        (LITTLE, [], MINE, "pass", ""),
        (MUCH, [], MINE, "fail", MANY),
        (SQUARED, [], MINE, "fail", FASTER),
        (MUCH, [], {"another"}, None, ""),
        # A bound on time lifts that on memory, or leaves it.
        (MUCH, [Bound("linear", "r")], MINE, "fail", MANY),
        (MUCH, [Bound("linear", "r")], (), None, ""),
        (SQUARED, [Bound("quadratic", "r")], MINE, None, ""),
        (SQUARED, [NONE], MINE, None, ""),
        # Memory is bound by itself, also of others.
        (CELL, [SMALL], (), None, ""),
        (LITTLE, [SMALL], (), "pass", ""),
        (MUCH, [SMALL], (), "fail", MANY),
        (SQUARED, [SMALL], (), "fail", FASTER),
        # Memory that ran out breaks any limit.
        (OPEN, [SMALL], (), "inconclusive",
         "it takes 60 bytes of memory per byte (70 bytes per byte at 32 KiB, 60 at 128 KiB)"),
        (replace(LITTLE, verdict="failed", note="out-of-memory at 64 KiB"),
         [Bound("none", "much", memory=1e9)], (), "fail", "out-of-memory at 64 KiB"),
    ],
)  # fmt: skip
def test_memory(one, bounds, own, outcome, line):
    judged = judge_growth([one], bounds, (), own)
    assert [(row.outcome, row.line) for row in judged] == ([(outcome, line)] if outcome else [])


def test_what_is_written_in_python_may_take_the_memory_that_its_numbers_take():
    judged = judge_growth([memory_cell(300.0), MUCH], [], (), MINE, MINE)
    assert [one.outcome for one in judged] == ["pass", "fail"]
    assert {one.bound for one in judged} == {"512 bytes per byte"}


ENTRY = '[[scaling]]\nbound = "linear"\nreason = "r"\n'
OTHER = '[[expected]]\nbucket = "b"\nimplementations = {mine = "*"}\nreason = "r"\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f'{ENTRY}implementation = "mine"\nmemory = 64\n{OTHER}', ""),
        (ENTRY.replace("reason", "# "), "entry 1: object missing required field `reason`"),
        (ENTRY.replace("linear", "fast"), "invalid bound 'fast'; write linear, n log n"),
        (f'{ENTRY}who = "x"', "unknown field 'who'"),
        (f'{ENTRY}memory = "x"', r"memory: expected `float \| null`, got `str`"),
    ],
)
def test_a_file(tmp_path, text, fault):
    path = tmp_path / "expect.toml"
    path.write_text(text)
    if not fault:
        assert load(path) == [Bound("linear", "r", "mine", memory=64)]
        assert [one.bucket for one in expectations.load(path)] == ["b"]
        return
    with pytest.raises(ExpectationsError, match=fault) as raised:
        load(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


PROVED = {"bpe.naive": "quadratic", "bpe.heap": "n log n", "bpe.backtracking": "linear"}


def test_the_shipped_bounds_are_on_all_of_ours():
    bounds = load(expectations.SHIPPED)
    for name in registry.registered():
        ours = name.startswith(("bpe.", "spm.", "unigram.", "wordpiece."))
        on = [b.bound for b in bounds if b.covers(replace(CELL, implementation=name))]
        assert bool(on) == ours, name
        if name in PROVED:
            assert on[0] == PROVED[name]
