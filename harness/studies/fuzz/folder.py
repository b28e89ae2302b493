"""The folder of a campaign: its findings stay from session to session."""

from __future__ import annotations

import hashlib
import json
import shutil
from typing import TYPE_CHECKING

from corpora import whole_files
from harness.core.output import OutputError, cannot_write, write_whole, writing
from harness.engine.portable import write_files
from harness.findings.folder import OURS, FindingsFolder
from harness.studies.fuzz.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from harness.events import Event, Found
    from harness.studies.campaigns.store import CampaignStore
    from harness.studies.fuzz.plan import FuzzPlan

ABOUT = "campaign.json"
"""Besides the files of any run: the schedule, the corpus, the estimates. By it, a folder is known
to be a campaign's."""

MARK = "campaign"
"""Says there which campaign's the folder is."""


class CampaignFolder(FindingsFolder):
    """The folder of a campaign: its findings stay from session to session.

    mark: of the campaign; what another one left there goes. shared: several targets may have a
    finding, of which the smallest stays then. Raises OutputError for a folder that
    cannot be written, or is not a campaign's.
    """

    def __init__(self, path: Path, mark: str, *, shared: bool = False) -> None:
        super().__init__(path)
        self._mark, self._shared = mark, shared
        try:
            path.mkdir(parents=True, exist_ok=True)
            ours = [path / name for name in OURS if (path / name).exists()]
            if ours and not (path / ABOUT).is_file():
                raise OutputError(
                    f"--out {path}: has a {ours[0].name} that is no campaign's; name another folder"
                )
            if marked(path / ABOUT) != mark:
                for one in ours:
                    shutil.rmtree(one) if one.is_dir() else one.unlink()
                # Only then: whoever is killed on the way has another's mark there, or none.
                write_whole(path / ABOUT, json.dumps({MARK: mark}))
            for folder in (path, *path.glob("findings/f-*")):
                whole_files.sweep(folder)
        except OSError as error:
            raise cannot_write(f"--out {path}", error) from error

    def write(self, events: Sequence[Event], about: Mapping[str, object]) -> None:
        """Write the record and ``campaign.json``. Raises OutputError."""
        write_whole(self.path / "run.jsonl", "".join(f"{event.to_json()}\n" for event in events))
        write_whole(self.path / ABOUT, json.dumps({MARK: self._mark, **about}, indent=1))

    def place(self, files: Mapping[str, bytes]) -> None:
        """Write files of findings, by their paths here, inputs last of all.

        Of a finding that is here already the smallest stays, where targets share it. Raises
        OutputError.
        """
        found = {path.rpartition("/")[0] for path in files if path.endswith("/input.bin")}
        staying = {name for name in found if self._shared and self._stays(name, files)}
        order = sorted(files, key=lambda one: (one.endswith("/input.bin"), one))
        new = {one: files[one] for one in order if one.rpartition("/")[0] not in staying}
        write_files(new, self.path)

    def _stays(self, folder: str, files: Mapping[str, bytes]) -> bool:
        """Whether what a folder has of a finding is as small as what came of it.

        Of several as small that of least bytes, whichever target comes first.
        """

        names = f"{folder}/input.bin", f"{folder}/outcomes.json"
        try:
            old = [(self.path / name).read_bytes() for name in names]
        except OSError:
            return False
        new = [files[name] for name in names]
        return (smallness(old[0]), old[1]) <= (smallness(new[0]), new[1])

    def tidy(self, findings: Sequence[Found]) -> None:
        """Remove folders of what is no finding: replaced by its minimum, or never committed."""
        kept = {found.id for found in findings}
        for folder in self.path.glob("findings/f-*"):
            if folder.name not in kept:
                self.drop(folder.name)


def smallness(data: bytes) -> tuple[int, bytes]:
    """By which inputs of one finding are compared: the least stands for it."""
    return len(data), data


def marked(path: Path) -> str | None:
    """The mark in a ``campaign.json``, if it has one."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))[MARK])
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return None


def save_corpus(plan: FuzzPlan, store: CampaignStore, folder: Path) -> int:
    """Write the inputs of all targets, Atheris's included, one a file; how many are new there.

    Named by their contents, so that corpora of several campaigns merge in one folder, which
    ``--corpus`` and libFuzzer take. Raises OutputError.
    """
    new = 0
    with writing(f"--save-corpus {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for kept in store.targets(plan.targets, State).values():
            for data in [*(entry.data for entry in kept.state.corpus), *kept.state.covered]:
                path = folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()
                if not path.exists():
                    write_whole(path, data)
                    new += 1
    return new
