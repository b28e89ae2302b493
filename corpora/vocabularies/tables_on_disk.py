"""Arrays that take long to make, kept on disk: made once, then read by every later process.

A file begins with the SHA-256 of what follows, and of the source by which it was made. It is
written under another name first and then renamed, so that no reader sees half of it; what does not
match its checksum is made again. A directory that cannot be written only costs time. What else an
array depends on belongs into the name of its file.
"""

from __future__ import annotations

import hashlib
import io
import mmap
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora import whole_files
from corpora.vocabularies.caches import tables_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

SMALLEST = 4096
"""Tokens of a vocabulary worth a file: tables of smaller ones are made in milliseconds."""

MAGIC = b"tokgate-tables-npy\n"

LINE = 64
"""Bytes of a cache line: each array begins on one, behind the header of NumPy's own format."""

_NPY: Any = np.lib.format

_HEAD = -(-(len(MAGIC) + hashlib.sha256().digest_size) // LINE) * LINE
"""Bytes before the first array's header."""


def kept(
    name: str, make: Callable[[], NDArray[np.int32]], source: bytes = b""
) -> NDArray[np.int32]:
    """The array of this name, from its file or from ``make``; it begins on a cache line.

    source: of the modules that make it: what another source made is made again.
    """
    return kept_arrays(name, lambda: (make(),), source)[0]


@cache
def made_here() -> bytes:
    """The digest of this package's modules, for what is made by them alone."""
    modules = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(module.read_bytes() for module in modules)).digest()


def kept_bytes(vocabulary: Vocabulary, kind: str, make: Callable[[], bytes]) -> bytes:
    """What this package's modules make of a vocabulary, which is kept where that is a large one.

    kind: what it is, which is a part of the file's name. make: of what the fingerprint covers.
    """
    if len(vocabulary) < SMALLEST:
        return make()
    name = f"{vocabulary.fingerprint[:40]}-{kind}"
    (found,) = kept_arrays(name, lambda: (np.frombuffer(make(), dtype=np.uint8),), made_here())
    return bytes(found.tobytes())


def kept_arrays(
    name: str, make: Callable[[], Sequence[NDArray[np.generic]]], source: bytes = b""
) -> list[NDArray[Any]]:
    """Several arrays under one name; nobody may write to them.

    An empty name says that they are not worth a file.
    """
    path = tables_folder() / f"{name}.tables" if name else None
    found = _read(path, source) if path else None
    if found is None:
        made = make()
        found = (_written(path, made, source) if path else None) or [one.view() for one in made]
        for array in found:
            array.flags.writeable = False  # as those of a file: compiled code tells them apart
    return found


def on_a_line(size: int) -> NDArray[np.int32]:
    """Zeros that begin on a cache line."""
    room = np.zeros(size + LINE // 4, dtype=np.int32)
    skipped = -(room.ctypes.data // room.itemsize) % (LINE // 4)
    return room[skipped : skipped + size]


def _read(path: Path, source: bytes) -> list[NDArray[Any]] | None:
    """The arrays, mapped from their file, or None if there is none to be trusted.

    Processes share the memory of what is mapped. Who replaces a file does so by another one, so
    that what was looked at stays as it is.
    """
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # ValueError: it is empty
        return None
    with memoryview(mapped) as content:
        if mapped[:_HEAD] != _head(content[_HEAD:], source):
            return None
    # All of it was read for its checksum. What is asked for comes back, from the system's cache.
    mapped.madvise(mmap.MADV_DONTNEED)
    found = []
    at = _HEAD
    while at < len(mapped):
        mapped.seek(at)
        _NPY.read_magic(mapped)
        shape, _, dtype = _NPY.read_array_header_1_0(mapped)
        count = int(np.prod(shape))
        data = np.frombuffer(mapped, dtype, count, mapped.tell()) if count else np.empty(0, dtype)
        data.flags.writeable = False
        found.append(data.reshape(shape))
        at = -(-(mapped.tell() + data.nbytes) // LINE) * LINE
    return found


def _head(content: memoryview, source: bytes) -> bytes:
    """What stands before the arrays."""
    digest = hashlib.sha256(source)
    digest.update(content)
    return (MAGIC + digest.digest()).ljust(_HEAD, b"\0")


def _written(
    path: Path, arrays: Sequence[NDArray[np.generic]], source: bytes
) -> list[NDArray[Any]] | None:
    """The arrays as they can be read from their file now; None where it cannot be written."""
    content = io.BytesIO(bytes(_HEAD))
    content.seek(_HEAD)
    for array in arrays:
        _NPY.write_array(content, np.ascontiguousarray(array), version=(1, 0))
        content.write(bytes(-content.tell() % LINE))
    with content.getbuffer() as whole:
        whole[:_HEAD] = _head(whole[_HEAD:], source)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole_files.write(path, whole)
        except OSError:
            return None
    return _read(path, source)
