"""What one target found interesting reaches the others of its algorithm, alike wherever they run.

Where the budget is a number of cases, all targets go on to the same number, and then each is given
what the others have kept since the last time: so that what it is given depends on what was
committed, and neither on who is fast nor on which machine. The numbers grow by a factor, as a
target that waits for the others costs time. A session that is limited by time crosses what earlier
sessions have committed, when it begins. An endless one crosses nothing: it would depend on where it
was cut off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.comparisons import algorithm_of
from harness.studies.fuzz.arms import SHARED
from harness.studies.fuzz.plan import target_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.studies.fuzz.corpus import Entry
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import Kept
    from harness.studies.fuzz.store import CampaignStore

FIRST = 2000
"""The first crossing is after so many cases of each target."""

FACTOR = 4
"""The next one is after so many times as many."""

OFFERED = 16
"""Inputs that a target offers at a time: those that showed most behaviours."""

GIVEN = 128
"""Inputs that a target is given at a time."""


def limit(cases: int | None, crossed: int) -> int | None:
    """The number of cases at which a target stops that has crossed so often; None for no end."""
    return None if cases is None else min(cases, FIRST * FACTOR**crossed)


def cross_in_time(plan: FuzzPlan, store: CampaignStore) -> None:
    """Cross what earlier sessions have committed, for one that is limited by time."""
    if plan.plan.budget.seconds is not None:
        _cross(plan, store, 0)


def cross_next(plan: FuzzPlan, store: CampaignStore) -> bool:
    """Cross when all targets have stopped; whether they go on after it."""
    cases = plan.plan.budget.cases
    if cases is None:
        return False
    kept = store.targets(plan.names).values()
    crossed = max((one.state.crossed for one in kept), default=0)
    if limit(cases, crossed) == cases:
        return False
    return _cross(plan, store, 1)


def _cross(plan: FuzzPlan, store: CampaignStore, counted: int) -> bool:
    """Commit to all targets at once what each is given; whether there was any target.

    counted: by how much the number of crossings grows.
    """
    kept = store.targets(plan.names)
    algorithms = {
        target_name(source, shard): algorithm_of(plan.plan.vocabularies[source]())
        for source, shard in plan.targets
    }
    offered = {name: offer(one) for name, one in kept.items()}
    rounds = []
    for name, one in kept.items():
        others = [
            offered[other]
            for other in kept
            if other != name and algorithms[other] == algorithms[name]
        ]
        one.state.given += given(one, others)
        one.state.offered = len(one.state.corpus)
        one.state.crossed += counted
        rounds.append(one.round(name))
    store.commit(rounds)
    return bool(rounds)


def offer(kept: Kept) -> list[Entry]:
    """What a target offers: the best of what it has kept since the last time, others' left out."""
    new = [one for one in kept.state.corpus[kept.state.offered :] if one.origin != SHARED]
    return sorted(new, key=lambda one: -one.fresh)[:OFFERED]


def given(kept: Kept, others: Sequence[Sequence[Entry]]) -> list[bytes]:
    """What a target is given of the others' offers, the best of each first, but what it has."""
    known = {one.data for one in kept.state.corpus}
    found: dict[bytes, None] = {}
    for place in range(OFFERED):
        for offers in others:
            if place < len(offers) and offers[place].data not in known:
                found[offers[place].data] = None
    return list(found)[:GIVEN]
