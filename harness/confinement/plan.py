"""What a worker is to be denied, and what of that holds: plain data, and the lines that say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

CONFINEMENT, CONFINEMENT_OFF = "TOKGATE_CONFINEMENT", "off"
"""The variable of the environment, and its value, that have workers start without confinement."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that anybody may write to, as nothing comes of it."""

STANDARD_ERROR = "/proc/self/fd/2"
"""The file to which ``/dev/stderr`` leads, which is a worker's log: to open it by name is to write
to a file."""

SHARED_MEMORY = "/dev/shm"
"""The folder in which POSIX semaphores and shared memory are made, which ``multiprocessing``
needs."""

SHARED_MEMORY_BYTES = 1 << 30
"""A worker may have so many bytes of shared memory where it has a file system of its own for it. A
container has 64 MiB as a rule."""

OWN_PROCESS = "/proc/self"
"""The folder in which the peak of a worker's memory is reset (``clear_refs``), so that it can be
measured."""

OF_PROGRAMS = "write:/proc"
"""The need of a worker that runs a program, whose peak is reset as well. Nobody knows its number
beforehand, so that all processes are named."""

OPEN_FILES = 1 << 16
"""Descriptors of one process: no library comes near, and it is far below what a machine has."""

LARGEST_FILE = 8 << 30
"""Bytes of one file: several times the largest vocabulary with all that is derived from it."""

HINT = (
    "perhaps because the worker is confined: declare what it needs in About.needs, "
    "or run with --no-confinement"
)
"""This is added to a failure that a refused system call may have brought about."""

REFUSALS = (
    "Permission denied",
    "Operation not permitted",
    "PermissionError",
    "EACCES",
    "EPERM",
    "EXDEV",
    "cross-device link",
    "Cross-device link",
)
"""The messages that runtimes print when a system call was refused, of C, Rust, Python and Node.
Kernels before 5.19 refuse to rename from one folder to another as if they were on two disks."""


class Plan(msgspec.Struct, frozen=True):
    """What a worker may do besides reading and computing. It travels as JSON, as one argument.

    network: whether it may have sockets. writable: paths of files and folders that it may write
    to; those that are not there are passed over. own_memory: whether it is to have
    :data:`SHARED_MEMORY` for itself; only where that was tried in another process, because one in
    which it fails is in an odd state.
    """

    network: bool
    writable: tuple[str, ...]
    own_memory: bool = False


class Held(msgspec.Struct, frozen=True):
    """What confines a process.

    network: by what it has no sockets (``seccomp``), or at least no TCP (``Landlock``); empty where
    it has them. files: the Landlock ABI that keeps files from it, or 0. own_memory: whether what it
    makes in :data:`SHARED_MEMORY` is seen by nobody else, and goes with it. missing: what could not
    be applied, each with the kernel's reason. off: nothing was to be applied.
    """

    network: str = ""
    files: int = 0
    own_memory: bool = False
    missing: tuple[str, ...] = ()
    off: bool = False

    @property
    def refuses(self) -> bool:
        """Whether anything that a program asks for may be refused."""
        return bool(self.network or self.files)


OFF = Held(off=True)


def sentence(held: Held, memory: int, needs: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the line of a record that says what confined the workers.

    memory: bytes that each may take. needs: by implementation, what it declared.
    """
    amount = f"{memory >> 20} MiB"
    if held.off:
        return f"workers: not confined, as --no-confinement asks, {amount}"
    abi = f"(Landlock ABI {held.files})"
    network = {"seccomp": "no network (seccomp)", "Landlock": f"no TCP {abi}"}
    files = f"files read-only but for their own folders {abi}" if held.files else "files open"
    shared = f", {SHARED_MEMORY} of their own" if held.own_memory else ""
    line = f"workers: {network.get(held.network, 'network open')}, {files}{shared}, {amount}"
    asked = [f"{name} declares {', '.join(its)}" for name, its in (needs or {}).items() if its]
    return "; ".join([line, *asked])


def shortfall(held: Held) -> str | None:
    """Return the line for a machine that cannot confine workers fully; None for one that can."""
    if held.off or not held.missing:
        return None
    return f"workers are confined in part only, as this machine lacks {'; '.join(held.missing)}"


def refused(text: str) -> bool:
    """Whether a failure's text says that a system call was refused."""
    return any(sign in text for sign in REFUSALS)
