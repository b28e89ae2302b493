"""The benchmark of false alarms: its plan, its judgement of made-up records, its table."""

from dataclasses import replace

import pytest

from harness.events import BatchDone, GrowthJudged, Withdrawn
from tests.benchmarks.false_alarms import (
    GATES,
    PLANTED,
    SLOW,
    Run,
    judged,
    upper_bound,
)
from tests.doubles.made import found, grown

KINDS, LOADS = (*GATES, *PLANTED), (0, 2, 4)
DONE = BatchDone("v/raw", "edge", 9, 9, 9, {"survival": {"tiktoken": 100, SLOW: 10}}, {})


def died(name, stage="timed-out", **changes):
    return found(f"survival/{stage}/{name}", **{"culprits": [name], "stage": stage, **changes})


def grew(name, verdict="superlinear"):
    return grown(verdict, 2.0, implementation=name)


def bound(name, outcome="fail"):
    return GrowthJudged(name, "v", "letter-run", "time", "linear", outcome, "proved", "n^2")


def gone(name):
    return Withdrawn(name, "v", "withdrawn")


def wrong_of(kind, *events, status=0):
    return judged(Run(kind, 0, False, 0), [DONE, *events], status, 60.0).wrong


@pytest.mark.parametrize(
    ("successes", "trials", "expected"),
    # binom.test(k, n, conf.level = 0.9)$conf.int[2] of R: one-sided 95 %
    [(0, 10, 0.2589), (0, 100, 0.0295), (1, 10, 0.3942), (5, 10, 0.7776), (9, 9, 1.0), (0, 0, 1.0)],
)
def test_the_upper_bound_of_a_share(successes, trials, expected):
    assert upper_bound(successes, trials) == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(
    ("events", "accused"),
    [
        ([died("a", expected="known"), bound("bpe.heap", "pass"), grew("llguidance")], ""),
        ([grew("bpe.naive"), grew("bpe.greedy", "inconclusive")], ""),
        ([died("llama.cpp")], "finding llama.cpp"),
        ([died("a", id="p"), died("llama.cpp", replaces="p")], "finding llama.cpp"),
        ([gone("llama.cpp")], "withdrawal llama.cpp"),
        ([bound("bpe.heap")], "growth bpe.heap"),
        ([grew("bpe.table")], "growth bpe.table"),
    ],
)
def test_what_a_record_holds_against_anybody(events, accused):
    lines = [line.split() for line in wrong_of("run", *events, status=int(bool(accused)))]
    assert [f"{one[0]} {one[-1]}" for one in lines] == ([accused] if accused else [])


def test_an_exit_status_alone_is_false():
    assert wrong_of("run", status=2) == ["exit status 2 for no reason that is told"]


@pytest.mark.parametrize("planted", [name for name in PLANTED if name != SLOW])
def test_the_guilty_named_with_its_cause_and_nobody_else(planted):
    stage = PLANTED[planted][1]
    right = [died(planted, stage), gone(planted), bound(planted)]
    for events, count in (
        (right, 0),
        ([], 1),
        ([*right, died("tiktoken", stage)], 1),
        ([*right, gone("bpe.heap")], 1),
        ([died(planted, stage, id="f-2", culprits=["tiktoken", planted])], 2),
        ([died(planted, "crashed")], 2),
    ):
        assert len(wrong_of(planted, *events)) == count


def test_of_the_slow_one_nothing_is_said_and_it_starves_nobody():
    assert wrong_of(SLOW) == []
    for accusation in (died(SLOW), gone(SLOW), bound(SLOW)):
        assert len(wrong_of(SLOW, accusation)) == 1
    held_up = replace(DONE, exercised={"survival": {"bpe.heap": 11}})
    assert wrong_of(SLOW, held_up) == ["starved: bpe.heap had 11 cases, mini-slow 10"]
    assert "never judged" in judged(Run(SLOW, 0, False, 0), [], 0, 1.0).wrong[0]
