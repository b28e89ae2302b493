"""The removal of a folder with all that is in it, whatever a process that is gone has put there.

``shutil.rmtree`` calls itself for each level, so that a folder with a thousand levels is more than
Python's stack, and it passes folders over that their owner may not list. Here one folder is open at
a time, which is reached from its parent and left through ``..``, so that neither the depth nor the
length of a path matters. Symbolic links are removed and never followed.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(slots=True)
class _Level:
    """A folder on the way to the one that is open: who it is, and its folders not yet removed."""

    identity: tuple[int, int]
    left: list[str]
    within: str = ""


def remove(path: Path | str) -> bool:
    """Remove a folder and all below it; whether it is gone. Nothing is raised.

    What cannot be removed stays, with the folders above it. A path that is no folder, a symbolic
    link above all, stays as well.
    """
    with contextlib.suppress(OSError):
        _empty(str(path))
        Path(path).rmdir()
    return not os.path.lexists(path)


def _empty(path: str) -> None:
    """Remove all below a folder, as far as that goes. Raises OSError."""
    current = _opened(path, None)
    try:
        levels = [_listed(current)]
        while levels:
            level = levels[-1]
            if level.left:
                level.within = level.left.pop()
                try:
                    below = _opened(level.within, current)
                except OSError:
                    continue  # it stays, and so does what is above it
                os.close(current)
                current = below
                levels.append(_listed(current))
                continue
            levels.pop()
            if not levels:
                return
            above = os.open("..", FOLDER, dir_fd=current)
            os.close(current)
            current = above
            if _identity(current) != levels[-1].identity:
                return  # somebody moves folders meanwhile: another time
            with contextlib.suppress(OSError):
                os.rmdir(levels[-1].within, dir_fd=current)
    finally:
        os.close(current)


def _opened(name: str, parent: int | None) -> int:
    """Return the descriptor of a folder, to whose owner its mode is no obstacle. Raises OSError."""
    try:
        descriptor = os.open(name, FOLDER, dir_fd=parent)
    except PermissionError:
        if _is_link(name, parent):  # what it leads to is not to be changed
            raise
        os.chmod(name, 0o700, dir_fd=parent)
        return os.open(name, FOLDER, dir_fd=parent)
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, 0o700)
    return descriptor


def _is_link(name: str, parent: int | None) -> bool:
    try:
        os.readlink(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _listed(descriptor: int) -> _Level:
    """Remove what is no folder from an open one; its folders are what is left."""
    left = []
    with contextlib.suppress(OSError), os.scandir(descriptor) as entries:
        for entry in entries:
            try:
                os.unlink(entry.name, dir_fd=descriptor)
            except OSError:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.name)
    return _Level(_identity(descriptor), left)


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino
