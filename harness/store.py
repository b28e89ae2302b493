"""The output folder of a run: the event record, the findings, their reproducers.

Everything is on disk as soon as it is known: the record is flushed event by event, a finding's
folder is written before its event, and each file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.diagnosis import difference
from harness.events import Found
from harness.findings import described
from harness.repro import NEEDED, reproducer, reproducible

if TYPE_CHECKING:
    from pathlib import Path

    from harness.checks.base import Violation
    from harness.contracts import Contract
    from harness.events import Event
    from harness.repro import ReproducibleImplementation
    from impls.interface import Recipe


class OutputError(Exception):
    """The output folder cannot be written: one line with the path and the mend."""


OURS = (
    "run.jsonl",
    "summary.json",
    "summary.md",
    "report.html",
    "report.sarif",
    "junit.xml",
    "findings",
    "vocabularies",
)
"""What a run writes into its folder, and so what the next run there removes."""


class FindingsFolder:
    """A folder with the findings of a run and the vocabularies that their reproducers load."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._recipes: dict[tuple[str, str], tuple[Recipe, str]] = {}

    def save_finding(self, name: str, violation: Violation, contract: Contract) -> str | None:
        """Write ``findings/<name>/``; the path of its reproducer, None if it can have none."""
        folder = self.path / "findings" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "input.bin").write_bytes(violation.data)
        groups = [described(part, contract.vocabulary) for part in violation.parts]
        whole = {
            "check": violation.check,
            "contract": contract.id,
            "culprits": list(violation.culprits),
            "partition": groups,
        }
        write_whole(folder / "outcomes.json", json.dumps(whole, indent=1))
        placed = {
            implementation.about.name: self._recipe(implementation, contract)
            for implementation in reproducible(violation, contract)
        }
        needed = NEEDED.get(violation.check)
        if needed is not None:
            placed = {n: made for n, made in placed.items() if f"def {needed}(" in made[0].code}
        if not placed:
            return None
        _, sentence = difference(violation, contract.vocabulary)
        title = f"tokgate finding {name}: {violation.check}"
        source = reproducer(title, sentence, violation, contract, placed)
        write_whole(folder / "repro.py", source)
        return f"findings/{name}/repro.py"

    def _recipe(
        self, implementation: ReproducibleImplementation, contract: Contract
    ) -> tuple[Recipe, str]:
        """A recipe and the path of its vocabulary as seen from a finding's folder, made once."""
        key = (implementation.about.name, contract.id)
        with self._lock:
            if key not in self._recipes:
                recipe = implementation.recipe(contract.vocabulary, contract.mode)
                path = self._place(recipe, contract)
                self._recipes[key] = (replace(recipe, artifact=b""), path)
            return self._recipes[key]

    def _place(self, recipe: Recipe, contract: Contract) -> str:
        if not recipe.artifact_name:
            return ""
        slug = re.sub(r"[^\w.-]", "_", contract.vocabulary.id)
        path = self.path / "vocabularies" / slug / recipe.artifact_name
        if path.exists() and path.read_bytes() != recipe.artifact:
            # Another mode's, or another library's, of the same name.
            digest = hashlib.sha256(recipe.artifact).hexdigest()[:8]
            path = path.with_name(f"{digest}-{path.name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(recipe.artifact)
        return f"../../{path.relative_to(self.path)}"


class RunFolder(FindingsFolder):
    """The folder of one run, made afresh: what an earlier run left there goes.

    Raises OutputError for a folder that cannot be written, and for one that has something of
    these names which no run left there.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            foreign = [name for name in OURS if (path / name).exists()]
            if foreign and not is_run(path):
                raise OutputError(
                    f"--out {path}: has a {foreign[0]} that is no run's; name another folder"
                )
            for name in OURS:
                old = path / name
                if old.is_dir():
                    shutil.rmtree(old)
                else:
                    old.unlink(missing_ok=True)
            self._record = (path / "run.jsonl").open("w", encoding="utf-8")
        except OSError as error:
            raise OutputError(f"--out {path}: {error.strerror}; name a writable folder") from error

    @property
    def record(self) -> Path:
        """The event record."""
        return self.path / "run.jsonl"

    def consume(self, event: Event) -> None:
        """Append an event; a finding that another replaces loses its folder."""
        try:
            self._record.write(event.to_json() + "\n")
            self._record.flush()
        except OSError as error:
            raise OutputError(f"{self.record}: {error.strerror}; make room there") from error
        if isinstance(event, Found) and event.replaces is not None:
            shutil.rmtree(self.path / "findings" / event.replaces, ignore_errors=True)

    def close(self) -> None:
        """Close the record."""
        self._record.close()


def is_run(path: Path) -> bool:
    """Whether a folder has the record of a run, and so may be made afresh."""
    try:
        with (path / "run.jsonl").open(encoding="utf-8", errors="replace") as record:
            return '"event": "Started"' in record.readline()
    except OSError:
        return False


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", errors="backslashreplace")
    part.replace(path)
