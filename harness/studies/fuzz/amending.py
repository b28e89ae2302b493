"""What is committed of a target besides its rounds: what is fixed, left behind, or falsely claimed.

**Known findings** are asked again when a session begins: what is fixed is no finding. Only what
came back when it was asked alone can be seen to be gone: what shows by chance, a death that did not
come back, and what there was no time to ask again stay. So does what its culprits do not answer
now. What was fixed is asked again in later sessions, too, and is new where it comes back.

**What workers left behind**, and **claims that nobody kept**, are findings of a target that has
asked their author, when a session is over.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.core.outcomes import Status
from harness.engine import claiming
from harness.engine.planning import Tally
from harness.engine.state import RunState
from harness.events import Event, Found, Unsettled
from harness.findings.entries import Entry
from harness.findings.minimising import NO_TIME
from harness.findings.tracker import ON_ITS_WAY, FindingTracker
from harness.studies.fuzz.plan import target_name
from harness.verdict.coverage import Coverage
from harness.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from harness.core.comparisons import Contract
    from harness.engine.planning import Plan
    from harness.findings.causes import Snapshot
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import Kept, Round
    from harness.studies.fuzz.store import CampaignStore
    from harness.studies.fuzz.units import Save

TIMES = 2
"""How often an input is asked twice in a row, with the empty input before."""

FALSE_CLAIM = Status.FALSE_CLAIM.label


class Amender:
    """Commits what no round made. save: writes the folder of a finding. publish: gets each commit.

    Its methods raise LedgerError.
    """

    def __init__(
        self, plan: FuzzPlan, store: CampaignStore, save: Save, publish: Callable[[Round], None]
    ) -> None:
        self._plan, self._store, self._save, self._publish = plan, store, save, publish

    def ask_again(self) -> list[str]:
        """Ask the findings of all targets again, and commit what is fixed and what came back.

        Gives the ids of the fixed ones, which are known no more. Raises Stopped.
        """
        gone: list[str] = []
        for source, shard in self._plan.targets:
            kept = self._store.target(target_name(source, shard))
            if kept is None or not (kept.state.fixed or any(map(comes_back, kept.state.findings))):
                continue
            pool = WorkerPool(self._plan.plan.participants, self._plan.plan.limits)
            try:
                gone += self._asked_again(source, shard, kept, pool)
            finally:
                pool.close()
        return gone

    def _asked_again(self, source: str, shard: int, kept: Kept, pool: WorkerPool) -> list[str]:
        """Ask the findings of one target again."""
        plan, state = self._plan.alone(source), kept.state
        events: list[Event] = []
        tracker = self._tracker(plan, events)
        run = RunState(plan, lambda event: None, tracker)
        contracts = {one.id: one for one in run.open(pool, source, plan.vocabularies[source]())}
        fixed = [
            found
            for found in state.findings
            if comes_back(found)
            and found.contract in contracts
            and _is_fixed(found, contracts[found.contract], pool)
        ]
        tracker.restore(without(state.tracker(), fixed))
        for found in state.fixed:
            if found.contract in contracts:
                _look_for(found, contracts[found.contract], pool, tracker)
        tracker.settle(pool)
        now = {found.id for found in tracker.findings}
        gone = [one for one in (*state.fixed, *fixed) if one.id not in now]
        unsettled = any(isinstance(event, Unsettled) for event in events)
        if gone == state.fixed and tracker.findings == state.findings and not unsettled:
            return []
        state.fixed = gone
        state.add(events)
        return self._commit(target_name(source, shard), kept, tracker, events)

    def note_left(self, left: Mapping[str, str]) -> None:
        """Commit what workers left behind, in the first target that has asked each.

        left: a line for each implementation.
        """
        waiting = dict(left)
        for name, kept in self._store.targets(self._plan.names).items() if left else ():
            record, mine = _asked_of(kept, waiting)
            if mine:
                self._note(name, kept, record, Status.LEFT_PROCESSES, mine)

    def note_claims(self) -> None:
        """Commit what the sums of all targets show to be false, and take back what was kept since.

        Each is told in the last target that has asked its author.
        """
        kept = self._store.targets(self._plan.names)
        broken = claiming.broken(self._plan.plan, together(kept.values()))
        false = {
            name: [found for found in one.state.findings if found.stage == FALSE_CLAIM]
            for name, one in kept.items()
        }
        told = {who for some in false.values() for found in some for who in found.culprits}
        waiting = {who: line for who, line in broken.items() if who not in told}
        for name, one in reversed(kept.items()):
            record, mine = _asked_of(one, waiting)
            gone = [found for found in false[name] if broken.keys().isdisjoint(found.culprits)]
            if mine or gone:
                self._note(name, one, record, Status.FALSE_CLAIM, mine, gone)

    def _note(
        self,
        name: str,
        kept: Kept,
        record: Coverage,
        status: Status,
        lines: Mapping[str, str],
        gone: Collection[Found] = (),
    ) -> None:
        """Commit findings that no input brings back to a target, and take others back."""
        events: list[Event] = []
        tracker = self._tracker(self._plan.plan, events)
        tracker.restore(without(kept.state.tracker(), gone))
        claiming.note(tracker, lines, self._plan.plan, record, status)
        self._commit(name, kept, tracker, events)

    def _commit(
        self, name: str, kept: Kept, tracker: FindingTracker, events: list[Event]
    ) -> list[str]:
        """Commit what a tracker knows of a target; the ids of the findings that are gone."""
        kept.state.keep_tracker(tracker.snapshot())
        done = kept.round(name, events)
        self._store.commit([done], forgotten=done.gone)
        self._publish(done)
        return done.gone

    def _tracker(self, plan: Plan, events: list[Event]) -> FindingTracker:
        return FindingTracker(
            events.append, self._save, plan.expectations, plan.versions, unhurried=True
        )


def comes_back(found: Found) -> bool:
    """Whether it came back when it was asked alone, so that it is fixed if it no longer does."""
    alone = found.minimal or found.unminimised not in {None, NO_TIME, ON_ITS_WAY}
    return alone and found.check in CHECKS and not CHECKS[found.check].by_chance


def _is_fixed(found: Found, contract: Contract, pool: WorkerPool) -> bool:
    """Whether its input shows it no more, though all whom it blames answer."""
    data = base64.b64decode(found.input_b64)
    inputs = [data] if found.check == "survival" else [b"", data, data] * TIMES
    judged = examine(pool, contract, CHECKS[found.check], inputs)
    if any(one.data == data and set(one.culprits) & set(found.culprits)
           for one in judged.violations):  # fmt: skip
        return False
    return all(judged.exercised[name] >= inputs.count(data) for name in found.culprits)


def _look_for(found: Found, contract: Contract, pool: WorkerPool, tracker: FindingTracker) -> None:
    """Enter what the input of a finding that was fixed shows now."""
    data = base64.b64decode(found.input_b64)
    for violation in examine(pool, contract, CHECKS[found.check], [data]).violations:
        case = Case(data, found.generator, found.seed, found.index)
        tracker.consider(pool, Entry(contract, violation, case))


def without(known: Snapshot, fixed: Collection[Found]) -> Snapshot:
    """What a tracker knows, but for these findings."""
    ids, buckets = {one.id for one in fixed}, {one.bucket for one in fixed}
    return replace(
        known,
        findings=[one for one in known.findings if one.id not in ids],
        causes=[
            (
                group,
                replace(one, minimal={k: v for k, v in one.minimal.items() if v not in buckets}),
            )
            for group, one in known.causes
        ],
        counts={name: count for name, count in known.counts.items() if name not in buckets},
    )


def _asked_of(kept: Kept, waiting: dict[str, str]) -> tuple[Coverage, dict[str, str]]:
    """Who was asked by a target, and the lines on those, which wait no more."""
    record = Coverage.of(kept.state.opening())
    asked = {who for contract in record.contracts.values() for who in contract.implementations}
    return record, {who: waiting.pop(who) for who in [*waiting] if who in asked}


def together(kept: Iterable[Kept]) -> Tally:
    """What all targets have noted besides their events."""
    tally = Tally()
    for one in kept:
        tally.add(one.state.sums.plain())
    return tally
