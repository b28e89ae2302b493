"""The keeper of one process: the parent that everything which the process starts falls back to.

A process that has left its group and its session, and whose parent has ended, belongs to nobody:
the kernel gives it to the nearest ancestor that has asked for such orphans
(``PR_SET_CHILD_SUBREAPER``). Were that the harness itself, the orphans of one worker could not be
told from those of another, and a program that uses the harness as a library would get children
that it has not started. So each worker has a parent of its own that does nothing else. It runs
none of the implementation's code.

Started by :mod:`harness.workers.keeping` as a script, by a Python without ``site``, or a copy of
:mod:`harness.workers.fork_server`; the former as ``keeper.py CONTROL REPORT COMMAND..``: two file
descriptors, and the command of the worker. Steps:

1. The command is started in a session of its own.
2. It ends by itself; or CONTROL says ``k`` or ends, and it is killed; or CONTROL says ``c``, and
   it is killed, too, but may end by itself before if there are processes that have left its
   session: it may be about to end them.
3. What is left of its session is killed. What has left its session may end by itself for
   GRACE_SECONDS. The rest is noted and killed. Nothing is waited for and nothing is noted after
   ``k``, or where the command was killed by SIGKILL: it had no chance to end what it had started.
4. REPORT gets a line of JSON with the wait status of the command, what was left, and whether all
   of it is gone. Where the command could not be started, it says why instead.

Only time in which the processes that are waited for do nothing counts against GRACE_SECONDS: a
machine that is busy is no reason to say that somebody has left processes behind. Who works all the
time is waited for until one of them has had WORKING_SECONDS of CPU time, which a busy machine does
not shorten either.

It does without pathlib, which would be a good part of what it takes to start.

No process is killed by a number that may be another's by now: only own children are killed, and the
number of a child is not given to another process before its parent has waited for it. The children
of what is killed become children of the keeper, and are killed in their turn.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # the module typing would take longer to import than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36

GRACE_SECONDS = 2.0
"""A process that was left behind and ends before it has been idle for so long is not worth a word.
It is only waited for where there is such a process."""

WORKING_SECONDS = 3.0
"""CPU time that one of the processes that are waited for may have meanwhile: to end takes far less,
and one that computes for ever is not waited for any longer."""

LONGEST_GRACE_SECONDS = 30.0
"""Processes that were left behind are waited for so long on the wall's clock at the most, though
they work; then nobody can say whether they would have ended, and nothing is noted."""

ENDING_SECONDS = 8.0
"""All that is left has so many seconds to be gone after SIGKILL; a process may be held up by a slow
disk."""

SHOWN, SHOWN_CHARACTERS = 3, 120
"""Processes of which the command line is reported, and characters of each."""

LOOK_SECONDS = 0.05

SHOWING = ("hidepid=0", "hidepid=off")
"""Options of ``/proc`` by which a user is shown all of their own processes."""

DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end others: this process ends when it has done its work."""


def stat(place: str) -> list[bytes]:
    """The fields of a process's or a thread's ``stat`` from its state on; none where it is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{place}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()
    return []


def children(pid: int) -> list[int]:
    """The children of a process, by the kernel's own list or else by a search."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            place = f"/proc/{pid}/task/{task}/children"
            with contextlib.suppress(ProcessLookupError), open(place, "rb") as file:
                found += map(int, file.read().split())
    except FileNotFoundError:
        if not os.path.exists("/proc/thread-self/children"):
            every = filter(str.isdigit, os.listdir("/proc"))
            return [int(one) for one in every if stat(one)[1:2] == [str(pid).encode()]]
    return found


def descendants() -> list[int]:
    """The children of this process, theirs, and so on."""
    found = children(os.getpid())
    for pid in found:  # which grows meanwhile
        found += children(pid)
    return found


def gone(pid: int) -> bool:
    """Whether a process has ended, waited for or not."""
    return stat(str(pid))[:1] in ([], [b"Z"], [b"X"])


def ended(pid: int) -> bool:
    """Whether a child has ended; it stays to be waited for, so that its number stays its own."""
    return how_ended(pid) != 0


def how_ended(pid: int) -> int:
    """0 of a child that runs, the number of the signal that ended it, or -1; see :func:`ended`."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return signal.SIGKILL
    if found is None:
        return 0
    return -1 if found.si_code == os.CLD_EXITED else found.si_status


def busy(pid: int) -> bool:
    """Whether a thread of a process is running, waits for a processor, or waits for a disk."""
    with contextlib.suppress(OSError):
        tasks = os.listdir(f"/proc/{pid}/task")
        return any(stat(f"{pid}/task/{one}")[:1] in ([b"R"], [b"D"]) for one in tasks)
    return False


def worked(pid: int) -> float:
    """Seconds of CPU time that a process has had; 0 where there is no such process."""
    return sum(map(int, stat(str(pid))[11:13])) / os.sysconf("SC_CLK_TCK")


def kill(pid: int) -> None:
    """Kill an own child that was not waited for yet."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def close_others(kept: set[int]) -> None:
    """Close all descriptors of this process but the standard ones and these."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in kept:  # the listing's own is closed by now
            with contextlib.suppress(OSError):
                os.close(descriptor)


def hides_processes(mounts: str) -> bool:
    """Whether a user is not shown all of their own processes below ``/proc``.

    mounts: the text of ``/proc/self/mountinfo``. With the option ``hidepid`` a process that is not
    dumpable is hidden from its own user.
    """
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(), after.split()
        if kind[:1] == ["proc"] and fields[4:5] == ["/proc"]:
            options = ",".join([*fields[5:6], *kind[2:3]]).split(",")
            if any(o.startswith("hidepid=") and o not in SHOWING for o in options):
                return True
    return False


def shown(pid: int) -> str:
    """The command line of a process, or its name; cut off where it is long."""
    for place in ("cmdline", "comm"):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/{place}", "rb") as file:
                text = b" ".join(file.read(4096).split(b"\0")).decode("utf-8", "replace").strip()
            if text:
                return text[:SHOWN_CHARACTERS]
    return "a process"


class Failed(Exception):
    """The command cannot be started, which is the machine's fault; says why."""


class Keeper:
    """The command and all that comes of it. Raises Failed where it cannot be started."""

    def __init__(self, control: int, report: int, begin: Callable[[], None]) -> None:
        """Start the command. control, report: the descriptors that this process keeps.

        begin: becomes the command, in the process that is to be it.
        """
        self._control = control
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        # Nothing is ever written to it but the reason for which the command was not started.
        fault, own_fault = os.pipe()
        try:
            self._worker = os.fork()
        except OSError as error:
            raise Failed(f"no process can be started: {error}") from error
        if self._worker == 0:
            try:
                signal.set_wakeup_fd(-1)
                for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, *DEAF):
                    signal.signal(number, signal.SIG_DFL)
                os.setsid()
                begin()
            except (OSError, Failed) as error:
                os.write(own_fault, str(error).encode())
            finally:
                os._exit(127)
        os.close(own_fault)
        # The worker's pipes are its own: who reads them is to see their end when it closes them.
        close_others({control, report, self._woken, wake, fault})
        said = os.read(fault, 4096)  # ends when the command runs, or the child has ended
        os.close(fault)
        if said:
            os.waitpid(self._worker, 0)
            raise Failed(said.decode("utf-8", "replace"))

    def keep(self) -> dict[str, object]:
        """See the module. Return what is reported."""
        said, late = self._wait(), False
        if said == "c" and self._others(strays=True):
            late = self._until(lambda: ended(self._worker)) is None
        # Who was killed by now, by the kernel or itself, could not end what it had started.
        hurried = late or said == "k" or how_ended(self._worker) == signal.SIGKILL
        kill(self._worker)
        self._until(lambda: ended(self._worker), ENDING_SECONDS)
        # The worker is not waited for yet: its number, and that of its group, are still its own.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._worker, signal.SIGKILL)
        self._until(lambda: not self._others(strays=False), ENDING_SECONDS)
        left: list[str] = []
        if not hurried and self._until(lambda: not self._others(strays=True)) is False:
            rest = (pid for pid in descendants() if pid != self._worker and not gone(pid))
            left = [shown(pid) for pid in rest]
        every = self._until(lambda: not self._rest(), ENDING_SECONDS)
        try:
            _, status = os.waitpid(self._worker, os.WNOHANG)
        except ChildProcessError:
            status = signal.SIGKILL
        return {"status": status, "count": len(left), "left": left[:SHOWN], "all": bool(every)}

    def _wait(self) -> str:
        """Wait for the worker's end (empty), or a word of the harness; its end is as ``k``."""
        poller = select.poll()
        poller.register(self._control, select.POLLIN)
        poller.register(self._woken, select.POLLIN)
        while not ended(self._worker):
            ready = {descriptor for descriptor, _ in poller.poll()}
            self._drain()
            if self._control in ready:
                return os.read(self._control, 1).decode("ascii", "replace") or "k"
            self._own()
        return ""

    def _until(self, over: Callable[[], bool], seconds: float | None = None) -> bool | None:
        """Wait until something is so, but no longer than that; whether it is so.

        seconds: by default GRACE_SECONDS in which no descendant has any work, or until one of them
        has had WORKING_SECONDS of CPU time. None where neither comes in time.
        """
        idle = 0.0
        before = {} if seconds is not None else {pid: worked(pid) for pid in descendants()}
        end = time.monotonic() + (LONGEST_GRACE_SECONDS if seconds is None else seconds)
        while not over():
            if idle >= GRACE_SECONDS:
                return False
            if time.monotonic() >= end:
                return None
            began, working = time.monotonic(), seconds is None and self._working(before)
            self._pause()
            if working is None:
                return False
            if seconds is None and not (working or self._working(before)):
                # A pause that has become longer is one in which this process had to wait itself.
                idle += min(time.monotonic() - began, LOOK_SECONDS)
        return True

    @staticmethod
    def _working(before: dict[int, float]) -> bool | None:
        """Whether a descendant has work; None where one has had too much since ``before``."""
        family = descendants()
        if any(worked(pid) - before.get(pid, 0.0) > WORKING_SECONDS for pid in family):
            return None
        return any(map(busy, family))

    def _pause(self) -> None:
        select.select([self._woken], [], [], LOOK_SECONDS)
        self._drain()

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)

    def _own(self) -> list[int]:
        """The own children but the worker; those that have ended are waited for."""
        for pid in (others := [pid for pid in children(os.getpid()) if pid != self._worker]):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return [pid for pid in others if not gone(pid)]

    def _others(self, *, strays: bool) -> bool:
        """Whether descendants are left that have left the worker's session, or children in it.

        The latter are killed.
        """
        own = self._own()
        found = False
        for pid in descendants() if strays else own:
            with contextlib.suppress(ProcessLookupError):
                outside = os.getsid(pid) != self._worker
                if pid != self._worker and outside == strays and not gone(pid):
                    found = True
                    if not strays:
                        kill(pid)
        return found

    def _rest(self) -> bool:
        """Kill all that is left; whether there was anything."""
        found = self._own()
        for pid in found:
            kill(pid)
        return bool(found)


def main() -> None:
    """Keep the command of the arguments."""
    command = sys.argv[3:]

    def begin() -> None:
        try:
            os.execv(command[0], command)
        except OSError as error:
            raise Failed(f"{command[0]} cannot be run: {error}") from error

    run(int(sys.argv[1]), int(sys.argv[2]), begin)


def run(control: int, report: int, begin: Callable[[], None]) -> None:
    """Keep a command, and report how it ended; see :class:`Keeper`."""
    for number in DEAF:
        signal.signal(number, signal.SIG_IGN)
    # Whoever started the harness may have blocked SIGCHLD, which wakes this process up.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for descriptor in (control, report):
        os.set_inheritable(descriptor, False)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            mounts = file.read().decode("utf-8", "replace")
        if not hides_processes(mounts):
            # Nobody but root reaches its descriptors by /proc, as the implementation might.
            libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        tell(report, **Keeper(control, report, begin).keep())
    except (Failed, OSError) as error:
        tell(report, status=127 << 8, all=False, error=str(error))


def tell(report: int, **said: object) -> None:
    """Write a report."""
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(said).encode("ascii") + b"\n")


if __name__ == "__main__":
    main()
