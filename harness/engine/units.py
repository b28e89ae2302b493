"""A run in units, one vocabulary each: performed here or on a cluster, and kept when it is whole.

Findings on different vocabularies never depend on one another, so each has a tracker and a tally of
its own, and all come together here. A run that is interrupted, or killed, has beside its record
what its whole vocabularies came to (:mod:`harness.engine.journal`), and another one goes on from
there.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.cluster.executor import Done, UnitError
from harness.engine.ending import BrokenOff
from harness.engine.examiner import Examiner
from harness.engine.opening import NamedFailed
from harness.engine.parts import Ended, Part, Sum, Turn, Undivided
from harness.engine.planning import Tally
from harness.engine.portable import Portable
from harness.engine.remote import LOOK_SECONDS, Remote
from harness.engine.sessions import Sessions
from harness.engine.state import RunState, tracker_of
from harness.engine.suites import Budget
from harness.engine.unit_results import UnitResult, packed_files, write_files
from harness.events import Event, Phase, UnitDone, UnitResumed, VocabularyLoaded
from harness.findings.folder import FindingsFolder
from harness.findings.recipes import plain_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.cluster.executor import Executor
    from harness.engine.journal import Journal
    from harness.engine.parts import Left, Tell
    from harness.engine.planning import Plan
    from harness.engine.study import Study

    Studies = Callable[[RunState], Sequence[Study]]
    Prepare = Callable[[Plan, Tell, threading.Event], object]

NODE = "this machine"

LEFT_BEHIND = ""
"""In place of a vocabulary: what was found when the workers of an interrupted run ended."""

MOST_AT_ONCE = 256
"""Vocabularies that are handed to a cluster at a time, however many slots it has."""


@dataclass(frozen=True, slots=True)
class Ways:
    """How the vocabularies of a run are gone through.

    prepare: makes what they need, before the clock of the run starts. journal: keeps what whole
    ones came to. resume: take up what an earlier run has kept there. executor: performs them, in
    place of this machine, and what it performed is taken up in any case.
    """

    prepare: Prepare = lambda plan, tell, stop: None
    journal: Journal | None = None
    resume: bool = False
    executor: Executor | None = None


@dataclass(slots=True)
class Begun:
    """A vocabulary on its way: its events so far."""

    since: float
    events: list[Event] = field(default_factory=list)


class Units:
    """Goes through the vocabularies of a run that are not kept yet, and keeps each. It is Parts."""

    def __init__(self, run: RunState, folder: FindingsFolder, studies: Studies, ways: Ways) -> None:
        self._run, self._folder, self._studies, self._ways = run, folder, studies, ways
        self._sum = Sum()
        self._begun: dict[str, Begun] = {}
        self._lock = threading.Lock()
        # A run of one vocabulary has nothing to go on with, and its events may be many.
        self._journal = ways.journal if len(run.plan.visited) > 1 else None
        self._goes_on = f"; the same command{' with --resume' if ways.executor is None else ''}"
        self._goes_on += " goes on"

    def go(self) -> None:
        """Do what is left to do.

        Raises NamedFailed, ClusterError, UnitError, KeyboardInterrupt, OutputError.
        """
        run, plan, ways = self._run, self._run.plan, self._ways
        with contextlib.ExitStack() as at_the_end:
            at_the_end.callback(self._total)
            remote = None
            if ways.executor is not None:
                remote = at_the_end.enter_context(
                    contextlib.closing(Remote(ways.executor, run.emit))
                )
            else:
                ways.prepare(plan, run.emit, run.stop)
            done = self._taken_up(run.emit if remote is None else remote.tell)
            left = [source for source in plan.visited if source not in done]
            seconds = plan.budget.seconds
            if done:
                run.resumed = len(done)
                run.going_on = self._goes_on
                run.emit(Phase(f"{len(done)} of {len(plan.visited)} vocabularies were done before"))
                if seconds is not None:
                    seconds *= plan.part_of(left)
            run.plan = replace(plan, vocabularies={one: plan.vocabularies[one] for one in left})
            at_the_end.callback(setattr, run, "plan", plan)
            if left and remote is None:
                Sessions(run, parts=self).run(seconds)
            elif left and remote is not None:
                functions = (self._studies, ways.prepare)
                examiner = RemoteExaminer(run, self._folder, functions, remote)
                Sessions(run, parts=self, elsewhere=[examiner] * MOST_AT_ONCE).run(seconds)

    def _total(self) -> None:
        """Have the tracker of the run know all that was found."""
        tracker, found = self._run.tracker, self._sum.snapshot()
        own = tracker.snapshot()
        if own.findings:  # of no vocabulary, such as processes left behind
            self._keep(LEFT_BEHIND, Begun(time.monotonic(), [*own.findings]), Tally().plain())
        findings = [*found.findings, *own.findings]
        counts = {**found.counts, **own.counts}
        tracker.restore(replace(found, findings=findings, counts=counts))

    def begin(self, source: str) -> Tell:
        """See :class:`harness.engine.parts.Parts`."""
        begun = self._begun[source] = Begun(time.monotonic())

        def take(event: Event) -> None:
            with self._lock:  # in the record in the order of their counts
                if self._journal is not None:
                    begun.events.append(event)
                self._run.emit(self._sum.take(event))

        return take

    def part(self, source: str, tell: Tell) -> Part:
        """See :class:`harness.engine.parts.Parts`."""
        part = self._run.part(tell, tracker_of(self._run.plan, tell, self._folder))
        part.limit_tracker()
        return Part(source, part, self._studies(part))

    def end(self, source: str, ended: Ended) -> None:
        """See :class:`harness.engine.parts.Parts`."""
        begun = self._begun.pop(source)
        with self._run.lock:
            self._run.tally.add(ended.tally)
        if ended.whole and self._keep(source, begun, ended.tally):
            self._run.going_on = self._goes_on

    def _keep(self, name: str, begun: Begun, tally: dict[str, Any]) -> bool:
        """Keep a result, with the files of the findings that stand; whether it is kept."""
        if self._journal is None:
            return False
        found = Sum()
        for event in begun.events:
            found.take(event)
        below = [f"findings/{one}" for one in found.findings]
        loaded = [event.id for event in begun.events if isinstance(event, VocabularyLoaded)]
        below += [f"vocabularies/{plain_name(one)}" for one in loaded]
        events = [event.to_json() for event in begun.events]
        result = UnitResult(events, tally, files=packed_files(self._folder.path, below))
        seconds = time.monotonic() - begun.since
        self._journal.keep(Done(name, result.packed(), NODE, "", 1, seconds))
        return True

    def _taken_up(self, tell: Tell) -> set[str]:
        """Take up what an earlier run has kept, and return of which vocabularies that is."""
        if self._journal is None:
            return set()
        elsewhere = self._ways.executor is not None
        names = [*self._run.plan.visited, LEFT_BEHIND] if self._ways.resume or elsewhere else []
        kept = self._journal.kept(names)
        done = {name for name, one in kept.items() if self._take(one)} - {LEFT_BEHIND}
        if elsewhere:
            for name in sorted(done):
                tell(UnitResumed(name, kept[name].node))
        return done

    def _take(self, done: Done) -> bool:
        """Take up what was kept; whether it could be read, and its vocabulary is the same."""
        with contextlib.suppress(UnitError):  # a file that was damaged: it is done again
            result = UnitResult.of(done)
            load = self._run.plan.vocabularies.get(done.name)
            if load is None or result.is_of(load()):
                write_files(result.files, self._folder.path)
                for event in result.lasting():
                    self._run.emit(self._sum.take(event))
                self._run.tally.add(result.tally)
                return True
        return False


class RemoteExaminer:
    """Has vocabularies examined by an executor: an examiner for any number of threads.

    functions: those of :func:`perform`, which are found by their names on every node.
    """

    def __init__(
        self,
        run: RunState,
        folder: FindingsFolder,
        functions: tuple[Studies, Prepare],
        remote: Remote,
    ) -> None:
        self._run, self._folder, self._remote = run, folder, remote
        self._shared = (remote.share("plan", Portable.of(run.plan)), *functions)
        self._left: list[Left] = []
        self._order = {source: place for place, source in enumerate(run.plan.visited)}
        self._told = 0
        self._changed = threading.Condition()

    def examine(self, turn: Turn, tell: Tell) -> Ended:
        """As of an examiner. Raises NamedFailed, UnitError, ClusterError, BrokenOff."""
        plan, name = self._run.plan, turn.source
        seconds = plan.budget.seconds
        if seconds is not None:  # as slots go through all vocabularies side by side
            slots = min(self._remote.slots, len(plan.visited))
            seconds *= min(1.0, slots * plan.part_of([name]))
        load = self._remote.share(name, plan.vocabularies[name])
        done = self._remote.performed(name, perform, (*self._shared, load), (name, seconds))
        result, size = UnitResult.of(done), len(done.result)
        with self._in_order(name):
            cases = result.cases
            self._remote.tell(UnitDone(name, done.node, done.tries, done.seconds, size, cases))
            write_files(result.files, self._folder.path)
            for event in result.lasting():
                tell(event)
            self._left += result.left
        if result.failed:
            raise NamedFailed(*result.failed)
        return Ended(whole=True, tally=result.tally, unexpected=result.unexpected)

    @contextlib.contextmanager
    def _in_order(self, name: str) -> Iterator[None]:
        """Wait until all is told of the vocabularies before this one: the record is then alike
        whoever performed what. Raises BrokenOff where the run is stopped."""
        with self._changed:
            while self._told < self._order[name]:
                if self._run.stop.is_set():
                    raise BrokenOff("the run was stopped")
                self._changed.wait(LOOK_SECONDS)
            yield
            self._told += 1
            self._changed.notify_all()

    def stop(self) -> None:
        """As of an examiner."""
        self._remote.stop()

    def close(self) -> list[Left]:
        """As of an examiner: of several threads, each is given what nobody has been given yet."""
        left, self._left = self._left, []
        return left


def perform(
    keep: dict[str, Any],
    shared: Portable,
    studies: Studies,
    prepare: Prepare,
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
    failed: list[str] = []
    left: list[Left] = []
    ended = Ended()
    with scratch.temporary("unit-") as path:
        run = RunState.begun(plan, events.append, FindingsFolder(Path(path)))
        prepare(plan, run.emit, run.stop)
        examiner = Examiner(run, Undivided(run, studies(run)), 1)
        weight = plan.weight(source)
        try:
            ended = examiner.examine(Turn(source, weight, 0.0, len(plan.scaled)), run.emit)
        except NamedFailed as error:
            failed = [error.name, error.vocabulary, error.trace]
        finally:
            left = examiner.close()
        files = packed_files(Path(path))
    told = [event.to_json() for event in events]
    return UnitResult(told, ended.tally, failed, ended.unexpected, left, files).packed()
