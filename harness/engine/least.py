"""The smallest share: how much of what a user named is examined, however little time there is.

A gate that has not looked at what it was asked about says nothing. So a slow or busy machine takes
longer than the budget, but never ends without having examined it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.verdict.coverage import LEAST_CASES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from harness.checks.base import Observation
    from harness.core.comparisons import Contract
    from harness.engine.plan import Plan
    from harness.verdict.coverage import Coverage

MOST_ASKED = 20 * LEAST_CASES
"""An implementation that declines nearly all inputs is asked no more than so many."""

MOST_FOR_CHECKS = 5 * LEAST_CASES
"""Nor are more inputs asked under a comparison for a check that has nothing to say of any."""


@dataclass(slots=True)
class Share:
    """What is still owed to the user on one vocabulary.

    named: implementations that the user named, or all of a vocabulary that the user named. checks:
    those that the user named. coverage: what was examined so far. asked: cases that were asked for
    the sake of the share alone. answering: whether any of them was answered, by contract and
    implementation. vain: who hangs, and answered nothing of what was asked: once more would only
    take time.
    """

    named: Collection[str]
    checks: Sequence[str]
    coverage: Coverage
    asked: dict[str, int] = field(default_factory=dict)
    answering: dict[tuple[str, str], bool] = field(default_factory=dict)
    vain: set[str] = field(default_factory=set)

    def owing(self, contract: Contract, withdrawn: Collection[str]) -> list[str]:
        """Who is asked on under a contract: whoever has not had its share, or all for a check."""
        asked = self.asked.get(contract.id, 0)
        if asked >= MOST_ASKED:
            return []
        present = [n for n in contract.names if n not in withdrawn and n not in self.vain]
        if asked < MOST_FOR_CHECKS and any(
            one.name in self.checks
            and one.applies(contract)
            and not any(self.coverage.judged[contract.id, one.name, n] for n in contract.names)
            for one in CHECKS.values()
        ):
            return present
        return [
            name
            for name in present
            if name in self.named
            and self.coverage.cases_of(name, contract.id, contract.exact) < LEAST_CASES
        ]

    def note(self, seen: Observation, hung: Collection[str]) -> None:
        """Take note of cases that were asked. hung: who was found to time out."""
        place = seen.contract.id
        self.asked[place] = self.asked.get(place, 0) + len(seen.inputs)
        answered = {name for name, results in seen.results.items() if results.answered.any()}
        for name in seen.results:
            known = self.answering.get((place, name), False)
            self.answering[place, name] = known or name in answered
        self.vain |= set(hung) & (seen.results.keys() - answered)

    def with_companions(
        self, contract: Contract, names: Collection[str], withdrawn: Collection[str]
    ) -> Contract:
        """A contract with these and whom they are compared with.

        That is the references and their engines, or else all others; never somebody who answers
        nothing, as far as is known.
        """
        able = {
            name
            for name in contract.names
            if name in names
            or (name not in withdrawn and self.answering.get((contract.id, name), True))
        }
        engines = {one.about.engine for one in contract.participants if one.name in names}
        trusted = {*contract.references, *engines} & able
        some = {*names, *trusted}
        return contract.among(some if trusted and len(some) > 1 else able)


def named_on(plan: Plan, source: str, present: Sequence[str]) -> list[str]:
    """Whom a vocabulary is examined for: those that the user named, or all on a named one."""
    if plan.named:
        return [name for name in present if name in plan.named]
    return list(present) if source in plan.asked.get("vocabularies", ()) else []
