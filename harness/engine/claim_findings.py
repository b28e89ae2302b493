"""False claims as findings of a whole run: from its sums, and from the record of who was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.core.comparisons import contracts_of
from harness.core.outcomes import Status
from harness.findings.entries import inputless
from harness.workers.claims import Claim, false_claims
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from harness.core.comparisons import Contract
    from harness.engine.plan import Plan, Tally
    from harness.findings.tracker import FindingTracker
    from harness.verdict.coverage import Coverage


def broken(plan: Plan, tally: Tally) -> dict[str, str]:
    """A line for each candidate that claims what it never shows, where survival is checked.

    Libraries that tokgate knows by name are left out, and their releases (``pip:``) as well: there
    the adapter claims, for all vocabularies at once.
    """
    if CHECKS["survival"] not in plan.checks:
        return {}
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
    status: Status = Status.FALSE_CLAIM,
) -> None:
    """Enter a finding for each of the lines whose implementation was asked.

    status: what the lines say. record: says who was asked on which vocabulary, by whomever.
    The last of them in the order of the plan is told.
    """
    places = {source: place for place, source in enumerate(plan.vocabularies)}
    sources = {one.id: one.source for one in record.vocabularies.values() if one.source in places}
    opened = [one for one in record.contracts.values() if one.vocabulary in sources]
    opened.sort(key=lambda one: places[sources[one.vocabulary]])
    last = {name: one for one in opened for name in one.implementations}
    for name in [one for one in lines if one in last]:
        where = last[name]
        source = sources[where.vocabulary]
        contract = contract_of(plan, source, where.id, where.implementations)
        tracker.note(inputless(contract, status, name, lines[name], plan.seed))


def contract_of(plan: Plan, source: str, name: str, who: Collection[str]) -> Contract:
    """A contract of a vocabulary by its id, with those who took part in it."""
    members = [one for one in plan.participants if one.name in who]
    made = contracts_of(plan.vocabularies[source](), members, plan.references, proper=True)
    return next(one for one in made if one.id == name)
