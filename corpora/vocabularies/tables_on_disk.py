"""Arrays that take long to make, kept on disk: made once, then read by every later process.

A file begins with the SHA-256 of what follows, and of the source by which it was made. It is
written under another name first and then renamed, so that no reader sees half of it; what does not
match its checksum is made again. A directory that cannot be written only costs time. What else an
array depends on belongs into the name of its file.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies.caches import tables_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

SMALLEST = 4096
"""Tokens of a vocabulary worth a file: tables of smaller ones are made in milliseconds."""

MAGIC = b"tokgate-bpe-tables\n"
_DIGEST = hashlib.sha256().digest_size
_PAYLOAD = -(-(len(MAGIC) + _DIGEST) // 64) * 64
"""The entries begin at this byte, which is a multiple of a cache line."""

_LINE = 16
"""Entries of a cache line of 64 bytes."""

_KINDS = tuple(map(np.dtype, ("i4", "i8", "u1", "?", "f4", "f8")))
_HEAD = 4


def kept(
    name: str, make: Callable[[], NDArray[np.int32]], source: bytes = b""
) -> NDArray[np.int32]:
    """The array of this name, from its file or from ``make``; it begins on a cache line.

    source: of the modules that make it: what another source made is made again.
    """
    path = tables_folder() / f"{name}.tables"
    found = _read(path, source)
    if found is None:
        made = make()
        _write(path, made, source)
        found = _read(path, source)
        return made if found is None else found
    return found


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
    """Several arrays under one name, each of one or two dimensions; nobody may write to them.

    An empty name says that they are not worth a file.
    """
    if name:
        return _apart(kept(name, lambda: _together(make()), source))
    made = [array.view() for array in make()]
    for array in made:
        array.flags.writeable = False  # as those of a file: compiled code is another one for others
    return made


def _together(arrays: Sequence[NDArray[np.generic]]) -> NDArray[np.int32]:
    """One array of several: how many there are, _HEAD entries of each, then these themselves.

    Each begins on a cache line. The entries say its type, its rows, its columns or -1, and where
    it begins.
    """
    at = 1 + _HEAD * len(arrays)
    heads = []
    for array in arrays:
        at = -(-at // _LINE) * _LINE
        columns = array.shape[1] if array.ndim == 2 else -1
        heads.append((_KINDS.index(array.dtype), len(array), columns, at))
        at += -(-array.nbytes // 4)
    whole = on_a_line(at)
    whole[0] = len(arrays)
    whole[1 : 1 + _HEAD * len(arrays)] = np.array(heads, dtype=np.int32).reshape(-1)
    of_bytes = whole.view(np.uint8)
    for array, (_, _, _, start) in zip(arrays, heads, strict=True):
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        of_bytes[4 * start : 4 * start + len(flat)] = flat
    whole.flags.writeable = False
    return whole


def _apart(whole: NDArray[np.int32]) -> list[NDArray[Any]]:
    """The arrays of :func:`_together`, where they lie."""
    of_bytes = whole.view(np.uint8)
    found = []
    for kind, rows, columns, start in whole[1 : 1 + _HEAD * int(whole[0])].reshape(-1, _HEAD):
        size = int(rows) * max(1, int(columns)) if columns else 0
        data = of_bytes[4 * start : 4 * start + size * _KINDS[kind].itemsize].view(_KINDS[kind])
        found.append(data if columns < 0 else data.reshape(rows, columns))
    return found


def on_a_line(size: int) -> NDArray[np.int32]:
    """Zeros that begin on a cache line."""
    room = np.zeros(size + _LINE, dtype=np.int32)
    skipped = -(room.ctypes.data // room.itemsize) % _LINE
    return room[skipped : skipped + size]


def _read(path: Path, source: bytes) -> NDArray[np.int32] | None:
    """The array, mapped from its file, or None if there is none to be trusted.

    Processes share the memory of what is mapped. Who replaces a file does so by another one, so
    that what was looked at stays as it is.
    """
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):  # ValueError: it is empty
        return None
    if len(mapped) < _PAYLOAD or len(mapped) % 4:
        return None
    found = np.frombuffer(mapped, dtype=np.int32, offset=_PAYLOAD)
    if mapped[:_PAYLOAD] != _head(found, source):
        return None
    # All of it was read for its checksum. What is asked for comes back, from the system's cache.
    mapped.madvise(mmap.MADV_DONTNEED)
    return found


def _head(entries: NDArray[np.int32], source: bytes) -> bytes:
    """What stands before the entries."""
    digest = hashlib.sha256(source)
    digest.update(entries.view(np.uint8).data)
    return (MAGIC + digest.digest()).ljust(_PAYLOAD, b"\0")


def _write(path: Path, entries: NDArray[np.int32], source: bytes) -> None:
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            temporary = Path(file.name)
            file.write(_head(entries, source))
            file.write(entries.view(np.uint8).data)
        temporary.replace(path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
