"""False claims as findings of a whole run: from its sums, and from the record of who was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.core.comparisons import contracts_of
from harness.findings import broken_claims
from harness.findings.left_processes import CHECK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.engine.planning import Plan, Tally
    from harness.findings.entries import Tracker
    from harness.verdict.coverage import Coverage


def broken(plan: Plan, tally: Tally) -> dict[str, str]:
    """A line for each candidate that claims what it never shows, where survival is checked."""
    wanted = CHECKS[CHECK] in plan.checks
    return broken_claims.broken(tally.claims, plan.participants) if wanted else {}


def note(tracker: Tracker, lines: Mapping[str, str], plan: Plan, record: Coverage) -> None:
    """Enter a finding for each of the lines whose implementation was asked.

    record: says who was asked on which vocabulary, by whomever and in whichever sitting. The last
    of them in the order of the plan is told.
    """
    places = {source: place for place, source in enumerate(plan.vocabularies)}
    sources = {one.id: one.source for one in record.vocabularies.values() if one.source in places}
    opened = [one for one in record.contracts.values() if one.vocabulary in sources]
    opened.sort(key=lambda one: places[sources[one.vocabulary]])
    last = {name: one for one in opened for name in one.implementations}
    for name in [one for one in lines if one in last]:
        source, who = sources[last[name].vocabulary], last[name].implementations
        members = [one for one in plan.participants if one.name in who]
        made = contracts_of(plan.vocabularies[source](), members, plan.references, proper=True)
        for contract in made:
            if contract.id == last[name].id:
                broken_claims.enter(tracker, contract, name, lines[name], plan.seed)
