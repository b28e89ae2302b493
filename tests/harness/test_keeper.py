"""The keeper of a worker: what it waits for, what it tells, and what is done where it fails."""

import errno
import os
import select
import signal
import sys
from pathlib import Path

import pytest

from harness.workers import kept as keeping
from harness.workers.kept import Kept, Nursery
from harness.workers.process import Process
from tests.harness.leaving import gone, mark, marked

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


def kept(code, *arguments, descriptors=()):
    """A kept Python process."""
    return started(sys.executable, "-c", code, *arguments, descriptors=descriptors)


def started(*command, descriptors=()):
    """A kept process."""
    with Path(os.devnull).open("wb") as log:
        return Kept(command, descriptors=descriptors, environment=os.environ, log=log.fileno())


HELPED = """
import os, subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]], start_new_session=True)
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
os.write(int(sys.argv[-1]), b"x")
"""

SLEEPING = "import time; time.sleep(600)"
SPINNING = "while True: pass"


def helped(then, mark, helper=SLEEPING):
    """A kept process with a helper in a session of its own, which it has started by now."""
    inlet, outlet = os.pipe()
    made = kept(HELPED + then, mark, helper, descriptors=(outlet,))
    os.close(outlet)
    assert os.read(inlet, 1) == b"x"
    os.close(inlet)
    return made


def count(made):
    """How many processes are told to be left."""
    return made.report.count


def test_who_is_busy_is_given_time_to_end_its_helper(patched, mark, monkeypatch):
    patched("keeper.GRACE_SECONDS = 0.2\nkeeper.LONGEST_GRACE_SECONDS = float('inf')")
    monkeypatch.setattr(keeping, "GENTLE_SECONDS", float(HANG_SECONDS))
    made = helped("spin(1.5)\nhelper.terminate()\nhelper.wait()", mark)
    made.end(gently=True)
    assert count(made) == 0
    assert marked(mark) == []


@pytest.mark.parametrize("then", ["", "time.sleep(600)"], ids=["ended", "waiting"])
def test_what_a_busy_machine_leaves_undecided_is_not_told(then, patched, mark):
    patched("keeper.GRACE_SECONDS = float('inf')\nkeeper.LONGEST_GRACE_SECONDS = 0.0")
    made = helped(then, mark, SPINNING)
    if not then:
        made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert count(made) == 0
    assert marked(mark) == []


def test_who_computes_for_ever_is_not_waited_for_by_the_clock(patched, mark, monkeypatch):
    # Only its CPU time can bring this to an end: no other limit is ever reached.
    patched("keeper.LONGEST_GRACE_SECONDS = keeper.GRACE_SECONDS = float('inf')")
    monkeypatch.setattr(keeping, "GENTLE_SECONDS", float(HANG_SECONDS))
    made = helped("time.sleep(600)", mark, SPINNING)
    made.end(gently=True)
    assert count(made) == 1
    assert marked(mark) == []


@pytest.mark.parametrize("number", ["KILL", "TERM"])
def test_who_was_killed_could_not_end_its_helper(patched, number, mark):
    patched("keeper.GRACE_SECONDS = 0.2")
    made = helped(f"import signal; os.kill(os.getpid(), signal.SIG{number})", mark)
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert count(made) == (0 if number == "KILL" else 1)
    assert marked(mark) == []


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


def test_a_command_that_cannot_be_run_is_no_crash_of_it():
    made = started("/no/such/file")
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert made.report is not None and made.report.error
    assert "No such file or directory: '/no/such/file'" in made.report.error


def test_a_process_that_cannot_be_forked_is_no_crash_of_it(patched):
    patched(
        "def full(*command, **how):\n"
        "    raise BlockingIOError(11, 'Resource temporarily unavailable')\n"
        "os.posix_spawn = full"
    )
    made = kept("")
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert made.report is not None and made.report.error
    assert "Resource temporarily unavailable" in made.report.error


def test_a_keeper_that_cannot_be_forked_is_no_process(patched):
    patched("def fork():\n    raise BlockingIOError(11, 'no')\nos.fork = fork")
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
    made = helped("time.sleep(600)", mark)
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
