"""Files that a command leaves: whole or not there, and one line where the disk is full.

A write that fails raises :class:`OutputError`, whatever the writer: the command then ends with one
line that names the path and the mend, and with the status of a mistake that the user can mend. It
must not end with the status that says that the gate does not hold.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from corpora import whole_files
from corpora.errors import UserError

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS})
"""Errors of a disk and not of a program: full, over quota, over the limit of a file's size, broken,
read-only. Wherever one of them comes up, it is the user who can mend it."""

MENDS = {
    errno.ENOSPC: "make room there",
    errno.EDQUOT: "make room there, or raise the quota",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.ENAMETOOLONG: "choose a shorter name",
}
"""The mend by the number of the error; for others it is another folder."""


class OutputError(UserError):
    """The output cannot be written: one line with the path and the mend."""


def cannot_write(where: Path | str, error: OSError) -> OutputError:
    """Return the error to raise where ``where`` could not be written."""
    mend = MENDS.get(error.errno or 0, "name a writable folder")
    return OutputError(f"{where}: {error.strerror or error}; {mend}")


@contextlib.contextmanager
def writing(where: Path | str) -> Iterator[None]:
    """Raise OutputError for an OSError from inside; it names the error's own file if it has one."""
    try:
        yield
    except OSError as error:
        raise cannot_write(error.filename or where, error) from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that it is there whole or not at all, what was there before else.

    Text is written as UTF-8, with lone surrogates as escapes. Raises OutputError.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        whole_files.write(path, data)
    except OSError as error:
        raise cannot_write(path, error) from error


class Lines:
    """A file that grows by whole lines, each of them on disk as soon as it is written.

    afresh: what was there goes. Raises OutputError where it cannot be opened.
    """

    def __init__(self, path: Path, *, afresh: bool) -> None:
        self.path = path
        with writing(path):
            self._file = path.open("ab", buffering=0)
            if afresh:
                self._file.truncate(0)

    def add(self, line: str) -> None:
        """Append a line, which has no line feed in it.

        Raises OutputError; what was written of the line is taken away then, so that the file
        ends with a whole line. Nothing is buffered, so that nothing is left to fail later.
        """
        if self._file.closed:
            raise OutputError(f"{self.path}: is closed")
        data = memoryview(f"{line}\n".encode("utf-8", "backslashreplace"))
        before = os.fstat(self._file.fileno()).st_size
        try:
            while data:
                data = data[os.write(self._file.fileno(), data) :]
        except OSError as error:
            with contextlib.suppress(OSError):
                self._file.truncate(before)
            raise cannot_write(self.path, error) from error

    def close(self) -> None:
        """Close the file; again, it does nothing."""
        with contextlib.suppress(OSError):
            self._file.close()
