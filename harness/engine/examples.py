"""The examples of the expectations file: whether each entry was exercised, and whether it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.findings.entries import EXAMPLES, UNSURE, Entry
from harness.verdict.coverage import EQUIVALENCE
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.checks.base import Check, Violation
    from harness.core.comparisons import Contract
    from harness.engine.plan import Plan
    from harness.findings.tracker import FindingTracker
    from harness.verdict.expectations import Expectation
    from harness.workers.pool import WorkerPool

    Due = tuple[Contract, int, Check, Expectation]


@dataclass(frozen=True, slots=True)
class Exercise:
    """What the examples of one entry came to on a vocabulary; place: of the entry in the plan.

    shown: one of its examples shows what the entry says, and something is wrong with all of them
    that were answered; or one of them shows it, where the entry is about several vocabularies.
    """

    place: int
    exercised: bool
    shown: bool


def due(plan: Plan, contracts: Sequence[Contract]) -> Iterator[Due]:
    """The entries with examples that concern contracts, each with its place and its check."""
    for contract in contracts:
        for place, expectation in enumerate(plan.expectations):
            if not expectation.examples or not expectation.asked:
                continue
            if not expectation.concerns(contract, plan.versions):
                continue
            check = CHECKS.get(expectation.bucket.split("/")[0])
            if check is not None and check.applies(contract) and check in plan.checks:
                yield contract, place, check, expectation


def exercises(
    plan: Plan, tracker: FindingTracker, pool: WorkerPool, contracts: Sequence[Contract]
) -> Iterator[Exercise]:
    """Run the examples of the expectations that concern contracts, and enter what they show.

    contracts: all of one vocabulary. Where time is up, the rest are not exercised. Raises Stopped.
    """
    by_place: dict[int, list[Due]] = {}
    for one in due(plan, contracts):
        by_place.setdefault(one[1], []).append(one)
    known = {one.id: together(pool, one, by_place) for one in contracts}
    for place, places in by_place.items():
        expectation = places[0][3]
        shown, wrong, unjudged = False, set[bytes](), set[bytes]()
        certain = not places[0][2].by_chance
        for contract, _, check, _ in places:
            violations = []
            for example in dict.fromkeys(expectation.examples):
                found = known[contract.id].get(example) if check.name == EQUIVALENCE else None
                if found is None:
                    try:
                        judgement = examine(pool, contract, check, [example])
                    except OutOfTime:
                        unjudged.add(example)
                        continue
                    found = judgement.violations
                    if not all(judgement.exercised[name] for name in expectation.implementations):
                        unjudged.add(example)
                violations += found
            for violation in violations:
                case = Case(violation.data, EXAMPLES, plan.seed, place)
                with pool.turn:
                    name = tracker.consider(pool, Entry(contract, violation, case))
                # A violation that could not be told in time may be the one that is expected.
                certain &= name != UNSURE
                shown |= expectation.shows_in(name, contract.vocabulary.id)
                about = expectation.implementations.keys()
                if not about or not about.isdisjoint(violation.culprits):
                    wrong.add(violation.data)
        # Beside others an example may show at another stage: it is gone where nothing is wrong.
        right = set(expectation.examples) - wrong - unjudged
        gone = expectation.one_vocabulary and bool(right)
        certain &= shown or gone or not unjudged
        yield Exercise(place, certain, shown and not gone)


def together(
    pool: WorkerPool, contract: Contract, by_place: Mapping[int, Sequence[Due]]
) -> dict[bytes, list[Violation]]:
    """What is wrong with each example of a comparison, of all that are asked at once.

    Nothing where somebody did not answer all of them: then each is asked by itself, as are those of
    other checks. Raises Stopped.
    """
    mine = [
        expectation
        for places in by_place.values()
        for where, _, check, expectation in places
        if where is contract and check.name == EQUIVALENCE
    ]
    asked = list(dict.fromkeys(example for one in mine for example in one.examples))
    if len(asked) < 2:
        return {}
    try:
        judgement = examine(pool, contract, CHECKS[EQUIVALENCE], asked)
    except OutOfTime:
        return {}
    names = {name for one in mine for name in one.implementations} & set(contract.names)
    if any(judgement.exercised[name] < len(asked) for name in names):
        return {}
    found: dict[bytes, list[Violation]] = {example: [] for example in asked}
    for violation in judgement.violations:
        found[violation.data].append(violation)
    return found
