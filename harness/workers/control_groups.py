"""A control group for each worker, where one is delegated to this process.

The kernel kills a group as a whole (``cgroup.kill``, since Linux 5.14), so that nothing in it can
run away by starting others faster than they are killed. What is delegated belongs to this user, or,
for root, bears the mark of systemd's ``Delegate=yes``: other groups are not ours to make children
in. Where there is none, :mod:`harness.workers.keeper` does without.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from functools import cache
from pathlib import Path

PREFIX = "tokgate-"

MARKS = ("user.delegate", "trusted.delegate")
"""The attributes by which systemd says that a group is delegated."""

EMPTYING_SECONDS = 5.0

_numbers = itertools.count()


def new() -> Path | None:
    """A new, empty group, or None where this process may not make any."""
    above = delegated()
    if above is None:
        return None
    path = above / f"{PREFIX}{os.getpid()}-{next(_numbers)}"
    try:
        path.mkdir()
    except OSError:
        return None
    return path


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
    for mark in MARKS:
        with contextlib.suppress(OSError):
            if os.getxattr(path, mark) == b"1":
                return True
    return False
