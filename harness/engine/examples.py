"""The examples of the expectations file: whether each entry was exercised, and whether it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.findings.tracker import UNSURE
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.checks.base import Check
    from harness.core.comparisons import Contract
    from harness.engine.planning import Plan
    from harness.findings.entries import Tracker
    from harness.verdict.expectations import Expectation
    from harness.workers.pool import WorkerPool

    Due = tuple[Contract, int, Check, Expectation]


@dataclass(frozen=True, slots=True)
class Exercise:
    """What the examples of one entry came to; place: of the entry in the plan."""

    place: int
    exercised: bool
    shown: bool


def due(plan: Plan, contracts: Sequence[Contract]) -> Iterator[Due]:
    """The entries with examples that concern contracts, each with its place and its check."""
    for contract in contracts:
        for place, expectation in enumerate(plan.expectations):
            if not expectation.examples or not expectation.concerns(contract, plan.versions):
                continue
            check = CHECKS.get(expectation.bucket.split("/")[0])
            if check is not None and check.applies(contract) and check in plan.checks:
                yield contract, place, check, expectation


def exercises(
    plan: Plan, tracker: Tracker, pool: WorkerPool, contracts: Sequence[Contract]
) -> Iterator[Exercise]:
    """Run the examples of the expectations that concern contracts, and enter what they show.

    Where time is up, the rest are not run. Raises Stopped.
    """
    for contract, place, check, expectation in due(plan, contracts):
        try:
            judgement = pool.examine(contract, check, expectation.examples)
        except OutOfTime:
            return
        names: list[str] = []
        for violation in judgement.violations:
            case = Case(violation.data, "expectations", plan.seed, place)
            with pool.turn:
                names.append(tracker.consider(pool, contract, violation, case))
        shown = any(expectation.shows_in(name, contract.vocabulary.id) for name in names)
        asked = all(judgement.exercised[name] for name in expectation.implementations)
        # A violation that could not be told in time may be the one that is expected.
        certain = UNSURE not in names
        yield Exercise(place, asked and (certain or shown), shown)
