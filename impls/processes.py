"""Other processes as the kernel sees them: who descends from one, and what time they have taken."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

import psutil

CPUCLOCK_SCHED = 2
"""The kind of clock, in the lowest bits of a Linux clock id, that counts a process's CPU time by
the nanosecond, with all its threads (``clock_getcpuclockid`` makes its ids so)."""


def descendants(pid: int) -> list[int]:
    """The children of a process, theirs, and so on. Empty where it has ended.

    By the kernel's own list of children: to look through all processes of a machine, as psutil
    does, takes a millisecond for every hundred of them, which would be most of a measurement.
    """
    found: list[int] = []
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        try:
            children = _children(one)
        except OSError:
            if one == pid and not _lists_children():
                return _by_search(pid)
            continue  # it ended meanwhile, or is not shown to this user
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # the thread ended meanwhile
            children += map(int, (task / "children").read_text().split())
    return children


def _lists_children() -> bool:
    """Whether this kernel lists the children of a process (``CONFIG_PROC_CHILDREN``)."""
    return Path("/proc/thread-self/children").exists()


def _by_search(pid: int) -> list[int]:
    with contextlib.suppress(psutil.Error, OSError):
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    return []


def processor_time(pid: int) -> int:
    """Nanoseconds of CPU time that a process and its descendants have taken; 0 if it has ended.

    A child that has ended, and was waited for, is no longer counted.
    """
    total = 0
    for one in (pid, *descendants(pid)):
        with contextlib.suppress(OSError):  # it ended meanwhile
            total += time.clock_gettime_ns((~one << 3) | CPUCLOCK_SCHED)
    return total
