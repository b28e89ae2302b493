"""Tables on disk: built once a vocabulary, then read by every later process.

A file is named by the vocabulary's fingerprint, the subject and :data:`FORMAT`, and begins with
the SHA-256 of what follows. It is written under another name first and then renamed, so that no
reader sees half of it; what does not match its checksum is built again. A directory that cannot be
written only costs time.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.caches import tables_folder
from impls.kernels.layout import HEADER, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

FORMAT = 8
"""The version of the tables, of all subjects together: raise it with every change of what they
mean."""

SMALLEST = 4096
"""Tokens of a vocabulary worth a file: tables of smaller ones are built in milliseconds."""

MAGIC = b"tokgate-bpe-tables\n"
_DIGEST = hashlib.sha256().digest_size
_PAYLOAD = -(-(len(MAGIC) + _DIGEST) // 64) * 64
"""The entries begin at this byte, which is a multiple of a cache line."""


def directory() -> Path:
    """``$TOKGATE_CACHE_DIR``, or a folder below the user's cache directory."""
    return tables_folder()


def tables(
    vocabulary: Vocabulary, subject: str, build: Callable[[], Mapping[int, NDArray[np.int32]]]
) -> dict[int, NDArray[np.int32]]:
    """The sections of one subject (``"tokens"``), from the cache or from ``build``."""
    if len(vocabulary) < SMALLEST:
        return dict(build())
    path = directory() / f"{vocabulary.fingerprint[:40]}-{subject}-{FORMAT}.tables"
    block = _read(path)
    if block is None:
        block = pack(build())
        _write(path, block)
    return unpack(block)


def _read(path: Path) -> NDArray[np.int32] | None:
    """The block, or None if there is none to be trusted."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    payload = memoryview(content)[_PAYLOAD:]
    if content[: len(MAGIC)] != MAGIC or len(payload) < 4 * HEADER or len(payload) % 4:
        return None
    if hashlib.sha256(payload).digest() != content[len(MAGIC) : len(MAGIC) + _DIGEST]:
        return None
    return np.frombuffer(payload, dtype=np.int32)


def _write(path: Path, block: NDArray[np.int32]) -> None:
    payload = block.tobytes()
    head = (MAGIC + hashlib.sha256(payload).digest()).ljust(_PAYLOAD, b"\0")
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            temporary = Path(file.name)
            file.write(head)
            file.write(payload)
        temporary.replace(path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
