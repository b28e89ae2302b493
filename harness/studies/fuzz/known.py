"""What a campaign has found is asked again when a session begins: what is fixed is no finding.

Only what came back when it was asked alone can be seen to be gone: what shows by chance, a death
that did not come back, and what there was no time to ask again stay. So does what its culprits do
not answer now. What was fixed is asked again in later sessions, too, and is new where it comes
back.
"""

from __future__ import annotations

import base64
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.core import stored
from harness.engine.state import RunState
from harness.events import Found, Unsettled
from harness.findings.entries import Entry
from harness.findings.minimising import NO_TIME
from harness.findings.tracker import FindingTracker
from harness.studies.fuzz.plan import target_name
from harness.studies.fuzz.state import Round
from harness.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.engine.planning import Plan
    from harness.events import Event
    from harness.findings.entries import Snapshot
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.store import CampaignStore, Kept

TIMES = 2
"""How often an input is asked twice in a row, with the empty input before."""


def ask_again(
    plan: FuzzPlan,
    store: CampaignStore,
    save: Callable[[str, Violation, Contract], str | None],
    publish: Callable[[Round], None],
) -> list[str]:
    """Ask the findings of all targets again, and commit what is fixed and what came back.

    Gives the ids of the fixed ones, which are known no more. Raises Stopped, LedgerError.
    """
    gone: list[str] = []
    for source, shard in plan.targets:
        name = target_name(source, shard)
        kept = store.target(name)
        if kept is None or not (kept.state.fixed or any(map(comes_back, kept.findings))):
            continue
        pool = WorkerPool(plan.plan.participants, plan.plan.limits)
        try:
            done = asked_again(plan.alone(source), name, source, kept, save, pool)
        finally:
            pool.close()
        if done is not None:
            store.commit(done, forgotten=done.gone)
            publish(done)
            gone += done.gone
    return gone


def asked_again(
    plan: Plan,
    name: str,
    source: str,
    kept: Kept,
    save: Callable[[str, Violation, Contract], str | None],
    pool: WorkerPool,
) -> Round | None:
    """What is to be committed of a target whose findings were asked again; None for nothing."""
    events: list[Event] = []
    tracker = FindingTracker(events.append, save, plan.expectations, plan.versions, unhurried=True)
    run = RunState(plan, lambda event: None, tracker)
    contracts = {one.id: one for one in run.open(pool, source, plan.vocabularies[source]())}
    before = kept.state.tracker(kept.findings)
    fixed = [
        found
        for found in kept.findings
        if comes_back(found)
        and found.contract in contracts
        and is_fixed(found, contracts[found.contract], pool)
    ]
    tracker.restore(without(before, fixed))
    were_fixed = [stored.typed(one, Found) for one in kept.state.fixed]
    for found in were_fixed:
        if found.contract in contracts:
            _look_for(found, contracts[found.contract], pool, tracker)
    tracker.settle(pool)
    now = {found.id: found for found in tracker.findings}
    old = {found.id: found for found in kept.findings}
    gone = [one for one in (*were_fixed, *fixed) if one.id not in now]
    unsettled = any(isinstance(event, Unsettled) for event in events)
    if gone == were_fixed and now == old and not unsettled:
        return None
    kept.state.fixed = list(map(asdict, gone))
    kept.state.add(events)
    kept.state.keep_tracker(tracker.snapshot())
    return Round(
        target=name,
        state=kept.state,
        map=kept.map,
        first=len(kept.corpus),
        joined=[],
        findings=[found for found in now.values() if old.get(found.id) != found],
        gone=sorted(old.keys() - now.keys()),
        events=events,
        seconds=0.0,
    )


def comes_back(found: Found) -> bool:
    """Whether it came back when it was asked alone, so that it is fixed if it no longer does."""
    alone = found.minimal or found.unminimised not in {None, NO_TIME}
    return alone and found.check in CHECKS and not CHECKS[found.check].by_chance


def is_fixed(found: Found, contract: Contract, pool: WorkerPool) -> bool:
    """Whether its input shows it no more, though all whom it blames answer."""
    data = base64.b64decode(found.input_b64)
    inputs = [data] if found.check == "survival" else [b"", data, data] * TIMES
    judged = pool.examine(contract, CHECKS[found.check], inputs)
    if any(one.data == data and set(one.culprits) & set(found.culprits)
           for one in judged.violations):  # fmt: skip
        return False
    return all(judged.exercised[name] >= inputs.count(data) for name in found.culprits)


def _look_for(found: Found, contract: Contract, pool: WorkerPool, tracker: FindingTracker) -> None:
    """Enter what the input of a finding that was fixed shows now."""
    data = base64.b64decode(found.input_b64)
    for violation in pool.examine(contract, CHECKS[found.check], [data]).violations:
        case = Case(data, found.generator, found.seed, found.index)
        tracker.consider(pool, Entry(contract, violation, case))


def without(known: Snapshot, fixed: Collection[Found]) -> Snapshot:
    """What a tracker knows, but for these findings."""
    ids, buckets = {one.id for one in fixed}, {one.bucket for one in fixed}
    return replace(
        known,
        findings=[one for one in known.findings if one.id not in ids],
        known=[
            (where, sign, [(data, name) for data, name in minimal if name not in buckets])
            for where, sign, minimal in known.known
        ],
        counts={name: count for name, count in known.counts.items() if name not in buckets},
        provisionals=[one for one in known.provisionals if one not in ids],
    )
