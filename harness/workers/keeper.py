"""The keeper of one process: the parent that everything which the process starts falls back to.

A process that has left its group and its session, and whose parent has ended, belongs to nobody:
the kernel gives it to the nearest ancestor that has asked for such orphans
(``PR_SET_CHILD_SUBREAPER``). Were that the harness itself, the orphans of one worker could not be
told from those of another. So each worker has a parent of its own that does nothing else, a copy
of the nursery (:mod:`harness.workers.nursery`). It runs none of the implementation's code. Steps:

1. It sends its own number. The worker is begun in a session of its own.
2. The worker ends by itself; or the harness sends ``k`` or ends, and it is killed; or the harness
   sends ``c``, and it is killed, too, but may end by itself before if there are processes that
   have left its session: it may be about to end them.
3. What is left of its session is killed. What has left its session may end by itself for
   GRACE_SECONDS. The rest is noted and killed. Nothing is waited for and nothing is noted after
   ``k``, or where the worker was killed by SIGKILL: it had no chance to end what it had started.
4. It sends a :class:`Report`.

Only time in which the processes that are waited for do nothing counts against GRACE_SECONDS: a
machine that is busy is no reason to say that somebody has left processes behind. Who works all the
time is waited for until they have had WORKING_SECONDS of CPU time, which a busy machine does not
shorten either.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import msgspec
import psutil

from harness.workers.clock import Stopwatch, usage_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from socket import socket

PR_SET_CHILD_SUBREAPER = 36

GRACE_SECONDS = 2.0
"""A process that was left behind and ends before it has been idle for so long is not worth a word.
It is only waited for where there is such a process."""

WORKING_SECONDS = 3.0
"""CPU time that the processes that are waited for may have meanwhile: to end takes far less, and
one that computes for ever is not waited for any longer."""

LONGEST_GRACE_SECONDS = 30.0
"""Processes that were left behind are waited for so long at the most, though they work; then nobody
can say whether they would have ended, and nothing is noted."""

ENDING_SECONDS = 8.0
"""All that is left has so many seconds to be gone after SIGKILL; a process may be held up by a slow
disk."""

SHOWN, SHOWN_CHARACTERS = 3, 120
"""Processes of which the command line is reported, and characters of each."""

LOOK_SECONDS = 0.05

REAP_SECONDS = 5.0
"""Seconds between two looks for orphans that have ended, while the worker is at work."""

DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end others: this process ends when it has done its work."""

GONE = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


class Report(msgspec.Struct, frozen=True):
    """What a keeper says at the end: the wait status, and the command lines of what was left.

    count: of all that were left; ``left`` has the first of them. all: whether all that was to be
    killed is gone. error: why the worker was not begun or not kept, which is the machine's fault;
    empty where it was.
    """

    status: int = 0
    count: int = 0
    left: tuple[str, ...] = ()
    all: bool = True
    error: str = ""

    @property
    def exit_code(self) -> int:
        """How the worker ended: its status, or a negative signal."""
        return os.waitstatus_to_exitcode(self.status)

    @property
    def line(self) -> str | None:
        """What the worker left behind that would not end by itself, on one line."""
        several = "a process" if self.count == 1 else f"{self.count:,} processes"
        return f"left {several} behind: {'; '.join(self.left)}" if self.count else None


def keep(harness: socket, begin: Callable[[], int]) -> None:
    """Keep a worker to its end, in the process that is its keeper.

    begin: begins the worker, in a session of its own, and returns its number. Raises OSError where
    it cannot.
    """
    for number in DEAF:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    harness.sendall(os.getpid().to_bytes(4, "little"))
    try:
        said = Keeper(harness, begin()).kept()
    except OSError as error:
        said = Report(error=str(error), all=False)
    harness.sendall(msgspec.json.encode(said))


def close_others(kept: Collection[int]) -> None:
    """Close all descriptors of this process but the standard ones and these."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208 (numbers)
        if descriptor > 2 and descriptor not in kept:  # the listing's own is closed by now
            with contextlib.suppress(OSError):
                os.close(descriptor)


class Keeper:
    """The worker, by its number, and all that comes of it."""

    def __init__(self, harness: socket, worker: int) -> None:
        self._harness, self._worker = harness, worker
        # The worker's pipes are its own: who reads them is to see their end when it closes them.
        close_others({harness.fileno()})
        self._end, over = os.pipe()
        threading.Thread(target=self._await_end, args=(over,), daemon=True).start()

    def _await_end(self, over: int) -> None:
        """Close a descriptor when the worker has ended, so that its end can be polled for.

        A descriptor of the process would do as well, but not before Linux 5.3, nor in gVisor.
        """
        with contextlib.suppress(ChildProcessError):  # it was waited for meanwhile
            os.waitid(os.P_PID, self._worker, os.WEXITED | os.WNOWAIT)
        os.close(over)

    def kept(self) -> Report:
        """See the module."""
        said, late = self._said(), False
        if said == b"c" and self._strays():
            late = self._patient(lambda: self._ended() != 0) is None
        # Who was killed by now, by the kernel or itself, could not end what it had started.
        hurried = late or said == b"k" or self._ended() == signal.SIGKILL
        # The worker is not waited for yet: its number, and that of its group, are still its own.
        for kill in (os.kill, os.killpg):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(self._worker, signal.SIGKILL)
        self._cleared(self._within)
        left: list[str] = []
        if not hurried and self._patient(lambda: not self._strays()) is False:
            left = list(map(shown, self._strays()))
        every = self._cleared(self._others)
        _, status = os.waitpid(self._worker, os.WNOHANG)
        return Report(status, len(left), tuple(left[:SHOWN]), every)

    def _said(self) -> bytes:
        """Wait for the worker's end (empty), or a word of the harness; its end is as ``k``."""
        while not self._ended():
            heard = self._harness.fileno()
            if heard in select.select([heard, self._end], [], [], REAP_SECONDS)[0]:
                with contextlib.suppress(OSError):
                    return self._harness.recv(1) or b"k"
                return b"k"
            self._reap()
        return b""

    def _ended(self) -> int:
        """0 of a worker that runs, the number of the signal that ended it, or -1.

        It stays to be waited for, so that its number stays its own.
        """
        found = os.waitid(os.P_PID, self._worker, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return 0
        return -1 if found.si_code == os.CLD_EXITED else found.si_status

    def _patient(self, over: Callable[[], bool]) -> bool | None:
        """Wait until something is so; whether it is so, None where that is undecided.

        Not longer than GRACE_SECONDS in which no descendant has any work, or until they have had
        WORKING_SECONDS of CPU time. The clock ticks with each look: a pause that has become longer
        is one in which this process had to wait itself.
        """
        watch = Stopwatch(GRACE_SECONDS, 0.0, usage_of(os.getpid(), keeper=True).cpu)
        while not over():
            if watch.waited >= GRACE_SECONDS or watch.spent > WORKING_SECONDS:
                return False
            if watch.looked >= LONGEST_GRACE_SECONDS:
                return None
            self._pause()
            usage = usage_of(os.getpid(), keeper=True)
            watch.look(watch.looked + LOOK_SECONDS, usage, place=-1, compiling=False)
        return True

    def _cleared(self, some: Callable[[], list[psutil.Process]]) -> bool:
        """Kill the worker and some others until all are gone; whether they are."""
        end = monotonic() + ENDING_SECONDS
        while (found := some()) or not self._ended():
            if monotonic() > end:
                return False
            for one in found:
                with contextlib.suppress(psutil.Error):
                    one.kill()
            self._pause()
        return True

    def _pause(self) -> None:
        """Wait for the worker's end; a moment at the most, and after it."""
        select.select([] if self._ended() else [self._end], [], [], LOOK_SECONDS)

    def _reap(self) -> None:
        """Wait for the orphans that have ended."""
        for one in psutil.Process().children():
            if one.pid != self._worker:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(one.pid, os.WNOHANG)

    def _others(self) -> list[psutil.Process]:
        """All that descends from this process and lives, but the worker."""
        self._reap()
        found = []
        for one in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if one.pid != self._worker and one.status() not in GONE:
                    found.append(one)
        return found

    def _within(self) -> list[psutil.Process]:
        """The others that are in the worker's session."""
        return [one for one in self._others() if session(one) == self._worker]

    def _strays(self) -> list[psutil.Process]:
        """The others that have left the worker's session."""
        return [one for one in self._others() if session(one) not in (0, self._worker)]


def session(process: psutil.Process) -> int:
    """The session of a process; 0 of one that is gone."""
    try:
        return os.getsid(process.pid)
    except ProcessLookupError:
        return 0


def shown(process: psutil.Process) -> str:
    """The command line of a process; cut off where it is long."""
    text = ""
    with contextlib.suppress(OSError):
        raw = Path(f"/proc/{process.pid}/cmdline").read_bytes()[:4096]
        text = raw.replace(b"\0", b" ").decode("utf-8", "replace").strip()
    return text[:SHOWN_CHARACTERS] or "a process"
