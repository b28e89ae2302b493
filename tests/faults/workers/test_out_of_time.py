"""When the time of a run is up: what is asked is cut off, and nobody is accused of it."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from corpora.vocabularies.model import Normalizer
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.core.countdown import Countdown
from harness.core.messages import Encode, Meter
from harness.core.outcomes import Inputs
from harness.engine.suites import Budget
from harness.findings.patience import NO_TIME
from harness.studies.selftest.program import TRIGGER
from harness.workers import Limits
from harness.workers.pool import OutOfTime, WorkerPool
from tests.doubles.fuzz_campaign import run, small_plan
from tests.doubles.plugged import live
from tests.doubles.samples import contract
from tests.doubles.scenes import (
    LATE,
    Scene,
    Silent,
    Watched,
    expecting,
    in_turn,
    right,
    wrong_at,
)
from tests.mutants import in_process as wrong

WRONG = Path(wrong.__file__)


def test_no_question_waits_longer_than_the_run():
    scene = Scene(ref=right)
    silent = Silent()
    scene.pool.workers = {"ref": silent}
    left = [0.05]
    scene.pool.limit_by(lambda: left[0])
    with pytest.raises(OutOfTime):
        scene.pool.gauge("ref", scene.contract, [b"a"], Meter.TIME)
    assert silent.abandoned == 1
    left[0] = 0.0
    with pytest.raises(OutOfTime):  # and is not put at all
        examine(scene.pool, scene.contract, CHECKS["survival"], [b"a"])
    assert silent.abandoned == 1


def test_who_was_given_up_is_asked_again_under_the_next_limit():
    # A study's time-out once kept the next study from measuring anything.
    terms = contract("toy_bytes", "bpe.heap")
    pool = WorkerPool(terms.participants, Limits())
    try:
        pool.load(terms.vocabulary, ["bpe.heap"])
        while pool.loading:
            pool.settle()
        pool.abandon(["bpe.heap"])
        asked = Encode(Inputs.of([b"a"]), terms.mode)
        assert pool.answer("bpe.heap", asked).unsupported
        pool.limit_by(lambda: math.inf)
        assert not pool.answer("bpe.heap", asked).unsupported
    finally:
        pool.close()


def test_a_mismatch_that_there_is_no_time_for_is_entered_as_it_is():
    scene = Watched(ref=right, bad=wrong_at(b"!"))
    scene.consider("equivalence", b"some text!")
    assert scene.found == [("equivalence/bpe/raw/text/any/bad", b"some text!")]
    [found] = scene.tracker.findings
    assert not found.minimal
    assert found.unminimised == NO_TIME


def test_what_may_be_expected_if_it_were_smaller_is_not_held_against_the_gate():
    known = expecting("equivalence/bpe/raw/text/P/bad")
    scene = Watched((known,), ref=right, bad=wrong_at(b"!"))
    assert scene.consider("equivalence", b"some text!") == ""
    assert scene.tracker.findings == []
    in_time = Scene((known,), ref=right, bad=wrong_at(b"!"))
    in_time.check("equivalence", b"some text!")
    assert [found.expected for found in in_time.tracker.findings] == ["known"]
    other = Watched((known,), ref=right, worse=wrong_at(b"!"))
    other.consider("equivalence", b"some text!")
    assert [found.expected for found in other.tracker.findings] == [None]


@pytest.mark.parametrize(("culprit", "left_out"), [("bad", True), ("worse", False)])
def test_nor_what_may_part_at_another_stage_if_it_were_smaller(culprit, left_out):
    # As llama.cpp, whose defect of normalization makes unknown tokens of a long text.
    known = expecting("equivalence/bpe/raw/normalization/*/bad")
    encoders = {"ref": right, culprit: wrong_at(b"!")}
    scene = Watched((known,), **encoders)
    scene.consider("equivalence", b"some text!")
    assert len(scene.found) == 1  # there is no normalizer
    scene = Watched((known,), **encoders)
    normalizing = replace(scene.contract.vocabulary, normalizer=Normalizer(form="NFC"))
    scene.contract = replace(scene.contract, vocabulary=normalizing)
    scene.consider("equivalence", b"some text!")
    assert len(scene.found) == (0 if left_out else 1)


def test_a_hang_that_was_sure_when_the_time_was_up_is_a_finding():
    scene = Watched(ref=right, bad=in_turn(LATE))
    scene.consider("survival", b"text!")
    assert scene.found == [("survival/bpe/raw/timed-out/any/bad", b"text!")]


def test_a_worker_that_is_cut_off_has_neither_died_nor_hung():
    """A real process, which sleeps or computes for ever on this input."""
    limits = Limits(seconds=3600.0)
    with live([f"{WRONG}:Hang"], limits=limits) as (pool, [contract, *_]):
        countdown = Countdown(0.3).start()
        pool.limit_by(lambda: countdown.left)
        with pytest.raises(OutOfTime):
            pool.gauge(contract.names[0], contract, [TRIGGER], Meter.TIME)
        assert pool.losses() == {}
        assert pool.withdrawn() == {}
        assert pool.excused() == []


def hanging(folder, budget):
    """A session with an implementation that hangs in its first round."""
    plan = small_plan(64, impls=(f"{WRONG}:Hang",))
    limits = Limits(seconds=1.0)
    asked = {"vocabularies": list(plan.plan.vocabularies)}
    inner = replace(plan.plan, budget=budget, limits=limits, asked=asked)
    plan = replace(plan, plan=inner, seeds=[TRIGGER])
    return run(plan, str(folder / "x.db"), folder / "out")


@pytest.mark.thorough
def test_a_campaign_finds_a_hang_of_whom_it_was_to_test_however_short_it_is(tmp_path):
    """To be sure of a hang takes three times the limit, which is longer than the session."""
    made = hanging(tmp_path, Budget(seconds=1.0))
    [found] = made.findings
    assert found.stage == "timed-out"
    assert any(note.startswith("exceeded the budget by") for note in made.finished.notes)
