"""A run in units: each vocabulary is gone through by itself, on whatever machine.

A unit is a run of one vocabulary with a tracker of its own, which depends on the plan alone; what
it comes to is events, files of findings and a tally. The driver commits units in the order of the
plan, so that the record, the findings and the verdict do not depend on where a unit was performed,
when, or how often. Findings of different vocabularies never depend on one another.
"""

from __future__ import annotations

import base64
import contextlib
import json
import threading
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.cluster.executor import Unit, UnitError
from harness.cluster.usage import Usage
from harness.core import stored
from harness.core.outcomes import Status
from harness.engine.opening import NamedFailed
from harness.engine.sessions import Sessions
from harness.engine.state import RunState
from harness.engine.suites import Budget
from harness.events import Counted, Event, Found, Phase, Preparing, UnitDone, UnitResumed
from harness.findings.entries import Snapshot
from harness.findings.folder import FindingsFolder
from harness.findings.tracker import FindingTracker
from harness.studies.default import studies
from harness.studies.portable import Portable, write_sent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from corpora.vocabularies.model import Vocabulary
    from harness.cluster.executor import Done, Executor
    from harness.engine.planning import Tally
    from harness.findings.folder import RunFolder
    from harness.studies.journal import Journal

AHEAD = 2
"""Units for each slot that are submitted at a time, so that nobody waits for the driver and not all
vocabularies are in memory at once."""

MAX_BYTES = 1 << 30
"""The greatest size of a unit's result, unpacked: its events, and the files of its findings."""

POLL_SECONDS = 0.5

LEFT = Status.LEFT_PROCESSES.label
"""The stage of findings of what workers left behind."""

OF_THE_MOMENT = (Phase, Preparing)
"""Events that say what a unit was doing: when it is committed that is over."""


def perform(
    keep: dict[str, Any],
    shared: Portable,
    load: Callable[[], Vocabulary],
    source: str,
    seconds: float | None,
) -> bytes:
    """Go through one vocabulary; a pure function of its arguments, but for what a clock decides.

    keep: nothing is. seconds: from its first case on, where time is the limit.
    """
    amount = shared.plan.budget if seconds is None else Budget(seconds)
    plan = replace(
        shared.here({source: load}),
        scaled=[one for one in shared.plan.scaled if one == source or seconds is None],
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
        files = files_below(Path(path))
    told = {
        "events": [event.to_json() for event in events],
        "tally": tally_told(run.tally),
        "failed": failed,
        "unexpected": tracker.unexpected,
        "files": {
            name: base64.b64encode(content).decode("ascii") for name, content in files.items()
        },
    }
    return zlib.compress(json.dumps(told).encode(), 6)


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files of a folder by their paths in it."""
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in sorted(folder.rglob("*"))
        if one.is_file()
    }


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


@dataclass(frozen=True, slots=True)
class Received:
    """A unit's result, unpacked."""

    told: Mapping[str, Any]
    size: int

    @classmethod
    def of(cls, done: Done) -> Received:
        """Unpack a result. Raises UnitError for what is none."""
        try:
            told = json.loads(stored.unzipped(done.result, MAX_BYTES))
            if set(told) != {"events", "tally", "failed", "unexpected", "files"}:
                raise ValueError("it has other fields")
        except (ValueError, TypeError) as error:
            raise UnitError(f"{done.name}: its result cannot be read: {error}") from error
        return cls(told, len(done.result))

    @property
    def cases(self) -> int:
        """How many it asked."""
        cases: int = self.told["tally"]["cases"]
        return cases


@dataclass(slots=True)
class Committed:
    """What the record has so far. units: how many; in the order of the plan, until the end.

    left: by implementation, what its workers left behind in the last unit that asked it, with the
    files of the finding: it is told once, at the end, as of a run on one machine.
    """

    units: int = 0
    left: dict[str, tuple[Found, dict[str, str]]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[str, Found] = field(default_factory=dict)


class Driver:
    """Has the units of a run performed, and commits what they come to.

    journal: keeps what was performed until it is committed, and is gone on with.
    """

    def __init__(
        self,
        run: RunState,
        folder: RunFolder,
        executor: Executor,
        journal: Journal | None = None,
    ) -> None:
        self._run, self._folder, self._executor = run, folder, executor
        self._journal = journal
        self._sources = run.plan.visited
        self._received: dict[str, Received] = {}
        self._committed = Committed()
        self._usage = Usage()
        self._telling = threading.Lock()

    def go(self) -> None:
        """Perform everything; what was done before an interruption is committed all the same.

        Raises NamedFailed, ClusterError, UnitError, KeyboardInterrupt, OutputError.
        """
        executor, sources = self._executor, self._sources
        # Signals interrupt the main thread alone: a commit is made whole, and made once.
        commits = ThreadPoolExecutor(1, thread_name_prefix="commits")
        try:
            self._take_up()
            executor.listen(self._tell)
            shared = executor.share("plan", Portable.of(self._run.plan))
            waiting = [one for one in reversed(sources) if one not in self._received]
            underway = 0
            commit = commits.submit(self._commit_in_turn)
            while not self._ended:
                while waiting and underway < AHEAD * executor.slots:
                    executor.submit(self._unit(shared, waiting.pop()))
                    underway += 1
                done = executor.next(POLL_SECONDS) if underway else None
                if done is not None:
                    underway -= 1
                    self._receive(done)
                if done is not None or not underway or commit.done():
                    commit.result()
                    commit = commits.submit(self._commit_in_turn)
        finally:
            executor.close()
            commits.submit(self._commit_all).result()
            commits.shutdown()

    @property
    def _ended(self) -> bool:
        return self._committed.units == len(self._sources) or self._run.stop.is_set()

    def _take_up(self) -> None:
        """Take what an earlier driver had performed."""
        for name, done in (self._journal.kept(self._sources) if self._journal else {}).items():
            with contextlib.suppress(UnitError):  # a file that was damaged: it is performed again
                self._received[name] = Received.of(done)
                self._tell(UnitResumed(name, done.node))

    def _tell(self, event: Event) -> None:
        with self._telling:
            self._usage.consume(event)
        self._run.emit(event)

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

    def _receive(self, done: Done) -> None:
        """Keep a result, on disk before anything is told of it."""
        if self._journal is not None:
            self._journal.keep(done)
        one = Received.of(done)
        self._received[done.name] = one
        self._tell(UnitDone(done.name, done.node, done.tries, done.seconds, one.size, one.cases))

    def _commit_in_turn(self) -> None:
        """Commit all that follows what was committed. Raises NamedFailed."""
        while not self._ended and self._sources[self._committed.units] in self._received:
            source = self._sources[self._committed.units]
            self._commit(self._received.pop(source))

    def _commit_all(self) -> None:
        """Commit what was performed beyond what is missing, and end the record of the units."""
        try:
            for source in self._sources[self._committed.units :]:
                if source in self._received and not self._run.stop.is_set():
                    self._commit(self._received.pop(source))
        finally:
            self._commit_left()
            known = self._committed
            self._run.tracker.restore(
                Snapshot(findings=list(known.findings.values()), counts=dict(known.counts))
            )
            self._run.emit(self._usage.told())

    def _write(self, files: Mapping[str, str]) -> None:
        for name, content in files.items():
            write_sent(self._folder.path, name, base64.b64decode(content))

    def _commit_left(self) -> None:
        """Tell what workers left behind, once for each implementation."""
        known = self._committed
        for found, files in known.left.values():
            self._write(files)
            known.findings[found.id] = found
            self._run.emit(found)

    def _commit(self, one: Received) -> None:
        told, known = one.told, self._committed
        events = [Event.from_json(line) for line in told["events"]]
        files: dict[str, str] = told["files"]
        for event in events:
            if isinstance(event, Found) and event.stage == LEFT:
                mine = [name for name in files if name.startswith(f"findings/{event.id}/")]
                known.left["+".join(event.culprits)] = event, {n: files.pop(n) for n in mine}
        self._write(files)
        for event in events:
            if isinstance(event, Counted):
                known.counts[event.bucket] += 1
                event = Counted(event.bucket, known.counts[event.bucket])
            elif isinstance(event, Found):
                if event.stage == LEFT:
                    continue
                known.findings.pop(event.replaces or "", None)
                known.findings[event.id] = event
            if event is not None and not isinstance(event, OF_THE_MOMENT):
                self._run.emit(event)
        add(self._run.tally, told["tally"])
        known.units += 1
        if told["failed"]:
            raise NamedFailed(*told["failed"])
        if told["unexpected"] and self._run.plan.fail_fast:
            self._run.stop.set()


def on(executor: Executor, journal: Journal | None = None) -> Callable[[RunState, RunFolder], None]:
    """Return what has a run done by an executor."""
    return lambda run, folder: Driver(run, folder, executor, journal).go()
