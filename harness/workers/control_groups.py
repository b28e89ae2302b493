"""A control group for each worker, where one is delegated to this process.

The kernel kills a group as a whole (``cgroup.kill``, since Linux 5.14), so that nothing in it can
run away by starting others faster than they are killed. What is delegated belongs to this user, or,
for root, bears the mark of systemd's ``Delegate=yes``: other groups are not ours to make children
in. Where there is none, :mod:`harness.workers.keeper` does without.

A group limits memory and tasks as well, if the group above hands these controllers down. The kernel
lets it do so only while no process is in it, so that this process moves into a group of its own
beside those of its workers. It does so only where systemd says that the group is delegated, and
where it is alone in it: to move others is not ours to do.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from functools import cache
from pathlib import Path

PREFIX = "tokgate-"

MARKS = ("user.delegate", "trusted.delegate")
"""The attributes by which systemd says that a group is delegated."""

EMPTYING_SECONDS = 5.0

LIMITING = frozenset({"memory", "pids"})
"""The controllers that groups are limited by."""

SPARE = 0.25
"""Share of a worker's memory by which its group may have more: the harness, which looks at it ten
times a second, is to be the first who sees that it takes too much, as far as it can. The kernel
ends what is faster."""

TASKS, TASKS_PER_CORE = 1 << 12, 1 << 8
"""Processes and threads of one worker. Libraries start some for each core; a fork bomb ends."""

_numbers = itertools.count()
_moving = threading.Lock()


def new(memory: int | None = None) -> Path | None:
    """A new, empty group, or None where this process may not make any.

    memory: bytes that a worker in it may take; it is limited by more, or not at all.
    """
    above = delegated()
    if above is None:
        return None
    path = above / f"{PREFIX}{os.getpid()}-{next(_numbers)}"
    try:
        path.mkdir()
    except OSError:
        return None
    for name, value in limits(controllers(above), memory).items():
        with contextlib.suppress(OSError):  # a kernel may have no such file
            (path / name).write_text(value)
    return path


def limits(handed: frozenset[str], memory: int | None) -> dict[str, str]:
    """Return what is written to the files of a group with these controllers."""
    written: dict[str, str] = {}
    if "memory" in handed and memory is not None:
        most = str(memory + int(SPARE * memory))
        written |= {"memory.max": most, "memory.swap.max": "0", "memory.oom.group": "1"}
    if "pids" in handed:
        written["pids.max"] = str(TASKS + TASKS_PER_CORE * (os.cpu_count() or 1))
    return written


@cache
def controllers(above: Path) -> frozenset[str]:
    """The controllers that a group hands down to those below it; seen to once.

    It is made to hand them down where it can be: see the module.
    """
    with _moving:  # who comes second finds them handed down
        return _handed_down(above)


def _handed_down(above: Path) -> frozenset[str]:
    there = _words(above / "cgroup.controllers")
    handed = _words(above / "cgroup.subtree_control")
    missing = sorted(LIMITING & there - handed)
    if not missing or not _marked(above) or _words(above / "cgroup.procs") != {str(os.getpid())}:
        return LIMITING & handed
    beside = above / f"{PREFIX}{os.getpid()}-harness"
    try:
        beside.mkdir(exist_ok=True)
        (beside / "cgroup.procs").write_text("0")
        (above / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in missing))
    except OSError:
        with contextlib.suppress(OSError):
            (above / "cgroup.procs").write_text("0")
            beside.rmdir()
        return LIMITING & handed
    return LIMITING & there


def said() -> str:
    """What limits workers by their groups, for the record; empty where nothing does."""
    above = delegated()
    files = [] if above is None else [f"{name}.max" for name in sorted(controllers(above))]
    return f"each in a control group with {', '.join(files)}" if files else ""


def _words(path: Path) -> frozenset[str]:
    """The words in a file; none where it cannot be read."""
    try:
        return frozenset(path.read_text().split())
    except OSError:
        return frozenset()


def end(path: Path) -> None:
    """Kill all that is in a group, and remove it."""
    with contextlib.suppress(OSError):
        (path / "cgroup.kill").write_text("1")
    until = time.monotonic() + EMPTYING_SECONDS
    while path.is_dir() and time.monotonic() < until:
        with contextlib.suppress(OSError):
            path.rmdir()
            return
        time.sleep(0.01)


@cache
def delegated() -> Path | None:
    """The group of this process, if it is delegated. Those that killed harnesses left are removed.

    Found once: a process stays where it was started.
    """
    path = own()
    if path is None or not (path / "cgroup.kill").exists() or not _ours(path):
        return None
    for one in path.glob(f"{PREFIX}*"):
        maker = one.name.removeprefix(PREFIX).partition("-")[0]
        if maker.isdigit() and not Path("/proc", maker).exists():
            # The kernel removes no group that has a process in it.
            with contextlib.suppress(OSError):
                one.rmdir()
    return path


def own() -> Path | None:
    """The folder of this process's group of version 2, or None where it cannot be seen."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
        mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    except OSError:
        return None
    inside = next((line[3:] for line in lines if line.startswith("0::/")), None)
    for fields in mounts:
        if inside is not None and fields[fields.index("-") + 1] == "cgroup2":
            path = Path(fields[4]) / inside.removeprefix("/")
            return path if path.is_dir() else None
    return None


def _ours(path: Path) -> bool:
    """Whether a group is this process's to make others in."""
    if not all(os.access(place, os.W_OK) for place in (path, path / "cgroup.procs")):
        return False
    if os.geteuid() != 0:
        return path.stat().st_uid == os.geteuid()
    return _marked(path)


def _marked(path: Path) -> bool:
    """Whether systemd says that a group is delegated."""
    for mark in MARKS:
        with contextlib.suppress(OSError):
            if os.getxattr(path, mark) == b"1":
                return True
    return False
