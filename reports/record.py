"""The record of a run, read once and judged by every report.

:class:`RunRecord` folds the event stream of :mod:`harness.events` into what reports ask for. It
is pure: the same events give the same record, whether they come from ``run.jsonl`` or from a run
that is still going on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from harness.events import (
    BatchDone,
    ContractOpened,
    Counted,
    ExpectationJudged,
    Finished,
    Forced,
    ForcedCorpus,
    ForcedWitness,
    Found,
    GrowthJudged,
    ImplementationFailed,
    Measured,
    Started,
    VocabularyLoaded,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.events import Event

DEATHS = frozenset({"crashed", "out-of-memory", "timed-out", "protocol", "errored"})
"""Kinds of :class:`harness.events.Group` in which an implementation gave no answer at all."""

CHECK_SEVERITY = ("determinism", "equivalence", "round-trip", "validity", "offsets")
"""Worst first: a wrong id breaks a model, a wrong offset only what points into the text."""

FAILING_EXPECTATIONS = frozenset({"stale", "expired"})


BAD_GROWTH = frozenset({"superlinear", "failed"})
"""Verdicts on growth that a reader wants to know of."""


class Verdict(StrEnum):
    """What the gate said; ``incomplete`` where the run did not come to its end."""

    PASS = "pass"
    FAIL = "fail"
    INCOMPLETE = "incomplete"


class Status(StrEnum):
    """What is known of one check of one implementation under one contract."""

    OK = "ok"
    VIOLATED = "violated"
    EXPECTED = "expected"
    NOT_EXERCISED = "not exercised"
    UNSUPPORTED = "unsupported"
    FAILED = "failed to start"


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of the matrix implementation x contract x check.

    exercised: outcomes judged. violations: cases at fault. reason: why there is nothing to show,
    or why a violation is expected. buckets: the signatures behind the violations.
    """

    implementation: str
    contract: str
    check: str
    status: Status
    exercised: int = 0
    violations: int = 0
    reason: str = ""
    buckets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bucket:
    """Findings of one signature, the clearest example first.

    count: how often the signature was seen. reason: from the expectations file, None where the
    bucket is unexpected. expired: an expectation covered it but is past its date.
    """

    name: str
    findings: tuple[Found, ...]
    count: int
    reason: str | None
    link: str | None
    expired: bool

    @property
    def example(self) -> Found:
        """The finding to look at: minimal before unfinished, then the shortest input."""
        return self.findings[0]

    @property
    def expected(self) -> bool:
        """Whether the gate lets it through."""
        return self.reason is not None and not self.expired

    @property
    def severity(self) -> int:
        """0 is the worst: no answer at all; then by check (:data:`CHECK_SEVERITY`)."""
        if any(g.kind in DEATHS for f in self.findings for g in f.groups):
            return 0
        check = self.example.check.replace("_", "-").replace(" ", "-")
        known = CHECK_SEVERITY.index(check) if check in CHECK_SEVERITY else len(CHECK_SEVERITY)
        return 1 + known


@dataclass(frozen=True, slots=True)
class GeneratorTotals:
    """What one generator contributed, over all contracts."""

    name: str
    cases: int
    bytes: int
    comparisons: int
    violations: int


@dataclass(frozen=True)
class RunRecord:
    """All that a run's events say. Tuples are in the order of first appearance.

    started: None only for a record without any events worth the name.
    finished: None where the run was cut off.
    tallies: (contract, check, implementation) to (exercised, violations).
    counts: bucket to how often it was seen.
    """

    started: Started | None
    finished: Finished | None
    vocabularies: tuple[VocabularyLoaded, ...]
    contracts: tuple[ContractOpened, ...]
    failures: tuple[ImplementationFailed, ...]
    findings: tuple[Found, ...]
    counts: Mapping[str, int]
    generators: tuple[GeneratorTotals, ...]
    tallies: Mapping[tuple[str, str, str], tuple[int, int]]
    measured: tuple[Measured, ...]
    growth_judged: tuple[GrowthJudged, ...]
    forced: tuple[Forced, ...]
    forced_corpora: tuple[ForcedCorpus, ...]
    forced_witnesses: tuple[ForcedWitness, ...]
    expectations: tuple[ExpectationJudged, ...]

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> RunRecord:
        """Fold the stream; a later event about the same thing replaces the earlier one."""
        fold = _Fold()
        for event in events:
            fold.take(event)
        return fold.record()

    @property
    def complete(self) -> bool:
        """Whether the run came to its own end."""
        return self.finished is not None and self.finished.complete

    @property
    def verdict(self) -> Verdict:
        """The gate's verdict; only a complete run can pass or fail."""
        if self.finished is None or not self.finished.complete:
            return Verdict.INCOMPLETE
        return Verdict.PASS if self.finished.verdict == "pass" else Verdict.FAIL

    @property
    def cases(self) -> int:
        """Cases run; from the batches where the run did not say."""
        return self.finished.cases if self.finished else sum(g.cases for g in self.generators)

    @property
    def comparisons(self) -> int:
        """Comparisons made; from the batches where the run did not say."""
        if self.finished:
            return self.finished.comparisons
        return sum(g.comparisons for g in self.generators)

    @property
    def seconds(self) -> float | None:
        """Wall-clock duration, None where the run was cut off."""
        return self.finished.seconds if self.finished else None

    @cached_property
    def implementations(self) -> tuple[str, ...]:
        """Everyone who took part or was turned away, by name, references first."""
        names: dict[str, None] = {}
        for contract in self.contracts:
            names.update(dict.fromkeys(contract.references))
        others: set[str] = {f.implementation for f in self.failures}
        for contract in self.contracts:
            others.update(contract.implementations, contract.excluded)
        return (*names, *sorted(others - names.keys()))

    @cached_property
    def references(self) -> frozenset[str]:
        """Implementations that some contract trusts."""
        return frozenset(name for c in self.contracts for name in c.references)

    @cached_property
    def checks(self) -> tuple[str, ...]:
        """Every check that was asked for or found something."""
        names = dict.fromkeys(check for c in self.contracts for check in c.checks)
        names.update(dict.fromkeys(check for _, check, _ in self.tallies))
        names.update(dict.fromkeys(f.check for f in self.findings))
        return tuple(names)

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        """Findings by signature: unexpected first, then the severest, then the most frequent."""
        grouped: dict[str, list[Found]] = {}
        for finding in self.findings:
            grouped.setdefault(finding.bucket, []).append(finding)
        expired = {e.bucket for e in self.expectations if e.status == "expired"}
        made = [
            self._bucket(name, found, expired=name in expired) for name, found in grouped.items()
        ]
        return tuple(sorted(made, key=lambda b: (b.expected, b.severity, -b.count, b.name)))

    @property
    def unexpected(self) -> tuple[Bucket, ...]:
        """The buckets that fail the gate."""
        return tuple(b for b in self.buckets if not b.expected)

    @property
    def broken(self) -> tuple[Measured, ...]:
        """Growth that fails the gate: only some implementations are held to a bound."""
        failing = {cell_of(one) for one in self.growth_judged if one.outcome == "fail"}
        return tuple(m for m in self.measured if cell_of(m) in failing)

    def _bucket(self, name: str, found: list[Found], *, expired: bool) -> Bucket:
        ordered = sorted(found, key=lambda f: (not f.minimal, len(f.input_b64), f.id))
        uncovered = any(f.expected is None for f in ordered)
        return Bucket(
            name=name,
            # An unexpected example is what a reader must see, where there is one.
            findings=tuple(sorted(ordered, key=lambda f: f.expected is not None)),
            count=max(self.counts.get(name, 0), len(ordered)),
            reason=None if uncovered else ordered[0].expected,
            link=next((f.link for f in ordered if f.link), None),
            expired=expired,
        )

    @cached_property
    def matrix(self) -> Mapping[tuple[str, str, str], Cell]:
        """(implementation, contract id, check) to its cell, complete over all three."""
        by_name: dict[tuple[str, str, str], dict[str, Bucket]] = {}
        for bucket in self.buckets:
            for finding in bucket.findings:
                for culprit in finding.culprits:
                    place = culprit, finding.contract, finding.check
                    by_name.setdefault(place, {})[bucket.name] = bucket
        blamed = {place: list(buckets.values()) for place, buckets in by_name.items()}
        failed = {(f.implementation, f.vocabulary): f.message for f in self.failures}
        return {
            (name, contract.id, check): self._cell(
                name, contract, check, blamed.get((name, contract.id, check), []), failed
            )
            for name in self.implementations
            for contract in self.contracts
            for check in self.checks
        }

    def _cell(
        self,
        name: str,
        contract: ContractOpened,
        check: str,
        blamed: list[Bucket],
        failed: Mapping[tuple[str, str], str],
    ) -> Cell:
        exercised, violations = self.tallies.get((contract.id, check, name), (0, 0))

        def cell(status: Status, reason: str = "") -> Cell:
            names = tuple(b.name for b in blamed)
            return Cell(name, contract.id, check, status, exercised, violations, reason, names)

        if blamed or violations:
            if blamed and all(b.expected for b in blamed):
                return cell(Status.EXPECTED, "; ".join(b.reason or "" for b in blamed))
            return cell(Status.VIOLATED)
        if (name, contract.vocabulary) in failed:
            return cell(Status.FAILED, failed[name, contract.vocabulary])
        if name in contract.excluded:
            return cell(Status.UNSUPPORTED, contract.excluded[name])
        if exercised:
            return cell(Status.OK)
        if name not in contract.implementations:
            return cell(Status.UNSUPPORTED, "takes no part in this contract")
        if check not in contract.checks:
            return cell(Status.NOT_EXERCISED, "this check was not asked for here")
        return cell(Status.NOT_EXERCISED, "no outcome of it was judged in this run")


def cell_of(event: Measured | GrowthJudged) -> tuple[str, str, str, str]:
    """What a measurement of growth is about."""
    return event.implementation, event.vocabulary, event.family, event.measure


class _Fold:
    """The state of reading a stream: what each event replaces or adds to."""

    def __init__(self) -> None:
        self.started: Started | None = None
        self.finished: Finished | None = None
        self.vocabularies: dict[str, VocabularyLoaded] = {}
        self.contracts: dict[str, ContractOpened] = {}
        self.failures: dict[tuple[str, str], ImplementationFailed] = {}
        self.findings: dict[str, Found] = {}
        self.counts: dict[str, int] = {}
        self.generators: dict[str, Counter[str]] = {}
        self.exercised: Counter[tuple[str, str, str]] = Counter()
        self.violations: Counter[tuple[str, str, str]] = Counter()
        self.measured: dict[tuple[str, ...], Measured] = {}
        self.growth_judged: dict[tuple[str, ...], GrowthJudged] = {}
        self.forced: dict[tuple[str, str, str], Forced] = {}
        self.forced_corpora: dict[tuple[str, str], ForcedCorpus] = {}
        self.forced_witnesses: list[ForcedWitness] = []
        self.expectations: dict[tuple[str, ...], ExpectationJudged] = {}

    def take(self, event: Event) -> None:
        """Take in one event; those that no report shows are passed over."""
        match event:
            case Started():
                self.started = event
                # A run that was resumed is open again.
                self.finished = None
            case Finished():
                self.finished = event
            case VocabularyLoaded():
                self.vocabularies[event.id] = event
            case ContractOpened():
                self.contracts[event.id] = event
            case ImplementationFailed():
                self.failures[event.implementation, event.vocabulary] = event
            case Found():
                if event.replaces is not None:
                    self.findings.pop(event.replaces, None)
                self.findings[event.id] = event
            case Counted():
                self.counts[event.bucket] = event.count
            case BatchDone():
                self._batch(event)
            case Measured():
                self.measured[cell_of(event)] = event
            case GrowthJudged():
                self.growth_judged[cell_of(event)] = event
            case Forced():
                self.forced[event.implementation, event.vocabulary, event.method] = event
            case ForcedCorpus():
                self.forced_corpora[event.corpus, event.vocabulary] = event
            case ForcedWitness():
                self.forced_witnesses.append(event)
            case ExpectationJudged():
                self.expectations[(event.bucket, event.vocabulary, *event.implementations)] = event
            case _:
                pass

    def _batch(self, batch: BatchDone) -> None:
        totals = self.generators.setdefault(batch.generator, Counter())
        totals["cases"] += batch.cases
        totals["bytes"] += batch.bytes
        totals["comparisons"] += batch.comparisons
        for check, by_name in batch.exercised.items():
            for name, number in by_name.items():
                self.exercised[batch.contract, check, name] += number
        for check, by_name in batch.violations.items():
            for name, number in by_name.items():
                self.violations[batch.contract, check, name] += number
                totals["violations"] += number

    def record(self) -> RunRecord:
        """What was read so far."""
        keys = dict.fromkeys([*self.exercised, *self.violations])
        return RunRecord(
            started=self.started,
            finished=self.finished,
            vocabularies=tuple(self.vocabularies.values()),
            contracts=tuple(self.contracts.values()),
            failures=tuple(self.failures.values()),
            findings=tuple(self.findings.values()),
            counts=dict(self.counts),
            generators=tuple(
                GeneratorTotals(name, n["cases"], n["bytes"], n["comparisons"], n["violations"])
                for name, n in self.generators.items()
            ),
            tallies={key: (self.exercised[key], self.violations[key]) for key in keys},
            measured=tuple(self.measured.values()),
            growth_judged=tuple(self.growth_judged.values()),
            forced=tuple(self.forced.values()),
            forced_corpora=tuple(self.forced_corpora.values()),
            forced_witnesses=tuple(self.forced_witnesses),
            expectations=tuple(self.expectations.values()),
        )
