"""A run in units: each vocabulary is gone through by itself, on whatever machine.

A unit is a run of one vocabulary with a tracker of its own, which depends on the plan alone; what
it comes to is events, files of findings and a tally. The driver commits units in the order of the
plan, so that the record, the findings and the verdict do not depend on where a unit was performed,
when, or how often. Findings of different vocabularies never depend on one another.
"""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.cluster.executor import Unit, UnitError
from harness.cluster.usage import Usage
from harness.core.outcomes import Status
from harness.engine.opening import NamedFailed
from harness.engine.parts import Sum
from harness.engine.sessions import Sessions
from harness.engine.state import RunState, tracker_of
from harness.engine.suites import Budget
from harness.events import Event, Found, UnitDone, UnitResumed
from harness.findings.folder import FindingsFolder
from harness.studies.default import studies
from harness.studies.part_results import PartResult, packed_files, write_files
from harness.studies.portable import Portable
from harness.studies.preparing import prepare

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from harness.cluster.executor import Done, Executor
    from harness.engine.runner import Elsewhere
    from harness.findings.folder import RunFolder
    from harness.findings.tracker import FindingTracker
    from harness.studies.journal import Journal

AHEAD = 2
"""Units for each slot that are submitted at a time, so that nobody waits for the driver and not all
vocabularies are in memory at once."""

POLL_SECONDS = 0.5

LEFT = Status.LEFT_PROCESSES.label
"""The stage of findings of a whole run: what workers left behind."""


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
        tracker = tracker_of(plan, events.append, FindingsFolder(Path(path)))
        run = RunState(plan, events.append, tracker)
        tracker.limit_by(run.left_for_findings)
        failed: list[str] = []
        try:
            prepare(plan, run.emit, run.stop)
            Sessions(run, studies(run)).run(amount.seconds)
        except NamedFailed as error:
            failed = [error.name, error.vocabulary, error.trace]
        files = packed_files(Path(path))
    return PartResult(
        [event.to_json() for event in events],
        run.tally.plain(),
        failed,
        tracker.unexpected,
        files,
    ).packed()


@dataclass(slots=True)
class Committed:
    """What the record has so far. units: how many; in the order of the plan, until the end.

    left: by implementation, what its workers left behind in the last unit that asked it, with the
    files of the finding: it is told once, at the end, as of a run on one machine.
    """

    units: int = 0
    left: dict[str, tuple[Found, dict[str, bytes]]] = field(default_factory=dict)
    total: Sum = field(default_factory=Sum)


class Driver:
    """Has the units of a run performed, and commits what they come to.

    journal: keeps what was performed until it is committed, and is gone on with.
    """

    def __init__(
        self,
        run: RunState,
        folder: RunFolder,
        tracker: FindingTracker,
        executor: Executor,
        journal: Journal | None = None,
    ) -> None:
        self._run, self._folder, self._executor = run, folder, executor
        self._tracker = tracker
        self._journal = journal
        self._sources = run.plan.visited
        self._received: dict[str, PartResult] = {}
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
                result = PartResult.of(done)
                if result.is_of(self._run.plan.vocabularies[name]()):
                    self._received[name] = result
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
            self._run.going_on = "; the same command goes on"
        one, size = PartResult.of(done), len(done.result)
        self._received[done.name] = one
        self._tell(UnitDone(done.name, done.node, done.tries, done.seconds, size, one.cases))

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
            self._tracker.restore(self._committed.total.snapshot())
            self._run.emit(self._usage.summary())

    def _commit_left(self) -> None:
        """Tell what workers left behind, once for each implementation."""
        known = self._committed
        for found, files in known.left.values():
            write_files(files, self._folder.path)
            self._run.emit(known.total.take(found))

    def _commit(self, one: PartResult) -> None:
        known, events, files = self._committed, one.lasting(), dict(one.files)
        left = [event for event in events if isinstance(event, Found) and event.stage == LEFT]
        for found in left:
            mine = [name for name in files if name.startswith(f"findings/{found.id}/")]
            known.left["+".join(found.culprits)] = found, {name: files.pop(name) for name in mine}
        write_files(files, self._folder.path)
        for event in events:
            if event not in left:
                self._run.emit(known.total.take(event))
        self._run.tally.add(one.tally)
        known.units += 1
        if one.failed:
            raise NamedFailed(*one.failed)
        if one.unexpected and self._run.plan.fail_fast:
            self._run.stop.set()


def on(executor: Executor, journal: Journal | None = None) -> Elsewhere:
    """Return what has a run done by an executor."""
    return lambda run, folder, tracker: Driver(run, folder, tracker, executor, journal).go()
