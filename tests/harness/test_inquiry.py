"""Violations are looked into beside the judges, in a fair order, and none is lost."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.engine import inquiry as module
from harness.engine.inquiry import Inquiry

HANG_SECONDS = 30.0


def suspicion(number: int, culprit: str = "mine") -> Any:
    violation = SimpleNamespace(check="equivalence", stage=None, culprits=(culprit,), data=number)
    return SimpleNamespace(contract=SimpleNamespace(id="toy/text"), violation=violation)


def after(ready: threading.Event) -> Any:
    return lambda _: ready.is_set()


def wait_for(condition: Any) -> None:
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_nothing_is_looked_into_before_it_may_be_and_nothing_is_left_at_the_end() -> None:
    seen: list[int] = []
    ready = threading.Event()
    inquiry = Inquiry(
        lambda one: seen.append(cast("int", one.violation.data)), lambda _: ready.is_set(), bool
    )
    for number in range(3):
        inquiry.take(suspicion(number))
    assert seen == []
    ready.set()
    inquiry.finish()
    assert seen == [0, 1, 2]
    inquiry.close()


def test_a_rare_kind_does_not_wait_behind_a_frequent_one() -> None:
    seen: list[str] = []
    ready = threading.Event()
    inquiry = Inquiry(
        lambda one: seen.append(one.violation.culprits[0]), lambda _: ready.is_set(), bool
    )
    for number in range(5):
        inquiry.take(suspicion(number, "often"))
    inquiry.take(suspicion(5, "once"))
    ready.set()
    inquiry.finish()
    assert seen[:2] == ["often", "once"]
    assert len(seen) == 6
    inquiry.close()


def test_a_judge_waits_where_too_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    go_on, begun = threading.Event(), threading.Event()

    def look_into(_: object) -> None:
        begun.set()
        go_on.wait(HANG_SECONDS)

    inquiry = Inquiry(look_into, lambda _: True, bool)
    inquiry.take(suspicion(0))
    assert begun.wait(HANG_SECONDS)
    taken: list[int] = []

    def take() -> None:
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


def test_no_judge_waits_for_what_may_not_be_looked_into_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 2)
    monkeypatch.setattr(module, "MOST_UNREADY", 3)
    seen: list[Any] = []
    ready = threading.Event()
    inquiry = Inquiry(seen.append, after(ready), bool)
    for number in range(10):
        inquiry.take(suspicion(number))  # would wait for ever
    inquiry.take(suspicion(0, "another"))
    ready.set()
    assert inquiry.drop_unready() == 7
    inquiry.finish()
    assert len(seen) == 4
    inquiry.close()


def test_what_ends_the_thread_is_raised_and_nobody_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 1)

    def fail(_: object) -> None:
        raise ZeroDivisionError

    inquiry = Inquiry(fail, lambda _: True, bool)
    for number in range(4):
        inquiry.take(suspicion(number))  # would wait for ever on a thread that has ended
    with pytest.raises(ZeroDivisionError):
        inquiry.finish()
    with pytest.raises(ZeroDivisionError):
        inquiry.look()
    inquiry.close()


def test_a_run_that_is_stopped_leaves_the_rest() -> None:
    seen: list[Any] = []
    stop = threading.Event()
    inquiry = Inquiry(seen.append, lambda _: False, stop.is_set)
    inquiry.take(suspicion(0))
    stop.set()
    inquiry.finish()
    assert seen == []
    inquiry.close()


def test_what_may_not_be_looked_into_waits_for_itself_alone_and_may_be_dropped() -> None:
    seen: list[str] = []
    inquiry = Inquiry(
        lambda one: seen.append(one.violation.culprits[0]),
        lambda one: one.violation.culprits != ("unexplained",),
        bool,
    )
    for _ in range(3):
        inquiry.take(suspicion(0, "unexplained"))
    inquiry.take(suspicion(1, "mine"))
    wait_for(lambda: seen == ["mine"])
    assert inquiry.unready()
    assert inquiry.drop_unready() == 3
    assert not inquiry.unready()
    inquiry.finish()
    assert seen == ["mine"]
    inquiry.close()
