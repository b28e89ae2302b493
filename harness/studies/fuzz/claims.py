"""False claims of a campaign, as findings of a target that are committed when a session is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.outcomes import Status
from harness.engine import claiming
from harness.events import Event
from harness.findings.tracker import FindingTracker
from harness.studies.fuzz.known import without
from harness.studies.fuzz.plan import target_name
from harness.studies.fuzz.record import together
from harness.studies.fuzz.state import Round
from harness.verdict.coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.store import CampaignStore


STAGE = Status.FALSE_CLAIM.label


def commit_claims(
    plan: FuzzPlan,
    store: CampaignStore,
    save: Callable[[str, Violation, Contract], str | None],
    publish: Callable[[Round], None],
) -> None:
    """Commit what the sums of all targets show to be false, and take back what was kept since.

    Each is told in the last target that has asked its author. Raises LedgerError.
    """
    names = [target_name(*one) for one in plan.targets]
    kept = {name: one for name in names if (one := store.target(name)) is not None}
    broken = claiming.broken(plan.plan, together(kept.values()))
    told = {
        who
        for one in kept.values()
        for found in one.findings
        if found.stage == STAGE
        for who in found.culprits
    }
    new = {who: line for who, line in broken.items() if who not in told}
    for name, one in reversed(kept.items()):
        lines = map(Event.from_json, one.state.opened)
        record = Coverage.of(event for event in lines if event is not None)
        asked = {who for contract in record.contracts.values() for who in contract.implementations}
        mine = {who: new.pop(who) for who in [*new] if who in asked}
        false = [found for found in one.findings if found.stage == STAGE]
        gone = [found for found in false if broken.keys().isdisjoint(found.culprits)]
        if not mine and not gone:
            continue
        events: list[Event] = []
        inner = plan.plan
        tracker = FindingTracker(
            events.append, save, inner.expectations, inner.versions, unhurried=True
        )
        tracker.restore(without(one.state.tracker(one.findings), gone))
        claiming.note(tracker, mine, inner, record)
        one.state.keep_tracker(tracker.snapshot())
        done = Round(
            target=name,
            state=one.state,
            map=one.map,
            first=len(one.corpus),
            joined=[],
            findings=[found for found in tracker.findings if found not in one.findings],
            gone=[found.id for found in gone],
            events=events,
            seconds=0.0,
        )
        store.commit(done, forgotten=done.gone)
        publish(done)
