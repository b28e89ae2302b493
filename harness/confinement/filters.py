"""The seccomp program that refuses sockets, and limits of others: classic BPF, assembled here.

The program looks at the number of each system call and refuses ``socket``, of any family, so that
neither a network nor a daemon behind a Unix socket can be reached; ``socketpair``, which reaches
nobody, stays. ``io_uring_setup`` is refused as well, because a ring makes sockets past the filter.
``prlimit64`` is refused for any process but the one that calls, whose number it may give as 0: it
would lower the limits of the harness, and so end it.
A machine of 64 bits runs programs of 32 bits, too, whose calls have other numbers.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass

LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K

NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
"""Offsets in ``struct seccomp_data``; both architectures below are little-endian."""

ALLOW = 0x7FFF0000
ERRNO = 0x00050000

X32 = 0x40000000
"""The bit that marks calls of the x32 ABI, whose numbers are those of x86-64 for what is here."""

IO_URING_SETUP = 425
"""The number of this system call is the same on all architectures, as it is for all calls that were
added after 2018."""

SYS_SOCKET = 1
"""The first argument of ``socketcall`` that stands for ``socket``."""

INSTRUCTION = struct.Struct("<HBBI")

Instruction = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Calls:
    """An architecture as the kernel calls it (``AUDIT_ARCH_..``), and numbers of its calls."""

    audit: int
    socket: int
    prlimit: int
    socketcall: int | None = None


CALLS: dict[str, tuple[Calls, ...]] = {
    "x86_64": (Calls(0xC000003E, 41, 302), Calls(0x40000003, 359, 340, socketcall=102)),
    "aarch64": (Calls(0xC00000B7, 198, 261), Calls(0x40000028, 281, 369)),
}
"""The system calls of an architecture and of its programs of 32 bits, by ``platform.machine()``."""

SECCOMP = {"x86_64": 317, "aarch64": 277}
"""The number of ``seccomp`` itself."""


def program_for(machine: str, *, network: bool = False) -> bytes:
    """Return the program for a machine. Raises ValueError where its numbers are not known here.

    network: whether sockets and rings are left to the process.
    """
    if machine not in CALLS:
        raise ValueError(f"no filter for {machine}")
    program: list[Instruction] = [(LOAD, 0, 0, ARCHITECTURE)]
    for calls in CALLS[machine]:
        block = _block(calls, network=network)
        program += [(EQUAL, 0, len(block), calls.audit), *block]
    program.append((RETURN, 0, 0, ALLOW))
    return b"".join(INSTRUCTION.pack(*one) for one in program)


def _block(calls: Calls, *, network: bool) -> list[Instruction]:
    """Return the instructions for the calls of one architecture, which always return."""
    # Masking the bit of x32 changes no number of the others.
    block: list[Instruction] = [(LOAD, 0, 0, NUMBER), (AND, 0, 0, ~X32 & 0xFFFFFFFF)]
    # By the first argument: one value, what is said to it, and what to any other. A process number
    # has 32 bits, whatever is above them.
    asked = [(calls.prlimit, 0, ALLOW, ERRNO | errno.EPERM)]
    if not network:
        block += [(EQUAL, 0, 1, calls.socket), (RETURN, 0, 0, ERRNO | errno.EACCES)]
        block += [(EQUAL, 0, 1, IO_URING_SETUP), (RETURN, 0, 0, ERRNO | errno.EPERM)]
        if calls.socketcall is not None:
            asked.append((calls.socketcall, SYS_SOCKET, ERRNO | errno.EACCES, ALLOW))
    for number, value, same, other in asked:
        block += [(EQUAL, 0, 4, number), (LOAD, 0, 0, FIRST_ARGUMENT), (EQUAL, 0, 1, value)]
        block += [(RETURN, 0, 0, same), (RETURN, 0, 0, other)]
    return [*block, (RETURN, 0, 0, ALLOW)]
