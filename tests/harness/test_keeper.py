"""The keeper of a worker: what it waits for, what it tells, and what is done where it fails."""

from __future__ import annotations

import errno
import os
import secrets
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from harness.studies.forced import pool
from harness.studies.forced.jobs import Task
from harness.workers import keeper, keeping
from harness.workers.keeping import Kept
from harness.workers.process import Process
from tests.harness.test_leavings import gone, marked

HANG_SECONDS = 120
"""After so long a test has hung; nothing that is tested takes any part of it."""

Patch = Callable[[str], None]


@pytest.fixture
def mark() -> Iterator[str]:
    """A word in the command line of what a test leaves behind; none of it may outlive the test."""
    word = f"kept-{secrets.token_hex(8)}"
    yield word
    for process in marked(word):
        process.kill()


@pytest.fixture
def patched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Patch:
    """Have keepers do something before they begin, such as to change a limit of theirs."""

    def patch(lines: str) -> None:
        script = tmp_path / "patched.py"
        folder = str(Path(keeper.__file__).parent)
        begin = f"import sys\nsys.path.insert(0, {folder!r})\nimport keeper, os\n"
        script.write_text(f"{begin}{lines}\nkeeper.main()\n")
        monkeypatch.setattr(keeping, "KEEPER", script)

    return patch


def kept(code: str, *arguments: str, descriptors: tuple[int, ...] = ()) -> Kept:
    """A kept Python process."""
    return Kept(
        [sys.executable, "-c", code, *arguments],
        descriptors=descriptors,
        environment={},
        errors=subprocess.DEVNULL,
    )


HELPED = """
import os, subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", sys.argv[2], sys.argv[1]], start_new_session=True)
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
os.write(int(sys.argv[3]), b"x")
"""

SLEEPING = "import time; time.sleep(600)"
SPINNING = "while True: pass"


def helped(then: str, mark: str, helper: str = SLEEPING) -> Kept:
    """A kept process with a helper in a session of its own, which it has started by now."""
    inlet, outlet = os.pipe()
    made = kept(HELPED + then, mark, helper, str(outlet), descriptors=(outlet,))
    os.close(outlet)
    assert os.read(inlet, 1) == b"x"
    os.close(inlet)
    return made


def count(made: Kept) -> int:
    """How many processes are told to be left."""
    assert made.report is not None
    return made.report.count


def test_who_is_busy_is_given_time_to_end_its_helper(
    patched: Patch, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    patched("keeper.GRACE_SECONDS = 0.2\nkeeper.LONGEST_GRACE_SECONDS = float('inf')")
    monkeypatch.setattr(keeping, "GENTLE_SECONDS", float(HANG_SECONDS))
    made = helped("spin(1.5)\nhelper.terminate()\nhelper.wait()", mark)
    made.end(gently=True)
    assert count(made) == 0
    assert marked(mark) == []


@pytest.mark.parametrize("then", ["", "time.sleep(600)"], ids=["ended", "waiting"])
def test_what_a_busy_machine_leaves_undecided_is_not_told(
    then: str, patched: Patch, mark: str
) -> None:
    patched("keeper.GRACE_SECONDS = float('inf')\nkeeper.LONGEST_GRACE_SECONDS = 0.0")
    made = helped(then, mark, SPINNING)
    if not then:
        made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert count(made) == 0
    assert marked(mark) == []


def test_who_computes_for_ever_is_not_waited_for_by_the_clock(
    patched: Patch, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only its CPU time can bring this to an end: no other limit is ever reached.
    patched("keeper.LONGEST_GRACE_SECONDS = keeper.GRACE_SECONDS = float('inf')")
    monkeypatch.setattr(keeping, "GENTLE_SECONDS", float(HANG_SECONDS))
    made = helped("time.sleep(600)", mark, SPINNING)
    made.end(gently=True)
    assert count(made) == 1
    assert marked(mark) == []


@pytest.mark.parametrize("number", ["KILL", "TERM"])
def test_who_was_killed_could_not_end_its_helper(patched: Patch, number: str, mark: str) -> None:
    patched("keeper.GRACE_SECONDS = 0.2")
    made = helped(f"import signal; os.kill(os.getpid(), signal.SIG{number})", mark)
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert count(made) == (0 if number == "KILL" else 1)
    assert marked(mark) == []


def test_pipes_of_the_worker_end_when_it_closes_them() -> None:
    inlet, outlet = os.pipe()
    made = kept(f"import os, time; os.close({outlet}); time.sleep(600)", descriptors=(outlet,))
    os.close(outlet)
    try:
        poller = select.poll()
        poller.register(inlet, select.POLLIN)
        assert poller.poll(20_000), "somebody else holds the pipe open"
        assert os.read(inlet, 1) == b""
    finally:
        made.end()
        os.close(inlet)


def test_a_command_that_cannot_be_run_is_no_crash_of_it() -> None:
    made = Kept(["/no/such/file"], descriptors=(), environment={}, errors=subprocess.DEVNULL)
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert made.fault is not None
    assert "/no/such/file cannot be run" in made.fault


def test_a_process_that_cannot_be_forked_is_no_crash_of_it(patched: Patch) -> None:
    patched(
        "def fork():\n    raise BlockingIOError(11, 'Resource temporarily unavailable')\n"
        "keeper.os.fork = fork"
    )
    made = kept("")
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert made.fault is not None
    assert "Resource temporarily unavailable" in made.fault


def test_a_keeper_that_is_not_there_is_no_crash_of_the_worker(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(keeping, "KEEPER", tmp_path / "nothing.py")
    made = kept("")
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert made.fault is not None
    assert made.exit_code is None


def test_a_killed_keeper_is_no_fault_of_the_machine() -> None:
    made = kept("import os, time; os.kill(os.getppid(), 9); time.sleep(600)")
    made.wait(HANG_SECONDS)
    made.end(gently=True)
    assert made.report is None
    assert made.fault is None


def test_a_blocked_sigchld_is_no_hang() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    try:
        made = kept("")
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    made.wait(20)
    ended = made._popen.poll() is not None
    made.end()
    assert ended


def test_what_the_keeper_could_not_kill_is_killed_by_its_mark(patched: Patch, mark: str) -> None:
    # A keeper that gives up at once, as one does whose processes are held up by a slow disk.
    patched("keeper.ENDING_SECONDS = 0.0\nkeeper.Keeper._rest = lambda self: True")
    made = helped("time.sleep(600)", mark)
    made.end()
    assert made.report is not None
    assert not made.report.all
    assert gone(mark)


def full(*given: object, **options: object) -> None:
    """What a system says that has no room for another process."""
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


@pytest.mark.parametrize(
    "start",
    [
        lambda: Process("harness.workers.server", 1 << 30),
        lambda: pool.Worker(Task(sources.resolve("toy_bytes"), ["none"], "flexible", seconds=60.0)),
    ],
    ids=["worker", "forced"],
)
def test_what_cannot_be_started_leaves_no_descriptors(
    start: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping.subprocess, "Popen", full)
    with pytest.raises(BlockingIOError):  # what is made once, such as folders, is made by this
        start()
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(BlockingIOError):
        start()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


PROC = "23 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc "


@pytest.mark.parametrize(
    ("mounts", "hidden"),
    [
        (f"{PROC}rw\n", False),
        (f"{PROC}rw,hidepid=0\n", False),
        (f"{PROC}rw,hidepid=off\n", False),
        (f"{PROC}rw,hidepid=1\n", True),
        (f"{PROC}rw,gid=4,hidepid=invisible\n", True),
        ("30 1 0:30 / /other rw - proc proc rw,hidepid=2\n" + f"{PROC}rw\n", False),
        ("", False),
    ],
)
def test_whether_proc_hides_processes(mounts: str, *, hidden: bool) -> None:
    assert keeper.hides_processes(mounts) is hidden
