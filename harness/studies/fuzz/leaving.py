"""What workers left behind, as findings of a target that are committed when its session is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.outcomes import Status
from harness.findings import inputless
from harness.findings.tracker import FindingTracker
from harness.studies.fuzz.behaviour import Map
from harness.studies.fuzz.state import Round, State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.engine.planning import Plan
    from harness.events import Event
    from harness.studies.fuzz.store import Kept


def left_behind(
    plan: Plan,
    target: str,
    kept: Kept | None,
    save: Callable[[str, Violation, Contract], str | None],
    left: Mapping[str, str],
    asked: Mapping[str, Contract],
) -> Round:
    """Return no round, but what is to be committed of those that left processes behind.

    kept: the target as it was committed last. left: a line for each implementation. asked: a
    contract under which each was asked.
    """
    events: list[Event] = []
    findings = kept.findings if kept else []
    state = kept.state if kept else State()
    tracker = FindingTracker(events.append, save, plan.expectations, plan.versions, unhurried=True)
    tracker.restore(state.tracker(findings))
    inputless.note(tracker, Status.LEFT_PROCESSES, left, asked, plan.seed)
    state.keep_tracker(tracker.snapshot())
    return Round(
        target=target,
        state=state,
        map=Map(kept.map if kept else None).packed(),
        first=0,
        joined=[],
        findings=[found for found in tracker.findings if found not in findings],
        gone=[],
        events=events,
        seconds=0.0,
    )
