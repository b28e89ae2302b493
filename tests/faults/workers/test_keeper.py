"""The keeper of a worker: what it waits for, what it tells, and what is done where it fails."""

import contextlib
import errno
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.workers import kept as keeping
from harness.workers.kept import Nursery
from harness.workers.process import Process
from tests.doubles.leaving import (
    SLEEPING,
    SPINNING,
    WAITING,
    gone,
    helped,
    kept,
    mark,
    marked,
    started,
)  # fmt: skip

__all__ = ["mark"]  # a fixture

HANG_SECONDS = 120
"""After so long a test has hung; nothing that is tested takes any part of it."""


@pytest.fixture
def patched(tmp_path, monkeypatch):
    """Have keepers do something before they begin, such as to change a limit of theirs."""
    nursery = Nursery("patched")

    def patch(lines):
        begin = "from harness.workers import keeper\nimport os\n"
        (tmp_path / "patched.py").write_text(f"{begin}{lines}\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), os.pathsep)
        monkeypatch.setattr(keeping, "ANEW", nursery)

    yield patch
    nursery.close()


def test_who_is_busy_is_given_time_to_end_its_helper(patched, mark, monkeypatch):
    patched("keeper.GRACE_SECONDS = 0.2\nkeeper.LONGEST_GRACE_SECONDS = float('inf')")
    monkeypatch.setattr(keeping, "GENTLE_SECONDS", float(HANG_SECONDS))
    made = helped(mark, "spin(1.5)\nhelper.terminate()\nhelper.wait()")
    made.end(gently=True)
    assert made.report.count == 0
    assert marked(mark) == []


@pytest.mark.parametrize(
    ("limits", "then", "helper", "count"),
    [
        # What a busy machine leaves undecided is not told, whether it has ended or waits.
        (("inf", 0), "", SPINNING, 0),
        (("inf", 0), WAITING, SPINNING, 0),
        # Who computes for ever is ended by its CPU time: no other limit is ever reached.
        (("inf", "inf"), WAITING, SPINNING, 1),
        # Who was killed could not end its helper.
        ((0.2, 30), "os.kill(os.getpid(), signal.SIGKILL)", SLEEPING, 0),
        ((0.2, 30), "os.kill(os.getpid(), signal.SIGTERM)", SLEEPING, 1),
    ],
)
def test_what_is_left_is_told_where_it_is_sure(
    limits, then, helper, count, patched, mark, monkeypatch
):
    grace, longest = limits
    patched(
        f"keeper.WORKING_SECONDS = 0.5\nkeeper.GRACE_SECONDS = float('{grace}')\n"
        f"keeper.LONGEST_GRACE_SECONDS = float('{longest}')"
    )
    monkeypatch.setattr(keeping, "GENTLE_SECONDS", float(HANG_SECONDS))
    made = helped(mark, then, helper)
    if then != WAITING:
        made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert made.report.count == count
    assert marked(mark) == []


def test_at_once_means_at_once(mark):
    made = helped(mark)
    made.end()
    assert marked(mark) == []
    assert made.report.count == 0  # nobody has waited for it to end by itself
    assert made.report.exit_code == -9


def test_what_is_left_is_told_with_its_command_line(mark):
    made = helped(mark, "sys.exit(7)")
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert made.report.exit_code == 7
    (line,) = made.report.left
    assert made.report.count == 1
    assert WAITING in line
    assert marked(mark) == []


@pytest.mark.parametrize("number", ["KILL", "STOP"])
def test_who_kills_or_stops_the_keeper_gains_nothing(number, mark):
    made = helped(mark, f"os.kill(os.getppid(), signal.SIG{number})\n{WAITING}")
    with contextlib.suppress(psutil.NoSuchProcess):
        while psutil.Process(made.pid).status() != psutil.STATUS_STOPPED:
            time.sleep(0.02)
    made.end()
    assert gone(mark)
    end = time.monotonic() + HANG_SECONDS
    while psutil.pid_exists(made.pid):
        assert time.monotonic() < end
    assert (made.report is None) == (number == "KILL")


def test_a_killed_harness_leaves_nothing(mark):
    code = (
        "import sys, time\nfrom tests.doubles.leaving import helped\n"
        f"made = helped({mark!r})\nprint('ready', flush=True)\ntime.sleep(600)"
    )
    harness = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert harness.stdout.readline() == b"ready\n"
    while not marked(mark):  # it has its command line a moment after it was started
        time.sleep(0.02)
    harness.kill()
    harness.communicate()
    assert gone(mark)


def test_pipes_of_the_worker_end_when_it_closes_them():
    inlet, outlet = os.pipe()
    made = kept(
        "import os, sys, time; os.close(int(sys.argv[1])); time.sleep(600)", descriptors=(outlet,)
    )
    os.close(outlet)
    try:
        poller = select.poll()
        poller.register(inlet, select.POLLIN)
        assert poller.poll(20_000), "somebody else holds the pipe open"
        assert os.read(inlet, 1) == b""
    finally:
        made.end()
        os.close(inlet)


FULL = "def full(*_, **__):\n    raise BlockingIOError(11, 'no room')\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [("", "No such file or directory: '/no/such/file'"), (f"{FULL}os.posix_spawn = full", "no ro")],
)
def test_a_worker_that_cannot_be_begun_is_no_crash_of_it(patched, lines, said):
    patched(lines)
    made = started("/no/such/file")
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert said in made.report.error


def test_a_keeper_that_cannot_be_forked_is_no_process(patched):
    patched(f"{FULL}os.fork = full")
    with pytest.raises(BlockingIOError, match="no process can be started"):
        kept("")


def test_a_blocked_sigchld_is_no_hang():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    try:
        made = kept("")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    ended = made.wait(20)
    made.end()
    assert ended


def test_what_the_keeper_could_not_kill_is_killed_by_its_mark(patched, mark):
    # A keeper that gives up at once, as one does whose processes are held up by a slow disk.
    patched("keeper.ENDING_SECONDS = 0.0\nkeeper.Keeper._cleared = lambda *given: False")
    made = helped(mark)
    made.end()
    assert not made.report.all
    assert gone(mark)


def full(*given, **options):
    """What a system says that has no room for another process."""
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


def test_what_cannot_be_started_leaves_no_descriptors(monkeypatch):
    def start():
        return Process("harness.workers.server", 1 << 30)

    monkeypatch.setattr(Nursery, "begin", full)
    with pytest.raises(BlockingIOError):  # what is made once, such as folders, is made by this
        start()
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(BlockingIOError):
        start()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
