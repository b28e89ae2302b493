"""The record of a campaign, made from what its targets have committed: what reports read."""

from __future__ import annotations

import datetime
import itertools
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from harness.core import exit_statuses
from harness.core.outcomes import Status
from harness.engine import claim_findings
from harness.engine.flow import begun
from harness.engine.plan import Tally, went_on
from harness.events import (
    FAIL,
    Campaign,
    ClusterUsed,
    Counted,
    Event,
    ExpectationJudged,
    FindingFixed,
    Finished,
    Found,
    NotReached,
    Outlook,
    VocabularyLoaded,
    Withdrawn,
)
from harness.findings.expected import ExpectedFindings
from harness.findings.tracker import FindingTracker
from harness.studies.fuzz import estimate
from harness.studies.fuzz.behaviour import Map
from harness.studies.fuzz.estimate import Abundance
from harness.studies.fuzz.folder import smallness
from harness.studies.fuzz.state import State
from harness.verdict import gate
from harness.verdict.coverage import Coverage
from harness.verdict.gaps import counted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from harness.engine.plan import Plan
    from harness.studies.campaigns.store import CampaignStore
    from harness.studies.campaigns.units import Save
    from harness.studies.fuzz.plan import FuzzPlan

HOUR = 3600.0

FIXED_SHOWN = 8
"""Findings that a line names of those that no longer show."""

NO_ROUND = "no round was finished in the time; give a larger --budget"
"""Said of a vocabulary on which a campaign has not committed anything."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session came to its end. how: in words, where it was cut off. exit_status: of that.

    canary: None where none rides, else whether it was found; said: what is known about it.
    cases: committed in the session. least: vocabularies that had their first round after its time.
    late: for how many seconds it went on. cluster: what it did in the session, if there was one.
    """

    how: str | None = None
    exit_status: int = 0
    canary: bool | None = None
    said: str = ""
    cases: int = 0
    least: frozenset[str] = frozenset()
    late: float = 0.0
    cluster: ClusterUsed | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A campaign as committed. events: of the whole of it. new: findings of this session alone.

    about: ``campaign.json``. session_cases: those that this session has committed.
    """

    events: list[Event]
    campaign: Campaign
    finished: Finished
    findings: list[Found]
    expectations: list[ExpectationJudged]
    new: list[Found]
    about: dict[str, Any]
    session_cases: int


def record(
    plan: FuzzPlan,
    store: CampaignStore,
    save: Save,
    command: str,
    known: Container[str],
    ended: Ended,
) -> Record:
    """What the campaign came to so far. known: ids of findings from before this session.

    save: writes the folders of findings that no input brings back. Raises LedgerError.
    """
    states = {name: one.state for name, one in store.targets(plan.targets, State).items()}
    tally = Tally()
    for one in states.values():
        tally.add(one.tally)
    findings = merged(plan, [*(one.findings for one in states.values()),
                             noted(plan.plan, states, tally, save)])  # fmt: skip
    judged = gate.judge_expectations(
        plan.plan.expectations,
        findings,
        tally.exercised - tally.unsure,
        tally.shown,
        plan.plan.versions,
        datetime.datetime.now(datetime.UTC).date(),
    )
    opening = begun(plan.plan, command)
    events: list[Event] = [
        replace(opening, time=store.row.started, budget=opening.budget.replace("none", "endless")),
        *_committed(plan, states, findings),
        *judged,
        *([ended.cluster] if ended.cluster else []),
    ]
    seconds = store.row.seconds
    campaign = _campaign(store, states, seconds, ended)
    finished = _finished(events, judged, tally, seconds, ended)
    events += [campaign, finished]
    new = [found for found in findings if found.id not in known]
    about = {
        **msgspec.to_builtins(campaign),
        "seconds": round(seconds, 1),
        "cases": sum(one.cases for one in states.values()),
        "findings": len(findings),
        "new": [found.id for found in new],
        "targets": {name: _target(one) for name, one in states.items()},
    }
    return Record(events, campaign, finished, findings, judged, new, about, ended.cases)


def _target(state: State) -> dict[str, Any]:
    """What ``campaign.json`` says of a target: its schedule, and what it has come to."""
    return {
        "batches": state.schedule.number,
        "cases": state.cases,
        "corpus": len(state.corpus),
        "behaviours": Map(state.map).species[0],
        "disagreements": len(state.disagreements),
        "arms": {arm.name: asdict(arm) for arm in state.schedule.arms},
        "nanoseconds a byte": state.costs,
    }


def _committed(
    plan: FuzzPlan, states: Mapping[str, State], findings: Sequence[Found]
) -> Iterator[Event]:
    """What all targets have come to."""
    # Targets of one vocabulary are opened alike.
    events: dict[object, Event] = {
        event.to_json(): event for one in states.values() for event in one.opening()
    }
    yield from events.values()
    for one in states.values():
        yield from one.totals.values()
        yield from one.unsettled.values()
    yield from findings
    there = {found.id for found in findings}  # another target may still have it
    events = {
        found.id: FindingFixed(found.id, found.bucket, found.vocabulary)
        for one in states.values()
        for found in one.fixed
        if found.id not in there
    }
    for one in states.values():
        for who, why in one.withdrawn.items():
            for event in one.opening():
                if isinstance(event, VocabularyLoaded):
                    line = f"{why.splitlines()[0]}, for a while"
                    events[who, event.id] = Withdrawn(who, event.id, line)
    yield from events.values()
    reached = {plan.targets[name][0] for name, one in states.items() if one.cases}
    yield from (NotReached(one, NO_ROUND) for one in plan.plan.vocabularies if one not in reached)
    yield from (Counted(*one) for one in counts_of(states).items())


def counts_of(states: Mapping[str, State]) -> Counter[str]:
    """How often each bucket was counted."""
    counts: Counter[str] = Counter()
    for one in states.values():
        counts.update(one.counts)
    return counts


def noted(plan: Plan, states: Mapping[str, State], tally: Tally, save: Save) -> list[Found]:
    """Findings that no input brings back: processes left behind, and claims that nobody kept."""
    lines = {
        Status.LEFT_PROCESSES: {
            who: why for one in states.values() for who, why in one.left.items()
        },
        Status.FALSE_CLAIM: claim_findings.broken(plan, tally),
    }
    asked = Coverage.of(event for one in states.values() for event in one.opening())
    tracker = FindingTracker(lambda event: None, save, plan.expectations, plan.versions)
    for status, some in lines.items():
        claim_findings.note(tracker, some, plan, asked, status)
    return tracker.findings


def merged(plan: FuzzPlan, several: Iterable[Iterable[Found]]) -> list[Found]:
    """The findings of all targets: of one found by several, the smallest input.

    Whether one is expected is decided by today's expectations, whatever was so when it was found.
    """

    def size(found: Found) -> tuple[object, ...]:
        return (*smallness(found.input), not found.minimal)

    expected = ExpectedFindings(plan.plan.expectations, plan.plan.versions)
    smallest: dict[str, Found] = {}
    for found in itertools.chain(*several):
        smallest[found.id] = min(smallest.get(found.id, found), found, key=size)
    today = []
    for found in smallest.values():
        entry = expected.still(found)
        reason, link = (entry.reason, entry.link) if entry else (None, None)
        today.append(replace(found, expected=reason, link=link))
    return today


def _finished(
    events: Sequence[Event],
    judged: Sequence[ExpectationJudged],
    tally: Tally,
    seconds: float,
    ended: Ended,
) -> Finished:
    coverage = Coverage.of(events)
    verdict = gate.judge(judged, (), coverage, complete=ended.how is None)
    value, reasons, status = verdict.value, list(verdict.reasons), verdict.exit_status
    if ended.canary is False:
        value, status = FAIL, status if value == FAIL else exit_statuses.FAILS
        reasons.insert(0, ended.said)
    if ended.how is not None:
        value, status = FAIL, ended.exit_status
        reasons.insert(0, f"{ended.how}: what was committed is kept, and goes on from there")
    fixed = [event.bucket for event in events if isinstance(event, FindingFixed)]
    more = [f"and {len(fixed) - FIXED_SHOWN} more"] * (len(fixed) > FIXED_SHOWN)
    shown = ", ".join([*fixed[:FIXED_SHOWN], *more])
    return Finished(
        complete=ended.how is None,
        verdict=value,
        reasons=reasons,
        seconds=seconds,
        cases=coverage.cases,
        comparisons=coverage.comparisons,
        exit_status=status,
        notes=[
            *verdict.notes,
            *counted("slow once under load, and answered when asked again alone", tally.excused),
            *[f"fixed, as it no longer shows: {shown}"] * bool(fixed),
            *went_on((), ended.least, (), ended.late),
        ],
    )


def _campaign(
    store: CampaignStore, states: Mapping[str, State], seconds: float, ended: Ended
) -> Campaign:
    """What reports tell of the campaign.

    Its outlooks are on the next hour, of behaviours, shapes of disagreement, and buckets of
    findings.
    """
    cases = sum(one.cases for one in states.values())
    rate = cases / seconds if seconds else 0.0
    ahead = rate * HOUR
    maps = [Map(one.map).species for one in states.values()]
    species = {"behaviours": Abundance(cases, *map(sum, zip((0, 0, 0), *maps, strict=True)))}
    shapes = [n for one in states.values() for n in one.disagreements.values()]
    buckets = list(counts_of(states).values())
    for kind, counts in (("disagreements", shapes), ("findings", buckets)):
        species[kind] = Abundance(cases, len(counts), counts.count(1), counts.count(2))
    outlooks = [
        Outlook(
            kind=kind,
            seen=seen.species,
            once=seen.once,
            twice=seen.twice,
            chance=estimate.chance(seen, ahead),
            to_come=estimate.expected(seen, ahead),
            next=estimate.discovery(seen),
        )
        for kind, seen in species.items()
    ]
    return Campaign(
        name=store.name,
        time=store.row.started,
        rate=rate,
        canary=ended.canary,
        said=ended.said,
        source=estimate.SOURCE,
        ahead=f"{ahead:,.0f} cases",
        outlooks=outlooks,
        curves={name: one.curve for name, one in states.items()},
    )
