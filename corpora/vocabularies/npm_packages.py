"""Archives of the registry of npm, fetched by the user's npm with the settings that it has.

``npm pack`` fetches the one archive of a release as it was published: no script of it is run, and
nothing that it depends on is fetched.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from corpora.vocabularies import archives, node
from corpora.vocabularies.archives import Wanted
from corpora.vocabularies.limits import FETCHING_SECONDS
from corpora.vocabularies.model import VocabularyError, printable


def fetch(wanted: Wanted, folder: Path) -> tuple[str, bytes]:
    """The version that is fetched to a folder, and the file's content. Raises VocabularyError."""
    programs = node.installed()
    if programs is None:
        raise VocabularyError(wanted.source, "cannot be fetched without npm", node.MEND)
    command = [*programs.npm, "pack", "--ignore-scripts", "--json", "--loglevel=error"]
    command += ["--pack-destination", str(folder)]
    command += [f"{wanted.name}@{wanted.version}" if wanted.version else wanted.name]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=programs.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FETCHING_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        what = f"was not fetched within {FETCHING_SECONDS:.0f} s"
        raise VocabularyError(wanted.source, what, "check the network") from None
    found = sorted(folder.glob("*.tgz"))
    if done.returncode or not found:
        reason = _reason(done.stdout, done.stderr)
        what = f"npm cannot fetch it ({reason})"
        raise VocabularyError(wanted.source, what, "check the name and the network")
    return _version(done.stdout, wanted), archives.member(found[0], wanted)


def _version(answer: bytes, wanted: Wanted) -> str:
    """The version, as npm says it."""
    try:
        return str(json.loads(answer)[0]["version"])
    except (ValueError, LookupError, TypeError):
        return wanted.version or "unknown"


def _reason(answer: bytes, log: bytes) -> str:
    """What npm says of a failure, on one line."""
    try:
        summary = json.loads(answer)["error"]["summary"]
    except (ValueError, LookupError, TypeError):
        summary = log.decode(errors="replace")
    lines = [line for line in str(summary).splitlines() if line.strip()]
    return printable(lines[0].strip()[:200]) if lines else "npm does not say why"
