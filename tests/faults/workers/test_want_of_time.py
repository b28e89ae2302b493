"""Want of time accuses nobody, ends no hang that is waited for, and leaves nobody out unsaid."""

import contextlib
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import cast
from unittest.mock import MagicMock

import pytest

import harness.findings.entries
import impls.interface
from corpora.families.catalog import FAMILIES
from corpora.vocabularies.model import Algorithm, Alphabet
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.core.messages import Encode
from harness.core.outcomes import Inputs, Unsupported
from harness.engine import judge
from harness.engine.examples import Exercise, exercises
from harness.engine.plan import Tally
from harness.engine.session import Session
from harness.engine.state import RunState
from harness.engine.suites import Budget
from harness.events.run import Explained
from harness.findings import patience
from harness.findings.causes import Causes
from harness.findings.entries import EXAMPLES, UNSURE
from harness.findings.expected import ExpectedFindings
from harness.findings.patience import NO_TIME
from harness.findings.questions import Asking
from harness.studies import checks
from harness.studies.checks import MOMENT, Checks
from harness.studies.growth.measurement import Measurement
from harness.verdict.bounds import judge_growth
from harness.workers.pool import OutOfTime
from harness.workers.reasons import ABANDONED, NO_ROOM
from tests.doubles.fuzz_campaign import small_plan
from tests.doubles.growth_pools import LARGEST, Simulated, measure, participant
from tests.doubles.growth_pools import contract as of_participants
from tests.doubles.scenes import RAW, Silent, Watched, expecting, right, wrong_at

# The examples of expectations.


class Latecoming(Watched):
    """A scene whose time is up when a violation is to be asked about again."""

    def exercise(self, examples, vocabulary="*"):
        bucket = "equivalence/bpe/raw/text/P/bad"
        entry = expecting(bucket, vocabulary=vocabulary, examples=tuple(examples))
        plan = SimpleNamespace(
            expectations=[entry], versions={"ref": "1", "bad": "1"}, seed=0,
            checks=[CHECKS["equivalence"]],
        )  # fmt: skip
        self.tracker._expected = ExpectedFindings([entry], {"ref": "1", "bad": "1"})
        done = exercises(plan, self.tracker, self.pool, [self.contract])
        return [(one.exercised, one.shown) for one in done]


def test_an_example_is_looked_into_however_late_it_is(monkeypatch):
    """Counted by what it looks like, it would seem to show something else."""
    monkeypatch.setattr(Causes, "worth", lambda self, entry, *, late: False)
    scene = Latecoming(ref=right, bad=lambda data: [0 if b in b"!q" else b for b in data])
    [known] = scene.check("equivalence", b"a!")
    assert scene.check("equivalence", b"qu") == [known]  # what a generator gives is counted so
    [example] = scene.entries("equivalence", b"qu", origin=EXAMPLES)
    assert scene.enter(example) != known


@pytest.mark.parametrize("answers", [True, False])
def test_examples_are_asked_at_once_where_all_of_them_are_answered(monkeypatch, answers):
    bad = wrong_at(b"!")
    scene = Latecoming(ref=right, bad=bad if answers else refusing(bad, b"hard"))
    asked = []

    def counting(pool, contract, check, inputs):
        asked.append(list(inputs))
        return examine(pool, contract, check, inputs)

    monkeypatch.setattr("harness.engine.examples.examine", counting)
    monkeypatch.setattr(scene.tracker, "consider", lambda pool, entry: UNSURE)
    examples = [b"text!", b"!", b"hard"]
    scene.exercise(examples)
    assert asked == [examples, *([] if answers else [[one] for one in examples])]


@pytest.mark.parametrize("why", ["not asked", "not told", "not minimal", "minimising took long"])
def test_an_example_for_which_there_was_no_time_is_not_exercised(monkeypatch, why):
    scene = Latecoming(ref=right, bad=wrong_at(b"!"))
    consider = scene.tracker.consider
    if why == "not asked":
        scene.late()
    elif why == "not told":
        scene.tracker.consider = lambda *given: scene.late() or consider(*given)
    elif why == "not minimal":
        monkeypatch.setattr(Asking, "minimise", lambda asking, *given: (asking.entry, NO_TIME))
    else:
        monkeypatch.setattr(patience, "SHRINK_SECONDS", 0.0)
    # As it is, it is of another kind than the entry names.
    assert scene.exercise(["some \u0378 text!".encode()], "toy_bytes") == [(False, False)]


def test_what_one_vocabulary_could_not_say_is_not_stale_for_another_one(
    monkeypatch,
):
    told = [Exercise(0, True, False), Exercise(1, True, False), Exercise(1, False, False)]
    monkeypatch.setattr(judge, "exercises", lambda *given: told)
    run = SimpleNamespace(tally=Tally(), lock=threading.Lock(), plan=None, tracker=None)
    judge.Judge(run).examples(None, [])
    assert run.tally.exercised - run.tally.unsure == {0}
    again = Tally()
    again.add(run.tally.plain())
    assert again == run.tally


def refusing(encode, *inputs):
    """An encoder that lawfully does not answer these."""

    def some(data):
        if data in inputs:
            raise impls.interface.Unsupported("longer than it takes")
        return encode(data)

    return some


WRONG, LONGER = wrong_at(b"!"), b"longer!"


@pytest.mark.parametrize(
    ("bad", "examples", "vocabulary", "said"),
    [
        (WRONG, [b"text!"], "*", (True, True)),
        (right, [b"text!"], "*", (True, False)),
        # Each example of one vocabulary has to show.
        (WRONG, [b"text!", b"mended"], "toy_bytes", (True, False)),
        (WRONG, [b"text!", b"!"], "toy_bytes", (True, True)),
        (WRONG, [b"text!", b"mended"], "toy_*", (True, True)),
        # One that is not answered is not mended, and another vocabulary may show it by that one.
        (refusing(WRONG, LONGER), [b"text!", LONGER], "toy_bytes", (True, True)),
        (refusing(WRONG, LONGER), [b"text!", LONGER], "toy_*", (True, True)),
        (refusing(right, LONGER), [b"text!", LONGER], "toy_bytes", (True, False)),
        (refusing(right, LONGER), [b"text!", LONGER], "toy_*", (False, False)),
        (refusing(right, LONGER), [LONGER], "toy_bytes", (False, False)),
    ],
)
def test_whether_an_example_was_exercised_and_shows(bad, examples, vocabulary, said):
    assert Latecoming(ref=right, bad=bad).exercise(examples, vocabulary) == [said]


def test_nothing_provisional_is_left_of_what_may_be_expected(
    monkeypatch,
):
    """A smaller input parts at another stage, which is expected, and time ends before its kind."""
    whole = b"some longer text with a mark! in it"

    def explain(violation, contract):
        parted = "pre-tokens" if len(violation.data) == len(whole) else "merges"
        sides = {"left": "ref", "right": "bad", "left_model": "ref", "right_model": "bad"}
        return cast("Explained", {**sides, "stages": [], "parted": parted})

    monkeypatch.setattr(harness.findings.entries, "explain", explain)
    known = expecting("equivalence/bpe/raw/merges/Zs/bad")
    scene = Watched((known,), ref=right, bad=wrong_at(b"!"))
    questions = [0]

    def left():
        questions[0] += 1
        return 100.0 if questions[0] < 16 else 0.0

    [entry] = scene.entries("equivalence", whole)
    scene.pool.limit_by(left)
    scene.tracker.limit_by(lambda: 0.0)
    assert scene.enter(entry) == UNSURE
    assert questions[0] >= 16
    assert scene.tracker.findings == []


# Further questions.


def test_a_question_that_is_queued_is_dropped_and_ends_no_process():
    scene = Watched(ref=right, other=right)
    queued, busy = Silent(at_it=False), Silent(at_it=True)
    scene.pool.workers = {"ref": queued, "other": busy}
    left = iter([1.0, 0.01])
    scene.pool.limit_by(lambda: next(left, 0.0))
    with pytest.raises(OutOfTime):
        examine(scene.pool, scene.contract, CHECKS["survival"], [b"a"])
    assert queued.abandoned == 0
    assert busy.abandoned == 0  # its question was not the one that was waited for


def test_all_questions_of_a_check_that_are_queued_are_dropped():
    scene = Watched(ref=right)
    futures = [Future(), Future()]
    futures[0].set_running_or_notify_cancel()
    silent, given = Silent(), iter(futures)
    silent.ask = lambda request: next(given)
    scene.pool.workers = {"ref": silent}
    left = iter([1.0])
    scene.pool.limit_by(lambda: next(left, 0.0))
    with pytest.raises(OutOfTime):
        scene.pool.answers([("ref", Encode(Inputs.of([b"a"]), RAW))] * 2)
    assert silent.abandoned == 1
    assert futures[1].cancelled()


# Growth of who was not asked.


def test_who_was_not_asked_is_inconclusive_and_who_refuses_is_not_said():
    for reason, named in ((ABANDONED, {"fine", "gone"}), ("no such text", {"fine"})):
        refusing = {"fine": lambda data: 1000 + len(data), "gone": lambda data: Unsupported(reason)}  # noqa: B023
        said = {one.implementation: one for one in measure(refusing)[0]}
        assert said.keys() == named
        assert "gone" not in said or (said["gone"].verdict, "not asked" in said["gone"].note) == (
            "inconclusive", True,
        )  # fmt: skip


@pytest.mark.parametrize("after", [0, 6])
@pytest.mark.parametrize(
    ("reason", "verdict", "kept"),
    [
        (f"{NO_ROOM}: Resource temporarily unavailable", "inconclusive", True),
        ("could not be started again: MemoryError", "failed", False),
        ("withdrawn after 16 deaths", "failed", False),
    ],
)
def test_a_machine_without_room_for_a_process_breaks_no_bound(after, reason, verdict, kept):
    asked = 0

    def until_it_ends(data):
        nonlocal asked
        asked += 1
        if asked <= after:
            return 1000 + 50 * len(data)
        pool.gone["mine"] = reason
        return Unsupported(reason)

    pool = Simulated({"fine": lambda data: 1000 + len(data), "mine": until_it_ends})
    taking = of_participants([participant("fine"), participant("mine")])
    said = []
    Measurement(pool, [taking], FAMILIES[:1], LARGEST).run(60.0, said.append)
    [mine] = [one for one in said if one.implementation == "mine"]
    assert mine.verdict == verdict
    assert reason in mine.note
    [judged] = judge_growth([mine], [], claiming=(), own=["mine"])
    assert (judged.outcome != "fail") is kept


# The campaign.


@pytest.mark.parametrize("fault", [None, ValueError("a fault")])
def test_judges_ask_a_moment_after_the_end_and_none_goes_on_after_a_fault(monkeypatch, fault):
    plan = replace(small_plan(1, ()).plan, budget=Budget(seconds=1000.0))
    run = RunState(plan, lambda event: None, MagicMock(unexpected=False))
    run.countdown.start()
    pool, feed, left = MagicMock(), MagicMock(unanswered=[]), []
    feed.finish.return_value = ["slow"]

    def asked(*given):
        left.append(pool.limit_by.call_args.args[0]())
        if fault:
            raise fault

    feed.run.side_effect = asked
    monkeypatch.setattr(checks, "Feed", lambda *given: feed)
    vocabulary = SimpleNamespace(
        id="v", algorithm=Algorithm.BPE, alphabet=Alphabet.BYTES, unexpressed=""
    )
    session = Session(pool, "v", vocabulary, run, time.monotonic() + 5)
    with pytest.raises(ValueError, match="a fault") if fault else contextlib.nullcontext():
        Checks(run).step(session)
    assert left[0] <= 5 + MOMENT
    feed.close.assert_called_once()
    assert pool.kill.called == bool(fault)
    if not fault:
        # The examples of what is expected have the time of findings, and growth that of the run.
        assert pool.lasting.call_args.args[0](0.0) > 5
        assert pool.limit_by.call_args.args[0]() > 100
        # Whoever was abandoned takes part in what follows.
        feed.judged.assert_called_once_with(["slow"])
        pool.resume.assert_called_once()
        assert run.tally.unanswered == {"slow": 1}
