"""The folder for temporary files of this process, and the removal of what killed ones left.

Whatever is temporary and has a name is made here, by :func:`temporary`: folders of workers, files
that a library reads its vocabulary from. All of it is in one folder of the process, which is
removed when the process ends, but not when it is killed. Therefore it has a file
``owner`` that the process holds a lock on as long as it lives: the kernel lets go of the lock with
the process, however that ends, and unlike a process's number a lock is never taken for that of
another process, not even by one in another container that shares the folder. Until that file has
its name, the folder itself is locked. Whoever makes such a folder first removes those of its own
user whose lock is free.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
import threading
import weakref
from pathlib import Path
from types import TracebackType

from corpora import whole_files

PREFIX = "tokgate-scratch-"
"""The name of the folder begins with this, in the system's folder for temporary files."""

OWNER = "owner"
"""The file with the lock. It gets its name only once it is locked."""

_making = threading.Lock()
_made: tuple[int, Path, int] | None = None
"""The number of the process that made the folder, the folder, and the locked descriptor."""

_being_made: list[int] = []
"""The locked descriptor of a folder that has no owner yet."""


def system_folder() -> Path:
    """Return the system's folder for temporary files, from now on that of ``tempfile``, too.

    Left to itself, ``tempfile`` writes a file to see whether it can, which a kill leaves there.
    """
    if tempfile.tempdir is None:
        given = os.environ.get("TMPDIR") or "/tmp"
        if Path(given).is_dir() and os.access(given, os.W_OK | os.X_OK):
            tempfile.tempdir = str(Path(given).absolute())
    return Path(tempfile.gettempdir())


def folder() -> Path:
    """Return the folder of this process, made at the first call. Raises OSError."""
    global _made  # noqa: PLW0603 (there is one such folder in a process)
    with _making:
        where = system_folder()
        # A process that was forked makes its own: the other one's is not its to remove.
        ours = _made is not None and _made[0] == os.getpid() and _made[1].parent == where
        if _made is None or not ours or not _made[1].is_dir():
            sweep(where)
            made = _new(where)
            _made = (os.getpid(), made, _own(made))
            atexit.register(_remove, *_made)
        return _made[1]


class Temporary:
    """A folder that goes when this object does, whatever a process has put into it.

    It is not ``tempfile.TemporaryDirectory``, because that raises where folders lie too deep.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._removed = weakref.finalize(self, remove, name)

    def cleanup(self) -> None:
        """Remove it now. Nothing is raised; what cannot be removed goes with a later sweep."""
        self._removed()

    def __enter__(self) -> str:
        return self.name

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cleanup()


def temporary(prefix: str) -> Temporary:
    """Return a new folder, whose name begins so, that goes when the object does. Raises OSError."""
    return Temporary(tempfile.mkdtemp(prefix=prefix, dir=folder()))


def leave() -> None:
    """Remove the folder of this process now: one that was forked ends without what others do."""
    if _made is not None:
        _remove(*_made)


def sweep(where: Path) -> list[Path]:
    """Remove from ``where`` the folders of this user's dead processes, and return them."""
    return whole_files.swept(where, f"{PREFIX}*", _abandoned)


def remove(path: Path | str) -> bool:
    """Remove a folder with all that is in it, whatever was put there; whether it is gone.

    Symbolic links are removed and never followed. What cannot be removed stays, with the folders
    above it. A path that is no folder, a symbolic link above all, stays as well.
    """
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
    if Path(path).is_dir() and not Path(path).is_symlink():
        # With a thousand levels it is more than Python's stack, and a folder may forbid its owner
        # to list it: the system's own tools mind neither.
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            with contextlib.suppress(OSError):
                quiet = subprocess.DEVNULL
                subprocess.run([*command, path], stdout=quiet, stderr=quiet, check=False)
    return not os.path.lexists(path)


def _new(where: Path) -> Path:
    """Make a folder, which is locked itself until it has an owner (or its maker is dead)."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=PREFIX, dir=where))
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        _being_made.append(descriptor)
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if made.is_dir():
            return made
        os.close(_being_made.pop())  # it was swept before it was locked


def _own(path: Path) -> int:
    """Return a locked descriptor of the owner's file of a new folder."""
    unnamed = path / f".{OWNER}"
    descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with contextlib.suppress(OSError):
        # Where nothing can be locked, nobody finds the lock free, and the folder stays.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.write(descriptor, f"{os.getpid()}\n".encode())  # for people; the lock is what counts
    unnamed.rename(path / OWNER)
    while _being_made:
        os.close(_being_made.pop())
    return descriptor


def _abandoned(path: Path) -> bool:
    """Remove a folder if its owner is dead; whether it was removed. Raises OSError."""
    status = path.lstat()
    # A link, or what another user made, is none of ours, whatever it is called.
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    owner, flags = path / OWNER, os.O_RDWR
    made = os.path.lexists(owner)
    if not made:  # its maker is at it, or dead
        flags = os.O_RDONLY | os.O_DIRECTORY
    with whole_files.without_owner(owner if made else path, flags) as descriptor:
        if descriptor is None:
            return False
        # A folder may have got its owner meanwhile; and what else is called like one is none.
        if os.path.lexists(owner) != made:
            return False
        if made and not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        # The lock is held meanwhile, so that no other sweep is at the same folder.
        remove(path)
        return True


def _remove(process: int, path: Path, descriptor: int) -> None:
    if process == os.getpid():
        remove(path)
        with contextlib.suppress(OSError):
            os.close(descriptor)
