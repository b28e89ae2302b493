"""Violations are looked into beside the judges, in a fair order, and none is lost."""

import threading
from types import SimpleNamespace

import pytest

from harness.engine import judge as module
from harness.engine.judge import ViolationQueue

HANG_SECONDS = 30.0


def entry(number, culprit="mine"):
    violation = SimpleNamespace(check="equivalence", stage=None, culprits=(culprit,), data=number)
    return SimpleNamespace(contract=SimpleNamespace(id="toy/text"), violation=violation)


@pytest.fixture
def seen():
    """What was looked into: culprit and number of each."""
    return []


@pytest.fixture
def ready():
    """Nothing is looked into before this is set."""
    return threading.Event()


@pytest.fixture
def begun(seen, ready):
    """Begins queues, which are closed with the test."""
    made = []

    def begin(stopped=bool, late=bool, **rest):
        def look_into(one):
            assert ready.wait(HANG_SECONDS)
            seen.append((one.violation.culprits[0], one.violation.data))

        made.append(ViolationQueue(rest.pop("look_into", look_into), stopped, late, *rest.values()))
        return made[-1]

    yield begin
    ready.set()
    for one in made:
        one.close()


@pytest.fixture(autouse=True)
def most(monkeypatch):
    """How many may wait before a judge does."""
    monkeypatch.setattr(module, "MOST_WAITING", 2)


def test_what_comes_first_is_done_before_any_is_looked_into_and_nothing_is_left(begun, seen, ready):
    def first():
        assert ready.wait(HANG_SECONDS)
        seen.append("examples")

    queue = begun(first=first)
    queue.take(entry(0))
    ready.set()
    queue.take(entry(1))
    assert queue.finish() == []
    assert seen == ["examples", ("mine", 0), ("mine", 1)]


def test_a_rare_kind_does_not_wait_behind_a_frequent_one(begun, seen, ready):
    queue = begun()
    queue.hurry()
    for number in range(5):  # and no judge waits once no new case is asked
        queue.take(entry(number, "often"))
    queue.take(entry(5, "once"))
    ready.set()
    assert queue.finish() == []
    assert ("once", 5) in seen[:3]
    assert len(seen) == 6


def test_a_judge_waits_where_too_many_are_kept(begun, ready):
    at_it, taken = threading.Event(), []

    def look_into(_):
        at_it.set()
        ready.wait(HANG_SECONDS)

    queue = begun(look_into=look_into)
    queue.take(entry(0))
    assert at_it.wait(HANG_SECONDS)
    two = threading.Event()

    def take():
        for number in range(3):
            queue.take(entry(number))
            taken.append(number)
            if number:
                two.set()

    judge = threading.Thread(target=take, daemon=True)
    judge.start()
    assert two.wait(HANG_SECONDS)
    judge.join(0.2)
    assert taken == [0, 1]
    ready.set()
    judge.join(HANG_SECONDS)
    assert taken == [0, 1, 2]
    queue.finish()


@pytest.mark.parametrize("why", ["late", "stopped"])
def test_what_is_not_looked_into_is_given_back_and_no_judge_waits_for_it(begun, seen, ready, why):
    ready.set()
    queue = begun(**{why: lambda: True})
    asked = [*((number, "mine") for number in range(10)), (0, "another")]
    for one in asked:
        queue.take(entry(*one))  # would wait for ever
    left = [one.violation for one in queue.finish()]
    assert seen == []
    assert [(one.data, *one.culprits) for one in left] == asked


def test_what_ends_the_thread_is_raised_and_nobody_waits_for_it(begun):
    def fail(_):
        raise ZeroDivisionError

    queue = begun(look_into=fail)
    for number in range(4):
        queue.take(entry(number))  # would wait for ever on a thread that has ended
    for ending in (queue.finish, queue.look):
        with pytest.raises(ZeroDivisionError):
            ending()
