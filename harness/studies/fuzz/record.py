"""The record of a campaign, made from what its targets have committed: what reports read."""

from __future__ import annotations

import base64
import datetime
import os
import platform
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.confinement import probing
from harness.core import exit_statuses
from harness.engine.planning import Tally, budget_text
from harness.engine.runner import asked, versions, went_on
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
    Started,
    VocabularyLoaded,
    Withdrawn,
)
from harness.findings.expecting import ExpectedFindings
from harness.studies.fuzz import estimate
from harness.studies.fuzz.amending import together
from harness.studies.fuzz.behaviour import Map
from harness.studies.fuzz.estimate import Abundance
from harness.studies.fuzz.plan import target_name
from harness.verdict import gate
from harness.verdict.coverage import Coverage
from harness.verdict.gaps import counted
from impls.specs import from_anywhere

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import Kept
    from harness.studies.fuzz.store import CampaignStore

HOUR = 3600.0

FIXED_SHOWN = 8
"""Findings that a line names of those that no longer show."""

NO_ROUND = "no round was finished in the time; give a larger --budget"
"""Said of a vocabulary on which a campaign has not committed anything."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session came to its end. how: in words, where it was cut off. exit_status: of that.

    canary: None where none rides, else whether it was found; said: what is known about it.
    cases: committed in the session. awaited, late: who might hang and was waited for after its
    time, and for how many seconds. least: vocabularies that had their first round then. cluster:
    what it did in the session, if there was one.
    """

    how: str | None = None
    exit_status: int = 0
    canary: bool | None = None
    said: str = ""
    cases: int = 0
    awaited: frozenset[str] = frozenset()
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
    command: str,
    known: Container[str],
    ended: Ended,
) -> Record:
    """What the campaign came to so far. known: ids of findings from before this session.

    Raises LedgerError.
    """
    kept = store.targets(plan.names)
    findings = merged(plan, kept)
    tally = together(kept.values())
    judged = gate.judge_expectations(
        plan.plan.expectations,
        findings,
        tally.exercised - tally.unsure,
        tally.shown,
        plan.plan.versions,
        datetime.datetime.now(datetime.UTC).date(),
    )
    seconds = store.seconds
    counts: Counter[str] = Counter()
    opened: dict[str, Event] = {}
    for one in kept.values():
        counts.update(one.state.counts)
        # Targets of one vocabulary are opened alike.
        opened |= {event.to_json(): event for event in one.state.opening()}
    begun = {name for name, one in kept.items() if one.state.cases}
    reached = {source for source, shard in plan.targets if target_name(source, shard) in begun}
    events: list[Event] = [
        _started(plan, store, command),
        *opened.values(),
        *(done for one in kept.values() for done in one.state.done()),
        *findings,
        *fixed(kept.values(), findings),
        *withdrawals(kept.values()),
        *(
            NotReached(source, NO_ROUND)
            for source in plan.plan.vocabularies
            if source not in reached
        ),
        *(Counted(bucket, count) for bucket, count in counts.items()),
        *judged,
        *([ended.cluster] if ended.cluster else []),
    ]
    finished = _finished(plan, events, judged, tally, seconds, ended)
    campaign = _campaign(store, kept, counts, seconds, ended)
    events += [campaign, finished]
    new = [found for found in findings if found.id not in known]
    about = _about(campaign, kept, findings, new, seconds, ended)
    return Record(events, finished, findings, judged, new, about, ended.cases)


def merged(plan: FuzzPlan, kept: Mapping[str, Kept]) -> list[Found]:
    """The findings of all targets: of one found by several, the smallest input.

    Whether one is expected is decided by today's expectations, whatever was so when it was found.
    """
    expected = ExpectedFindings(plan.plan.expectations, plan.plan.versions)
    smallest: dict[str, Found] = {}
    for one in kept.values():
        for found in one.state.findings:
            other = smallest.get(found.id)
            if other is None or _size(found) < _size(other):
                smallest[found.id] = found
    today = []
    for found in smallest.values():
        entry = expected.still(found)
        reason, link = (entry.reason, entry.link) if entry else (None, None)
        today.append(replace(found, expected=reason, link=link))
    return today


def _size(found: Found) -> tuple[tuple[int, bytes], bool]:
    return smallness(base64.b64decode(found.input_b64)), not found.minimal


def smallness(data: bytes) -> tuple[int, bytes]:
    """By which inputs of one finding are compared: the least stands for it."""
    return len(data), data


def withdrawals(kept: Iterable[Kept]) -> list[Withdrawn]:
    """Who was not asked for a while, on which vocabulary, and why."""
    found: dict[tuple[str, str], Withdrawn] = {}
    for one in kept:
        for event in one.state.opening():
            if isinstance(event, VocabularyLoaded):
                for name, why in one.state.withdrawn.items():
                    withdrawn = Withdrawn(name, event.id, f"{why.splitlines()[0]}, for a while")
                    found.setdefault((name, event.id), withdrawn)
    return list(found.values())


def fixed(kept: Iterable[Kept], findings: Sequence[Found]) -> list[FindingFixed]:
    """The findings that no longer show, each once; not where another target still has it."""
    there = {found.id for found in findings}
    gone = {
        one.id: FindingFixed(one.id, one.bucket, one.vocabulary)
        for target in kept
        for one in target.state.fixed
    }
    return [event for name, event in gone.items() if name not in there]


def _fixed_note(events: Sequence[Event]) -> list[str]:
    """A line on the findings that no longer show, if there are any."""
    names = [event.bucket for event in events if isinstance(event, FindingFixed)]
    shown = ", ".join(names[:FIXED_SHOWN])
    more = f", and {len(names) - FIXED_SHOWN} more" if len(names) > FIXED_SHOWN else ""
    return [f"fixed, as it no longer shows: {shown}{more}"] if names else []


def _finished(
    plan: FuzzPlan,
    events: Sequence[Event],
    judged: Sequence[ExpectationJudged],
    tally: Tally,
    seconds: float,
    ended: Ended,
) -> Finished:
    coverage = Coverage.of(events)
    found = [event for event in events if isinstance(event, Found)]
    verdict = gate.judge(found, judged, (), coverage, complete=ended.how is None)
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
            *went_on(ended.awaited, ended.least, (), ended.late),
        ],
    )


def _started(plan: FuzzPlan, store: CampaignStore, command: str) -> Started:
    one = plan.plan
    endless = one.budget.seconds is None and one.budget.cases is None
    return Started(
        time=store.started,
        seed=one.seed,
        suite=one.suite.name,
        budget="endless" if endless else budget_text(one),
        command=command,
        versions=versions(one),
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        specs={each.name: from_anywhere(each.spec) for each in one.participants},
        references=sorted(one.references),
        named=asked(one),
        timeout=one.limits.seconds,
        memory=one.limits.memory,
        expect=one.expect,
        folder=str(Path.cwd()),
        confinement=probing.line(one.limits.memory, one.participants),
    )


def _campaign(
    store: CampaignStore,
    kept: Mapping[str, Kept],
    counts: Mapping[str, int],
    seconds: float,
    ended: Ended,
) -> Campaign:
    """What reports tell of the campaign."""
    cases = sum(one.state.cases for one in kept.values())
    rate = cases / seconds if seconds else 0.0
    ahead = rate * HOUR
    return Campaign(
        name=store.name,
        time=store.started,
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
            for name, seen in abundances(kept, counts).items()
        ],
        curves={name: one.state.curve for name, one in kept.items()},
    )


def _about(
    campaign: Campaign,
    kept: Mapping[str, Kept],
    findings: Sequence[Found],
    new: Sequence[Found],
    seconds: float,
    ended: Ended,
) -> dict[str, Any]:
    """``campaign.json``: the schedule, the corpus, what is yet to be found."""
    return {
        "name": campaign.name,
        "started": campaign.time,
        "seconds": round(seconds, 1),
        "cases": sum(one.state.cases for one in kept.values()),
        "cases_per_second": round(campaign.rate, 1),
        "findings": len(findings),
        "new": [found.id for found in new],
        "canary": {"found": ended.canary, "said": ended.said},
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
                "batches": one.state.batches,
                "cases": one.state.cases,
                "corpus": len(one.state.corpus),
                "behaviours": Map(one.state.map).species[0],
                "disagreements": len(one.state.disagreements),
                "arms": {
                    arm.name: {
                        "batches": arm.batches,
                        "cases": arm.cases,
                        "discoveries": round(arm.found, 1),
                        "ended": arm.ended,
                    }
                    for arm in one.state.schedule
                },
                "curve": one.state.curve,
                "nanoseconds a byte": one.state.costs,
            }
            for name, one in kept.items()
        },
    }


def abundances(kept: Mapping[str, Kept], counts: Mapping[str, int]) -> dict[str, Abundance]:
    """How often behaviours, shapes of disagreement, and buckets of findings were seen."""
    cases = sum(one.state.cases for one in kept.values())
    maps = [Map(one.state.map).species for one in kept.values()]
    seen, once, twice = (sum(column) for column in zip((0, 0, 0), *maps, strict=True))
    behaviours = Abundance(cases, seen, once, twice)
    shapes = Counter(n for one in kept.values() for n in one.state.disagreements.values())
    buckets = Counter(counts.values())
    return {
        "behaviours": behaviours,
        "disagreements": Abundance(cases, shapes.total(), shapes[1], shapes[2]),
        "findings": Abundance(cases, buckets.total(), buckets[1], buckets[2]),
    }
