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
from collections.abc import Callable
from pathlib import Path

from harness.confinement import filters
from harness.confinement.kernel import Kernel, Linux
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

SIZES = {1: 8, TCP_SINCE: 16, SCOPES_SINCE: 24}
"""Bytes of ``struct landlock_ruleset_attr``, by the ABI from which on it has so many."""

TASKS_BESIDE = 1 << 14
TASKS_BESIDE_PER_CORE = 1 << 10
"""Tasks that may come on top of those that the machine has when a worker starts. Each worker may
start a thread for each core, and there may be a worker for each core."""


def apply(
    plan: Plan,
    kernel: Kernel | None = None,
    machine: str | None = None,
    limits: Callable[[], tuple[int, int]] | None = None,
) -> Held:
    """Confine this process, and say what holds. Nothing is raised.

    kernel, machine, limits: those of this machine, and :func:`lowered_limits`, by default.
    """
    files_open, processes = (limits or lowered_limits)()
    missing: list[str] = []

    def tried(what: str, call: Callable[[], int]) -> int:
        try:
            return call()
        except (OSError, AttributeError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            missing.append(f"{what} ({reason})")
            return 0

    asked: list[Kernel] = []

    def privileges() -> int:
        asked.append(kernel or Linux())
        asked[0].no_new_privileges()
        return 1

    version = blocked = 0
    own_memory = False
    if tried("no_new_privs", privileges):
        own_memory = plan.own_memory and _own_memory(asked[0])
        version = tried("Landlock", lambda: _landlock(plan, asked[0], missing))
        named = machine or platform.machine()
        filtered = tried("seccomp", lambda: _seccomp(plan, asked[0], named))
        blocked = 0 if plan.network else filtered
    tcp = version >= TCP_SINCE and not plan.network
    return Held(
        network="seccomp" if blocked else "Landlock" if tcp else "",
        files=version,
        signals=version >= SCOPES_SINCE,
        files_open=files_open,
        processes=processes,
        own_memory=own_memory,
        missing=tuple(missing),
    )


def lowered_limits() -> tuple[int, int]:
    """Lower the limits of this process; open files, and processes, or 0 where it is not limited."""
    files = _lowered(resource.RLIMIT_NOFILE, OPEN_FILES)
    _lowered(resource.RLIMIT_FSIZE, LARGEST_FILE)
    _lowered(resource.RLIMIT_CORE, 0)
    tasks = 0
    with contextlib.suppress(OSError, ValueError, IndexError):
        # The fourth number is "running/all" tasks of the kernel, whoever's they are.
        tasks = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    if tasks == 0:
        return files, 0
    most = tasks + TASKS_BESIDE + TASKS_BESIDE_PER_CORE * (os.cpu_count() or 1)
    limit = _lowered(resource.RLIMIT_NPROC, most)
    return files, limit if os.geteuid() else 0


def _lowered(which: int, most: int) -> int:
    """Lower a limit to ``most`` at the most; the limit that holds then."""
    soft, hard = resource.getrlimit(which)
    infinite = resource.RLIM_INFINITY
    new_hard = most if hard == infinite else min(hard, most)
    new_soft = new_hard if soft == infinite else min(soft, new_hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(which, (new_soft, new_hard))
    return new_hard


def _own_memory(kernel: Kernel) -> bool:
    """Give this process shared memory of its own; whether it has it."""
    with contextlib.suppress(OSError, AttributeError, ValueError):
        kernel.own_memory(SHARED_MEMORY, SHARED_MEMORY_BYTES)
        return True
    return False


def _seccomp(plan: Plan, kernel: Kernel, machine: str) -> int:
    program = filters.program_for(machine, network=plan.network)
    if program is None:
        raise ValueError(f"no filter for {machine}")
    kernel.seccomp(program)
    return 1


def _landlock(plan: Plan, kernel: Kernel, missing: list[str]) -> int:
    """Apply Landlock and return its ABI. Raises OSError.

    missing: gets a line for each path that cannot be looked at.
    """
    version = kernel.landlock_version()
    handled = sum(rights for since, rights in SINCE.items() if version >= since)
    size = max(size for since, size in SIZES.items() if version >= since)
    network = TCP if version >= TCP_SINCE and not plan.network else 0
    scopes = 0
    if version >= SCOPES_SINCE:
        scopes = SIGNALS if plan.network else SIGNALS | ABSTRACT_SOCKETS
    ruleset = kernel.landlock_ruleset(handled, network, scopes, size)
    try:
        for path in plan.writable:
            fault = _allow(kernel, ruleset, path, handled)
            if fault is not None:
                missing.append(f"writing to {path} ({fault})")
        kernel.landlock_restrict(ruleset)
    finally:
        os.close(ruleset)
    return version


def _allow(kernel: Kernel, ruleset: int, path: str, handled: int) -> str | None:
    """Allow to write to a file, or to all below a folder; the fault of a path that is none.

    Raises OSError where the kernel takes no rule. What is not there, or not to be seen, is no
    fault, and neither is a pipe, which Landlock does not keep from anybody.

    The folder of this process stays open, because a rule is about an inode, and the kernel may
    forget that of a process as long as nobody has it open.
    """
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as error:  # a circle of links, a file system whose server is gone
        return error.strerror
    try:
        try:
            folder = stat.S_ISDIR(os.fstat(opened).st_mode)
        except OSError as error:  # the server of a file system ended
            return error.strerror
        kernel.landlock_allow(ruleset, opened, handled if folder else handled & OF_FILES)
    except OSError as error:
        if error.errno != errno.EBADFD:
            raise
    finally:
        if path != OWN_PROCESS:
            os.close(opened)
    return None
