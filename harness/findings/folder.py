"""The output folder of a run: the event record, the findings, their reproducers.

Everything is on disk as soon as it is known: the record is flushed event by event, a finding's
folder is written before its event, and each file appears whole or not at all.
"""

import hashlib
import json
import shutil
import threading
from dataclasses import replace
from pathlib import Path

from harness.checks.base import Violation
from harness.core.comparisons import Contract
from harness.core.output import Lines, OutputError, cannot_write, write_whole, writing
from harness.core.participants import Participant
from harness.events import Event
from harness.findings.description import described, difference
from harness.findings.recipes import plain_name, recipe_of
from harness.findings.reproducer import reproducer
from impls.interface import Recipe

BEGINNING = '{"event": "Started"'
"""The first line of a record begins with this."""

RECORD = "run.jsonl"

OURS = (
    RECORD,
    "summary.json",
    "summary.md",
    "report.html",
    "report.sarif",
    "junit.xml",
    "findings",
    "vocabularies",
)
"""A run writes these into its folder, and the next run there removes them."""


class FindingsFolder:
    """A folder with the findings of a run and the vocabularies that their reproducers load."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._recipes: dict[tuple[str, ...], Recipe] = {}

    def save_finding(self, name: str, violation: Violation, contract: Contract) -> str | None:
        """Write ``findings/<name>/``; the path of its reproducer.

        The input comes last: where there is one, the rest is there, and is of that input.
        Raises OutputError.
        """
        folder = self.path / "findings" / name
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        _, sentence = difference(violation, contract.vocabulary)
        source = reproducer(name, sentence, violation, contract, self._recipe)
        outcomes = {
            "check": violation.check,
            "contract": contract.id,
            "culprits": violation.culprits,
            "undecided": violation.undecided,
            "partition": [described(part, contract.vocabulary) for part in violation.parts],
        }
        write_whole(folder / "outcomes.json", json.dumps(outcomes, indent=1))
        write_whole(folder / "repro.py", source)
        write_whole(folder / "input.bin", violation.data)
        return f"findings/{name}/repro.py"

    def drop(self, name: str) -> None:
        """Remove ``findings/<name>/``, of a finding that another one has replaced.

        A record that a kill has cut short may still name it.
        """
        shutil.rmtree(self.path / "findings" / name, ignore_errors=True)

    def _recipe(self, participant: Participant, contract: Contract, asks: str) -> Recipe:
        """How scripts run an implementation, with its file written: once, as that is large.

        In place of the artifact it names the path of that file, relative to a finding's folder.
        Another mode's file, or another library's, of the same name is written beside it.
        """
        key = participant.name, contract.id, asks
        with self._lock, writing(self.path):
            if key not in self._recipes:
                made = recipe_of(participant, contract, asks)
                path = self._place(made, contract) if made.artifact_name else ""
                self._recipes[key] = replace(made, artifact_name=path, artifact=b"")
            return self._recipes[key]

    def _place(self, recipe: Recipe, contract: Contract) -> str:
        folder = self.path / "vocabularies" / plain_name(contract.vocabulary.id)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / plain_name(recipe.artifact_name)
        if path.exists() and path.read_bytes() != recipe.artifact:
            path = folder / f"{hashlib.sha256(recipe.artifact).hexdigest()[:8]}-{path.name}"
        if not path.exists():
            write_whole(path, recipe.artifact)
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
            there = [path / name for name in OURS if (path / name).exists()]
            if there and not is_run(path):
                raise OutputError(
                    f"--out {path}: has a {there[0].name} that is no run's; name another folder"
                )
            # Whoever is killed on the way leaves an earlier run without reports, which can be made
            # again, or the empty record of a new one: never the reports of a run whose record is
            # gone, nor a whole record without its findings, nor files that no run left.
            folders = [one for one in there if one.is_dir()]
            for one in {*there} - {self.record, *folders}:
                one.unlink()
            write_whole(self.record, "")
            for one in folders:
                shutil.rmtree(one)
        except OSError as error:
            raise cannot_write(f"--out {path}", error) from error
        self._record = Lines(self.record, afresh=False)

    @property
    def record(self) -> Path:
        """The event record."""
        return self.path / RECORD

    def consume(self, event: Event) -> None:
        """Append an event. Raises OutputError."""
        self._record.add(event.to_json())

    def close(self) -> None:
        """Close the record."""
        self._record.close()


def is_run(path: Path) -> bool:
    """Whether a folder has the record of a run, and so may be made afresh.

    A run that was killed at its very beginning has left an empty record, or a part of its first
    line.
    """
    try:
        with (path / RECORD).open(encoding="utf-8", errors="replace") as record:
            line = record.readline()
    except OSError:
        return False
    return line.startswith(BEGINNING) or BEGINNING.startswith(line)
