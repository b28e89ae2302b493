"""Minimising has a time of its own, goes on after the last case, and has an end."""

import threading
from types import SimpleNamespace

import pytest

from corpora.vocabularies import sources
from harness.engine.session import Session
from harness.engine.state import RunState
from harness.events import Found, Unsettled
from harness.findings import patience
from harness.findings.patience import TOOK_LONG
from harness.findings.tracker import FindingTracker
from harness.studies.checks import Checks
from harness.workers import worker as workers
from tests.doubles.fuzz_campaign import WRONG, run, small_plan
from tests.doubles.scenes import Scene, right, wrong_at
from tests.doubles.tracker_invariants import check_invariants
from tests.faults.durability import inside
from tests.properties.findings.test_masking import known

WHOLE = b"some longer text with one mark! in it"


def test_a_finding_is_made_minimal_though_the_time_of_the_cases_is_over():
    scene = Scene(ref=right, bad=wrong_at(b"!"))
    [entry] = scene.entries("equivalence", WHOLE)
    scene.pool.limit_by(lambda: 0.0)
    scene.tracker.limit_by(lambda: 30.0)
    scene.enter(entry)
    assert scene.found == [("equivalence/bpe/raw/text/P/bad", b"!")]
    assert scene.tracker.findings[0].minimal
    assert scene.pool.out_of_time  # for all others


@pytest.mark.parametrize("shorter", [False, True])
def test_what_took_long_is_gone_on_with_at_the_end_once(monkeypatch, shorter):
    """Or a shorter input explains it by then, and it is no finding of its own."""
    tried = []
    scene = Scene(ref=right, bad=lambda data: tried.append(data) or wrong_at(b"!")(data))
    with monkeypatch.context() as patch:
        patch.setattr(patience, "SHRINK_SECONDS", 0.0)
        scene.check("equivalence", WHOLE + "\u0378".encode() * shorter)
    [found] = scene.tracker.findings
    assert (found.minimal, found.unminimised) == (False, TOOK_LONG)
    if shorter:
        scene.check("equivalence", b"a!")
        assert len(scene.found) == 2
    for left in (True, False):
        tried.clear()
        scene.tracker.settle(scene.pool)
        assert bool(tried) is left
        check_invariants(scene.tracker)
        assert scene.found == [("equivalence/bpe/raw/text/P/bad", b"!")]
        assert scene.tracker.findings[0].minimal
        assert scene.counts()["equivalence/bpe/raw/text/P/bad"] >= 1
    gone = {event.replaces for event in scene.told(Found)} - {None}
    assert len(gone) == 2 or not shorter  # what was provisional, and what was not minimal


@pytest.mark.parametrize("busy_to_the_end", [False, True])
def test_what_may_be_expected_is_no_finding_before_it_is_minimal(busy_to_the_end, monkeypatch):
    """A default run on a machine with five times as many processes as cores failed so."""
    scene = Scene([known("P", b"!")], ref=right, bad=wrong_at(b"!"))
    with monkeypatch.context() as patch:
        patch.setattr(patience, "SHRINK_SECONDS", 0.0)
        scene.check("equivalence", WHOLE)
        assert scene.found == []
        if busy_to_the_end:
            scene.tracker.settle(scene.pool)
    scene.tracker.settle(scene.pool)
    told = [one.count for one in scene.told(Unsettled)]
    if busy_to_the_end:
        assert (scene.found, told) == ([], [1])
    else:
        assert (scene.found, told) == ([("equivalence/bpe/raw/text/P/bad", b"!")], [])
        assert scene.tracker.findings[0].expected


def test_a_run_by_number_goes_on_with_what_is_unfinished():
    plan = small_plan(1, ()).plan
    settled = []
    tracker = SimpleNamespace(settle=settled.append, unexpected=False)
    run = RunState(plan, lambda event: None, tracker)
    pool = SimpleNamespace(turn=threading.Lock())
    vocabulary = sources.resolve("toy_bytes")
    Checks(run).step(Session(pool, "toy_bytes", vocabulary, run, 0.0))
    assert settled == [pool]


def test_each_round_of_a_campaign_goes_on_with_what_is_unfinished(monkeypatch, tmp_path):
    told = []
    settle = FindingTracker.settle

    def settling(tracker, pool):
        told.append("settled")
        settle(tracker, pool)

    monkeypatch.setattr(FindingTracker, "settle", settling)
    monkeypatch.setattr(workers, "Process", inside.InsideProcess)
    plan = small_plan(200, (f"{WRONG}:AlwaysWrong",))
    where, out = str(tmp_path / "x.db"), tmp_path / "out"
    run(plan, where, out, committed=lambda one: told.append("committed"))
    assert len(told) > 2
    assert told == ["settled", "committed"] * (len(told) // 2)


@pytest.mark.parametrize(
    ("unhurried", "left", "late"),
    [(True, 0.0, False), (False, float("inf"), False), (False, 0.0, True), (False, 60.0, False)],
)
def test_time_is_short_only_where_the_clock_decides(unhurried, left, late):
    assert patience.Patience(unhurried, left=lambda: left).late == late
