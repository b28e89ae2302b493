"""The tracker of a hunt: every violation is put down to the mistakes that it blames.

Many candidates are compared with one reference in one campaign. So a violation may blame several;
each of them is considered by a tracker of its own, as if it were alone with the reference, and what
that tracker comes to (confirmed, minimised, bucketed) is the name under which it was caught.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.events import BatchDone, ContractOpened, Measured
from harness.findings.entries import Entry
from harness.findings.tracker import FindingTracker
from harness.studies.selftest.events import Sighting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from corpora.generators.base import Case
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.core.partition import Part
    from harness.events import Event, Found
    from harness.workers.pool import WorkerPool

ATTEMPTS = 3
"""Violations of one check that are minimised before another name is believed: one that does not
come back at once may come back as another."""

PATIENCE = 0.3
"""A mistake has its name long before its input is the smallest, and others wait to be caught."""

BROKEN = frozenset({"superlinear", "hungry"})
"""What is said of growth, or of memory, that no bound of a candidate allows for."""

ROUNDS = 1
"""Batches of each generator after which a hunt ends that has caught all: each was tasted."""


@dataclass(slots=True)
class Suspect:
    """What is known of one mistake, or control. check: what it should be found by.

    attempts: by check, how many violations were minimised.
    """

    name: str
    check: str
    tracker: FindingTracker
    sightings: dict[tuple[str, str], Sighting] = field(default_factory=dict)
    attempts: Counter[str] = field(default_factory=Counter)
    superlinear: list[str] = field(default_factory=list)

    @property
    def findings(self) -> list[Found]:
        """What its tracker has."""
        return self.tracker.findings

    @property
    def named(self) -> list[str]:
        """``check/stage`` of its findings, each once."""
        names = [f"{found.check}/{found.stage}" for found in self.findings]
        return list(dict.fromkeys([*names, *(["scaling/"] if self.superlinear else [])]))

    @property
    def known(self) -> bool:
        """Whether it was found under its name."""
        return any(name.partition("/")[0] == self.check for name in self.named)

    def wants(self, check: str) -> bool:
        """Whether another violation of a check is worth minimising: not once it has its name."""
        if self.known or check in {found.check for found in self.findings}:
            return False
        return self.attempts[check] < ATTEMPTS


class Ledger(FindingTracker):
    """A tracker that only sorts: see the module. checks: what each suspect should be found by."""

    def __init__(self, checks: Mapping[str, str]) -> None:
        super().__init__(ignored, unsaved, (), {})
        self.suspects = {
            name: Suspect(name, check, FindingTracker(ignored, unsaved, (), {}, patience=PATIENCE))
            for name, check in checks.items()
        }
        self.cases: Counter[str] = Counter()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._batches: Counter[tuple[str, str]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._began = self._before = time.monotonic()

    def consume(self, event: Event) -> None:
        """Keep count of cases and of time; measured growth is found by its family."""
        if isinstance(event, ContractOpened):
            self._began = self._before = time.monotonic()
        elif isinstance(event, BatchDone):
            self.cases[event.generator] += event.cases
            self._asked[event.contract, event.generator] += event.cases
            self._batches[event.contract, event.generator] += 1
            now = time.monotonic()
            self._seconds[event.generator] += now - self._before
            self._before = now
        elif isinstance(event, Measured):
            suspect = self.suspects.get(event.implementation)
            if suspect is not None and BROKEN & {event.verdict, event.memory_verdict}:
                suspect.superlinear.append(event.family)
                seconds = time.monotonic() - self._began
                sighting = Sighting(event.family, "scaling", 0, seconds, 0, seconds)
                suspect.sightings[event.family, "scaling"] = sighting

    @property
    def unexpected(self) -> bool:
        """Whether nothing is left to hunt: all are caught, and all generators were tried."""
        tried = max(self._batches.values(), default=0) > ROUNDS
        return tried and all(one.known for one in self.suspects.values() if one.check)

    def consider(self, pool: WorkerPool, entry: Entry) -> str:
        """Put a violation down to those whom it blames."""
        contract, violation, case = entry.contract, entry.violation, entry.case
        for name in violation.culprits:
            suspect = self.suspects.get(name)
            if suspect is None or not tells(violation, contract, name):
                continue
            self._sight(suspect, contract, violation, case)
            if suspect.wants(violation.check):
                suspect.attempts[violation.check] += 1
                alone, between = apart(violation, contract, name, set(self.suspects) - {name})
                suspect.tracker.consider(pool, Entry(between, alone, case))
        return ""

    def alike(self, entry: Entry) -> bool:
        """Whether it is like others: each is put down, whatever it is like."""
        return False

    def note(self, entry: Entry) -> str:
        """Put down what no input brings back, such as processes left behind."""
        for name in entry.violation.culprits:
            if name in self.suspects:
                self.suspects[name].tracker.note(entry)
        return ""

    def leave(self, entry: Entry) -> None:
        """Nothing is put down for what was not asked about again."""

    def settle(self, pool: WorkerPool) -> None:
        """Nothing is left to be done: what is found needs no minimal input."""

    def _sight(
        self, suspect: Suspect, contract: Contract, violation: Violation, case: Case
    ) -> None:
        key = case.generator, violation.check
        if key in suspect.sightings:
            return
        own = case.index + 1
        others = sum(
            count
            for (where, generator), count in self._asked.items()
            if where == contract.id and generator != case.generator
        )
        now = time.monotonic()
        spent = self._seconds[case.generator] + now - self._before
        suspect.sightings[key] = Sighting(*key, own, spent, own + others, now - self._began)


def ignored(_: Event) -> None:
    """For trackers whose events nobody reads: what they come to is looked up."""


def unsaved(*_: object) -> None:
    """For trackers that write no folders."""


def tells(violation: Violation, contract: Contract, name: str) -> bool:
    """Whether a violation says that this one is at fault.

    Where no reference answered, candidates were compared with each other: that says nothing.
    """
    if violation.undecided:
        return False
    present = set(contract.names)
    trusted = set(violation.parts[0].names) if violation.parts else set()
    rivals = trusted & present - {name}
    return not rivals or bool(rivals & contract.references)


def apart(
    violation: Violation, contract: Contract, name: str, others: set[str]
) -> tuple[Violation, Contract]:
    """The violation and the contract as they would be without the other suspects."""
    parts = [replace(part, names=left(part, others)) for part in violation.parts]
    alone = replace(violation, parts=tuple(part for part in parts if part.names), culprits=(name,))
    members = tuple(one for one in contract.participants if one.name not in others)
    return alone, replace(contract, participants=members)


def left(part: Part, others: set[str]) -> tuple[str, ...]:
    """The names of a part without some."""
    return tuple(name for name in part.names if name not in others)
