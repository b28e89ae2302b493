"""What a worker leaves in the memory that all processes of the machine share, where it has no own.

Confinement gives a worker a ``/dev/shm`` of its own, which goes with it
(:mod:`harness.confinement.applying`). Where the kernel gives none, files stay in the shared one:
libraries remove theirs when they end, and a worker is killed. Nothing there says who made a file.
So one is removed only if all of this holds: it was not there when the worker was started, it is
this user's, a process of the worker's family has it open or mapped at its end, and nobody else has.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

import psutil

from harness.confinement.plan import SHARED_MEMORY

File = tuple[int, int]
"""The device and the inode of a file: its name may be another one's in another mount."""


class Traces:
    """The files that one worker's family has made. Made before the worker is started."""

    def __init__(self, folder: Path = Path(SHARED_MEMORY)) -> None:
        self._folder = folder
        self._before = set(self._files())
        self._made: set[File] = set()

    def look(self, pid: int) -> None:
        """Take note of what the family of a process has open, while it is there."""
        fresh = self._files().keys() - self._before
        if fresh:
            self._made = fresh & self._open_in(_family(pid))

    def sweep(self) -> list[Path]:
        """Remove what was noted, when the family is gone, and return it."""
        if not self._made:
            return []
        others = self._open_in(psutil.pids())
        gone = []
        for file, path in self._files().items():
            if file in self._made - others:
                with contextlib.suppress(OSError):
                    path.unlink()
                    gone.append(path)
        return gone

    def _files(self) -> dict[File, Path]:
        """The files of this user in the folder; what is in folders below is no shared memory."""
        found: dict[File, Path] = {}
        with contextlib.suppress(OSError):
            for path in self._folder.iterdir():
                with contextlib.suppress(OSError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                        found[status.st_dev, status.st_ino] = path
        return found

    def _open_in(self, pids: Iterable[int]) -> set[File]:
        """The files in the folder that these processes have open or mapped."""
        found: set[File] = set()
        for pid in pids:
            with contextlib.suppress(OSError):
                found.update(_mapped(Path(f"/proc/{pid}/maps"), f"{self._folder}/"))
            with contextlib.suppress(OSError):
                for link in Path(f"/proc/{pid}/fd").iterdir():
                    with contextlib.suppress(OSError):
                        if str(link.readlink()).startswith(f"{self._folder}/"):
                            status = link.stat()
                            found.add((status.st_dev, status.st_ino))
        return found


def _mapped(maps: Path, prefix: str) -> Iterable[File]:
    """The files below a folder in a table of mappings, whose fourth field is ``major:minor``."""
    for line in maps.read_text(errors="replace").splitlines():
        fields = line.split(None, 5)
        if len(fields) == 6 and fields[5].startswith(prefix):
            major, minor = (int(part, 16) for part in fields[3].split(":"))
            yield os.makedev(major, minor), int(fields[4])


def _family(pid: int) -> list[int]:
    """A process and all its descendants."""
    members = [pid]
    with contextlib.suppress(psutil.Error, OSError):
        members += [child.pid for child in psutil.Process(pid).children(recursive=True)]
    return members
