"""The story of a run: prepare, then each vocabulary in a session, then the verdict.

A session (:mod:`harness.engine.examiner`) loads a vocabulary into all that run it, and gives it to
the studies: cases are fed, answers judged, violations tracked (:mod:`harness.studies.checks`), and
growth is measured at the end. Vocabularies are examined by processes of this machine
(:mod:`harness.engine.sessions`), or on a cluster (:mod:`harness.engine.units`). A run that is
interrupted, or killed, has beside its record what its whole vocabularies came to
(:mod:`harness.engine.journal`), and another one goes on from there.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import platform
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cluster.executor import Unit, UnitError
from harness.cluster.local import NODE
from harness.cluster.usage import Usage
from harness.confinement import probe
from harness.core.outcomes import Status
from harness.core.provenance import machine, now
from harness.engine import claim_findings
from harness.engine.bus import Bus
from harness.engine.ending import to_the_end
from harness.engine.examiner import Ended
from harness.engine.plan import Plan, budget_text, unfinished, went_on
from harness.engine.portable import Portable, packed_files, write_files
from harness.engine.sessions import Sessions
from harness.engine.state import NamedFailed, RunState
from harness.engine.texts import given as texts_given
from harness.engine.units import UnitResult, are_of, perform
from harness.events import (
    FAIL,
    Counted,
    Event,
    ExpectationJudged,
    Finished,
    Found,
    Phase,
    Started,
    UnitDone,
    UnitResumed,
)
from harness.findings.recipes import plain_name
from harness.verdict import gate
from harness.verdict.bounds import judge_growth, own_candidates
from harness.verdict.coverage import Coverage
from impls.specs import from_anywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.cluster.executor import Done, Executor
    from harness.engine.examiner import Studies
    from harness.engine.journal import Journal
    from harness.engine.state import Tell
    from harness.engine.units import Prepare
    from harness.findings.folder import FindingsFolder, RunFolder

LEFT_BEHIND = ""
"""In place of a vocabulary: what was found when the workers of an interrupted run ended."""

MOST_AT_ONCE = 256
"""Vocabularies that are handed to a cluster at a time, however many slots it has."""

LOOK_SECONDS = 0.1
"""Seconds between two looks at whether the run was stopped."""


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


USUAL = Ways()


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run came to."""

    finished: Finished
    findings: list[Found]
    expectations: list[ExpectationJudged]


def execute(
    plan: Plan,
    folder: RunFolder,
    consumers: Sequence[Callable[[Event], None]],
    command: str,
    studies: Studies,
    ways: Ways = USUAL,
) -> RunResult:
    """Run a plan. Nothing found is lost: Ctrl-C, or a fault, gives a result that is not complete.

    studies: what is done with each vocabulary, of the run as it has it. ways: where, and what is
    kept of it. Raises OutputError where the record itself cannot be written.
    """
    started = time.monotonic()
    coverage = Coverage()
    emit = Bus([folder.consume, coverage.consume, *consumers])
    emit(begun(plan, command))
    if plan.texts is not None:
        emit(texts_given(plan, plan.texts))
    run = RunState(plan, emit, folder)
    vocabularies = Vocabularies(run, studies, folder, ways, coverage)

    def whole() -> None:
        vocabularies.go()
        if not run.stop.is_set():
            false = claim_findings.broken(plan, run.tally)
            claim_findings.note(run.tracker, false, plan, coverage, Status.FALSE_CLAIM)

    try:
        ending = to_the_end(whole)
        findings, tally = list(coverage.findings.values()), run.tally
        judged = gate.judge_expectations(
            plan.expectations,
            findings,
            tally.exercised - tally.unsure,
            tally.shown,
            plan.versions,
            datetime.datetime.now(datetime.UTC).date(),
        )
        linear = {one.name for one in plan.participants if one.about.linear}
        own = own_candidates(plan.participants, plan.named, plan.references)
        in_python = {one.name for one in plan.participants if one.about.language == "python"}
        growth = judge_growth(coverage.growth.values(), plan.bounds, linear, own, in_python)
        for event in (*judged, *growth):
            emit(event)
        verdict = gate.judge(judged, growth, coverage, complete=ending.complete)
        reasons, status = verdict.reasons, verdict.exit_status
        if not ending.complete:
            first = f"{ending.how}: these are the results so far{vocabularies.going_on}"
            reasons, status = (first, *reasons), ending.status
        finished = Finished(
            complete=ending.complete,
            verdict=verdict.value if ending.complete else FAIL,
            reasons=list(reasons),
            seconds=time.monotonic() - started,
            cases=coverage.cases,
            comparisons=coverage.comparisons,
            exit_status=status,
            prepared=run.countdown.prepared if run.countdown.running else None,
            compared=len(coverage.compared),
            notes=[
                *verdict.notes,
                *unfinished(tally),
                *vocabularies.notes,
                *went_on(tally.awaited, tally.least, tally.settled, run.countdown.late),
            ],
        )
        emit(finished)
        if ending.complete and ways.journal is not None:
            ways.journal.remove()
    finally:
        folder.close()
    return RunResult(finished, findings, judged)


class Vocabularies(Sessions):
    """The vocabularies of a run, each with findings and a tally of its own; here all come together.

    coverage: folded from all that is told. going_on: how the user goes on with it, where it is
    interrupted: the end of a sentence. notes: a line where an earlier run had done some.
    """

    def __init__(
        self,
        run: RunState,
        studies: Studies,
        folder: FindingsFolder,
        ways: Ways,
        coverage: Coverage,
    ) -> None:
        super().__init__(run, studies, folder)
        self._out, self._ways, self._coverage = folder.path, ways, coverage
        self._usage = Usage()
        self._events: dict[str, list[Event]] = {}
        self._telling = threading.Lock()
        # A run of one vocabulary has nothing to go on with, and its events may be many.
        self._journal = ways.journal if len(run.plan.visited) > 1 else None
        self.going_on = ""
        self.notes: list[str] = []

    def go(self) -> None:
        """Prepare, and examine what no earlier run has examined.

        Raises NamedFailed, ClusterError, UnitError, KeyboardInterrupt, OutputError.
        """
        run, plan, executor = self._run, self._run.plan, self._ways.executor
        with contextlib.ExitStack() as at_the_end:
            at_the_end.callback(self._note_left)
            if executor is None:
                self._ways.prepare(plan, run.emit, run.stop)
            else:
                at_the_end.callback(lambda: run.emit(self._usage.summary()))
                at_the_end.callback(executor.close)
                executor.listen(self._tell)
            done = self._taken_up()
            left = [source for source in plan.visited if source not in done]
            seconds = plan.budget.seconds
            if done:
                some = f"{len(done)} of {len(plan.visited)} vocabularies were done"
                self._may_go_on()
                self.notes = [f"{some} in an earlier run"]
                run.emit(Phase(f"{some} before"))
                seconds = seconds and seconds * plan.part_of(left)
            if left and executor is None:
                self.run(seconds, left)
            elif left and executor is not None:
                self._perform(executor, left, seconds)

    def begin(self, source: str) -> Tell:
        """Keep the events of a vocabulary, and tell them as those of the whole run."""
        events = self._events[source] = []

        def take(event: Event) -> None:
            if self._journal is not None:
                events.append(event)
            self._tell_as_of_all(event)

        return take

    def _tell_as_of_all(self, event: Event) -> None:
        """Tell an event of a vocabulary; buckets are counted over all vocabularies."""
        with self._telling:  # in the record in the order of their counts
            if isinstance(event, Counted):
                before = self._coverage.counts.get(event.bucket, 0)
                event = replace(event, count=before + event.more)
            self._run.emit(event)

    def end(self, source: str, ended: Ended) -> None:
        """Add its tally, and keep what it came to if it is whole."""
        events = self._events.pop(source)
        with self._run.lock:
            self._run.tally.add(ended.tally)
        if ended.whole:
            self._keep(source, events, ended.tally)

    def _perform(self, executor: Executor, sources: Sequence[str], seconds: float | None) -> None:
        """Have a cluster examine vocabularies; they are told in the order of the plan, so that the
        record is alike whoever examined which."""
        run, plan = self._run, self._run.plan
        shared = (executor.share("plan", Portable.of(plan)), self._studies, self._ways.prepare)
        weight = sum(map(plan.weight, sources))

        def submit(source: str) -> None:
            share = seconds
            if share is not None:  # as slots go through all vocabularies side by side
                slots = min(executor.slots, len(sources))
                share *= min(1.0, slots * plan.weight(source) / weight)
            load = executor.share(source, plan.vocabularies[source])
            executor.submit(Unit(source, perform, (*shared, load), (source, share)))

        done: dict[str, Done] = {}
        for source in sources[:MOST_AT_ONCE]:
            submit(source)
        for place, source in enumerate(sources):
            while source not in done and not run.stop.is_set():
                if (one := executor.next(LOOK_SECONDS)) is not None:
                    done[one.name] = one
            if run.stop.is_set():
                return
            if self._performed(done.pop(source)) and plan.fail_fast:
                run.stop.set()
            for later in sources[place + MOST_AT_ONCE : place + MOST_AT_ONCE + 1]:
                submit(later)

    def _performed(self, done: Done) -> bool:
        """Tell what a vocabulary came to; whether there is a finding that nobody expects."""
        result, size = UnitResult.of(done.name, done.result), len(done.result)
        events = result.lasting()
        cases = Coverage.of(events).cases
        if not result.failed:  # what is told as done is not done again, whenever this run is killed
            self._kept(done.name, done.result)
        self._tell(UnitDone(done.name, done.node, done.tries, done.seconds, size, cases))
        self._add(result, events)
        self.left |= result.left
        if result.failed:
            raise NamedFailed(*result.failed)
        return result.unexpected

    def _add(self, result: UnitResult, events: Sequence[Event]) -> None:
        """Add what a vocabulary came to elsewhere, or in an earlier run."""
        write_files(result.files, self._out)
        for event in events:
            self._tell_as_of_all(event)
        self._run.tally.add(result.tally)

    def _tell(self, event: Event) -> None:
        """Take note of an event of a cluster, and pass it on."""
        self._usage.consume(event)
        self._run.emit(event)

    def _note_left(self) -> None:
        """Enter what workers left behind, which is of no vocabulary alone."""
        run, status = self._run, Status.LEFT_PROCESSES
        claim_findings.note(run.tracker, self.left, run.plan, self._coverage, status)
        if findings := run.tracker.findings:
            self._keep(LEFT_BEHIND, findings, {})

    def _keep(self, name: str, events: Sequence[Event], tally: dict[str, object]) -> None:
        """Keep what a vocabulary came to, with the files of the findings that stand."""
        known = Coverage.of(events)
        below = [f"findings/{one}" for one in known.findings]
        below += [f"vocabularies/{plain_name(one)}" for one in known.vocabularies]
        told = [event.to_json() for event in events]
        self._kept(name, UnitResult(told, tally, files=packed_files(self._out, below)).packed())

    def _kept(self, name: str, result: bytes) -> None:
        if self._journal is not None:
            self._journal.keep(name, result)
            self._may_go_on()

    def _may_go_on(self) -> None:
        how = " with --resume" if self._ways.executor is None else ""
        self.going_on = f"; the same command{how} continues"

    def _taken_up(self) -> set[str]:
        """Take up what an earlier run has kept, and return of which vocabularies that is."""
        if self._journal is None:
            return set()
        plan, elsewhere = self._run.plan, self._ways.executor is not None
        names = [*plan.visited, LEFT_BEHIND] if self._ways.resume or elsewhere else []
        done = set()
        for name, kept in self._journal.kept(names).items():
            with contextlib.suppress(UnitError):  # a file that was damaged: it is done again
                result = UnitResult.of(name, kept)
                events, load = result.lasting(), plan.vocabularies.get(name)
                if load is None or are_of(events, load()):
                    self._add(result, events)
                    done.add(name)
        done.discard(LEFT_BEHIND)
        for name in sorted(done) if elsewhere else ():
            self._tell(UnitResumed(name, NODE))
        return done


def begun(plan: Plan, command: str) -> Started:
    """The first event of a run that begins now."""
    return Started(
        time=now(),
        seed=plan.seed,
        suite=plan.suite.name,
        budget=budget_text(plan),
        command=command,
        versions=versions(plan),
        machine=machine(),
        specs={one.name: one.origin or from_anywhere(one.spec) for one in plan.participants},
        references=sorted(plan.references),
        timeout=plan.limits.seconds,
        memory=plan.limits.memory,
        expect=plan.expect,
        folder=str(Path.cwd()),
        named={"implementations": list(plan.named), **{k: [*v] for k, v in plan.asked.items()}},
        confinement=probe.line(plan.limits.memory, plan.participants),
    )


def versions(plan: Plan) -> dict[str, str]:
    """Versions of all that decides the outcome."""
    return {
        "tokgate": importlib.metadata.version("tokgate"),
        "python": platform.python_version(),
        **plan.versions,
    }
