"""The benchmark of false alarms: its plan, its judgement of made-up records, its table."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from harness.events import BatchDone, Event, Finished, Found, GrowthJudged, Measured, Withdrawn
from tests.benchmarks.false_alarms import (
    EXIT,
    FINDING,
    GATES,
    GROWTH,
    PLANTED,
    SLOW,
    Result,
    Run,
    judged,
    line_of,
    plan,
    read,
    table,
    upper_bound,
)

KINDS, LOADS = (*GATES, *PLANTED), (0, 2, 4)
DONE = BatchDone("v/raw", "edge", 9, 9, 9, {"survival": {"tiktoken": 100, SLOW: 10}}, {})


def found(name: str = "llama.cpp", stage: str = "timed-out", **changed: Any) -> Found:
    made = Found(
        id="f-1", check="survival", stage=stage, bucket=f"survival/bpe/raw/{stage}/any/{name}",
        contract="v/raw", vocabulary="v", mode="raw", culprits=[name], partition=[], input_b64="",
        difference="died", first_difference=None, generator="g", seed=0, index=0,
        original_bytes=0, minimal=True, expected=None, link=None, reproducer=None,
    )  # fmt: skip
    return replace(made, **changed)


def measured(name: str, verdict: str = "superlinear") -> Measured:
    return Measured(name, "v", "letter-run", 2.0, 1.9, 2.1, verdict, [[64, 1e-6]], "")


def bound(name: str, outcome: str = "fail") -> GrowthJudged:
    return GrowthJudged(name, "v", "letter-run", "time", "linear", outcome, "proved", "n^2")


def result(kind: str, *events: Event, load: int = 0) -> Result:
    told = [one for one in events if isinstance(one, Found | Withdrawn)]
    status = int(any(not getattr(one, "expected", None) for one in told))
    finished = Finished(True, "pass", ["gone"], 50.0, 9, 9, 0)
    return judged(Run(kind, load, False, 0), [DONE, *events, finished], status, 60.0)


def test_every_condition_occurs_and_a_plan_is_always_the_same() -> None:
    runs = plan(KINDS, LOADS, 100, 2, 0.1)
    seen = Counter((run.kind, run.load) for run in runs)
    assert set(seen) == {(kind, load) for kind in KINDS for load in LOADS}
    assert sum(run.kind in GATES for run in runs) == 100
    assert {seen[kind, load] for kind, load in seen if kind in PLANTED} == {2}
    assert 0 < sum(run.cold for run in runs) < len(runs) / 4
    assert runs == plan(KINDS, LOADS, 100, 2, 0.1)
    assert len({run.name for run in runs}) == len(runs)
    assert plan(["run"], [0], 1, 0, 0)[0].command() == ["run"]
    limited = {kind for kind in KINDS if "--timeout=2" in Run(kind, 0, False, 0).command()}
    assert limited == {*PLANTED} - {SLOW}


@pytest.mark.parametrize(
    ("successes", "trials", "expected"),
    # binom.test(k, n, conf.level = 0.9)$conf.int[2] of R: one-sided 95 %
    [(0, 10, 0.2589), (0, 100, 0.0295), (1, 10, 0.3942), (5, 10, 0.7776), (9, 9, 1.0), (0, 0, 1.0)],
)
def test_the_upper_bound_of_a_share(successes: int, trials: int, expected: float) -> None:
    assert upper_bound(successes, trials) == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(
    ("events", "accused"),
    [
        ([found(expected="known"), bound("bpe.heap", "pass"), measured("llguidance")], []),
        ([measured("bpe.naive"), measured("bpe.greedy", "inconclusive")], []),
        ([found()], [(FINDING, "llama.cpp")]),
        ([found(id="p"), found(replaces="p")], [(FINDING, "llama.cpp")]),
        ([Withdrawn("llama.cpp", "v", "withdrawn")], [("withdrawal", "llama.cpp")]),
        ([bound("bpe.heap"), measured("bpe.heap")], [(GROWTH, "bpe.heap")]),
        ([measured("bpe.table")], [(GROWTH, "bpe.table")]),
    ],
)
def test_what_a_record_holds_against_anybody(
    events: list[Event], accused: list[tuple[str, str]]
) -> None:
    one = result("run", *events)
    assert [(a.kind, *a.blamed) for a in one.accusations] == accused
    assert len(one.wrong()) == len(accused)


def test_an_exit_status_alone_is_false() -> None:
    (one,) = judged(Run("run", 0, False, 0), [], 2, 1.0).accusations
    assert (one.kind, one.line) == (EXIT, "2: ")


@pytest.mark.parametrize("planted", [name for name in PLANTED if name != SLOW])
def test_the_guilty_named_with_its_cause_and_nobody_else(planted: str) -> None:
    stage = PLANTED[planted][1]
    right = [found(planted, stage), Withdrawn(planted, "v", "withdrawn"), bound(planted)]
    assert result(planted, *right).wrong() == []
    for wrong, count in (
        ([], 1),
        ([*right, found("tiktoken", stage, id="f-2")], 1),
        ([*right, Withdrawn("bpe.heap", "v", "gone")], 1),
        ([found(planted, stage, culprits=["tiktoken", planted])], 2),
        ([found(planted, "crashed")], 2),
    ):
        assert len(result(planted, *wrong).wrong()) == count


def test_of_the_slow_one_nothing_is_said_and_it_starves_nobody() -> None:
    assert result(SLOW).wrong() == []
    for accusation in (found(SLOW), Withdrawn(SLOW, "v", "gone"), bound(SLOW)):
        assert len(result(SLOW, accusation).wrong()) == 1
    held_up = replace(DONE, exercised={"survival": {"bpe.heap": 11}})
    assert result(SLOW, held_up).wrong() == ["starved: bpe.heap had 11 cases, mini-slow 10"]
    assert "never judged" in judged(Run(SLOW, 0, False, 0), [], 0, 1.0).wrong()[0]


def test_the_table_and_the_results_on_disk(tmp_path: Any) -> None:
    some = [result("run"), result("run", found()), result("mini-grow", load=4)]
    lines = table(some).splitlines()
    assert "| run | 0 | 2 (0) | 1 (at most 97.5%) | 1 | 0 | 0 | 60 |" in lines
    assert "- `mini-grow-load4-warm-000`: missed: mini-grow was not named" in lines
    path = tmp_path / "results.jsonl"
    path.write_text("".join(map(line_of, some)) + '{"run": ')
    assert read(path) == some
