"""Examiners in processes of their own: what they tell, what they raise, and how they end."""

import os
import signal
import socket
import time
from collections import Counter
from dataclasses import asdict, replace

import pytest

from harness.core.output import OutputError
from harness.engine import copies
from harness.engine.copies import ExaminerProcess, line_of
from harness.engine.ending import BrokenOff
from harness.engine.examiner import Ended, Turn
from harness.engine.plan import Tally
from harness.engine.state import NamedFailed
from harness.events import Phase
from tests.properties.cluster.plans import plug_in, sat, small_plan

LEFT = {"mine": "sleep \udc80 600"}

HANG_SECONDS = 60.0


class Scripted:
    """An examiner that does as the vocabulary's name says."""

    def __init__(self):
        self.stopped = False

    def examine(self, turn, tell):
        tell(Phase(f"examining {turn.source} \udc80"))
        match turn.source:
            case "named":
                raise NamedFailed("mine", "toy", "two\nlines \udc80")
            case "full":
                raise OSError(28, "no room", "/out/file")
            case "written":
                raise OutputError("--out x: cannot be written")
            case "piped":
                raise BrokenPipeError("a program has ended")
            case "broken":
                raise KeyError("ids")
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "long":
                end = time.monotonic() + HANG_SECONDS
                while not self.stopped and time.monotonic() < end:
                    time.sleep(0.01)
                return Ended(whole=not self.stopped)
            case "talking":
                for number in range(100_000):
                    tell(Phase(f"{number} {'x' * 100}"))
        tally = Tally(hung={*turn.hung}, unanswered=Counter(slow=2), claims=[("\udc80",)])
        return Ended(whole=True, loading=0.5, tally=tally.plain())

    def stop(self):
        self.stopped = True

    def close(self):
        return LEFT


def made():
    return Scripted()


def turn(source, *hung):
    return Turn(source, 1.0, 0.0, 0, list(hung))


@pytest.fixture
def copy():
    one = ExaminerProcess(made)
    try:
        yield one
    finally:
        one._stopped = True  # nothing more is to be told of how it ends
        assert one.close() in (LEFT, {})
        assert not one._process.is_running()


def test_what_it_tells_comes_back_event_by_event(copy):
    events = []
    ended = copy.examine(turn("usual", "\udc80"), events.append)
    assert (ended.whole, ended.loading) == (True, 0.5)
    total = Tally(unanswered=Counter(slow=1))
    total.add(ended.tally)
    assert total == Tally(hung={"\udc80"}, unanswered=Counter(slow=3), claims=[("\udc80",)])
    assert events == [Phase("examining usual \udc80")]
    assert copy.examine(turn("next"), events.append).whole
    assert copy.close() == LEFT


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("named", NamedFailed, "mine cannot load toy: two"),
        ("full", OutputError, "/out/file"),
        ("written", OutputError, "--out x: cannot be written"),
        ("broken", BrokenOff, "KeyError: 'ids'"),
        ("piped", BrokenOff, "BrokenPipeError: a program has ended"),
        ("killed", BrokenOff, "killed by SIGKILL; if memory is short, use --jobs 1"),
    ],
)
def test_what_it_raises_is_raised_here(copy, source, kind, words):
    with pytest.raises(kind) as caught:
        copy.examine(turn(source), lambda event: None)
    assert words in str(caught.value)
    if isinstance(caught.value, NamedFailed):
        assert caught.value.trace == "two\nlines \udc80"


def test_one_that_cannot_begin_says_why():
    def failing():
        raise ValueError("no room for a process")

    copy = ExaminerProcess(failing)
    with pytest.raises(BrokenOff, match="ValueError: no room for a process"):
        copy.examine(turn("usual"), lambda event: None)
    copy.stop()
    assert copy.close() == {}


def test_it_is_stopped_while_it_examines(copy):
    def stop(event):
        copy.stop()

    assert not copy.examine(turn("long"), stop).whole
    assert copy.close() == LEFT


def test_what_nobody_takes_is_passed_over_at_the_end(copy):
    """Ctrl-C ends the thread that hears it, while it goes on telling."""

    def interrupted(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy.examine(turn("talking"), interrupted)
    assert copy.close() == LEFT


def test_one_that_does_not_stop_is_killed(monkeypatch):
    monkeypatch.setattr(copies, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(Scripted, "stop", lambda self: None)
    copy = ExaminerProcess(made)
    copy.stop()
    with pytest.raises(BrokenOff):
        copy.examine(turn("long"), lambda event: None)
    assert copy.close() == {}
    assert copy._ended() == -signal.SIGKILL


@pytest.mark.parametrize("unread", [False, True])
def test_it_ends_with_the_process_that_has_begun_it(unread):
    """A later copy holds the connection of an earlier one, until it ends itself."""
    first, second = ExaminerProcess(made), ExaminerProcess(made)
    if unread:  # then its end comes as an error
        first._send(line_of("Turn", asdict(turn("long"))))
        first._socket.recv(1, socket.MSG_PEEK)
    for one in (first, second):
        one._leave()  # as the kernel does when that process is killed
    assert [one._ended() for one in (first, second)] == [-signal.SIGKILL] * 2


def test_what_workers_left_is_not_lost_in_silence(monkeypatch):
    """Whether anything was left behind nobody knows then."""
    monkeypatch.setattr(Scripted, "close", lambda self: 1 / 0)
    copy = ExaminerProcess(made)
    assert copy.examine(turn("usual"), lambda event: None).whole
    with pytest.raises(BrokenOff, match="ZeroDivisionError"):
        copy.close()
    assert copy.close() == {}


def test_a_run_of_two_processes_is_the_run_of_one(tmp_path):
    plan = small_plan(plug_in(tmp_path))
    one = sat(plan, tmp_path / "one")
    two = sat(replace(plan, jobs=2), tmp_path / "two")
    assert len(plan.visited) > 2
    assert [found.id for found in two.findings] or not one.findings
    assert sorted(found.id for found in two.findings) == sorted(found.id for found in one.findings)
    assert two.finished.verdict == one.finished.verdict
    assert two.finished.cases == one.finished.cases
