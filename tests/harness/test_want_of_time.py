"""Want of time accuses nobody, ends no hang that is waited for, and leaves nobody out unsaid."""

import contextlib
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from packaging.specifiers import SpecifierSet

import harness.findings.entries
import impls.interface
from corpora.families.catalog import FAMILIES
from corpora.generators.base import Case
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
from harness.findings.entries import EXAMPLES, UNSURE, Entry
from harness.findings.expected import ExpectedFindings
from harness.findings.patience import NO_TIME
from harness.findings.questions import Asking
from harness.studies import checks
from harness.studies.checks import MOMENT, Checks
from harness.studies.growth.measurement import Measurement
from harness.verdict.bounds import judge_growth
from harness.verdict.expectations import Expectation
from harness.workers.pool import OutOfTime
from harness.workers.reasons import ABANDONED, NO_ROOM
from tests.harness.fuzz_campaign import small_plan
from tests.harness.growth_pools import LARGEST, Simulated, measure, participant
from tests.harness.growth_pools import contract as of_participants
from tests.harness.scenes import RAW, Silent, Watched, right, wrong_at

# The examples of expectations.


class Latecoming(Watched):
    """A scene whose time is up when a violation is to be asked about again."""

    def exercise(self, examples, vocabulary="*"):
        bucket, versions = "equivalence/bpe/raw/text/P/bad", {"bad": SpecifierSet()}
        entry = Expectation(bucket, versions, "known", vocabulary, tuple(examples))
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
    [violation] = examine(scene.pool, scene.contract, CHECKS["equivalence"], [b"qu"]).violations
    example = Case(violation.data, EXAMPLES, 0, 0)
    assert scene.tracker.consider(scene.pool, Entry(scene.contract, violation, example)) != known


def test_an_example_that_could_not_be_told_in_time_is_not_exercised():
    scene = Latecoming(ref=right, bad=wrong_at(b"!"))
    consider = scene.tracker.consider

    def late(pool, entry):
        scene.late()
        return consider(pool, entry)

    scene.tracker.consider = late
    assert scene.exercise([b"some text!"]) == [(False, False)]


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


def test_an_example_that_could_not_be_asked_in_time_is_not_exercised():
    scene = Latecoming(ref=right, bad=right)
    scene.late()
    assert scene.exercise([b"text!"]) == [(False, False)]


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


@pytest.mark.parametrize("reason", ["time is up", "it took long"])
def test_an_example_that_is_not_minimal_for_want_of_time_is_not_exercised(monkeypatch, reason):
    scene = Latecoming(ref=right, bad=wrong_at(b"!"))
    if reason == "it took long":
        monkeypatch.setattr(patience, "SHRINK_SECONDS", 0.0)
    else:
        monkeypatch.setattr(Asking, "minimise", lambda asking, *given: (asking.entry, NO_TIME))
    # As it is, it is of another kind than the entry names.
    assert scene.exercise(["some \u0378 text!".encode()], "toy_bytes") == [(False, False)]


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
    entry = Expectation("equivalence/bpe/raw/merges/Zs/bad", {"bad": SpecifierSet()}, "known")
    scene = Watched((entry,), ref=right, bad=wrong_at(b"!"))
    questions = [0]

    def left():
        questions[0] += 1
        return 100.0 if questions[0] < 16 else 0.0

    [violation] = examine(scene.pool, scene.contract, CHECKS["equivalence"], [whole]).violations
    scene.pool.limit_by(left)
    scene.tracker.limit_by(lambda: 0.0)
    case = Case(whole, "test", 0, 0)
    assert scene.tracker.consider(scene.pool, Entry(scene.contract, violation, case)) == UNSURE
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
    def silent(data):
        return Unsupported(ABANDONED)

    answers = {"fine": lambda data: 1000 + len(data), "gone": silent}
    said, _ = measure(answers)
    [gone] = [one for one in said if one.implementation == "gone"]
    assert gone.verdict == "inconclusive"
    assert "not asked" in gone.note
    said, _ = measure({**answers, "gone": lambda data: Unsupported("no such text")})
    assert {one.implementation for one in said} == {"fine"}


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


class Scripted:
    """Stands in for a pool, and for a feed that does what it is told."""

    def __init__(self, error=None):
        self.error = error
        self.left = lambda: 0.0
        self.limits = []
        self.did = []
        self.unanswered = []
        self.turn = threading.Lock()

    def limit_by(self, left):
        self.left = left

    @contextlib.contextmanager
    def lasting(self, left):
        # The examples of what is expected have the time of findings, not that of judges.
        assert left(0.0) > 5
        yield

    @property
    def out_of_time(self):
        return self.left() <= 0

    def withdrawn(self):
        return {}

    def kill(self):
        self.did.append("kill")

    def resume(self):
        self.did.append("resume")

    # As a feed.

    def run(self, *given):
        self.limits.append(self.left())
        if self.error is not None:
            raise self.error

    def finish(self, worth_waiting):
        self.did.append("finish")
        return ["slow"]

    def judged(self, owing):
        # Whoever looks into findings is not to meet one that is given up and answers again.
        assert self.turn.locked()
        self.did.append(f"judged but for {owing}")

    def close(self):
        self.did.append("close")


def check(monkeypatch, scripted):
    plan = replace(small_plan(1, ()).plan, budget=Budget(seconds=1000.0))
    tracker = SimpleNamespace(settle=lambda pool: None)
    run = RunState(plan, lambda event: None, tracker)
    run.countdown.start()
    monkeypatch.setattr(checks, "Feed", lambda *given: scripted)
    vocabulary = SimpleNamespace(
        id="v", algorithm=Algorithm.BPE, alphabet=Alphabet.BYTES, unexpressed=""
    )
    Checks(run).step(Session(scripted, "v", vocabulary, run, time.monotonic() + 5))
    return run


def test_judges_ask_no_longer_than_a_moment_after_the_end_of_a_vocabulary(
    monkeypatch,
):
    scripted = Scripted()
    run = check(monkeypatch, scripted)
    [limit] = scripted.limits
    assert limit <= 5 + MOMENT
    assert scripted.left() > 100  # growth has the rest of the run
    # Whoever was abandoned takes part in what follows.
    assert scripted.did == ["finish", "judged but for ['slow']", "resume", "close"]
    assert run.tally.unanswered == {"slow": 1}


def test_no_judge_goes_on_after_a_fault(monkeypatch):
    scripted = Scripted(ValueError("a fault"))
    with pytest.raises(ValueError, match="a fault"):
        check(monkeypatch, scripted)
    assert scripted.did == ["kill", "close"]
