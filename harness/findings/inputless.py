"""Findings of survival that no single input brings about: there is nothing to ask or minimise.

**What is left behind.** A process that has left its worker's session outlives the program that uses
the library, unless somebody finds it. The harness finds and kills it
(:mod:`harness.workers.keeper`), and says so: a finding at the stage ``left-processes``.

**False claims.** What an implementation answers to be unsupported is no failure of a single input.
Where it claims a capability and answers so to all requests of a run, that is a finding at the stage
``false-claim``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import Case
from harness.checks.base import Violation
from harness.core.outcomes import Failed, Status
from harness.core.partition import Part
from harness.findings.entries import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.core.comparisons import Contract
    from harness.findings.entries import Tracker

CHECK = "survival"

ORIGINS = {Status.LEFT_PROCESSES: "end of the worker", Status.FALSE_CLAIM: "claims"}
"""What stands in place of the name of a generator."""


def note(
    tracker: Tracker,
    status: Status,
    lines: Mapping[str, str],
    contracts: Mapping[str, Contract],
    seed: int,
) -> None:
    """Enter a finding for each implementation of which there is a line.

    contracts: the last one under which each was asked; of who was never asked nothing is said, as
    its failure to load is.
    """
    for name, line in lines.items():
        if name in contracts:
            tracker.note(entry_of(contracts[name], status, name, line, seed))


def entry_of(contract: Contract, status: Status, name: str, line: str, seed: int) -> Entry:
    """What an implementation did, ``line`` says exactly what."""
    parts = (Part((name,), Failed(status, line)),)
    violation = Violation(CHECK, 0, b"", parts, (name,), stage=status.label)
    return Entry(contract, violation, Case(b"", ORIGINS[status], seed, 0))
