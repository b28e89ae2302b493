"""What the vocabularies of a run came to, kept beside its record until the run is whole.

A run that is killed has lost what it had not committed; with the results of whole vocabularies on
disk the next one commits them again, in the same order, and has only the others done. Which run a
result belongs to is a part of its name, so that another run never takes it up.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.metadata
import json
import os
import platform
from typing import TYPE_CHECKING, Any

from corpora import whole_files
from harness.core.output import OutputError, cannot_write, write_whole, writing
from harness.engine.plan import budget_text
from harness.engine.portable import digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from corpora.texts.sources import Source
    from harness.engine.plan import Plan

FOLDER = ".units"
"""In the folder of the run."""


PLAIN = (
    "seed", "suite", "expectations", "bounds", "scaled", "walked", "measured", "families",
    "fail_fast", "sampled", "only_texts", "limits",
)  # fmt: skip
"""The fields of a plan that are told apart as they are shown."""


def identity(plan: Plan) -> dict[str, Any]:
    """Return all that decides what the vocabularies of a run come to, but for their own content."""
    return {name: repr(getattr(plan, name)) for name in PLAIN} | {
        "budget": budget_text(plan),
        "vocabularies": plan.visited,
        "texts": [] if plan.texts is None else list(map(stamp, plan.texts.sources)),
        "implementations": plan.versions,
        "files": digest_of(plan),
        "checks": [one.name for one in plan.checks],
        "generators": [one.name for one in plan.generators],
        "references": sorted(plan.references),
        "named": sorted(plan.named),
        "tokgate": importlib.metadata.version("tokgate"),
        "python": platform.python_version(),
    }


def stamp(source: Source) -> list[Any]:
    """What says whether a file of texts is still the same: its name, its size, when it changed."""
    changed = source.path.stat().st_mtime_ns if source.path is not None else 0
    return [source.name, source.size, changed]


class Journal:
    """The results of the vocabularies of one run, as files. A context: one run at a time has it.

    out: the folder of the run. Raises OutputError, also where another run is at it.
    """

    def __init__(self, out: Path, plan: Plan) -> None:
        self._folder = out / FOLDER
        text = json.dumps(identity(plan), sort_keys=True)
        self._mark = hashlib.sha256(text.encode()).hexdigest()[:12]
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(
                self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise cannot_write(f"--out {out}", error) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise OutputError(
                f"--out {out}: another run is writing there; wait for it, or give another --out"
            ) from None
        except OSError:
            pass  # not all file systems have locks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            if not any(self._folder.glob("*.unit")):
                (self._folder / "lock").unlink(missing_ok=True)
                self._folder.rmdir()  # unless something else was put there
        os.close(self._lock)

    def holds(self, names: Sequence[str]) -> bool:
        """Whether anything is kept of these."""
        return any(self._path(name).exists() for name in names)

    def kept(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return what is kept of these, in their order; all else that is kept goes."""
        with writing(self._folder):
            whole_files.sweep(self._folder)
            paths = {self._path(name): name for name in names}
            for path in set(self._folder.glob("*.unit")) - paths.keys():
                path.unlink()
            return {name: path.read_bytes() for path, name in paths.items() if path.exists()}

    def keep(self, name: str, result: bytes) -> None:
        """Keep a result. Raises OutputError."""
        write_whole(self._path(name), result)

    def remove(self) -> None:
        """Remove all of it, as the run is whole."""
        with writing(self._folder):
            for path in self._folder.glob("*.unit"):
                path.unlink()

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return self._folder / f"{self._mark}-{digest}.unit"
