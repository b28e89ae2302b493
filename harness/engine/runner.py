"""One run from plan to verdict: folder, events, campaign, gate, reports' record."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.confinement import probing
from harness.core.provenance import machine, now
from harness.core.writing import OutputError
from harness.engine import claiming
from harness.engine.bus import Bus
from harness.engine.ending import to_the_end
from harness.engine.planning import Plan, Tally, budget_text
from harness.engine.state import RunState
from harness.engine.texts import given as texts_given
from harness.engine.units import Units, Ways
from harness.events import (
    FAIL,
    Event,
    ExpectationJudged,
    Finished,
    Found,
    Started,
)
from harness.verdict import gate
from harness.verdict.bounds import judge_growth, own_candidates
from harness.verdict.coverage import Coverage
from impls.specs import from_anywhere

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from harness.engine.units import Studies
    from harness.findings.folder import RunFolder

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

    studies: what is done with each vocabulary, of the run as it begins. ways: where, and what is
    kept of it. Raises OutputError where the record itself cannot be written.
    """
    started = time.monotonic()
    coverage = Coverage()
    emit = Bus([folder.consume, coverage.consume, *consumers])
    emit(begun(plan, command))
    if plan.texts is not None:
        emit(texts_given(plan, plan.texts))
    run = RunState.begun(plan, emit, folder)
    tracker = run.tracker

    def whole() -> None:
        Units(run, folder, studies, ways).go()
        if not run.stop.is_set():
            claiming.note(tracker, claiming.broken(plan, run.tally), plan, coverage)

    try:
        ending = to_the_end(whole)
    except OutputError:
        folder.close()
        raise
    tally = run.tally
    judged = gate.judge_expectations(
        plan.expectations,
        tracker.findings,
        tally.exercised - tally.unsure,
        tally.shown,
        plan.versions,
        datetime.datetime.now(datetime.UTC).date(),
    )
    for one in judged:
        emit(one)
    linear = {c.name for c in plan.participants if c.about.linear}
    own = own_candidates(plan.participants, plan.named, plan.references)
    in_python = {c.name for c in plan.participants if c.about.language == "python"}
    growth = judge_growth(coverage.growth.values(), plan.bounds, linear, own, in_python)
    for cell in growth:
        emit(cell)
    verdict = gate.judge(judged, growth, coverage, complete=ending.complete)
    if not ending.complete:
        reasons = (f"{ending.how}: what was found so far is here{run.going_on}", *verdict.reasons)
        verdict = gate.Verdict(FAIL, reasons, ending.status, verdict.notes)
    finished = Finished(
        complete=ending.complete,
        verdict=verdict.value,
        reasons=list(verdict.reasons),
        seconds=time.monotonic() - started,
        cases=coverage.cases,
        comparisons=coverage.comparisons,
        exit_status=verdict.exit_status,
        prepared=run.countdown.prepared if run.countdown.running else None,
        compared=len(coverage.compared),
        notes=[
            *verdict.notes,
            *left(tally),
            *resumed(run.resumed, len(plan.visited)),
            *went_on(tally.awaited, tally.least, tally.settled, run.countdown.late),
        ],
    )
    emit(finished)
    folder.close()
    return RunResult(finished, tracker.findings, judged)


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
        specs={one.name: from_anywhere(one.spec) for one in plan.participants},
        references=sorted(plan.references),
        timeout=plan.limits.seconds,
        memory=plan.limits.memory,
        expect=plan.expect,
        folder=str(Path.cwd()),
        named=asked(plan),
        confinement=probing.line(plan.limits.memory, plan.participants),
    )


def asked(plan: Plan) -> dict[str, list[str]]:
    """What the user named, by kind; of a run on given inputs, the implementations it is about."""
    given = {"implementations": plan.named, **plan.asked}
    return {kind: list(names) for kind, names in given.items()}


def resumed(count: int, whole: int) -> list[str]:
    """A line on the vocabularies that an earlier sitting had done, if there are any."""
    return [f"{count} of {whole} vocabularies were done in an earlier sitting"] if count else []


def left(tally: Tally) -> list[str]:
    """A line on answers that time was not enough for, if there are any."""
    counts = ", ".join(f"{name} ({count})" for name, count in sorted(tally.unanswered.items()))
    if not counts:
        return []
    return [f"stopped at the time limit with a batch unfinished: {counts}"]


def went_on(
    awaited: Collection[str], least: Collection[str], settled: Collection[str], seconds: float
) -> list[str]:
    """A line on why a run took so much longer than its budget, if it did.

    awaited: who might have hung. least: the vocabularies on which what was named was still to be
    tested. settled: those on which differences were still to be looked into.
    """
    reasons = [
        f"{what} {', '.join(sorted(names))}"
        for what, names in (
            ("to confirm a possible hang in", awaited),
            ("to test what you named on", least),
            ("to look into the differences found on", settled),
        )
        if names
    ]
    if not reasons or seconds <= 0:
        return []
    return [f"exceeded the budget by {seconds:.0f} s {', and '.join(reasons)}"]


def versions(plan: Plan) -> dict[str, str]:
    """Versions of all that decides the outcome."""
    return {
        "tokgate": importlib.metadata.version("tokgate"),
        "python": platform.python_version(),
        **plan.versions,
    }
