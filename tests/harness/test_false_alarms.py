"""The benchmark of false alarms: its plan, its judgement of made-up records, its tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from harness.events import (
    BatchDone,
    Event,
    Finished,
    Found,
    Group,
    GrowthJudged,
    Measured,
    Started,
    Withdrawn,
)
from tests.benchmarks.alarms import bounds, gates, tables
from tests.benchmarks.alarms.judging import (
    EXIT,
    FINDING,
    GROWTH,
    WITHDRAWAL,
    Ended,
    Judged,
    judged,
    naming,
)
from tests.benchmarks.alarms.plan import KINDS, PLANTED, SLOW, Run, plan
from tests.benchmarks.alarms.results import Result
from tests.harness import made

PASSED = Ended(0, 60.0, first_case=10.0, verdict=55.0)
FAILED = replace(PASSED, exit_status=1)

STARTED = Started("2026-11-20T00:00:00+00:00", 0, "smoke", "40s", "tokgate run", {}, "Linux")
FINISHED = Finished(True, "pass", [], 50.0, 9000, 18000, 0)
DONE = BatchDone(
    "v/raw", "edge", 100, 900, 100, {"survival": {"tiktoken": 100, SLOW: 10}, "offsets": {}}, {}
)


def found(name: str = "llama.cpp", stage: str = "timed-out", **changed: Any) -> Found:
    bucket = f"survival/bpe/raw/{stage}/any/{name}"
    said = {"partition": [Group([name], stage, message="no answer")], "difference": "died"}
    how = {"id": "f-1", "check": "survival", "stage": stage, "culprits": [name], **said}
    return made.found(bucket, "v", **{**how, **changed})


def measured(name: str, verdict: str = "superlinear") -> Measured:
    return Measured(name, "v", "letter-run", 2.0, 1.9, 2.1, verdict, [[64, 1e-6], [128, 4e-6]])


def bound(name: str, outcome: str) -> GrowthJudged:
    return GrowthJudged(name, "v", "letter-run", "time", "linear", outcome, "proved", "n^2")


def record(*events: Event, ended: Ended = PASSED) -> Judged:
    return judged([STARTED, DONE, *events, FINISHED], ended)


def result(kind: str, run: Judged, load: int = 0, cold: bool = False, nth: int = 0) -> Result:
    return Result(Run(kind, load, cold, nth, 0, None), run, f"runs/{kind}", 1.0)


SOME = [
    result("run", record()),
    result("run", record(found(), found(id="f-2"), ended=FAILED), nth=1),
    result(
        "fuzz",
        record(Withdrawn("llama.cpp", "v", "gone"), bound("spm.x", "fail"), measured("spm.x")),
        4,
        True,
    ),
    result("grows", record(found("grows", "out-of-memory"), ended=FAILED)),
    result("grows", record(found("tiktoken", "out-of-memory"), ended=FAILED), nth=1),
]

LOADS = (0, 2, 4)


# --- the plan -------------------------------------------------------------------------------------


def everything(runs: int = 100, rounds: int = 1, cold: float = 0.1, seed: int = 0) -> list[Run]:
    return plan(KINDS, LOADS, runs, rounds, cold, seed, gates.BUDGETS)


def test_every_condition_occurs() -> None:
    runs = everything()
    seen = Counter((run.kind, run.load, run.cold) for run in runs)
    assert set(seen) == {(k, load, cold) for k in KINDS for load in LOADS for cold in (False, True)}
    of_right = [run for run in runs if not run.planted]
    assert len(of_right) == 100
    assert sum(run.load == 4 for run in of_right) >= 30
    assert 10 <= sum(run.cold for run in of_right) <= 12
    assert all(seen[kind, load, cold] == 1 for kind, load, cold in seen if kind in PLANTED)


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "trials", "expected"),
    [
        # binom.test(k, n, conf.level = 0.9)$conf.int[2] of R: one-sided 95 %
        (0, 10, 0.2589),
        (0, 30, 0.0950),
        (0, 100, 0.0295),
        (1, 10, 0.3942),
        (5, 10, 0.7776),
        (10, 10, 1.0),
        (0, 0, 1.0),
    ],
)
def test_the_upper_bound_of_a_share(successes: int, trials: int, expected: float) -> None:
    assert bounds.upper_bound(successes, trials) == pytest.approx(expected, abs=6e-5)


# --- what is false in a record --------------------------------------------------------------------


def test_a_clean_run_has_nothing_against_it() -> None:
    run = record(found(expected="known"), bound("bpe.heap", "pass"), measured("bpe.heap", "linear"))
    assert run.accusations == ()
    assert (run.cases, run.comparisons, run.cells, run.inconclusive) == (9000, 18000, 1, 0)
    assert run.outcomes == {"tiktoken": 100, SLOW: 10}


def test_an_unexpected_finding_is_false() -> None:
    (one,) = record(found(), ended=FAILED).accusations
    assert (one.kind, one.blamed, one.stage) == (FINDING, ("llama.cpp",), "timed-out")
    assert one.about == "survival/bpe/raw/timed-out/any/llama.cpp"
    assert "no answer" in one.message


def test_a_withdrawal_is_false_wherever_it_is_told() -> None:
    event = Withdrawn("llama.cpp", "v", "withdrawn after 3 time-outs")
    line = "llama.cpp on v: withdrawn after 3 time-outs, for a while\n"
    told = replace(PASSED, output=f"some line\n{line}{line}the end")
    for run in (record(event), record(ended=told), record(event, ended=told)):
        (one,) = run.accusations
        assert (one.kind, one.blamed, one.vocabulary) == (WITHDRAWAL, ("llama.cpp",), "v")


def test_wrong_growth_verdicts_are_counted_by_cell() -> None:
    run = record(
        bound("bpe.heap", "fail"),
        measured("bpe.heap"),
        measured("bpe.table"),
        measured("bpe.naive"),
        measured("llguidance"),
        bound("bpe.greedy", "inconclusive"),
        measured("bpe.greedy", "inconclusive"),
    )
    assert sorted(one.blamed for one in run.of(GROWTH)) == [("bpe.heap",), ("bpe.table",)]
    assert (run.cells, run.inconclusive) == (2, 1)


def test_an_exit_status_alone_is_false() -> None:
    stale = replace(FINISHED, reasons=["expected, exercised, and no longer there: x"])
    (one,) = judged([STARTED, stale], FAILED).accusations
    assert (one.kind, one.about) == (EXIT, "exit status 1")
    assert "no longer there" in one.message
    (one,) = judged([], replace(FAILED, exit_status=2, output="a\ntokgate: no V\n")).accusations
    assert (one.about, one.message) == ("exit status 2", "tokgate: no V")
    (one,) = judged([STARTED], Ended(None, 1800.0)).accusations
    assert one.about == "no end after 1800 s; it was killed"


def test_the_budget_is_from_the_first_case_to_the_verdict() -> None:
    run = record()
    assert (run.preparing, run.checking, run.budget) == (10.0, 45.0, 40.0)
    assert run.overrun == pytest.approx(12.5)
    assert run.cases_a_second == pytest.approx(200.0)
    unseen = record(ended=replace(PASSED, first_case=None))
    assert (unseen.overrun, unseen.cases_a_second) == (None, None)


# --- planted mistakes -----------------------------------------------------------------------------


@pytest.mark.parametrize("planted", [name for name in PLANTED if name != SLOW])
def test_the_guilty_named_with_its_cause_and_nobody_else(planted: str) -> None:
    stage = PLANTED[planted][1]
    right = [found(planted, stage), Withdrawn(planted, "v", "withdrawn after 3 time-outs")]
    seen = naming(record(*right, ended=FAILED), planted)
    assert seen.right and seen.named

    missed = naming(record(), planted)
    assert (missed.right, missed.missed, missed.wrong) == (False, True, ())

    innocent = naming(record(*right, found("tiktoken", stage, id="f-2"), ended=FAILED), planted)
    assert innocent.named and not innocent.right
    assert [one.blamed for one in innocent.wrong] == [("tiktoken",)]

    both = found(planted, stage, culprits=["tiktoken", planted])
    shared = naming(record(both, ended=FAILED), planted)
    assert shared.missed and len(shared.wrong) == 1

    cause = naming(record(found(planted, "crashed"), ended=FAILED), planted)
    assert cause.missed and len(cause.wrong) == 1

    other = naming(record(*right, Withdrawn("bpe.heap", "v", "gone"), ended=FAILED), planted)
    assert not other.right


def test_of_the_slow_one_nothing_is_said() -> None:
    assert naming(record(), SLOW).right
    for accusation in (found(SLOW), Withdrawn(SLOW, "v", "gone"), bound(SLOW, "fail")):
        assert not naming(record(accusation), SLOW).right


def test_the_slow_one_starves_whom_it_holds_up() -> None:
    together = replace(DONE, exercised={"survival": {"tiktoken": 30, "bpe.heap": 11, SLOW: 10}})
    seen = naming(judged([STARTED, together, FINISHED], PASSED), SLOW)
    assert (seen.starved, seen.right) == (("bpe.heap",), False)
    never = replace(DONE, exercised={"survival": {"tiktoken": 30}})
    assert naming(judged([STARTED, never, FINISHED], PASSED), SLOW).missed


# --- tables ---------------------------------------------------------------------------------------


def test_what_is_wrong_is_named_with_its_folder() -> None:
    text = tables.markdown(SOME, 9, "--runs 9", "a machine")
    assert "5 of 9 runs" in text
    assert (
        "(runs/run): finding survival/bpe/raw/timed-out/any/llama.cpp on v blames llama.cpp" in text
    )
    assert "missed: the planted implementation was not named" in text
    assert "1 of 2 (at most 97.5 %), 2 in all" in text
    assert [bool(tables.false(one)) for one in SOME] == [False, True, True, False, True]
