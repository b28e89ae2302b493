"""Files that are there whole or not at all, and the removal of parts that killed writers left.

A file is written beside its place, as ``.NAME.XXXXXXXX.part``, and then renamed. Whoever is killed
in between leaves the part. Therefore its writer holds a lock on it until it has its name: the
kernel lets go of the lock with the process, however that ends. The first write of a process into a
folder removes the parts there whose lock is free.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

PART = re.compile(r"\..+\.[a-z0-9_]{8}\.part")
"""The names of parts."""

_swept: set[tuple[int, str]] = set()
"""Folders whose parts were looked at, by the process that did."""

_sweeping = threading.Lock()


def write(path: Path, data: bytes | memoryview) -> None:
    """Write a file so that it is there whole or not at all, what was there before else.

    It is as readable as any file that this process makes. Raises OSError, which leaves no part.
    """
    with _sweeping:
        known = (os.getpid(), str(path.parent))
        first = known not in _swept
        _swept.add(known)
    if first:
        sweep(path.parent)
    part, lock = _locked_part(path)
    try:
        # Closing tells of errors that were put off, as on a network: that must come before the
        # rename, and the lock must stay until after it. Two descriptors of one file share the lock.
        with os.fdopen(os.dup(lock), "wb") as file:
            file.write(data)
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    finally:
        os.close(lock)


def sweep(folder: Path) -> list[Path]:
    """Remove the parts in a folder that nobody is writing any more, and return them."""
    return swept(folder, "*", _abandoned)


def swept(folder: Path, pattern: str, abandoned: Callable[[Path], bool]) -> list[Path]:
    """What of a folder ``abandoned`` has removed: leavings of processes that were killed.

    What cannot be looked at or removed (OSError) stays: it is tried again another time.
    """
    gone = []
    with contextlib.suppress(OSError):
        for path in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if abandoned(path):
                    gone.append(path)
    return gone


@contextlib.contextmanager
def without_owner(path: Path, flags: int) -> Iterator[int | None]:
    """A descriptor of what nobody has locked, locked meanwhile; None where its owner lives.

    No link is followed, and no pipe waited for. Raises OSError.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield None
        else:
            yield descriptor
    finally:
        os.close(descriptor)


def _abandoned(path: Path) -> bool:
    """Remove a part if its writer is dead; whether it was removed. Raises OSError."""
    if not PART.fullmatch(path.name):
        return False
    with without_owner(path, os.O_RDWR) as descriptor:
        if descriptor is not None:
            path.unlink()
        return descriptor is not None


def _locked_part(path: Path) -> tuple[Path, int]:
    """A new part, and a descriptor of it that is locked."""
    while True:
        # Two threads may write the same file: each has a part of its own.
        part = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.part")
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with contextlib.suppress(OSError):
            # Where nothing can be locked, nobody finds the lock free, and a part may stay.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return part, descriptor
        os.close(descriptor)  # it was swept before it was locked
