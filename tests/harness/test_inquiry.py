"""Violations are looked into beside the judges, in a fair order, and none is lost."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine import judging as module
from harness.engine.judging import ViolationQueue

HANG_SECONDS = 30.0


def entry(number: int, culprit: str = "mine") -> Any:
    violation = SimpleNamespace(check="equivalence", stage=None, culprits=(culprit,), data=number)
    return SimpleNamespace(contract=SimpleNamespace(id="toy/text"), violation=violation)


def wait_for(condition: Any) -> None:
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def gathering(seen: list[Any], ready: threading.Event | None = None) -> Any:
    """Looks into violations one after another, as soon as the event is set."""

    def look_into(one: Any) -> None:
        if ready is not None:
            assert ready.wait(HANG_SECONDS)
        seen.append(one.violation)

    return look_into


def test_nothing_is_left_at_the_end() -> None:
    seen: list[Any] = []
    queue = ViolationQueue(gathering(seen), bool, bool)
    for number in range(3):
        queue.take(entry(number))
    assert queue.finish() == []
    assert [one.data for one in seen] == [0, 1, 2]
    queue.close()


def test_what_comes_first_is_done_before_any_is_looked_into() -> None:
    seen: list[Any] = []
    ready = threading.Event()

    def first() -> None:
        assert ready.wait(HANG_SECONDS)
        seen.append("examples")

    queue = ViolationQueue(lambda one: seen.append(one.violation.data), bool, bool, first)
    queue.take(entry(0))
    ready.set()
    assert queue.finish() == []
    assert seen == ["examples", 0]
    queue.close()


def test_a_rare_kind_does_not_wait_behind_a_frequent_one() -> None:
    seen: list[Any] = []
    ready = threading.Event()
    queue = ViolationQueue(gathering(seen, ready), bool, bool)
    for number in range(5):
        queue.take(entry(number, "often"))
    queue.take(entry(5, "once"))
    ready.set()
    assert queue.finish() == []
    assert "once" in [one.culprits[0] for one in seen[:3]]
    assert len(seen) == 6
    queue.close()


def test_a_judge_waits_where_too_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    go_on, begun = threading.Event(), threading.Event()

    def look_into(_: object) -> None:
        begun.set()
        go_on.wait(HANG_SECONDS)

    queue = ViolationQueue(look_into, bool, bool)
    queue.take(entry(0))
    assert begun.wait(HANG_SECONDS)
    taken: list[int] = []

    def take() -> None:
        for number in range(3):
            queue.take(entry(number))
            taken.append(number)

    judge = threading.Thread(target=take, daemon=True)
    judge.start()
    wait_for(lambda: taken == [0, 1])
    judge.join(0.2)
    assert taken == [0, 1]
    go_on.set()
    judge.join(HANG_SECONDS)
    assert taken == [0, 1, 2]
    queue.finish()
    queue.close()


def test_no_judge_waits_once_no_new_case_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    seen: list[Any] = []
    ready = threading.Event()
    queue = ViolationQueue(gathering(seen, ready), bool, bool)
    queue.hurry()
    for number in range(5):
        queue.take(entry(number))  # would wait for ever
    ready.set()
    assert queue.finish() == []
    assert len(seen) == 5
    queue.close()


def test_what_there_is_no_time_for_is_given_back_and_no_judge_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    seen: list[Any] = []
    queue = ViolationQueue(gathering(seen), bool, lambda: True)
    for number in range(10):
        queue.take(entry(number))  # would wait for ever
    queue.take(entry(0, "another"))
    left = queue.finish()
    assert seen == []
    assert [(one.violation.data, one.violation.culprits) for one in left] == [
        *[(number, ("mine",)) for number in range(10)],
        (0, ("another",)),
    ]
    queue.close()


def test_what_ends_the_thread_is_raised_and_nobody_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1)

    def fail(_: object) -> None:
        raise ZeroDivisionError

    queue = ViolationQueue(fail, bool, bool)
    for number in range(4):
        queue.take(entry(number))  # would wait for ever on a thread that has ended
    with pytest.raises(ZeroDivisionError):
        queue.finish()
    with pytest.raises(ZeroDivisionError):
        queue.look()
    queue.close()


def test_a_run_that_is_stopped_leaves_the_rest() -> None:
    seen: list[Any] = []
    stop = threading.Event()
    stop.set()
    queue = ViolationQueue(gathering(seen), stop.is_set, bool)
    queue.take(entry(0))
    queue.finish()
    assert seen == []
    queue.close()
