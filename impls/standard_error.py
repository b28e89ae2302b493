"""What a program prints to its standard error: a file that is kept short while it is written to."""

from __future__ import annotations

import ctypes
import fcntl
import os
import tempfile
import threading
from typing import IO

LOG_TAIL = 64 * 1024
"""Bytes of a dead process's standard error that are kept (as the stdio protocol promises)."""

FARTHEST = 2 << 30
"""Bytes of a log, holes and all, far below the largest file that a worker may write."""

FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE = 1, 2

TRIM_SECONDS = 0.2
"""The pause between two looks at the log of a program."""

LONGEST_LOG = 8 << 20
"""Bytes of standard error that are kept before all but the tail goes."""


_trimming = threading.Lock()
"""Held while a log is cut or read: between the two steps of cutting it is empty."""


def log_file() -> IO[bytes]:
    """A file for standard error that may be trimmed while it is written to."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
    fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_APPEND)
    return file


def log_tail(log: IO[bytes]) -> str:
    """The end of a log, as text."""
    with _trimming:
        size = os.fstat(log.fileno()).st_size
        tail = os.pread(log.fileno(), LOG_TAIL, max(0, size - LOG_TAIL))
    return tail.decode("utf-8", "replace").strip()


def trim(log: IO[bytes]) -> None:
    """Leave the tail alone of a log that has grown long: a chatty library fills the disk.

    What comes before the tail becomes a hole, which takes no room: nothing that is printed at the
    same time is lost or gets before it. Where the file system knows no holes, and where the file
    is so long that its program may soon write no more, it is cut off, with what is printed then.
    """
    descriptor = log.fileno()
    with _trimming:
        if room(log) <= LONGEST_LOG:
            return
        size = os.fstat(descriptor).st_size
        if size <= FARTHEST and _hole(descriptor, size - LOG_TAIL):
            return
        tail = os.pread(descriptor, LOG_TAIL, size - LOG_TAIL)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, tail)


def room(log: IO[bytes]) -> int:
    """The bytes that a log takes on its disk."""
    return os.fstat(log.fileno()).st_blocks * 512


def _hole(descriptor: int, size: int) -> bool:
    """Give back what the first bytes of a file take; whether that can be done."""
    function = ctypes.CDLL(None).fallocate
    function.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    done: int = function(descriptor, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, size)
    return done == 0
