"""Bounds on growth: how they are written, which one counts, and what keeps or breaks one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.core.participants import Participant
from harness.events import Measured
from harness.verdict import expectations
from harness.verdict.bounds import (
    IN_STEPS,
    IN_TIME,
    Bound,
    judge_growth,
    load,
    outcome_of,
    own_candidates,
)
from harness.verdict.expectations import ExpectationsError
from impls import registry
from tests.harness import planted

CELL = Measured("mine", "v", "letter-run", 1.0, 0.9, 1.1, "linear", [])


def cell(exponent: float, low: float, high: float, verdict: str, measure: str = "time") -> Measured:
    points = [[float(256 << i), 1e-5 * 2 ** (exponent * i)] for i in range(8)]
    return replace(
        CELL,
        exponent=exponent,
        low=low,
        high=high,
        verdict=verdict,
        measure=measure,
        note="why",
        points=points,
    )


SQUARE = cell(2.0, 1.9, 2.1, "superlinear")


@pytest.mark.parametrize(
    ("measured", "bound", "outcome"),
    [
        (CELL, "linear", "pass"),
        (CELL, "n log n", "pass"),
        (CELL, "cubic", "pass"),
        (SQUARE, "linear", "fail"),
        (SQUARE, "n log n", "fail"),
        (SQUARE, "n^1.5", "fail"),
        (SQUARE, "quadratic", "pass"),
        (SQUARE, "cubic", "pass"),
        (cell(1.5, 1.4, 1.6, "superlinear"), "n^1.5", "pass"),
        (cell(1.5, 1.4, 1.6, "superlinear"), "linear", "fail"),
        # The caches may have made a cost of n^1.5 look like this, over so few sizes.
        (
            replace(cell(1.9, 1.8, 2.0, "superlinear"), points=SQUARE.points[:4]),
            "n^1.5",
            "inconclusive",
        ),
        # An interval on both sides, or no interval at all.
        (cell(1.3, 1.1, 1.5, "inconclusive"), "linear", "inconclusive"),
        (cell(2.2, 1.9, 2.5, "superlinear"), "quadratic", "inconclusive"),
        (cell(2.2, 1.9, 2.5, "superlinear"), "linear", "fail"),
        # Not called superlinear, as caches may explain it.
        (cell(1.5, 1.4, 1.6, "inconclusive"), "linear", "inconclusive"),
        (
            replace(CELL, exponent=None, low=None, high=None, verdict="inconclusive"),
            "linear",
            "inconclusive",
        ),
        # It died: nothing is within a bound.
        (replace(CELL, verdict="failed", note="crashed at 2 KiB"), "cubic", "fail"),
        # Steps are exact, so that n log n is told from n.
        (cell(1.15, 1.14, 1.16, "linear", "steps"), "linear", "fail"),
        (cell(1.15, 1.14, 1.16, "linear", "steps"), "n log n", "pass"),
        (cell(1.02, 0.9, 1.2, "linear", "steps"), "linear", "pass"),
        (cell(1.15, 0.9, 1.4, "linear", "steps"), "linear", "inconclusive"),
        (cell(1.15, 1.14, 1.16, "linear", "instructions"), "linear", "fail"),
    ],
)
def test_outcomes(measured: Measured, bound: str, outcome: str) -> None:
    assert outcome_of(measured, bound)[0] == outcome


def test_a_line_says_what_broke_it() -> None:
    assert outcome_of(SQUARE, "linear")[1] == "time grew like n^2.00 (1.90 to 2.10)"
    assert outcome_of(CELL, "linear")[1] == ""
    died = replace(CELL, verdict="failed", note="crashed at 2 KiB")
    assert outcome_of(died, "linear")[1] == "crashed at 2 KiB"


def test_bounds_are_in_order() -> None:
    for limits in (IN_TIME, IN_STEPS):
        assert sorted(limits.values()) == list(limits.values())


def test_the_first_that_matches_counts_and_claims_come_last() -> None:
    bounds = [
        Bound("quadratic", "known", "mine", family="*-run"),
        Bound("linear", "else", "mine"),
    ]
    (one,) = judge_growth([SQUARE], bounds, {"mine"})
    assert (one.bound, one.outcome, one.reason) == ("quadratic", "pass", "known")
    (one,) = judge_growth([replace(SQUARE, family="prose")], bounds, {"mine"})
    assert (one.bound, one.outcome) == ("linear", "fail")
    (one,) = judge_growth([SQUARE], [], {"mine"})
    assert (one.bound, one.outcome, one.reason) == ("linear", "fail", "it claims linear cost")
    assert judge_growth([SQUARE], [], {"other"}) == []
    assert judge_growth([SQUARE], [Bound("none", "let it")], {"mine"}) == []


def present(*specs: str) -> list[Participant]:
    about = planted.Linear().about
    return [Participant(spec, spec, about, planted.Linear()) for spec in specs]


def test_candidates_are_the_users_own_and_nobody_elses() -> None:
    specs = (
        "mine.py:Mine",
        "cmd:./mine",
        "pip:tokenizers==0.21.0",
        "an-entry-point",
        "tiktoken",
        "gigatoken",
        "impls.bpe.algorithms.naive:IMPLEMENTATION",
        "trusted.py:Trusted",
        "never-named.py:X",
    )
    named = [spec for spec in specs if spec != "never-named.py:X"]
    found = own_candidates(present(*specs), named, {"trusted.py:Trusted"})
    assert found == set(specs[:4])
    assert own_candidates(present(*specs), [], ()) == set()


def test_candidates_are_held_to_n_log_n_unless_an_entry_says_otherwise() -> None:
    (one,) = judge_growth([SQUARE], [], (), {"mine"})
    assert (one.bound, one.outcome, one.measure) == ("n log n", "fail", "time")
    assert "add a [[scaling]] entry" in one.reason
    (one,) = judge_growth([CELL], [], (), {"mine"})
    assert one.outcome == "pass"
    assert judge_growth([SQUARE], [], (), {"another"}) == []
    assert judge_growth([SQUARE], [Bound("none", "let it")], (), {"mine"}) == []
    (one,) = judge_growth([SQUARE], [Bound("quadratic", "known")], (), {"mine"})
    assert (one.bound, one.outcome) == ("quadratic", "pass")
    # What no time tells for certain fails nobody.
    open_ = cell(1.4, 1.2, 1.6, "inconclusive")
    assert [one.outcome for one in judge_growth([open_], [], (), {"mine"})] == ["inconclusive"]


def memory_cell(rate: float, verdict: str = "ordinary") -> Measured:
    """Of so many bytes a byte at all sizes."""
    peaks = [[float(4096 << i), rate * (4096 << i)] for i in range(6)]
    return replace(
        CELL, measure="memory", points=peaks, memory_per_byte=rate, memory_verdict=verdict
    )


def test_memory_of_candidates_is_gated_but_where_a_bound_lifts_it() -> None:
    little, much = memory_cell(60.0), memory_cell(1030.0, "hungry")
    peaks = [[4096.0 * 2**i, 1e6 * 4.0**i] for i in range(6)]
    square = replace(memory_cell(1.0, "superlinear"), points=peaks)

    def outcomes(one: Measured, bounds: list[Bound], own: set[str]) -> list[tuple[str, str]]:
        judged = judge_growth([one], bounds, (), own)
        return [(row.measure, row.outcome) for row in judged]

    assert outcomes(little, [], {"mine"}) == [("memory", "pass")]
    assert outcomes(much, [], {"mine"}) == [("memory", "fail")]
    assert outcomes(square, [], {"mine"}) == [("memory", "fail")]
    assert outcomes(much, [], {"another"}) == []
    linear, quadratic = Bound("linear", "r"), Bound("quadratic", "r")
    assert outcomes(much, [linear], {"mine"}) == [("memory", "fail")]
    assert outcomes(much, [linear], set()) == []
    assert outcomes(square, [quadratic], {"mine"}) == []
    assert outcomes(square, [Bound("none", "r")], {"mine"}) == []
    (row,) = judge_growth([much], [], (), {"mine"})
    assert row.bound == "64 bytes a byte"
    assert row.line == (
        "it takes 1,030 bytes of memory a byte (1,030 bytes a byte at 32 KiB, 1,030 at 128 KiB)"
    )
    (row,) = judge_growth([square], [], (), {"mine"})
    assert row.line.startswith("its memory grows faster than the input (244 bytes a byte at 4 KiB")


def test_what_is_written_in_python_may_take_the_memory_that_its_numbers_take() -> None:
    cells = [memory_cell(300.0), memory_cell(1030.0, "hungry")]
    judged = judge_growth(cells, [], (), {"mine"}, {"mine"})
    assert [(one.bound, one.outcome) for one in judged] == [
        ("512 bytes a byte", "pass"),
        ("512 bytes a byte", "fail"),
    ]


def test_memory_is_bound_by_itself() -> None:
    bounds = [Bound("none", "a small machine", memory=64)]
    cells = (CELL, memory_cell(10.0), memory_cell(1000.0), memory_cell(10.0, "superlinear"))
    outcomes = [judge_growth([one], bounds, ()) for one in cells]
    assert [[one.outcome for one in judged] for judged in outcomes] == [
        [],
        ["pass"],
        ["fail"],
        ["fail"],
    ]


def test_memory_that_ran_out_breaks_any_limit() -> None:
    died = replace(memory_cell(10.0), verdict="failed", note="out-of-memory at 64 KiB")
    (one,) = judge_growth([died], [Bound("none", "much", memory=1e9)], ())
    assert (one.outcome, one.line) == ("fail", "out-of-memory at 64 KiB")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "expect.toml"
    path.write_text(text)
    return path


def test_a_file(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        [[scaling]]
        implementation = "mine"
        bound = "n log n"
        memory = 64
        reason = "a heap"

        [[expected]]
        bucket = "b"
        implementations = {mine = "*"}
        reason = "r"
        """,
    )
    assert load(path) == [Bound("n log n", "a heap", "mine", memory=64)]
    assert [one.bucket for one in expectations.load(path)] == ["b"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[[scaling]]\nbound = "linear"', "entry 1: object missing required field `reason`"),
        ('[[scaling]]\nreason = "r"', "missing required field `bound`"),
        (
            '[[scaling]]\nbound = "fast"\nreason = "r"',
            "invalid bound 'fast'; write linear, n log n",
        ),
        ('[[scaling]]\nbound = "linear"\nreason = "r"\nwho = "x"', "unknown field 'who'"),
        (
            '[[scaling]]\nbound = "linear"\nreason = "r"\nfamily = 3',
            "family: expected `str`, got `int`",
        ),
        (
            '[[scaling]]\nbound = "linear"\nreason = "r"\nmemory = "x"',
            r"memory: expected `float \| null`, got `str`",
        ),
        ('[scaling]\nbound = "linear"', "'scaling' is not a list of tables"),
        ("[[growth]]", "unknown table 'growth'"),
        ("[[", "not valid TOML"),
    ],
)
def test_a_faulty_file_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ExpectationsError, match=fault) as raised:
        load(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)


def test_the_shipped_bounds_are_on_all_of_ours() -> None:
    bounds = load(expectations.SHIPPED)
    for name in registry.registered():
        ours = name.startswith(("bpe.", "spm.", "unigram.", "wordpiece."))
        on = next((b for b in bounds if b.covers(replace(CELL, implementation=name))), None)
        assert (on is not None) == ours, name
        if name == "bpe.naive":
            assert on is not None and on.bound == "quadratic"
        if name == "bpe.heap":
            assert on is not None and on.bound == "n log n"
        if name == "bpe.backtracking":
            assert on is not None and on.bound == "linear"
