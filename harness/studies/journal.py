"""What the units of a run came to, kept beside its record until the run is whole.

A driver that is killed has lost what it had not committed; with the results of the units on disk
the next one commits them again, in the same order, and has only the others performed. Which run a
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
from harness.cluster.executor import ClusterError, Done
from harness.core.writing import write_whole, writing
from harness.engine.runner import budget_text
from harness.studies.portable import digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from harness.engine.planning import Plan

FOLDER = ".units"
"""In the folder of the run."""


def identity(plan: Plan) -> dict[str, Any]:
    """Return all that decides what the units of a run come to, as plain data."""
    return {
        "seed": plan.seed,
        "budget": budget_text(plan),
        "suite": repr(plan.suite),
        "vocabularies": {one: plan.vocabularies[one]().fingerprint for one in plan.visited},
        "implementations": plan.versions,
        "files": digest_of(plan),
        "references": sorted(plan.references),
        "checks": [one.name for one in plan.checks],
        "generators": [one.name for one in plan.generators],
        "expectations": repr(plan.expectations),
        "bounds": repr(plan.bounds),
        "measured": [list(plan.scaled), list(plan.walked), list(plan.measured)],
        "families": [repr(one) for one in plan.families],
        "fail fast": plan.fail_fast,
        "sampled": plan.sampled,
        "named": sorted(plan.named),
        "limits": repr(plan.limits),
        "tokgate": importlib.metadata.version("tokgate"),
        "python": platform.python_version(),
    }


class Journal:
    """The results of the units of one run, as files. A context: one driver at a time has it.

    out: the folder of the run. Raises ClusterError where another driver is at it, and OutputError.
    """

    def __init__(self, out: Path, plan: Plan) -> None:
        self._folder = out / FOLDER
        text = json.dumps(identity(plan), sort_keys=True)
        self._mark = hashlib.sha256(text.encode()).hexdigest()[:12]
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(
                self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise ClusterError(
                f"--out {out}: another driver is at a run there; wait for it, or give another --out"
            ) from None
        except OSError:
            pass  # not all file systems have locks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def kept(self, names: Sequence[str]) -> dict[str, Done]:
        """Return the results of an earlier driver of the same run; what is another's goes."""
        found = {}
        with writing(self._folder):
            whole_files.sweep(self._folder)
            mine = {self._path(name): name for name in names}
            for path in sorted(self._folder.glob("*.unit")):
                if path not in mine:
                    path.unlink()
                    continue
                head, _, result = path.read_bytes().partition(b"\n")
                with contextlib.suppress(ValueError, KeyError, TypeError):
                    told = json.loads(head)
                    done = Done(
                        mine[path], result, told["node"], "", told["tries"], told["seconds"]
                    )
                    found[done.name] = done
        return found

    def keep(self, done: Done) -> None:
        """Keep a result. Raises OutputError."""
        head = json.dumps({"node": done.node, "tries": done.tries, "seconds": done.seconds})
        write_whole(self._path(done.name), head.encode() + b"\n" + done.result)

    def remove(self) -> None:
        """Remove all of it, as the run is whole."""
        with writing(self._folder):
            for path in self._folder.glob("*.unit"):
                path.unlink()
            (self._folder / "lock").unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # something else was put there
                self._folder.rmdir()

    def _path(self, name: str) -> Path:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return self._folder / f"{self._mark}-{digest}.unit"
