"""The cell in which a process says what it is at: the input at work, and whether it compiles.

A process maps the cell, since it writes there for every input. The harness reads it as a file and
never maps it: a process that made the file shorter would have the harness killed by SIGBUS at the
next look. Where the kernel can, the cell's size is sealed, so that nobody can change it at all, or
fill it.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import struct
import tempfile
import threading

CELL_BYTES = mmap.PAGESIZE

_SAID, _NUMBER = struct.Struct("<qq"), struct.Struct("<q")


class Progress:
    """A cell as the process has it."""

    def __init__(self, descriptor: int) -> None:
        self._cell = mmap.mmap(descriptor, CELL_BYTES)

    def set(self, index: int) -> None:
        """Say at which input the process is; -1 while no single input is at work."""
        _NUMBER.pack_into(self._cell, 0, index)

    def compile(self, on: bool) -> None:
        """Say whether a compiler is at work. Nothing is said any more after :meth:`close`."""
        if not self._cell.closed:
            _NUMBER.pack_into(self._cell, _NUMBER.size, on)

    def close(self) -> None:
        """Unmap the cell."""
        self._cell.close()


class Cell:
    """A cell that is read. Thread-safe.

    descriptor: of the file, which the process inherits. What cannot be read says nothing.
    """

    def __init__(self) -> None:
        self.descriptor = _sealed()
        self._lock = threading.Lock()

    @property
    def said(self) -> tuple[int, bool]:
        """The input that the process is at, by what it says, or -1; whether it compiles."""
        with self._lock, contextlib.suppress(OSError, struct.error):
            if self.descriptor >= 0:
                index, compiling = _SAID.unpack(os.pread(self.descriptor, _SAID.size, 0))
                return max(-1, index), bool(compiling)
        return -1, False

    def close(self) -> None:
        """Close the file. Nothing is said from then on."""
        with self._lock:
            if self.descriptor >= 0:
                os.close(self.descriptor)
                self.descriptor = -1


def _sealed() -> int:
    """Return a new file of the cell's size, that has no name. Raises OSError."""
    # Some builds of Python were made against a C library that has no such call.
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("tokgate-progress", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, CELL_BYTES)
    with contextlib.suppress(OSError):  # no file system but that of memory has seals
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor
