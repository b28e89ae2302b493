"""What a program prints to its standard error: a file that is kept short while it is written to."""

from __future__ import annotations

import fcntl
import os
import tempfile
import threading
from typing import IO

LOG_TAIL = 64 * 1024
"""Bytes of a dead process's standard error that are kept (as the stdio protocol promises)."""

TAILS_READ = 8
"""The tail of a log is read so often before it is cut though more is printed meanwhile."""

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

    What is printed while the log is cut is lost. So it is cut when nothing was printed since the
    tail was read, unless something is printed all the time: then there will be another tail.
    """
    descriptor = log.fileno()
    with _trimming:
        size = os.fstat(descriptor).st_size
        if size <= LONGEST_LOG:
            return
        for _ in range(TAILS_READ):
            tail = os.pread(descriptor, LOG_TAIL, size - LOG_TAIL)
            before, size = size, os.fstat(descriptor).st_size
            if size == before:
                break
        os.ftruncate(descriptor, 0)
        os.write(descriptor, tail)
