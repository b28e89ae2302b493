"""Minimising has a time of its own, goes on after the last case, and has an end."""

from __future__ import annotations

import time

import pytest

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.events import Found
from harness.findings import minimising
from harness.findings import tracker as findings
from harness.findings.minimising import NO_TIME, TOOK_LONG, Overtime
from tests.harness.test_findings import Encode_, Scene, right, wrong_at
from tests.harness.test_out_of_time import Watched

WHOLE = b"some longer text with one mark! in it"


def slow(encode: Encode_, seconds: float = 0.001) -> Encode_:
    def slowly(data: bytes) -> list[int]:
        time.sleep(seconds)
        return encode(data)

    return slowly


def test_a_finding_is_made_minimal_though_the_time_of_the_cases_is_over() -> None:
    scene = Scene(ref=right, bad=wrong_at(b"!"))
    [violation] = scene.pool.examine(scene.contract, CHECKS["equivalence"], [WHOLE]).violations
    scene.pool.limit_by(lambda: 0.0)
    scene.tracker.limit_by(lambda: 0.0)
    case = Case(WHOLE, "test", 0, 0)
    scene.tracker.consider(scene.pool, scene.contract, violation, case)
    assert scene.found == [("equivalence/bpe/raw/text/P/bad", b"!")]
    assert scene.tracker.findings[0].minimal
    assert scene.pool.out_of_time  # for all others


def test_that_time_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimising, "OVERTIME_SECONDS", 0.05)
    scene = Watched(ref=right, bad=slow(wrong_at(b"!")))
    overtime = scene.tracker._overtime = Overtime()
    scene.pool.limit_by(lambda: 0.0)
    scene.tracker.limit_by(lambda: 0.0)
    assert 0.0 < overtime.left(0.0) <= 0.05
    time.sleep(0.06)
    assert overtime.left(0.0) < 0
    overtime.pause()
    assert overtime.left(0.0) < 0  # for the whole run
    assert overtime.left(1.0) < 1.0 + 0.05


def test_what_took_long_is_gone_on_with_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(ref=right, bad=wrong_at(b"!"))
    with monkeypatch.context() as patch:
        patch.setattr(findings, "SHRINK_SECONDS", 0.0)
        scene.check("equivalence", WHOLE)
    [found] = scene.tracker.findings
    assert (found.minimal, found.unminimised) == (False, TOOK_LONG)
    scene.tracker.settle(scene.pool)
    scene.tracker._check_invariants()
    assert scene.found == [("equivalence/bpe/raw/text/P/bad", b"!")]
    [found] = scene.tracker.findings
    assert found.minimal
    assert scene.counts()[found.bucket] >= 1


def test_what_a_shorter_input_explains_by_then_is_no_finding_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(ref=right, bad=wrong_at(b"!"))
    with monkeypatch.context() as patch:
        patch.setattr(findings, "SHRINK_SECONDS", 0.0)
        scene.check("equivalence", WHOLE + "\u0378".encode())
    scene.check("equivalence", b"a!")
    assert len(scene.found) == 2
    scene.tracker.settle(scene.pool)
    scene.tracker._check_invariants()
    assert scene.found == [("equivalence/bpe/raw/text/P/bad", b"!")]
    gone = {event.replaces for event in scene.events if isinstance(event, Found)} - {None}
    assert len(gone) == 2  # what was provisional, and what was not minimal


def test_what_stays_unfinished_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Watched(ref=right, bad=wrong_at(b"!"))
    scene.consider("equivalence", WHOLE)
    [found] = scene.tracker.findings
    assert (found.minimal, found.unminimised) == (False, NO_TIME)
    scene.tracker.settle(scene.pool)
    assert scene.tracker.findings == [found]
