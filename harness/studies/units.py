"""A run in units: each vocabulary is gone through by itself, on whatever machine.

A unit is a run of one vocabulary with a tracker of its own, which depends on the plan alone; what
it comes to is events, files of findings and a tally. The driver commits units in the order of the
plan, so that the record, the findings and the verdict do not depend on where a unit was performed,
when, or how often. Findings of different vocabularies never depend on one another.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from corpora.generators.catalog import generators
from corpora.vocabularies import scratch
from harness.checks import CHECKS
from harness.cluster.executor import Unit
from harness.core.writing import write_whole, writing
from harness.engine import selection
from harness.engine.opening import NamedFailed
from harness.engine.selection import SelectionError
from harness.engine.sessions import Sessions
from harness.engine.state import RunState
from harness.engine.suites import Budget
from harness.events import Counted, Event, Found
from harness.findings.entries import Snapshot
from harness.findings.folder import FindingsFolder
from harness.findings.tracker import FindingTracker
from harness.studies.default import studies

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.cluster.executor import Done, Executor
    from harness.core.participants import Participant
    from harness.engine.planning import Plan, Tally
    from harness.findings.folder import RunFolder

AHEAD = 2
"""Units for each slot that are submitted at a time, so that nobody waits for the driver and not all
vocabularies are in memory at once."""

POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class PlugIn:
    """A participant as another machine makes it. source: of a file that the driver alone has."""

    name: str
    spec: str
    version: str
    source: bytes | None = None


@dataclass(frozen=True, slots=True)
class Portable:
    """What all units of a run share: its plan, with names in place of code.

    plan: without vocabularies, participants, generators and checks.
    """

    plan: Plan
    participants: tuple[PlugIn, ...]
    generators: tuple[str, ...]
    checks: tuple[str, ...]

    @classmethod
    def of(cls, plan: Plan) -> Portable:
        """What travels of a plan. Raises SelectionError for one that cannot."""
        if plan.texts is not None:
            raise SelectionError("--cluster: texts of --input stay on this machine; run them here")
        return cls(
            plan=replace(plan, vocabularies={}, participants=(), generators=(), checks=()),
            participants=tuple(map(portable, plan.participants)),
            generators=tuple(one.name for one in plan.generators),
            checks=tuple(one.name for one in plan.checks),
        )


def portable(participant: Participant) -> PlugIn:
    """Return what travels of a participant: its name, and its file if it is one."""
    path, _, _ = participant.spec.rpartition(":")
    file = Path(path)
    source = file.read_bytes() if path.endswith(".py") and file.is_file() else None
    return PlugIn(participant.name, participant.spec, participant.about.version, source)


@cache
def made(one: PlugIn) -> Participant:
    """Return the participant on this machine. Raises ImplementationError, SelectionError."""
    spec = one.spec
    if one.source is not None:
        path, _, attribute = spec.rpartition(":")
        spec = f"{placed(one.source, PurePosixPath(path).name)}:{attribute}"
    (participant,), _ = selection.participants([spec])
    if participant.about.version != one.version:
        raise SelectionError(
            f"{one.name}: this node has {participant.about.version}, and the driver "
            f"{one.version}; install the same version everywhere"
        )
    return replace(participant, name=one.name)


@cache
def placed(source: bytes, name: str) -> Path:
    """Write a file of the driver's, once for each content, for as long as this process lives."""
    folder = scratch.folder() / f"sent-{hashlib.sha256(source).hexdigest()[:16]}"
    folder.mkdir(exist_ok=True)
    write_whole(folder / name, source)
    return folder / name


def perform(
    shared: Portable, load: Callable[[], Vocabulary], source: str, seconds: float | None
) -> bytes:
    """Go through one vocabulary; a pure function of its arguments, but for what a clock decides.

    seconds: from its first case on, where time is the limit.
    """
    catalog = generators()
    amount = shared.plan.budget if seconds is None else Budget(seconds)
    scaled = [one for one in shared.plan.scaled if one == source or seconds is None]
    plan = replace(
        shared.plan,
        vocabularies={source: load},
        participants=[made(one) for one in shared.participants],
        generators=[catalog[name] for name in shared.generators],
        checks=[CHECKS[name] for name in shared.checks],
        scaled=scaled,
        budget=amount,
        jobs=1,
    )
    events: list[Event] = []
    with scratch.temporary("unit-") as path:
        folder = FindingsFolder(Path(path))
        tracker = FindingTracker(
            events.append,
            folder.save_finding,
            plan.expectations,
            plan.versions,
            unhurried=amount.seconds is None,
        )
        run = RunState(plan, events.append, tracker)
        tracker.limit_by(lambda: run.countdown.left)
        failed: list[str] = []
        try:
            Sessions(run, studies(run)).run(amount.seconds)
        except NamedFailed as error:
            failed = [error.name, error.vocabulary, error.trace]
        files = {
            str(one.relative_to(path)): base64.b64encode(one.read_bytes()).decode("ascii")
            for one in sorted(Path(path).rglob("*"))
            if one.is_file()
        }
    told = {
        "events": [event.to_json() for event in events],
        "tally": tally_told(run.tally),
        "failed": failed,
        "unexpected": tracker.unexpected,
        "files": files,
    }
    return zlib.compress(json.dumps(told).encode(), 6)


def tally_told(tally: Tally) -> dict[str, Any]:
    """Return a tally as plain data."""
    plain = {name: getattr(tally, name) for name in tally.__slots__}
    return {name: sorted(v) if isinstance(v, set) else v for name, v in plain.items()}


def add(tally: Tally, told: Mapping[str, Any]) -> None:
    """Add what :func:`tally_told` gave."""
    for name, value in told.items():
        kept = getattr(tally, name)
        if isinstance(kept, int):
            setattr(tally, name, kept + value)
        elif isinstance(kept, (set, Counter)):
            kept.update(value)
        elif isinstance(kept, list):
            kept.extend(tuple(one) if isinstance(one, list) else one for one in value)
        else:
            for key, several in value.items():
                kept.setdefault(key, []).extend(several)


class Driver:
    """Has the units of a run performed, and commits what they come to."""

    def __init__(self, run: RunState, folder: RunFolder, executor: Executor) -> None:
        self._run, self._folder, self._executor = run, folder, executor
        self._counts: Counter[str] = Counter()
        self._findings: dict[str, Found] = {}
        self._done: dict[str, Done] = {}
        self._committed = 0

    def go(self) -> None:
        """Perform everything; what was done before an interruption is committed all the same.

        Raises NamedFailed, ClusterError, UnitError, KeyboardInterrupt, OutputError.
        """
        plan, executor = self._run.plan, self._executor
        executor.listen(self._run.emit)
        shared = executor.share("plan", Portable.of(plan))
        sources = plan.visited
        waiting = list(reversed(sources))
        self._run.countdown.start()
        try:
            while self._committed < len(sources) and not self._run.stop.is_set():
                underway = len(sources) - len(waiting) - len(self._done)
                while waiting and underway < AHEAD * executor.slots:
                    executor.submit(self._unit(shared, waiting.pop()))
                    underway += 1
                done = executor.next(POLL_SECONDS)
                if done is not None:
                    self._done[done.name] = done
                    self._commit_in_turn(sources)
        finally:
            executor.close()
            if self._committed < len(sources):
                for source in sources[self._committed :]:
                    if source in self._done:
                        self._commit(self._done[source])
                    else:
                        self._run.note_unreached(source)
            self._run.tracker.restore(
                Snapshot(findings=list(self._findings.values()), counts=dict(self._counts))
            )

    def _unit(self, shared: Any, source: str) -> Unit:
        load = self._executor.share(source, self._run.plan.vocabularies[source])
        return Unit(source, perform, (shared, load), (source, self._seconds(source)))

    def _seconds(self, source: str) -> float | None:
        """The part of the time that a vocabulary gets, as slots go through all side by side."""
        plan = self._run.plan
        if plan.budget.seconds is None:
            return None
        whole = sum(map(plan.weight, plan.visited))
        slots = min(self._executor.slots, len(plan.visited))
        return plan.budget.seconds * min(1.0, slots * plan.weight(source) / whole)

    def _commit_in_turn(self, sources: Sequence[str]) -> None:
        while self._committed < len(sources) and sources[self._committed] in self._done:
            done = self._done[sources[self._committed]]
            self._committed += 1
            self._commit(done)
            if self._run.stop.is_set():
                return

    def _commit(self, done: Done) -> None:
        told = json.loads(zlib.decompress(done.result))
        for name, content in told["files"].items():
            path = self._folder.path / name
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, base64.b64decode(content))
        for line in told["events"]:
            event = Event.from_json(line)
            if isinstance(event, Counted):
                self._counts[event.bucket] += 1
                event = Counted(event.bucket, self._counts[event.bucket])
            elif isinstance(event, Found):
                self._findings.pop(event.replaces or "", None)
                self._findings[event.id] = event
            if event is not None:
                self._run.emit(event)
        add(self._run.tally, told["tally"])
        if told["failed"]:
            raise NamedFailed(*told["failed"])
        if told["unexpected"] and self._run.plan.fail_fast:
            self._run.stop.set()


def on(executor: Executor) -> Callable[[RunState, RunFolder], None]:
    """Return what has a run done by an executor."""
    return lambda run, folder: Driver(run, folder, executor).go()
