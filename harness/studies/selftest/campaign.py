"""The hunt of mistakes that answers or costs show: a run like any other, with them as candidates.

Many candidates are compared with one reference in one run. So a violation may blame several; each
of them is considered by a tracker of its own, as if it were alone with the reference, and what that
tracker comes to (confirmed, minimised, bucketed) is the name under which it was caught.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from corpora.families.catalog import TELLING
from corpora.generators.catalog import generators
from corpora.vocabularies import sources
from harness.checks import DEFAULT
from harness.core.outcomes import Status
from harness.core.participants import Participant
from harness.engine import claim_findings
from harness.engine.plan import Plan
from harness.engine.sessions import Sessions
from harness.engine.state import RunState
from harness.engine.suites import Budget
from harness.events import BatchDone, ContractOpened, ImplementationFailed, Measured, Phase
from harness.findings.entries import Entry
from harness.findings.tracker import FindingTracker
from harness.studies.default import studies
from harness.studies.selftest.catalog import resolved
from harness.studies.selftest.events import Sighting
from harness.studies.selftest.groups import Kind, Shown, references
from harness.verdict.coverage import Coverage
from harness.workers import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from corpora.generators.base import Case
    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.engine.suites import Suite
    from harness.events import Event
    from harness.studies.selftest.groups import Group
    from harness.workers.pool import WorkerPool
    from impls.interface import About, Encoder, Implementation, Mode

HANGING = Limits(seconds=4.0, deaths=6)
"""Limits where mistakes hang or end their processes: each is waited for three times before it is
withdrawn, and takes three deaths to be named, a second each. Elsewhere the defaults hold."""

UNDECIDED = "there was no time to decide how it grows on any family"
"""The trouble of a mistake whose growth was measured nowhere, or not enough to tell."""

ATTEMPTS = 3
"""Violations of one check that are minimised before another name is believed: one that does not
come back at once may come back as another."""

PATIENCE = 0.3
"""A mistake has its name long before its input is the smallest, and others wait to be caught."""

BROKEN = {"superlinear", "hungry"}
"""What is said of growth, or of memory, that no bound of a candidate allows for."""


def campaign(
    group: Group,
    suite: Suite,
    seed: int,
    seconds: float,
    began: Callable[[], None],
    opened: Callable[[Sessions], None],
) -> tuple[dict[str, Shown], dict[str, int]]:
    """Hunt for at most ``seconds`` besides the loading; what showed by name, and cases.

    suite: its settings are those of the run. began: called when the first case is about to be
    asked. opened: is given what can be stopped; what was caught before is told.
    """
    vocabulary = sources.resolve(group.vocabulary)
    controls = [resolved(spec).about.name for spec in group.controls]
    ledger = Ledger({one.name: one.check for one in group.mistakes} | dict.fromkeys(controls, ""))
    growing = group.kind is Kind.GROWTH
    plan = Plan(
        vocabularies={group.vocabulary: lambda: vocabulary},
        participants=participants(group, vocabulary),
        references=frozenset(references(vocabulary)),
        generators=list(generators().values()),
        checks=[] if growing else [*DEFAULT.values()],
        scaled=[group.vocabulary] if growing else [],
        # As what a user names: followed until it is decided, here on what tells most.
        named=list(ledger.suspects) if growing else [],
        measured=[family.name for family in TELLING] if growing else [],
        suite=suite,
        budget=Budget(seconds=seconds),
        seed=seed,
        # The tracker says when enough is known.
        fail_fast=True,
        limits=HANGING if group.kind is Kind.APART else Limits(),
    )
    coverage = Coverage()

    def emit(event: Event) -> None:
        coverage.consume(event)
        ledger.consume(began, event)

    sessions = Sessions(RunState(plan, emit, ledger), studies)
    opened(sessions)
    sessions.run(seconds, plan.visited)
    claim_findings.note(ledger, sessions.left, plan, coverage, Status.LEFT_PROCESSES)
    shown = {name: suspect.shown(growing) for name, suspect in ledger.suspects.items()}
    return shown, dict(ledger.cases)


def participants(group: Group, vocabulary: Vocabulary) -> list[Participant]:
    """References, controls and mistakes."""
    specs = [*group.controls, *(one.spec for one in group.mistakes)]
    if group.kind is not Kind.GROWTH:
        specs = [*references(vocabulary), *specs]
    made = [(spec, Within(resolved(spec), group.modes)) for spec in specs]
    return [Participant(one.about.name, spec, one.about, one) for spec, one in made]


@dataclass(frozen=True)
class Within:
    """An implementation in some of its modes: others would take the time of those that matter."""

    whole: Implementation
    modes: frozenset[str]

    @property
    def about(self) -> About:
        """Who it is."""
        return self.whole.about

    @property
    def native_formats(self) -> Collection[str]:
        """The formats of files that it reads."""
        return getattr(self.whole, "native_formats", ())

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """What the whole says of these modes."""
        if mode.label not in self.modes:
            return f"not asked in mode {mode.label}"
        return self.whole.supports(vocabulary, mode)

    def load(self, vocabulary: Vocabulary) -> Encoder:
        """As the whole."""
        return self.whole.load(vocabulary)


class Suspect(FindingTracker):
    """What is known of one mistake, or control. check: what it should be found by, if anything.

    attempts: by check, how many violations were minimised.
    """

    def __init__(self, check: str) -> None:
        super().__init__(nothing, nothing, (), {}, patience=PATIENCE)
        self.check = check
        self.sightings: dict[tuple[str, str], Sighting] = {}
        self.attempts: Counter[str] = Counter()
        self.superlinear = self.decided = False
        self.trouble = ""

    @property
    def named(self) -> list[str]:
        """``check/stage`` of its findings, each once."""
        names = [f"{found.check}/{found.stage}" for found in self.findings]
        return list(dict.fromkeys([*names, *["scaling/"] * self.superlinear]))

    @property
    def known(self) -> bool:
        """Whether it was found under its name."""
        return any(name.partition("/")[0] == self.check for name in self.named)

    def consume(self, event: Measured | ImplementationFailed, seconds: float) -> None:
        """Keep what is said of its growth, or that it could not load."""
        if isinstance(event, ImplementationFailed):
            self.trouble = event.message.split("\n", 1)[0]
            return
        self.decided |= event.verdict in {"linear", "superlinear"}
        if BROKEN & {event.verdict, event.memory_verdict}:
            self.superlinear = True
            place = event.family, "scaling"
            self.sightings[place] = Sighting(*place, 0, seconds, 0, seconds)

    def wants(self, check: str) -> bool:
        """Whether another violation of a check is worth minimising: not once it has its name."""
        found = self.known or check in {one.check for one in self.findings}
        return not found and self.attempts[check] < ATTEMPTS

    def shown(self, growing: bool) -> Shown:
        """What showed, with the finding of the right name, if there is one, as its bucket."""
        best = max(self.findings, key=lambda one: one.check == self.check, default=None)
        bucket, data = (best.bucket, best.input) if best else ("", b"")
        undecided = growing and not (self.named or self.decided)
        trouble = self.trouble or (UNDECIDED if undecided else "")
        return Shown(self.named, bucket, data, [*self.sightings.values()], trouble)


class Ledger(FindingTracker):
    """A tracker that only sorts: see the module. checks: what each suspect should be found by."""

    def __init__(self, checks: Mapping[str, str]) -> None:
        super().__init__(nothing, nothing, (), {})
        self.suspects = {name: Suspect(check) for name, check in checks.items()}
        self.cases: Counter[str] = Counter()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._batches: Counter[tuple[str, str]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._began = self._before = time.monotonic()

    def consume(self, began: Callable[[], None], event: Event) -> None:
        """Keep count of cases and of time; measured growth is found by its family."""
        now = time.monotonic()
        asking = isinstance(event, Phase) and event.text.startswith(("checking", "measuring"))
        if asking or isinstance(event, BatchDone | Measured):
            began()
        if isinstance(event, ContractOpened):
            self._began = self._before = now
        elif isinstance(event, BatchDone):
            where = event.contract, event.generator
            self.cases[event.generator] += event.cases
            self._asked[where] += event.cases
            self._batches[where] += 1
            self._seconds[event.generator] += now - self._before
            self._before = now
        elif (
            isinstance(event, Measured | ImplementationFailed)
            and event.implementation in self.suspects
        ):
            suspect = self.suspects[event.implementation]
            suspect.consume(event, now - self._began)

    @property
    def unexpected(self) -> bool:
        """Whether nothing is left to hunt: all are caught, and all generators were tasted.

        They were when one of them has given a second batch.
        """
        tasted = max(self._batches.values(), default=0) > 1
        return tasted and all(one.known for one in self.suspects.values() if one.check)

    def consider(self, pool: WorkerPool, entry: Entry) -> str:
        """Put a violation down to those whom it blames."""
        for name in entry.violation.culprits:
            suspect = self.suspects.get(name)
            if suspect is None or not tells(entry, name):
                continue
            self._sight(suspect, entry.contract, entry.violation.check, entry.case)
            if suspect.wants(entry.violation.check):
                suspect.attempts[entry.violation.check] += 1
                suspect.consider(pool, apart(entry, name, self.suspects.keys() - {name}))
        return ""

    def alike(self, entry: Entry) -> bool:
        """Whether it is like others: each is put down, whatever it is like."""
        return False

    def note(self, entry: Entry) -> str:
        """Put down what no input brings back, such as processes left behind."""
        for name in self.suspects.keys() & {*entry.violation.culprits}:
            self.suspects[name].note(entry)
        return ""

    def leave(self, entry: Entry, reason: str = "") -> str:
        """Nothing is put down for what was not asked about again."""
        return ""

    def settle(self, pool: WorkerPool) -> None:
        """Nothing is left to be done: what is found needs no minimal input."""

    def _sight(self, suspect: Suspect, contract: Contract, check: str, case: Case) -> None:
        own, now = case.index + 1, time.monotonic()
        others = sum(
            count
            for (where, generator), count in [*self._asked.items()]  # batches go on meanwhile
            if where == contract.id and generator != case.generator
        )
        spent = self._seconds[case.generator] + now - self._before
        key = case.generator, check
        first = Sighting(*key, own, spent, own + others, now - self._began)
        suspect.sightings.setdefault(key, first)


def nothing(*_: object) -> None:
    """For trackers whose events nobody reads and that write no folders."""


def tells(entry: Entry, name: str) -> bool:
    """Whether a violation says that this one is at fault.

    Where no reference answered, candidates were compared with each other: that says nothing.
    """
    violation, contract = entry.violation, entry.contract
    trusted = {*violation.parts[0].names} if violation.parts else set()
    rivals = trusted & {*contract.names} - {name}
    return not violation.undecided and (not rivals or bool(rivals & contract.references))


def apart(entry: Entry, name: str, others: Collection[str]) -> Entry:
    """The violation as it would be without the other suspects."""
    violation = entry.violation
    parts = [
        replace(part, names=tuple(one for one in part.names if one not in others))
        for part in violation.parts
    ]
    left = tuple(part for part in parts if part.names)
    alone = replace(violation, parts=left, culprits=(name,))
    return Entry(entry.contract.among({*entry.contract.names} - {*others}), alone, entry.case)
