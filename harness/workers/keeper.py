"""The keeper of one worker: the parent that everything which the worker starts falls back to.

A process that has left its group and its session, and whose parent has ended, belongs to nobody:
the kernel gives it to the nearest ancestor that has asked for such orphans
(``PR_SET_CHILD_SUBREAPER``). Were that the harness itself, the orphans of one worker could not be
told from those of another, and a program that uses the harness as a library would get children
that it has not started. So each worker has a parent of its own that does nothing else. It runs
none of the implementation's code.

Started by :mod:`harness.workers.keeping` as a script, by a Python without ``site``, or a copy of
:mod:`harness.workers.fork_server`; the former as
``keeper.py CONTROL REPORT GROUP COMMAND..``: two file descriptors, the folder of a control group or
nothing, and the command of the worker. Steps:

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
they work."""

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


def children(pid: int) -> list[int]:
    """The children of a process, by the kernel's own list or else by a search."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            place = f"/proc/{pid}/task/{task}/children"
            with contextlib.suppress(ProcessLookupError), open(place, "rb") as file:
                found += map(int, file.read().split())
    except FileNotFoundError:
        if os.path.exists("/proc/thread-self/children"):
            return found
        return [
            one for one in map(int, filter(str.isdigit, os.listdir("/proc"))) if parent(one) == pid
        ]
    return found


def parent(pid: int) -> int:
    """The number of the parent of a process; 0 where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def descendants(pid: int) -> list[int]:
    """The children of a process, theirs, and so on."""
    found, waiting = [], [pid]
    while waiting:
        some = children(waiting.pop())
        found += some
        waiting += some
    return found


def ended(pid: int) -> bool:
    """Whether a child has ended; it stays to be waited for, so that its number stays its own."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def killed(pid: int) -> bool:
    """Whether a child that was not waited for yet was ended by SIGKILL."""
    try:
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return found is not None and found.si_code != os.CLD_EXITED and found.si_status == 9


def busy(pid: int) -> bool:
    """Whether a thread of a process is running, waits for a processor, or waits for a disk."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return False
    for task in tasks:
        place = f"/proc/{pid}/task/{task}/stat"
        with contextlib.suppress(OSError, IndexError), open(place, "rb") as file:
            if file.read().rpartition(b")")[2].split()[0] in (b"R", b"D"):
                return True
    return False


def worked(pid: int) -> float:
    """Seconds of CPU time that a process has had; 0 where there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


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

    def __init__(self, control: int, report: int, group: str, begin: Callable[[], None]) -> None:
        """Start the command. control, report: the descriptors that this process keeps.

        begin: becomes the command, in the process that is to be it.
        """
        self._control = control
        self._group = group
        self._noted: dict[int, str] = {}
        self._began: dict[int, float] = {}
        self.all = True
        """True if all that was to be killed is gone."""
        self.over = False
        """True if the kernel killed something because the control group had no more memory."""
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
                if group:
                    with contextlib.suppress(OSError), open(f"{group}/cgroup.procs", "w") as file:
                        file.write("0")
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
            self._remove_group()
            raise Failed(said.decode("utf-8", "replace"))

    def keep(self) -> int:
        """See the module. Return the wait status of the command."""
        said = self._wait()
        self._began = {pid: worked(pid) for pid in descendants(os.getpid())}
        latest = time.monotonic() + LONGEST_GRACE_SECONDS
        if said == "c" and self._strays():
            self._until_idle(lambda: ended(self._worker), latest)
        # Who was killed by now, by the kernel or itself, could not end what it had started.
        hurried = said == "k" or killed(self._worker)
        self._kill(self._worker)
        self._until(lambda: ended(self._worker), ENDING_SECONDS)
        # The worker is not waited for yet: its number, and that of its group, are still its own.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._worker, signal.SIGKILL)
        self._until(lambda: not self._others(strays=False), ENDING_SECONDS)
        if not hurried:
            self._until_idle(lambda: not self._others(strays=True), latest)
            for pid in descendants(os.getpid()):
                if pid != self._worker and not self._gone(pid):
                    self._noted[pid] = shown(pid)
        self.all = self._until(lambda: not self._rest(), ENDING_SECONDS)
        try:
            _, status = os.waitpid(self._worker, os.WNOHANG)
        except ChildProcessError:
            status = signal.SIGKILL
        self.over = self._over_memory()
        self._remove_group()
        return status

    @property
    def left(self) -> list[str]:
        """The command lines of what was left and would not end."""
        return list(self._noted.values())

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
            self._reap()
        return ""

    def _until(self, over, seconds: float) -> bool:  # type: ignore[no-untyped-def]
        """Wait until something is so, but no longer than that; whether it is so."""
        end = time.monotonic() + seconds
        while not (done := over()) and time.monotonic() < end:
            self._pause()
        return bool(done)

    def _until_idle(self, over, latest: float) -> None:  # type: ignore[no-untyped-def]
        """Wait until something is so, for GRACE_SECONDS in which no descendant has any work.

        Or until one of them has had WORKING_SECONDS of CPU time since the end began. latest: when
        to stop waiting in any case, on the monotonic clock.
        """
        idle = 0.0
        while not over() and idle < GRACE_SECONDS and time.monotonic() < latest:
            if self._most_worked() > WORKING_SECONDS:
                return
            began, working = time.monotonic(), self._busy()
            self._pause()
            if not (working or self._busy()):
                # A pause that has become longer is one in which this process had to wait itself.
                idle += min(time.monotonic() - began, LOOK_SECONDS)

    def _most_worked(self) -> float:
        """CPU time of the descendant that has had the most of it since the end began."""
        found = (worked(pid) - self._began.get(pid, 0.0) for pid in descendants(os.getpid()))
        return max(found, default=0.0)

    def _busy(self) -> bool:
        """Whether a descendant is running, waits for a processor, or waits for a disk."""
        return any(busy(pid) for pid in descendants(os.getpid()))

    def _pause(self) -> None:
        select.select([self._woken], [], [], LOOK_SECONDS)
        self._drain()

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._woken, 4096)

    def _reap(self) -> None:
        """Wait for those that have ended, but for the worker."""
        for pid in children(os.getpid()):
            if pid != self._worker:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def _strays(self) -> bool:
        """Whether there is a process that has left the worker's session."""
        self._reap()
        return any(self._outside(pid) for pid in descendants(os.getpid()))

    def _outside(self, pid: int) -> bool:
        try:
            return pid != self._worker and os.getsid(pid) != self._worker and not self._gone(pid)
        except ProcessLookupError:
            return False

    def _gone(self, pid: int) -> bool:
        """Whether a process has ended, waited for or not."""
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                return file.read().rpartition(b")")[2].split()[0] in b"ZX"
        except (OSError, IndexError):
            return True

    def _others(self, *, strays: bool) -> bool:
        """Whether own children are left that have left the worker's session, or else are in it.

        Those in it are killed.
        """
        self._reap()
        found = False
        for pid in children(os.getpid()):
            if pid != self._worker and self._outside(pid) == strays and not self._gone(pid):
                found = True
                if not strays:
                    self._kill(pid)
        return found

    def _rest(self) -> bool:
        """Kill all that is left; whether there was anything."""
        if self._group:
            with contextlib.suppress(OSError), open(f"{self._group}/cgroup.kill", "w") as file:
                file.write("1")
        self._reap()
        found = [pid for pid in children(os.getpid()) if pid != self._worker]
        for pid in found:
            self._kill(pid)
        return bool(found)

    @staticmethod
    def _kill(pid: int) -> None:
        """Kill an own child that was not waited for yet."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)

    def _over_memory(self) -> bool:
        """Whether the control group's memory came to an end."""
        if not self._group:
            return False
        with contextlib.suppress(OSError, ValueError):
            with open(f"{self._group}/memory.events", "rb") as file:
                counts = dict(line.split() for line in file.read().splitlines())
            return int(counts.get(b"oom_kill", 0)) > 0
        return False

    def _remove_group(self) -> None:
        if self._group:
            with contextlib.suppress(OSError):
                os.rmdir(self._group)


def main() -> None:
    """Keep the command of the arguments."""
    control, report, group = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    command = sys.argv[4:]

    def begin() -> None:
        try:
            os.execv(command[0], command)
        except OSError as error:
            raise Failed(f"{command[0]} cannot be run: {error}") from error

    run(control, report, group, begin)


def run(control: int, report: int, group: str, begin: Callable[[], None]) -> None:
    """Keep a command, and report how it ended; see :class:`Keeper`."""
    for number in DEAF:
        signal.signal(number, signal.SIG_IGN)
    # Whoever started the harness may have blocked SIGCHLD, which wakes this process up.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for descriptor in (control, report):
        os.set_inheritable(descriptor, False)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    summary: dict[str, object]
    try:
        if not hides_processes(mounted()):
            # Nobody but root reaches its descriptors by /proc, as the implementation might.
            libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        keeper = Keeper(control, report, group, begin)
    except Failed as failed:
        summary = {"status": 127 << 8, "error": str(failed)}
    else:
        status = keeper.keep()
        left = keeper.left
        summary = {
            "status": status,
            "count": len(left),
            "left": left[:SHOWN],
            "all": keeper.all,
        }
        summary["over"] = keeper.over
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(summary).encode("ascii") + b"\n")


def mounted() -> str:
    """What is mounted where; empty where nobody knows."""
    with contextlib.suppress(OSError), open("/proc/self/mountinfo", "rb") as file:
        return file.read().decode("utf-8", "replace")
    return ""


if __name__ == "__main__":
    main()
