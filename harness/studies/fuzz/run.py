"""One session of a campaign from its database to its reports."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import json
import shutil
import tempfile
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from corpora import whole_files
from corpora.vocabularies import scratch
from harness.core.countdown import Countdown
from harness.core.writing import OutputError, cannot_write, write_whole, writing
from harness.engine.ending import to_the_end
from harness.events import Started
from harness.findings.folder import OURS, FindingsFolder, outcomes_text
from harness.ledger.recorder import Recorder
from harness.studies.fuzz import crossing
from harness.studies.fuzz.claims import commit_claims
from harness.studies.fuzz.cluster import ClusterSession
from harness.studies.fuzz.known import ask_again
from harness.studies.fuzz.plan import target_name
from harness.studies.fuzz.record import Ended, Record, record, smallness
from harness.studies.fuzz.session import Session
from harness.studies.fuzz.store import now
from harness.studies.portable import write_sent
from harness.studies.preparing import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.checks.base import Violation
    from harness.cluster.executor import Executor
    from harness.core.comparisons import Contract
    from harness.events import Event, Found
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import Round
    from harness.studies.fuzz.store import CampaignStore

ABOUT = "campaign.json"
"""Besides the files of any run: the schedule, the corpus, the estimates. By it, a folder is known
to be a campaign's."""

MARK = "campaign"
"""Says there which campaign's the folder is."""


class CampaignFolder(FindingsFolder):
    """The folder of a campaign: its findings stay from session to session.

    mark: of the campaign; what another one left there goes. Raises OutputError for a folder that
    cannot be written, or is not a campaign's.
    """

    def __init__(self, path: Path, mark: str, *, resumed: bool = False) -> None:
        super().__init__(path)
        self._mark = mark
        self._saving = threading.Lock()
        try:
            path.mkdir(parents=True, exist_ok=True)
            foreign = [name for name in OURS if (path / name).exists()]
            if foreign and not (path / ABOUT).is_file():
                raise OutputError(
                    f"--out {path}: has a {foreign[0]} that is no campaign's; name another folder"
                )
            # Earlier versions left no mark: what goes on is taken to go on there.
            if marked(path / ABOUT, mark if resumed else "") != mark:
                for name in OURS:
                    if (path / name).is_dir():
                        shutil.rmtree(path / name)
                    else:
                        (path / name).unlink(missing_ok=True)
                # Only then: whoever is killed on the way has another's mark there, or none.
                write_whole(path / ABOUT, json.dumps({MARK: mark}))
            whole_files.sweep(path)
            for folder in (path / "findings").glob("f-*"):
                whole_files.sweep(folder)
        except OSError as error:
            raise cannot_write(f"--out {path}", error) from error

    def write(self, events: Sequence[Event], about: Mapping[str, object]) -> None:
        """Write the record and ``campaign.json``. Raises OutputError."""
        write_whole(self.path / "run.jsonl", "".join(f"{event.to_json()}\n" for event in events))
        write_whole(self.path / ABOUT, json.dumps({MARK: self._mark, **about}, indent=1))

    def save_smallest(self, name: str, violation: Violation, contract: Contract) -> str | None:
        """As ``save_finding``, where several targets may have the finding: the smallest stays.

        Of several as small that of least bytes, whichever target comes first.
        """
        folder = self.path / "findings" / name
        new = (smallness(violation.data), outcomes_text(violation, contract))
        with self._saving:
            old = recorded(folder)
            if old is not None and old <= new:
                return f"findings/{name}/repro.py" if (folder / "repro.py").exists() else None
            return self.save_finding(name, violation, contract)

    def place(self, files: Mapping[str, bytes], *, smallest: bool) -> None:
        """Write files that another machine made, by their paths here, inputs last of all.

        smallest: of a finding that is here already the smallest stays, as in ``save_smallest``.
        Raises OutputError.
        """
        larger = {
            name
            for name in {path.rpartition("/")[0] for path in files if path.startswith("findings/")}
            if smallest and not self._smaller(self.path / name, files, name)
        }
        for path in sorted(files, key=lambda one: (one.endswith("/input.bin"), one)):
            if path.rpartition("/")[0] not in larger:
                write_sent(self.path, path, files[path])

    def _smaller(self, folder: Path, files: Mapping[str, bytes], name: str) -> bool:
        """Whether a finding that came is smaller than what its folder has."""
        came = (
            smallness(files[f"{name}/input.bin"]),
            files[f"{name}/outcomes.json"].decode("utf-8"),
        )
        here = recorded(folder)
        return here is None or came < here

    def tidy(self, findings: Sequence[Found]) -> None:
        """Remove folders of what is no finding: replaced by its minimum, or never committed."""
        kept = {found.id for found in findings}
        for folder in (self.path / "findings").glob("f-*"):
            if folder.name not in kept:
                shutil.rmtree(folder, ignore_errors=True)


def recorded(folder: Path) -> tuple[tuple[int, bytes], str] | None:
    """What findings are compared by, of the one in a folder; None where there is none."""
    try:
        return (
            smallness((folder / "input.bin").read_bytes()),
            (folder / "outcomes.json").read_text(encoding="utf-8"),
        )
    except (OSError, ValueError):
        return None


def marked(path: Path, otherwise: str) -> str:
    """The mark in a ``campaign.json``; ``otherwise`` where it has none."""
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        return str(about.get(MARK, otherwise))
    except (FileNotFoundError, ValueError, AttributeError):
        return ""


def save_corpus(plan: FuzzPlan, store: CampaignStore, folder: Path) -> int:
    """Write the inputs of all targets, Atheris's included, one a file; how many are new there.

    Named by their contents, so that corpora of several campaigns merge in one folder, which
    ``--corpus`` and libFuzzer take. Raises OutputError.
    """
    new = 0
    with writing(f"--save-corpus {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        for one in plan.targets:
            kept = store.target(target_name(*one))
            if kept is None:
                continue
            covered = map(base64.b64decode, kept.state.covered)
            for data in [*(entry.data for entry in kept.corpus), *covered]:
                path = folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()
                if not path.exists():
                    write_whole(path, data)
                    new += 1
    return new


class Shows(Protocol):
    """Shows a person how a session goes; the command line has one."""

    def begin(self, cases: Mapping[str, int]) -> None:
        """Take note of how many cases each target had in earlier sessions."""
        ...

    def prepared(self, seconds: float) -> None:
        """Take note of the seconds that preparing took: the first case comes now."""
        ...

    def announce(self, event: Event) -> None:
        """Show an event that is not committed: a phase, or who could not load."""
        ...

    def publish(self, done: Round) -> None:
        """Show a round that was committed."""
        ...

    def stop(self) -> None:
        """Take what moves off the terminal."""
        ...


def execute(
    plan: FuzzPlan,
    store: CampaignStore,
    out: Path,
    command: str,
    progress: Callable[[Mapping[str, str]], Shows],
    report: Callable[[Record], None],
    report_seconds: float,
    *,
    anew: bool = False,
    committed: Callable[[Round], None] = lambda done: None,
    clock: Callable[[], float] = time.monotonic,
    executor: Executor | None = None,
) -> Record:
    """Run a session; Ctrl-C or a fault gives a record that is not complete.

    progress: made when it is known what was found before. report: writes the reports, at the end
    and every so many seconds. committed: called with each round after its commit, one at a time.
    clock: of the budget, and of rounds. executor: performs the rounds elsewhere, and is closed.
    Raises SelectionError where the campaign is another or is taken, LedgerError, OutputError.
    """
    with store.held():
        # A session that only tells what was committed starts no worker, which would do this.
        scratch.sweep(Path(tempfile.gettempdir()))
        countdown = Countdown(plan.plan.budget.seconds, clock)
        began = now()
        known = store.known()
        resumed = store.begin(plan.identity(importlib.metadata.version("tokgate")), anew=anew)
        crossing.cross_in_time(plan, store)
        folder = CampaignFolder(out, store.mark, resumed=resumed)
        seen = progress(known)
        names = [target_name(*one) for one in plan.targets]
        kept = {name: store.target(name) for name in names}
        cases = {name: one.state.cases if one else 0 for name, one in kept.items()}
        seen.begin(cases)

        def published(done: Round) -> None:
            committed(done)
            seen.publish(done)

        save = folder.save_finding if plan.shards == 1 else folder.save_smallest
        session: Session | ClusterSession
        if executor is None:
            session = Session(
                plan, store, save, published, seen.announce, countdown, cases, seen.prepared, clock
            )
        else:
            session = ClusterSession(
                plan, store, partial(folder.place, smallest=plan.shards > 1), published,
                seen.announce, countdown, executor, cases, seen.prepared,
            )  # fmt: skip

        def written(ended: Ended) -> Record:
            made = record(plan, store, command, known, ended)
            folder.write(made.events, made.campaign)
            return made

        next_report = time.monotonic() + report_seconds

        def each() -> None:
            nonlocal next_report
            if time.monotonic() > next_report:
                report(written(ended_as(session, "still on", 0)))
                next_report = time.monotonic() + report_seconds

        def again_and_on() -> None:
            if executor is None:
                prepare(plan.plan, seen.announce, threading.Event())
            for fixed in ask_again(plan, store, save, published):
                known.pop(fixed, None)
            try:
                session.run(each)
            finally:
                commit_claims(plan, store, save, published)

        try:
            ending = to_the_end(again_and_on)
        finally:
            seen.stop()
        made = written(ended_as(session, ending.how, ending.status))
        folder.tidy(made.findings)
        keep(store, made, began, out)
        report(made)
        # Last of all: whoever is killed before this tells it again.
        store.tell([found.id for found in made.new])
        return made


def keep(store: CampaignStore, made: Record, began: str, out: Path) -> None:
    """Keep the session in the ledger, as a run that began when it did. Raises LedgerError."""
    recorder = Recorder(store.engine, store.name, out)
    for event in made.events:
        recorder.consume(replace(event, time=began) if isinstance(event, Started) else event)


def ended_as(session: Session | ClusterSession, how: str | None, exit_status: int) -> Ended:
    """How a session ended, with what is known of its canary."""
    watch = session.canary
    found, said = (None, "no canary rode along") if watch is None else (watch.found, watch.said)
    used = session.cluster if isinstance(session, ClusterSession) else None
    return Ended(
        how, exit_status, found, said, session.cases, frozenset(session.awaited),
        frozenset(session.least) if isinstance(session, Session) else frozenset(),
        session.late, used,
    )  # fmt: skip
