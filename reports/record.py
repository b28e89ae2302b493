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

from harness.events import FAIL as FAILED
from harness.events import PASS as PASSED
from harness.events import (
    UNEXAMINED,
    BatchDone,
    Campaign,
    Counted,
    ExpectationJudged,
    FamiliesMeasured,
    Finished,
    Forced,
    ForcedCorpus,
    ForcedWitness,
    Found,
    GrowthJudged,
    Measured,
    Started,
    by_cause,
    cause_of,
    kind_in,
    named,
)
from harness.verdict.coverage import Coverage, State
from reports.cells import NOBODY, OF_STATE, Cell, Status
from reports.cluster import Cluster
from reports.healers import Healers
from reports.severity import SEVERITIES, severity
from reports.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from harness.events import (
        ContractOpened,
        Event,
        ImplementationFailed,
        VocabularyLoaded,
        Withdrawn,
    )

FAILING_EXPECTATIONS = frozenset({"stale", "expired"})


BAD_GROWTH = frozenset({"superlinear", "failed"})
"""Verdicts on growth that a reader wants to know of."""


class Verdict(StrEnum):
    """What the gate said; ``incomplete`` where the run did not come to its end.

    ``not-examined``: nothing that was examined is wrong, but something that the user named was not
    examined.
    """

    PASS = PASSED
    FAIL = FAILED
    NOT_EXAMINED = UNEXAMINED
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Variant:
    """One kind of input on which a cause shows: the findings of one bucket, the clearest first.

    bucket: as expectations match it. kind: what the input is like. count: how often it was seen.
    reason: from the expectations file, None where any of the findings is unexpected.
    """

    bucket: str
    kind: str
    findings: tuple[Found, ...]
    count: int
    reason: str | None

    @property
    def example(self) -> Found:
        """The finding to look at."""
        return self.findings[0]


@dataclass(frozen=True, slots=True)
class Bucket:
    """All findings of one cause, the clearest example first.

    name: the bucket of all its findings, with ``*`` for their kinds where these are several.
    cause: the same with ``*`` in any case, and so the same in every run. variants: a cause shows on
    inputs of several kinds; the one of the example comes first. count: how often it was seen.
    reason: from the expectations file, None where any finding is unexpected: an expectation of one
    variant does not excuse another. expired: an expectation covered it but is past its date.
    """

    name: str
    findings: tuple[Found, ...]
    count: int
    reason: str | None
    link: str | None
    expired: bool
    variants: tuple[Variant, ...] = ()

    @property
    def cause(self) -> str:
        """Its name in every run, whatever variants were seen in this one."""
        return cause_of(self.name)

    @property
    def example(self) -> Found:
        """The finding to look at: minimal before unfinished, then the shortest input."""
        return self.findings[0]

    @property
    def expected(self) -> bool:
        """Whether the gate lets it through."""
        return self.reason is not None and not self.expired


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

    started: None only for a record without events. finished: None where the run was cut off.
    coverage: what was examined, which the gate read, too. counts: by bucket.
    """

    started: Started | None
    finished: Finished | None
    coverage: Coverage
    findings: tuple[Found, ...]
    counts: Mapping[str, int]
    generators: tuple[GeneratorTotals, ...]
    measured: tuple[Measured, ...]
    families: tuple[FamiliesMeasured, ...]
    growth_judged: tuple[GrowthJudged, ...]
    forced: tuple[Forced, ...]
    forced_corpora: tuple[ForcedCorpus, ...]
    forced_witnesses: tuple[ForcedWitness, ...]
    expectations: tuple[ExpectationJudged, ...]
    texts: Texts
    campaign: Campaign | None
    cluster: Cluster
    healers: Healers

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> RunRecord:
        """Fold the stream; a later event about the same thing replaces the earlier one."""
        told = list(events)
        fold = _Fold()
        for event in told:
            fold.take(event)
        return fold.record(told)

    @cached_property
    def vocabularies(self) -> tuple[VocabularyLoaded, ...]:
        """Those that were loaded."""
        return tuple(self.coverage.vocabularies.values())

    @cached_property
    def contracts(self) -> tuple[ContractOpened, ...]:
        """The comparisons: who took part in each, and who did not."""
        return tuple(self.coverage.contracts.values())

    @cached_property
    def failures(self) -> tuple[ImplementationFailed, ...]:
        """Implementations that could not be started."""
        return tuple(self.coverage.failures.values())

    @cached_property
    def withdrawn(self) -> tuple[Withdrawn, ...]:
        """Implementations that were not asked to the end."""
        return tuple(self.coverage.withdrawn.values())

    @property
    def complete(self) -> bool:
        """Whether the run came to its own end."""
        return self.finished is not None and self.finished.complete

    @property
    def verdict(self) -> Verdict:
        """The gate's verdict; only a complete run can pass or fail."""
        if self.finished is None or not self.finished.complete:
            return Verdict.INCOMPLETE
        known = {one.value: one for one in Verdict}
        return known.get(self.finished.verdict, Verdict.FAIL)

    @property
    def cases(self) -> int:
        """Cases run; from the batches where the run did not say."""
        return self.finished.cases if self.finished else self.coverage.cases

    @property
    def comparisons(self) -> int:
        """Comparisons made; from the batches where the run did not say."""
        return self.finished.comparisons if self.finished else self.coverage.comparisons

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
    def judged(self) -> tuple[str, ...]:
        """Those of whom a check judged any outcome, in the same order."""
        names = {name for (_, _, name), number in self.coverage.judged.items() if number}
        return tuple(name for name in self.implementations if name in names)

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """Those of whom any outcome was compared with others', in the same order."""
        return tuple(name for name in self.implementations if name in self.coverage.compared)

    @cached_property
    def vocabularies_judged(self) -> frozenset[str]:
        """The vocabularies on which a check judged any outcome."""
        contracts = {contract for (contract, _, _), n in self.coverage.judged.items() if n}
        return frozenset(c.vocabulary for c in self.contracts if c.id in contracts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left open, and who was withdrawn, also where the run was cut off."""
        said = self.finished.notes if self.finished else []
        return (*said, *(one.line for one in self.withdrawn if one.line not in said))

    @cached_property
    def references(self) -> frozenset[str]:
        """Implementations that some contract trusts."""
        return frozenset(name for c in self.contracts for name in c.references)

    @cached_property
    def checks(self) -> tuple[str, ...]:
        """Every check that was asked for or found something."""
        names = dict.fromkeys(check for c in self.contracts for check in c.checks)
        names.update(dict.fromkeys(check for _, check, _ in self.coverage.judged))
        names.update(dict.fromkeys(f.check for f in self.findings))
        return tuple(names)

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        """Findings by cause: unexpected first, then the severest, then the most frequent."""
        expired = {e.bucket for e in self.expectations if e.status == "expired"}
        made = [self._bucket(alike, expired) for alike in by_cause(self.findings).values()]
        place = {b.name: SEVERITIES.index(severity(b.example)) for b in made}
        return tuple(sorted(made, key=lambda b: (b.expected, place[b.name], -b.count, b.name)))

    def rate(self, bucket: Bucket) -> float | None:
        """The share of the inputs judged, by its check where it was found, on which a cause shows.

        Of several culprits the one with the most inputs counts. None where nothing says how many
        there were, and where violations were told without a batch, as those of examples are.
        """
        places = {(one.contract, one.check) for one in bucket.findings}
        judged = [
            sum(self.coverage.judged[contract, check, name] for contract, check in places)
            for name in bucket.example.culprits
        ]
        most = max(judged, default=0)
        return bucket.count / most if 0 < bucket.count <= most else None

    @property
    def unexpected(self) -> tuple[Bucket, ...]:
        """The buckets that fail the gate."""
        return tuple(b for b in self.buckets if not b.expected)

    @property
    def broken(self) -> tuple[Measured, ...]:
        """Growth that fails the gate: only some implementations are held to a bound."""
        failing = {cell_of(one) for one in self.growth_judged if one.outcome == "fail"}
        return tuple(m for m in self.measured if cell_of(m) in failing)

    def _bucket(self, alike: list[Found], expired: Collection[str]) -> Bucket:
        """The findings of one cause, the first of which is what a reader must see."""
        grouped: dict[str, list[Found]] = {}
        for one in alike:
            grouped.setdefault(one.bucket, []).append(one)
        variants = tuple(self._variant(name, found) for name, found in grouped.items())
        reasons = list(dict.fromkeys(one.reason for one in variants))
        return Bucket(
            name=named(alike),
            findings=tuple(alike),
            count=sum(one.count for one in variants),
            reason=None if None in reasons else "; ".join(r for r in reasons if r is not None),
            link=next((f.link for f in alike if f.link), None),
            expired=any(one.bucket in expired for one in variants),
            variants=variants,
        )

    def _variant(self, name: str, found: list[Found]) -> Variant:
        uncovered = any(one.expected is None for one in found)
        return Variant(
            bucket=name,
            kind=kind_in(name),
            findings=tuple(found),
            count=max(self.counts.get(name, 0), len(found)),
            reason=None if uncovered else found[0].expected,
        )

    @cached_property
    def matrix(self) -> Mapping[tuple[str, str, str], Cell]:
        """(implementation, contract id, check) to its cell, complete over all three."""
        blamed: dict[tuple[str, str, str], list[tuple[Bucket, Found]]] = {}
        for bucket in self.buckets:
            for finding in bucket.findings:
                for culprit in finding.culprits:
                    place = culprit, finding.contract, finding.check
                    blamed.setdefault(place, []).append((bucket, finding))
        return {
            (name, contract.id, check): self._cell(
                name, contract, check, blamed.get((name, contract.id, check), [])
            )
            for name in self.implementations
            for contract in self.contracts
            for check in self.checks
        }

    def _cell(
        self, name: str, contract: ContractOpened, check: str, blamed: list[tuple[Bucket, Found]]
    ) -> Cell:
        """The findings of a cell, or else what its coverage says.

        Cases that a check found wrong are no finding by themselves: when they were asked again they
        may have become one of another check, such as determinism.
        """
        known = self.coverage.cell(name, contract, check)

        def cell(status: Status, reason: str = "") -> Cell:
            names = tuple(dict.fromkeys(bucket.name for bucket, _ in blamed))
            at_fault = known.at_fault
            return Cell(name, contract.id, check, status, known.judged, at_fault, reason, names)

        if blamed:
            # By the findings of this cell: the same cause may be unexpected on another vocabulary.
            if all(f.expected is not None and not b.expired for b, f in blamed):
                reasons = dict.fromkeys(found.expected or "" for _, found in blamed)
                return cell(Status.EXPECTED, "; ".join(reasons))
            undecided = all(found.undecided for _, found in blamed)
            return cell(Status.VIOLATED, NOBODY if undecided else "")
        if known.state is State.JUDGED and known.at_fault:
            if (name, contract.id) in self._blamed:
                return cell(Status.OK, "the failing cases are counted with another finding")
            if self.complete:  # what was not looked into is an event of its own
                return cell(Status.OK, "the failing cases were right when asked again alone")
            return cell(Status.UNSETTLED, "the failing cases were not looked into")
        return cell(OF_STATE[known.state], known.reason)

    @cached_property
    def _blamed(self) -> frozenset[tuple[str, str]]:
        """Implementations with a finding, each with the comparison that it was found under."""
        return frozenset((name, one.contract) for one in self.findings for name in one.culprits)


def cell_of(event: Measured | GrowthJudged) -> tuple[str, str, str, str]:
    """What a measurement of growth is about."""
    return event.implementation, event.vocabulary, event.family, event.measure


class _Fold:
    """The state of reading a stream: what each event replaces or adds to."""

    def __init__(self) -> None:
        self.started: Started | None = None
        self.finished: Finished | None = None
        self.coverage = Coverage()
        self.findings: dict[str, Found] = {}
        self.campaign: Campaign | None = None
        self.counts: dict[str, int] = {}
        self.generators: dict[str, Counter[str]] = {}
        self.measured: dict[tuple[str, ...], Measured] = {}
        self.families: dict[str, FamiliesMeasured] = {}
        self.growth_judged: dict[tuple[str, ...], GrowthJudged] = {}
        self.forced: dict[tuple[str, str, str], Forced] = {}
        self.forced_corpora: dict[tuple[str, str], ForcedCorpus] = {}
        self.forced_witnesses: list[ForcedWitness] = []
        self.expectations: dict[tuple[str, ...], ExpectationJudged] = {}

    def take(self, event: Event) -> None:
        """Take in one event; those that no report shows are passed over."""
        self.coverage.consume(event)
        match event:
            case Started():
                self.started = event
                self.finished = None  # a run that was resumed is open again
            case Finished():
                self.finished = event
            case Found():
                if event.replaces is not None:
                    self.findings.pop(event.replaces, None)
                self.findings[event.id] = event
            case Campaign():
                self.campaign = event
            case Counted():
                self.counts[event.bucket] = event.count
            case BatchDone():
                self._batch(event)
            case Measured():
                self.measured[cell_of(event)] = event
            case FamiliesMeasured():
                self.families[event.vocabulary] = event
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

    def _batch(self, batch: BatchDone) -> None:
        totals = self.generators.setdefault(batch.generator, Counter())
        totals.update(cases=batch.cases, bytes=batch.bytes, comparisons=batch.comparisons)
        for by_name in batch.violations.values():
            totals["violations"] += sum(by_name.values())

    def record(self, told: list[Event]) -> RunRecord:
        """What was read so far: these events."""
        return RunRecord(
            started=self.started,
            finished=self.finished,
            coverage=self.coverage,
            findings=tuple(self.findings.values()),
            counts=dict(self.counts),
            generators=tuple(
                GeneratorTotals(name, n["cases"], n["bytes"], n["comparisons"], n["violations"])
                for name, n in self.generators.items()
            ),
            measured=tuple(self.measured.values()),
            families=tuple(self.families.values()),
            growth_judged=tuple(self.growth_judged.values()),
            forced=tuple(self.forced.values()),
            forced_corpora=tuple(self.forced_corpora.values()),
            forced_witnesses=tuple(self.forced_witnesses),
            expectations=tuple(self.expectations.values()),
            texts=Texts.of(told),
            campaign=self.campaign,
            cluster=Cluster.of(told),
            healers=Healers.of(told),
        )
