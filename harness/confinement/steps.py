"""Confining the process that calls: in the order of the steps, each of which may be missing.

1. Limits of open files, of the size of a file, and of processes. The limit of processes counts all
   of a user's, wherever they run, so it is what the whole machine has now and much more: it ends a
   fork bomb, and nothing else. It does not hold for root. There is no limit of CPU time, as that
   would count compilation, and the whole life of a worker, which the harness's clock does not.
2. No new privileges, which the kernel asks for before the rest.
3. A ``/dev/shm`` of its own, in a name space of mounts of its own. This comes before Landlock,
   which allows no mounts. Where it cannot be had, the shared one is used as ever.
4. Landlock, by the newest ABI that the kernel has: no writing but below the plan's paths, no TCP,
   no signals to processes outside, no Unix sockets by an abstract name.
5. A seccomp filter that refuses sockets, and to change the limits of other processes.

Nothing here raises where the kernel says no: what is missing is said by the result.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import resource
import stat
from pathlib import Path

from harness.confinement import filters
from harness.confinement.kernel import Linux
from harness.confinement.plan import (
    LARGEST_FILE,
    OPEN_FILES,
    OWN_PROCESS,
    SHARED_MEMORY,
    SHARED_MEMORY_BYTES,
    Held,
    Plan,
)

WRITE_FILE = 1 << 1
REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
"""Rights of Landlock. Reading, listing and executing are not handled, so they stay allowed."""

SINCE = {1: WRITE_FILE | REMOVE_AND_MAKE, 2: REFER, 3: TRUNCATE, 5: IOCTL_DEVICE}
"""The rights of Landlock, by the version of its interface that introduced them."""

OF_FILES = WRITE_FILE | TRUNCATE | IOCTL_DEVICE
"""Rights that a rule for a file may have; the others are about what a folder has in it."""

TCP = 0b11
TCP_SINCE = 4
ABSTRACT_SOCKETS, SIGNALS = 0b01, 0b10
SCOPES_SINCE = 6

TASKS_BESIDE = 1 << 14
TASKS_BESIDE_PER_CORE = 1 << 10
"""Tasks that may come on top of those that the machine has when a worker starts. Each worker may
start a thread for each core, and there may be a worker for each core."""


FAULTS = (OSError, AttributeError, ValueError)
"""What a system call raises that this kernel, or its C library, does not have, or refuses."""


def why(error: Exception) -> str:
    """The kernel's reason."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def apply(plan: Plan, kernel: Linux | None = None, machine: str | None = None) -> Held:
    """Confine this process, and say what holds. Nothing is raised.

    kernel, machine: those that this process runs on, by default.
    """
    try:
        kernel = kernel or Linux()
        kernel.no_new_privileges()
    except FAULTS as error:
        return Held(missing=(f"no_new_privs ({why(error)})",))
    missing: list[str] = []
    own_memory, network, version = False, "", 0
    if plan.own_memory:
        with contextlib.suppress(*FAULTS):
            kernel.own_memory(SHARED_MEMORY, SHARED_MEMORY_BYTES)
            own_memory = True
    try:
        version = _landlock(plan, kernel, missing)
        network = "Landlock" if version >= TCP_SINCE else ""
    except FAULTS as error:
        missing.append(f"Landlock ({why(error)})")
    try:
        kernel.seccomp(filters.program_for(machine or platform.machine(), network=plan.network))
        network = "seccomp"
    except FAULTS as error:
        missing.append(f"seccomp ({why(error)})")
    return Held("" if plan.network else network, version, own_memory, tuple(missing))


def lower_limits() -> None:
    """Lower the limits of this process, as far as they are not lower already."""
    limits = {
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_FSIZE: LARGEST_FILE,
        resource.RLIMIT_CORE: 0,
    }
    with contextlib.suppress(OSError, ValueError, IndexError):
        # The fourth number is "running/all" tasks of the kernel, whoever's they are.
        tasks = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
        more = TASKS_BESIDE + TASKS_BESIDE_PER_CORE * (os.cpu_count() or 1)
        limits[resource.RLIMIT_NPROC] = tasks + more
    for which, most in limits.items():
        with contextlib.suppress(OSError, ValueError):
            soft, hard = (
                most if one == resource.RLIM_INFINITY else min(one, most)
                for one in resource.getrlimit(which)
            )
            resource.setrlimit(which, (soft, hard))


def _landlock(plan: Plan, kernel: Linux, missing: list[str]) -> int:
    """Apply Landlock and return its ABI. Raises OSError.

    missing: gets a line for each path that cannot be looked at.
    """
    version = kernel.landlock_version()
    handled = sum(rights for since, rights in SINCE.items() if version >= since)
    network = TCP if version >= TCP_SINCE and not plan.network else 0
    scopes = 0
    if version >= SCOPES_SINCE:
        scopes = SIGNALS if plan.network else SIGNALS | ABSTRACT_SOCKETS
    ruleset = kernel.landlock_ruleset(handled, network, scopes)
    try:
        for path in plan.writable:
            fault = _allow(kernel, ruleset, path, handled)
            if fault is not None:
                missing.append(f"writing to {path} ({fault})")
        kernel.landlock_restrict(ruleset)
    finally:
        os.close(ruleset)
    return version


def _allow(kernel: Linux, ruleset: int, path: str, handled: int) -> str | None:
    """Allow to write to a file, or to all below a folder; the fault of a path that is none.

    Raises OSError where the kernel takes no rule. What is not there, or not to be seen, is no
    fault, and neither is a pipe, which Landlock does not keep from anybody.

    The folder of this process stays open, because a rule is about an inode, and the kernel may
    forget that of a process as long as nobody has it open.
    """
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        folder = stat.S_ISDIR(os.fstat(opened).st_mode)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as error:  # a circle of links, a file system whose server is gone
        return error.strerror
    try:
        kernel.landlock_allow(ruleset, opened, handled if folder else handled & OF_FILES)
    except OSError as error:
        if error.errno != errno.EBADFD:
            raise
    finally:
        if path != OWN_PROCESS:
            os.close(opened)
    return None
