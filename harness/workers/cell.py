"""The cell in which a process says what it is at: the input at work, and whether it compiles.

A process maps the cell, since it writes there for every input. The harness reads it as a file and
never maps it: a process that made the file shorter would have the harness killed by SIGBUS at the
next look.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct

CELL_BYTES = mmap.PAGESIZE

_SAID, _NUMBER = struct.Struct("<qq"), struct.Struct("<q")


class Progress:
    """A cell as the process has it. descriptor: -1 where nobody reads it."""

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
    """A cell that is read, in a file without a name, which the process inherits. Raises OSError."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.memfd_create("cell"), "wb")
        self.descriptor = self._file.fileno()
        os.ftruncate(self.descriptor, CELL_BYTES)

    @property
    def said(self) -> tuple[int, bool]:
        """The input that the process is at, by what it says, or -1; whether it compiles.

        What cannot be read says nothing.
        """
        with contextlib.suppress(OSError, struct.error, ValueError):
            index, compiling = _SAID.unpack(os.pread(self._file.fileno(), _SAID.size, 0))
            return max(-1, index), bool(compiling)
        return -1, False

    def close(self) -> None:
        """Close the file. Nothing is said from then on."""
        self._file.close()
