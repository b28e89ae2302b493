"""The harness's side of the cell in which a worker says what it is at.

A worker maps the cell, since it writes there for every input. The harness reads it as a file and
never maps it: a worker that made the file shorter would have the harness killed by SIGBUS at the
next look. Where the kernel can, the cell's size is sealed, so that no worker can change it at all,
or fill it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import threading

from harness.core.messages import CELL_BYTES, Compiling, Said


class Cell:
    """A cell that is read. Thread-safe.

    descriptor: of the file, which the worker inherits. What cannot be read says nothing.
    """

    def __init__(self) -> None:
        self.descriptor = _sealed()
        self._lock = threading.Lock()

    @property
    def index(self) -> int:
        """The input that the worker is at, by what it says; -1 where it says nothing."""
        return max(-1, self._said().index)

    @property
    def compiling(self) -> Compiling | None:
        """What a compiler in the worker is at, or None."""
        return self._said().compiling

    def _said(self) -> Said:
        with self._lock, contextlib.suppress(OSError):
            if self.descriptor >= 0:
                return Said.of(os.pread(self.descriptor, CELL_BYTES, 0))
        return Said.of(b"")

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
