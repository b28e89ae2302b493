"""Findings of a whole run that no case shows: false claims, and processes that were left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Status
from harness.findings.entries import inputless
from harness.workers.claims import Claim, false_claims
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.engine.plan import Plan, Tally
    from harness.findings.tracker import FindingTracker
    from harness.verdict.coverage import Coverage


def broken(plan: Plan, tally: Tally) -> dict[str, str]:
    """A line for each candidate that claims what it never shows.

    Libraries that tokgate knows by name are left out, and their releases (``pip:``) as well: there
    the adapter claims, for all vocabularies at once.
    """
    candidates = {
        one.name
        for one in plan.participants
        if not registry.built_in(one.spec) and not registry.our_own(one.spec)
        if not one.spec.startswith("pip:")
    }
    return false_claims(Claim(*one) for one in tally.claims if one[0] in candidates)


def note(
    tracker: FindingTracker,
    lines: Mapping[str, str],
    plan: Plan,
    record: Coverage,
    status: Status,
) -> None:
    """Enter a finding for each of the lines whose implementation was asked, where survival is
    checked.

    status: what the lines say. record: says who was asked on which vocabulary, by whomever.
    The last of them in the order of the plan is told.
    """
    if CHECKS["survival"] not in plan.checks:
        return
    places = {source: place for place, source in enumerate(plan.vocabularies)}
    sources = {one.id: one.source for one in record.vocabularies.values() if one.source in places}
    opened = [one for one in record.contracts.values() if one.vocabulary in sources]
    opened.sort(key=lambda one: places[sources[one.vocabulary]])
    last = {name: one for one in opened for name in one.implementations}
    for name in [one for one in lines if one in last]:
        where = last[name]
        load = plan.vocabularies[sources[where.vocabulary]]
        members = [one for one in plan.participants if one.name in where.implementations]
        made = contracts_of(load(), members, plan.references, proper=True)
        contract = next(one for one in made if one.id == where.id)
        tracker.note(inputless(contract, status, name, lines[name], plan.seed))
