"""What comes back is believed, another answer is determinism, what cannot be told is none."""

import pytest

from corpora.generators.base import Case
from harness.checks.base import Violation
from harness.core.excused import LEAKING, TOGETHER
from harness.core.outcomes import Encoded, Failed, Status
from harness.core.partition import Part
from harness.events import Unsettled
from harness.findings.entries import Entry
from harness.findings.questions import Asking
from harness.workers.reasons import ABANDONED, ENOUGH, STOPPED
from impls.interface import Died, Unsupported
from tests.doubles.scenes import LATE, Scene, in_turn, right, time_to_shrink

__all__ = ["time_to_shrink"]  # a fixture of every test


TOO_SLOW = "not asked: it was too slow in this batch"

GONE = Unsupported("withdrawn after 3 time-outs")


def test_a_time_out_that_comes_back_is_a_finding():
    scene = Scene(ref=right, bad=in_turn(LATE))
    scene.check("survival", b"text!")
    # Each time-out is dear, so that the input is made smaller once and no more.
    assert scene.found == [("survival/bpe/raw/timed-out/any/bad", b"t!")]
    [found] = scene.tracker.findings
    assert not found.minimal
    assert "each try that hangs" in str(found.unminimised)


CRASH = Died("crashed", "killed by SIGSEGV")
HUNG, DEAD, RAISED = (f"survival/bpe/raw/{x}/any/bad" for x in ("timed-out", "crashed", "errored"))
WORSE, OTHERWISE = "survival/bpe/raw/crashed/P/bad", "determinism/bpe/raw/order/any/bad"


@pytest.mark.parametrize(
    ("check", "answers", "found"),
    [
        ("survival", (LATE, "right"), []),
        # The worker asked again before it said so, and others of its time-outs had it withdrawn.
        ("survival", (LATE, GONE), [(HUNG, b"text!")]),
        ("survival", (LATE, CRASH), [(WORSE, b"!")]),
        ("survival", (ValueError("once"), CRASH), [(WORSE, b"!")]),
        ("survival", (CRASH, ValueError("once")), [(DEAD, b"text!")]),
        ("survival", (ValueError("once"), "right"), [(RAISED, b"text!")]),
        ("equivalence", ("wrong", CRASH), [(WORSE, b"!")]),
        ("equivalence", ("wrong", GONE), []),
        ("equivalence", ("wrong", "right"), [(OTHERWISE, b"text!")]),
        (
            "equivalence",
            ("wrong", Unsupported("withdrawn after 20 deaths")),
            [(OTHERWISE, b"text!")],
        ),
        ("determinism", ("right", LATE, "right"), []),
        # It answers alike from then on.
        ("determinism", ("right", "wrong", "right"), [(OTHERWISE, b"text!")]),
    ],
)
def test_what_is_answered_when_it_is_asked_again(check, answers, found):
    scene = Scene(ref=right, bad=in_turn(*answers))
    buckets = scene.check(check, b"text!")
    assert scene.found == found
    assert found or buckets == [""]
    assert not any(one.minimal for one in scene.tracker.findings if one.bucket.count("/any/"))
    scene.tracker.settle(scene.pool)
    assert bool(scene.told(Unsettled)) == (answers == ("wrong", GONE))


def test_the_death_of_another_is_no_worse_end_of_this_one():
    scene = Scene(ref=right, bad=in_turn(ValueError("once"), "right"), any=in_turn("right", CRASH))
    scene.check("survival", b"text!")
    assert (RAISED, b"text!") in scene.found


@pytest.mark.parametrize("times", [2, 4])
def test_what_does_not_come_back_each_of_four_times_is_of_determinism(times):
    scene = Scene(ref=right, bad=in_turn(*["wrong"] * times, "right"))
    scene.check("equivalence", b"text!")
    assert scene.found == [(OTHERWISE, b"text!")]


def test_where_the_trusted_one_is_silent_nobody_else_is_accused():
    scene = Scene(ref=in_turn("right", GONE), bad=in_turn("wrong"), any=right)
    assert scene.check("equivalence", b"text!") == [""]
    assert scene.found == []


def test_who_does_not_answer_any_more_has_not_changed_its_answer():
    # Two differ from the reference; one of them is gone when they are asked again.
    scene = Scene(ref=right, bad=in_turn("wrong"), lost=in_turn("wrong", GONE))
    scene.check("equivalence", b"text!")
    assert not [bucket for bucket, _ in scene.found if bucket.startswith("determinism")]


def test_who_joins_those_that_are_wrong_has_nobody_contradict_itself():
    """It was not asked in time at first, and is as wrong as the other one."""
    scene = Scene(ref=right, bad=in_turn("wrong"), late=in_turn(Unsupported(TOO_SLOW), "wrong"))
    scene.check("equivalence", b"text!")
    assert [(one.check, one.culprits) for one in scene.tracker.findings] == [
        ("equivalence", ["bad", "late"])
    ]


def test_a_finding_that_is_entered_meanwhile_breaks_nothing_off():
    """A run broke off on a busy machine: what is known grew while it was read."""
    asking = asking_about("equivalence")
    minimal = asking.causes[asking.entry.group].minimal
    minimal[b"a"] = "a bucket"
    read = []
    for one in asking.known:
        minimal[b"b"] = "another bucket"
        read.append(one)
    assert read == [b"a"]


def asking_about(check, *parts):
    scene = Scene(ref=right, bad=right)
    violation = Violation(check, 0, b"!", parts, ("bad",), "order")
    return Asking(scene.pool, Entry(scene.contract, violation, Case(b"!", "test", 0, 0)))


LEAK = Failed(Status.OUT_OF_MEMORY, f"took more than 1.0 GiB\n{LEAKING}")
WITH_OTHERS = Failed(Status.CRASHED, f"killed by SIGSEGV\n{TOGETHER}")


@pytest.mark.parametrize(
    ("check", "failure", "told"),
    [
        *((c, f, "machine") for c in ("batch", "reload", "validity") for f in (LEAK, WITH_OTHERS)),
        ("batch", Failed(Status.CRASHED, "killed by SIGSEGV"), "gone"),
        ("batch", Failed(Status.PROTOCOL, "two results for one input"), "gone"),
        ("batch", Failed(Status.ERRORED, "RuntimeError: once"), "gone"),
    ],
)
def test_a_failure_of_a_further_question_is_no_determinism_and_is_not_forgotten(
    check, failure, told
):
    """It is answered when it is asked again."""
    parts = Part(("bad",), failure), Part(("bad (alone)",), Encoded((33,)))
    assert asking_about(check, *parts).confirm() == told


@pytest.mark.parametrize("second", [Unsupported("not this"), Unsupported(""), ValueError("once")])
def test_a_wrong_answer_that_is_not_given_again_is_of_determinism(second):
    scene = Scene(ref=right, bad=in_turn("wrong", second))
    scene.check("equivalence", b"text!")
    [found] = scene.tracker.findings
    assert (found.bucket, found.culprits) == ("determinism/bpe/raw/order/any/bad", ["bad"])
    alone, batch = found.partition
    assert (alone.implementations, batch.implementations) == (["bad (alone)"], ["bad (in a batch)"])
    assert (batch.kind, batch.ids) == ("encoded", [0] * 5)
    assert alone.kind == ("errored" if isinstance(second, ValueError) else "unsupported")


@pytest.mark.parametrize(
    "reason",
    [STOPPED, ENOUGH, TOO_SLOW, ABANDONED, "withdrawn after 3 time-outs",
     "could not be started again: no room", "longer than its limit of 9 bytes"],
)  # fmt: skip
def test_who_is_kept_from_answering_is_accused_of_nothing(reason):
    scene = Scene(ref=right, bad=in_turn("wrong", Unsupported(reason)))
    assert scene.check("equivalence", b"text!") == [""]
    assert scene.found == []
    scene.tracker.settle(scene.pool)
    [told] = scene.told(Unsettled)
    assert (told.check, told.implementations) == ("equivalence", ["bad"])


@pytest.mark.parametrize("reason", [TOO_SLOW, ABANDONED, STOPPED])
def test_who_was_kept_from_answering_once_has_not_changed_its_answer(reason):
    """It gives the same wrong answer before and after the harness did not ask it."""
    kept = Unsupported(reason)
    # Wrong in the batch; then kept from answering while it is confirmed, four calls of it.
    scene = Scene(ref=right, bad=in_turn("wrong", *[kept] * 4, "wrong"))
    scene.check("equivalence", b"text!")
    assert not [bucket for bucket, _ in scene.found if bucket.startswith("determinism")]
