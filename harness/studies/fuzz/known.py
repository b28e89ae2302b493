"""What a campaign has found before is asked again when a session begins: what is fixed is no
finding.

Only what came back when it was asked alone can be seen to be gone: what shows by chance, a death
that did not come back, and what there was no time to ask again stay. So does what its culprits do
not answer now. What was fixed is asked again in later sessions, too, and is new where it comes
back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.findings.entries import Entry
from harness.findings.patience import NO_TIME
from harness.findings.tracker import ON_ITS_WAY, FindingTracker

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from harness.core.comparisons import Contract
    from harness.events import Found
    from harness.findings.causes import Snapshot
    from harness.workers.pool import WorkerPool

TIMES = 2
"""How often an input is asked twice in a row, with the empty input before."""


def asked_again(
    findings: Sequence[Found],
    fixed: Sequence[Found],
    contracts: Mapping[str, Contract],
    pool: WorkerPool,
    tracker: FindingTracker,
) -> list[Found]:
    """Have a tracker know what still shows, and what shows again; gives what is fixed now.

    fixed: what was fixed before. contracts: those that are open, by id. Raises Stopped.
    """
    gone = [
        one
        for one in findings
        if comes_back(one) and one.contract in contracts
        if _is_fixed(one, contracts[one.contract], pool)
    ]
    tracker.restore(without(tracker.snapshot(), gone))
    for one in fixed:
        if one.contract in contracts:
            _look_for(one, contracts[one.contract], pool, tracker)
    tracker.settle(pool)
    shown = {one.id for one in tracker.findings}
    return [one for one in (*fixed, *gone) if one.id not in shown]


def comes_back(found: Found) -> bool:
    """Whether it came back when it was asked alone, so that it is fixed if it no longer does."""
    alone = found.minimal or found.unminimised not in {None, NO_TIME, ON_ITS_WAY}
    return alone and found.check in CHECKS and not CHECKS[found.check].by_chance


def _is_fixed(found: Found, contract: Contract, pool: WorkerPool) -> bool:
    """Whether its input shows it no more, though all whom it blames answer."""
    data = found.input
    inputs = [data] if found.check == "survival" else [b"", data, data] * TIMES
    judged = examine(pool, contract, CHECKS[found.check], inputs)
    if any(one.data == data and set(one.culprits) & set(found.culprits)
           for one in judged.violations):  # fmt: skip
        return False
    return all(judged.exercised[name] >= inputs.count(data) for name in found.culprits)


def _look_for(found: Found, contract: Contract, pool: WorkerPool, tracker: FindingTracker) -> None:
    """Enter what the input of a finding that was fixed shows now."""
    data = found.input
    for violation in examine(pool, contract, CHECKS[found.check], [data]).violations:
        case = Case(data, found.generator, found.seed, found.index)
        tracker.consider(pool, Entry(contract, violation, case))


def without(known: Snapshot, gone: Collection[Found]) -> Snapshot:
    """What a tracker knows, but for these findings."""
    ids, buckets = {one.id for one in gone}, {one.bucket for one in gone}

    def rest(minimal: Mapping[bytes, str]) -> dict[bytes, str]:
        return {data: bucket for data, bucket in minimal.items() if bucket not in buckets}

    return replace(
        known,
        findings=[one for one in known.findings if one.id not in ids],
        causes=[(who, replace(one, minimal=rest(one.minimal))) for who, one in known.causes],
        counts={name: count for name, count in known.counts.items() if name not in buckets},
    )
