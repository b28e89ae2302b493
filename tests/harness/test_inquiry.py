"""Violations are looked into beside the judges, in a fair order, and none is lost."""

import threading
import time
from types import SimpleNamespace

import pytest

from harness.engine import judging as module
from harness.engine.judging import Inquiry

HANG_SECONDS = 30.0


def suspicion(number, culprit="mine"):
    violation = SimpleNamespace(check="equivalence", stage=None, culprits=(culprit,), data=number)
    entry = SimpleNamespace(contract=SimpleNamespace(id="toy/text"), violation=violation)
    return SimpleNamespace(entry=entry)


def wait_for(condition):
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def gathering(seen, ready=None):
    """Looks into violations one after another, as soon as the event is set."""

    def look_into(one):
        if ready is not None:
            assert ready.wait(HANG_SECONDS)
        seen.append(one.entry.violation)

    return look_into


def test_nothing_is_left_at_the_end():
    seen = []
    inquiry = Inquiry(gathering(seen), bool, bool)
    for number in range(3):
        inquiry.take(suspicion(number))
    assert inquiry.finish() == []
    assert [one.data for one in seen] == [0, 1, 2]
    inquiry.close()


def test_what_comes_first_is_done_before_any_is_looked_into():
    seen = []
    ready = threading.Event()

    def first():
        assert ready.wait(HANG_SECONDS)
        seen.append("examples")

    inquiry = Inquiry(lambda one: seen.append(one.entry.violation.data), bool, bool, first)
    inquiry.take(suspicion(0))
    ready.set()
    assert inquiry.finish() == []
    assert seen == ["examples", 0]
    inquiry.close()


def test_a_rare_kind_does_not_wait_behind_a_frequent_one():
    seen = []
    ready = threading.Event()
    inquiry = Inquiry(gathering(seen, ready), bool, bool)
    for number in range(5):
        inquiry.take(suspicion(number, "often"))
    inquiry.take(suspicion(5, "once"))
    ready.set()
    assert inquiry.finish() == []
    assert "once" in [one.culprits[0] for one in seen[:3]]
    assert len(seen) == 6
    inquiry.close()


def test_a_judge_waits_where_too_many_are_kept(monkeypatch):
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    go_on, begun = threading.Event(), threading.Event()

    def look_into(_):
        begun.set()
        go_on.wait(HANG_SECONDS)

    inquiry = Inquiry(look_into, bool, bool)
    inquiry.take(suspicion(0))
    assert begun.wait(HANG_SECONDS)
    taken = []

    def take():
        for number in range(3):
            inquiry.take(suspicion(number))
            taken.append(number)

    judge = threading.Thread(target=take, daemon=True)
    judge.start()
    wait_for(lambda: taken == [0, 1])
    judge.join(0.2)
    assert taken == [0, 1]
    go_on.set()
    judge.join(HANG_SECONDS)
    assert taken == [0, 1, 2]
    inquiry.finish()
    inquiry.close()


def test_no_judge_waits_once_no_new_case_is_asked(monkeypatch):
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    seen = []
    ready = threading.Event()
    inquiry = Inquiry(gathering(seen, ready), bool, bool)
    inquiry.hurry()
    for number in range(5):
        inquiry.take(suspicion(number))  # would wait for ever
    ready.set()
    assert inquiry.finish() == []
    assert len(seen) == 5
    inquiry.close()


def test_what_there_is_no_time_for_is_given_back_and_no_judge_waits_for_it(
    monkeypatch,
):
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    seen = []
    inquiry = Inquiry(gathering(seen), bool, lambda: True)
    for number in range(10):
        inquiry.take(suspicion(number))  # would wait for ever
    inquiry.take(suspicion(0, "another"))
    left = inquiry.finish()
    assert seen == []
    assert [(one.entry.violation.data, one.entry.violation.culprits) for one in left] == [
        *[(number, ("mine",)) for number in range(10)],
        (0, ("another",)),
    ]
    inquiry.close()


def test_what_ends_the_thread_is_raised_and_nobody_waits_for_it(
    monkeypatch,
):
    monkeypatch.setattr(module, "MOST_WAITING", 1)

    def fail(_):
        raise ZeroDivisionError

    inquiry = Inquiry(fail, bool, bool)
    for number in range(4):
        inquiry.take(suspicion(number))  # would wait for ever on a thread that has ended
    with pytest.raises(ZeroDivisionError):
        inquiry.finish()
    with pytest.raises(ZeroDivisionError):
        inquiry.look()
    inquiry.close()


def test_a_run_that_is_stopped_leaves_the_rest():
    seen = []
    stop = threading.Event()
    stop.set()
    inquiry = Inquiry(gathering(seen), stop.is_set, bool)
    inquiry.take(suspicion(0))
    inquiry.finish()
    assert seen == []
    inquiry.close()
