"""Capabilities that candidates claim and never show, as findings.

What an implementation answers to be unsupported is no failure of a single input. Where it claims a
capability and answers so to all requests of a run, that is a finding of survival at the stage
``false-claim``, one for each implementation. Libraries that tokgate knows by name are left out, and
their releases (``pip:``) as well: there the adapter claims, for all vocabularies at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import Case
from harness.checks.base import Violation
from harness.core.outcomes import Failed, Status
from harness.core.partition import Part
from harness.findings.entries import Entry
from harness.findings.left_processes import CHECK
from harness.workers.claims import Claim, false_claims
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from harness.findings.entries import Tracker

STAGE = Status.FALSE_CLAIM.label

NO_GENERATOR = "claims"
"""The origin of such a finding, which stands in place of the name of a generator."""


def broken(
    claims: Iterable[tuple[str, str, int, bool, str]], participants: Sequence[Participant]
) -> dict[str, str]:
    """A line for each candidate that claims what it never shows. claims: of the whole run."""
    candidates = {
        one.name
        for one in participants
        if not registry.built_in(one.spec) and not registry.our_own(one.spec)
        if not one.spec.startswith("pip:")
    }
    return false_claims(Claim(*one) for one in claims if one[0] in candidates)


def enter(tracker: Tracker, contract: Contract, name: str, line: str, seed: int) -> None:
    """Enter a finding under a contract of an implementation."""
    parts = (Part((name,), Failed(Status.FALSE_CLAIM, line)),)
    violation = Violation(CHECK, 0, b"", parts, (name,), stage=STAGE)
    tracker.note(Entry(contract, violation, Case(b"", NO_GENERATOR, seed, 0)))
