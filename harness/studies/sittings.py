"""A run of this machine in one sitting or several: each vocabulary is kept as soon as it is whole.

A run that is interrupted, or killed, has beside its record what its whole vocabularies came to
(:mod:`harness.studies.journal`). ``tokgate run --resume`` takes them up, and does the others.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from harness.cluster.executor import Done, UnitError
from harness.engine.parts import Part, Sum
from harness.engine.planning import Tally
from harness.engine.sessions import Sessions
from harness.engine.state import tracker_of
from harness.events import Phase, VocabularyLoaded
from harness.findings.causes import Snapshot
from harness.studies.default import studies
from harness.studies.part_results import PartResult, packed_files, write_files
from harness.studies.preparing import prepare

if TYPE_CHECKING:
    from harness.engine.parts import Ended, Tell
    from harness.engine.runner import Elsewhere
    from harness.engine.state import RunState
    from harness.events import Event
    from harness.findings.folder import RunFolder
    from harness.findings.tracker import FindingTracker
    from harness.studies.journal import Journal

NODE = "this machine"

LEFT_BEHIND = ""
"""In place of a vocabulary: what was found when the workers of an interrupted sitting ended."""


@dataclass(slots=True)
class Begun:
    """A part on its way: its events so far."""

    since: float
    events: list[Event] = field(default_factory=list)


class Sitting:
    """Goes through the vocabularies of a run that are not kept yet, and keeps each. It is Parts.

    tracker: of the whole run, which finds what belongs to no vocabulary, and knows all at the end.
    """

    def __init__(
        self, run: RunState, folder: RunFolder, tracker: FindingTracker, journal: Journal
    ) -> None:
        self._run, self._folder, self._tracker, self._journal = run, folder, tracker, journal
        self._sum = Sum()
        self._begun: dict[str, Begun] = {}
        self._lock = threading.Lock()
        self._several = len(run.plan.visited) > 1
        """Whether there may be anything to go on with: a run of one vocabulary is then at its end,
        and its events may be many."""

    def go(self, *, resume: bool) -> None:
        """Do what is left to do. resume: take up what an earlier sitting has kept.

        Raises NamedFailed, KeyboardInterrupt, OutputError.
        """
        run, plan = self._run, self._run.plan
        names = [*plan.visited, LEFT_BEHIND] if resume else []
        try:
            done = {name for name, one in self._journal.kept(names).items() if self._take(one)}
            left = [source for source in plan.visited if source not in done]
            if done - {LEFT_BEHIND}:
                run.resumed = len(plan.visited) - len(left)
                run.going_on = "; the same command with --resume goes on"
                run.emit(
                    Phase(f"{run.resumed} of {len(plan.visited)} vocabularies were done before")
                )
            seconds = plan.budget.seconds
            if seconds is not None and len(left) < len(plan.visited):
                whole = sum(map(plan.weight, plan.visited))
                seconds *= sum(map(plan.weight, left)) / whole
            run.plan = replace(plan, vocabularies={one: plan.vocabularies[one] for one in left})
            if left:
                Sessions(run, parts=self).run(seconds)
        finally:
            run.plan = plan
            own = self._tracker.snapshot()
            found = self._sum.snapshot()
            self._keep_left_behind(own)
            self._tracker.restore(
                replace(
                    found,
                    findings=[*found.findings, *own.findings],
                    counts={**found.counts, **own.counts},
                )
            )

    def begin(self, source: str) -> Tell:
        """See :class:`harness.engine.parts.Parts`."""
        begun = self._begun[source] = Begun(time.monotonic())

        def take(event: Event) -> None:
            with self._lock:  # in the record in the order of their counts
                if self._several:
                    begun.events.append(event)
                self._run.emit(self._sum.take(event))

        return take

    def part(self, source: str, tell: Tell) -> Part:
        """See :class:`harness.engine.parts.Parts`."""
        tracker = tracker_of(self._run.plan, tell, self._folder)
        part = self._run.part(tell, tracker)
        tracker.limit_by(part.left_for_findings)
        return Part(source, part, studies(part))

    def end(self, source: str, ended: Ended) -> None:
        """See :class:`harness.engine.parts.Parts`."""
        begun, tally = self._begun.pop(source), dict(ended.tally)
        with self._run.lock:
            self._run.tally.add(tally)
        if ended.whole and self._several:
            result = self._packed(begun.events, tally, unexpected=ended.unexpected)
            seconds = time.monotonic() - begun.since
            self._journal.keep(Done(source, result, NODE, "", 1, seconds))
            self._run.going_on = "; the same command with --resume goes on"

    def _packed(self, events: list[Event], tally: dict[str, Any], *, unexpected: bool) -> bytes:
        """A result with the files of the findings that stand."""
        found = Sum()
        for event in events:
            found.take(event)
        below = [f"findings/{name}" for name in found.findings]
        loaded = [event.id for event in events if isinstance(event, VocabularyLoaded)]
        below += [f"vocabularies/{self._folder.slug(name)}" for name in loaded]
        files = packed_files(self._folder.path, below)
        return PartResult([e.to_json() for e in events], tally, [], unexpected, files).packed()

    def _take(self, done: Done) -> bool:
        """Take up what was kept; whether it could be read."""
        with contextlib.suppress(UnitError):  # a file that was damaged: it is done again
            result = PartResult.of(done)
            load = self._run.plan.vocabularies.get(done.name)
            if load is not None and not result.is_of(load()):
                return False  # its file has changed
            write_files(result.files, self._folder.path)
            for event in result.lasting():
                self._run.emit(self._sum.take(event))
            self._run.tally.add(result.tally)
            return True
        return False

    def _keep_left_behind(self, own: Snapshot) -> None:
        """Keep the findings that belong to no vocabulary, such as processes left behind."""
        if own.findings:
            events: list[Event] = list(own.findings)
            result = self._packed(events, Tally().plain(), unexpected=self._tracker.unexpected)
            self._journal.keep(Done(LEFT_BEHIND, result, NODE, "", 1, 0.0))


def sitting(journal: Journal, *, resume: bool) -> Elsewhere:
    """Return what has a run prepared and done on this machine, and kept in a journal."""

    def go(run: RunState, folder: RunFolder, tracker: FindingTracker) -> None:
        prepare(run.plan, run.emit, run.stop)
        Sitting(run, folder, tracker, journal).go(resume=resume)

    return go
