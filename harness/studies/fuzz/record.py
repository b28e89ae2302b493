"""The record of a campaign, made from what its targets have committed: what reports read."""

from __future__ import annotations

import base64
import datetime
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.checks import CHECKS
from harness.core import exit_statuses
from harness.core.outcomes import Status
from harness.engine import claiming
from harness.engine.planning import Tally
from harness.engine.runner import begun, went_on
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
from harness.findings.expecting import ExpectedFindings
from harness.findings.tracker import FindingTracker
from harness.studies.fuzz import estimate
from harness.studies.fuzz.behaviour import Map
from harness.studies.fuzz.estimate import Abundance
from harness.studies.fuzz.folder import smallness
from harness.studies.fuzz.plan import target_name
from harness.verdict import gate
from harness.verdict.coverage import Coverage
from harness.verdict.gaps import counted

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from harness.engine.planning import Plan
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import State
    from harness.studies.fuzz.store import CampaignStore
    from harness.studies.fuzz.target import Save

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

    session_cases: those that this session has committed.
    """

    events: list[Event]
    finished: Finished
    findings: list[Found]
    expectations: list[ExpectationJudged]
    new: list[Found]
    campaign: dict[str, Any]
    session_cases: int = 0


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
    states = {name: one.state for name, one in store.targets(plan.names).items()}
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
    finished = _finished(events, judged, tally, seconds, ended)
    campaign = _campaign(store, states, seconds, ended)
    new = [found for found in findings if found.id not in known]
    about = {
        **_about(campaign, states),
        "seconds": round(seconds, 1),
        "findings": len(findings),
        "new": [found.id for found in new],
    }
    events += [campaign, finished]
    return Record(events, finished, findings, judged, new, about, ended.cases)


def _committed(
    plan: FuzzPlan, states: Mapping[str, State], findings: Sequence[Found]
) -> Iterator[Event]:
    """What all targets have come to."""
    # Targets of one vocabulary are opened alike.
    yield from {
        event.to_json(): event for one in states.values() for event in one.opening()
    }.values()
    for one in states.values():
        yield from one.totals.values()
        yield from one.unsettled.values()
    yield from findings
    there = {found.id for found in findings}  # another target may still have it
    fixed = {found.id: found for one in states.values() for found in one.fixed}
    for found in fixed.values():
        if found.id not in there:
            yield FindingFixed(found.id, found.bucket, found.vocabulary)
    yield from {
        (who, event.id): Withdrawn(who, event.id, f"{why.splitlines()[0]}, for a while")
        for one in states.values()
        for event in one.opening()
        if isinstance(event, VocabularyLoaded)
        for who, why in one.withdrawn.items()
    }.values()
    asked = {name for name, one in states.items() if one.cases}
    reached = {source for source, shard in plan.targets if target_name(source, shard) in asked}
    for source in plan.plan.vocabularies:
        if source not in reached:
            yield NotReached(source, NO_ROUND)
    for bucket, count in counts_of(states).items():
        yield Counted(bucket, count)


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
        Status.FALSE_CLAIM: claiming.broken(plan, tally),
    }
    asked = Coverage.of(event for one in states.values() for event in one.opening())
    tracker = FindingTracker(lambda event: None, save, plan.expectations, plan.versions)
    for status, some in lines.items() if CHECKS["survival"] in plan.checks else ():
        claiming.note(tracker, some, plan, asked, status)
    return tracker.findings


def merged(plan: FuzzPlan, several: Iterable[Iterable[Found]]) -> list[Found]:
    """The findings of all targets: of one found by several, the smallest input.

    Whether one is expected is decided by today's expectations, whatever was so when it was found.
    """

    def size(found: Found) -> tuple[object, ...]:
        return (*smallness(base64.b64decode(found.input_b64)), not found.minimal)

    expected = ExpectedFindings(plan.plan.expectations, plan.plan.versions)
    smallest: dict[str, Found] = {}
    for findings in several:
        for found in findings:
            smallest[found.id] = min(smallest.get(found.id, found), found, key=size)
    today = []
    for found in smallest.values():
        entry = expected.still(found)
        reason, link = (entry.reason, entry.link) if entry else (None, None)
        today.append(replace(found, expected=reason, link=link))
    return today


def _fixed_note(events: Sequence[Event]) -> list[str]:
    """A line on the findings that no longer show, if there are any."""
    names = [event.bucket for event in events if isinstance(event, FindingFixed)]
    shown = ", ".join(names[:FIXED_SHOWN])
    more = f", and {len(names) - FIXED_SHOWN} more" if len(names) > FIXED_SHOWN else ""
    return [f"fixed, as it no longer shows: {shown}{more}"] if names else []


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
            *_fixed_note(events),
            *went_on((), ended.least, (), ended.late),
        ],
    )


def _campaign(
    store: CampaignStore, states: Mapping[str, State], seconds: float, ended: Ended
) -> Campaign:
    """What reports tell of the campaign."""
    cases = sum(one.cases for one in states.values())
    rate = cases / seconds if seconds else 0.0
    ahead = rate * HOUR
    return Campaign(
        name=store.name,
        time=store.row.started,
        rate=rate,
        canary=ended.canary,
        said=ended.said,
        source=estimate.SOURCE,
        ahead=f"{ahead:,.0f} cases",
        outlooks=[
            Outlook(
                kind=name,
                seen=seen.species,
                once=seen.once,
                twice=seen.twice,
                chance=estimate.chance(seen, ahead),
                to_come=estimate.expected(seen, ahead),
                next=estimate.discovery(seen),
            )
            for name, seen in abundances(states, cases).items()
        ],
        curves={name: one.curve for name, one in states.items()},
    )


def abundances(states: Mapping[str, State], cases: int) -> dict[str, Abundance]:
    """How often behaviours, shapes of disagreement, and buckets of findings were seen."""
    maps = [Map(one.map).species for one in states.values()]
    behaviours = map(sum, zip((0, 0, 0), *maps, strict=True))
    shapes = [n for one in states.values() for n in one.disagreements.values()]
    found = {"disagreements": shapes, "findings": list(counts_of(states).values())}
    return {
        "behaviours": Abundance(cases, *behaviours),
        **{
            kind: Abundance(cases, len(counts), counts.count(1), counts.count(2))
            for kind, counts in found.items()
        },
    }


def _about(campaign: Campaign, states: Mapping[str, State]) -> dict[str, Any]:
    """``campaign.json``: the schedule, the corpus, what is yet to be found."""
    return {
        "name": campaign.name,
        "started": campaign.time,
        "cases": sum(one.cases for one in states.values()),
        "cases_per_second": round(campaign.rate, 1),
        "canary": {"found": campaign.canary, "said": campaign.said},
        "estimates": {
            "source": campaign.source,
            "next hour": f"{campaign.rate * HOUR:.0f} cases",
            **{
                one.kind: {
                    "seen": one.seen,
                    "once": one.once,
                    "twice": one.twice,
                    "chance of a new one": one.chance,
                    "expected new ones": one.to_come,
                    "chance with the next case": one.next,
                }
                for one in campaign.outlooks
            },
        },
        "strands": {
            name: {
                "batches": one.batches,
                "cases": one.cases,
                "corpus": len(one.corpus),
                "behaviours": Map(one.map).species[0],
                "disagreements": len(one.disagreements),
                "arms": {arm.name: asdict(arm) for arm in one.schedule},
                "curve": one.curve,
                "nanoseconds a byte": one.costs,
            }
            for name, one in states.items()
        },
    }
