"""What implementations leave behind when their workers end, as findings.

A process that has left its worker's session outlives the program that uses the library, unless
somebody finds it. The harness finds and kills it (:mod:`harness.workers.keeper`), and says so: a
finding of survival at the stage ``left-processes``. No single input is to blame, as far as anybody
knows, so it has none, and is neither asked again nor minimised.
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

NO_GENERATOR = "end of the worker"
"""The origin of such a finding, which stands in place of the name of a generator."""


def violation_of(name: str, line: str) -> Violation:
    """What an implementation did that left processes behind; ``line`` says which."""
    outcome = Failed(Status.LEFT_PROCESSES, line)
    parts = (Part((name,), outcome),)
    return Violation(CHECK, 0, b"", parts, (name,), stage=outcome.status.label)


def note(
    tracker: Tracker, left: Mapping[str, str], contracts: Mapping[str, Contract], seed: int
) -> list[str]:
    """Enter a finding for each implementation that left something; their buckets.

    left: a line each. contracts: the last one under which each was asked; of who was never asked
    nothing is said, as its failure to load is.
    """
    case = Case(b"", NO_GENERATOR, seed, 0)
    return [
        tracker.note(Entry(contracts[name], violation_of(name, line), case))
        for name, line in left.items()
        if name in contracts
    ]
