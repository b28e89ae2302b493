"""The record of a run, read once for every report.

:class:`harness.verdict.coverage.Coverage` is what a run examined and found; the gate reads it, too.
:class:`RunRecord` adds the events that reports alone show, and groups findings by their causes. It
is pure: the same events give the same record, whether they come from ``run.jsonl`` or from a run
that is still going on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from harness.events import FAIL as FAILED
from harness.events import PASS as PASSED
from harness.events import (
    UNEXAMINED,
    BatchDone,
    Campaign,
    ClusterUsed,
    Event,
    ExpectationJudged,
    FamiliesMeasured,
    ForcedCorpus,
    ForcedWitness,
    GrowthJudged,
    TextsCompared,
    TextsGiven,
    TextsRead,
    UnitDone,
    UnitResumed,
    by_cause,
    kind_in,
    named,
)
from harness.verdict.coverage import Coverage
from reports.blocks.units import plural
from reports.cluster import Cluster
from reports.studies import grouped
from reports.texts import document
from reports.words import KINDS_SHOWN, SEVERITIES, listed, severity, spoken, title

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from harness.events import (
        ContractOpened,
        Finished,
        Forced,
        Found,
        ImplementationFailed,
        Measured,
        Started,
        VocabularyLoaded,
        Withdrawn,
    )

FAILING_EXPECTATIONS = frozenset({"stale", "expired"})

BAD_GROWTH = frozenset({"superlinear", "failed"})
"""Verdicts on growth that a reader wants to know of."""

MAX_CARDS = 200
"""Buckets that get a card; those beyond are a line of the index, or the page grows too large."""

LATEST: dict[type[Event], Sequence[str]] = {
    Campaign: (),
    TextsGiven: (),
    ClusterUsed: (),
    TextsRead: ("vocabulary",),
    FamiliesMeasured: ("vocabulary",),
    UnitDone: ("unit",),
    UnitResumed: ("unit",),
    GrowthJudged: ("implementation", "vocabulary", "family", "measure"),
    ForcedCorpus: ("corpus", "vocabulary"),
    ExpectationJudged: ("bucket", "vocabulary", "implementations"),
}
"""Events that reports show besides the coverage, the latest of each alone, by these fields."""

EVERY = frozenset({TextsCompared, ForcedWitness})
"""Those of which reports show every one."""

Kind = TypeVar("Kind", bound=Event)


class Verdict(StrEnum):
    """What the gate said; ``incomplete`` where the run did not come to its end.

    ``not-examined``: nothing that was examined is wrong, but something that the user named was not
    examined.
    """

    PASS = PASSED
    FAIL = FAILED
    NOT_EXAMINED = UNEXAMINED
    INCOMPLETE = "incomplete"


VERDICTS = {
    Verdict.PASS: ("PASSED", "✓", "ok"),
    Verdict.FAIL: ("FAILED", "✗", "bad"),
    Verdict.NOT_EXAMINED: ("NOT EXAMINED", "?", "warn"),
    Verdict.INCOMPLETE: ("INCOMPLETE", "!", "warn"),
}
"""Each verdict as a word, with its mark and its style on a terminal."""


def verdict_of(finished: Finished | None) -> Verdict:
    """The verdict of a run; only one that came to its end can pass or fail."""
    if finished is None or not finished.complete:
        return Verdict.INCOMPLETE
    known = {one.value: one for one in Verdict}
    return known.get(finished.verdict, Verdict.FAIL)


@dataclass(frozen=True)
class Bucket:
    """All findings of one cause, the clearest example first; or those of one of its variants.

    name: the bucket of all its findings, with ``*`` for their kinds where these are several. count:
    how often it was seen. expired: an expectation covered it but is past its date. variants: a
    cause shows on inputs of several kinds, each under a bucket; that of the example comes first.
    """

    name: str
    findings: Sequence[Found]
    count: int
    expired: bool = False
    variants: Sequence[Bucket] = ()

    @property
    def example(self) -> Found:
        """The finding to look at: minimal before unfinished, then the shortest input."""
        return self.findings[0]

    @property
    def headline(self) -> str:
        """What happened; the kind of the input where it shows on one kind only."""
        return title(self.example, kind=len(self.variants) < 2)

    @property
    def also(self) -> str:
        """The other kinds of input on which it shows: ``, also in the variants L, Mn``."""
        kinds = [f"{kind_in(v.name)}{' (expected)' * bool(v.reason)}" for v in self.variants[1:]]
        if not kinds:
            return ""
        more = len(kinds) - KINDS_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        return (
            f", also in the variant{'s' * (len(kinds) > 1)} {', '.join(kinds[:KINDS_SHOWN])}{rest}"
        )

    @property
    def reason(self) -> str | None:
        """From the expectations file, None where any finding is unexpected.

        An expectation of one variant does not excuse another.
        """
        reasons = list(dict.fromkeys(one.expected for one in self.findings))
        return None if None in reasons else "; ".join(filter(None, reasons))

    @property
    def link(self) -> str | None:
        """What its expectation refers to."""
        return next((one.link for one in self.findings if one.link), None)

    @property
    def state(self) -> str:
        """``unexpected``, ``expired``, or ``expected``, which the gate lets through."""
        return "expired" if self.expired else "unexpected" if self.reason is None else "expected"

    @property
    def expected(self) -> bool:
        """Whether the gate lets it through."""
        return self.state == "expected"


@dataclass(frozen=True)
class RunRecord:
    """All that a run's events say. Tuples are in the order of first appearance.

    coverage: what was examined and found. kept: what reports show besides, by what it is about.
    """

    coverage: Coverage
    kept: Mapping[Hashable, Event]

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> RunRecord:
        """Read the stream; a later event about the same thing replaces the earlier one."""
        coverage = Coverage()
        kept: dict[Hashable, Event] = {}
        for number, event in enumerate(events):
            coverage.consume(event)
            kind = type(event)
            if kind in LATEST:
                kept[kind, *(str(getattr(event, name)) for name in LATEST[kind])] = event
            elif kind in EVERY or (isinstance(event, BatchDone) and event.forced):
                kept[number] = event
        return cls(coverage, kept)

    def of(self, *kinds: type[Kind]) -> tuple[Kind, ...]:
        """The events of some kinds that reports show besides the coverage."""
        return cast("tuple[Kind, ...]", tuple(e for e in self.kept.values() if type(e) in kinds))

    @property
    def started(self) -> Started | None:
        """How the run began; None for a record without that event."""
        return self.coverage.started

    @property
    def finished(self) -> Finished | None:
        """How it ended; None where it was cut off."""
        return self.coverage.finished

    @property
    def findings(self) -> tuple[Found, ...]:
        """Each in its last state."""
        return tuple(self.coverage.findings.values())

    @property
    def measured(self) -> tuple[Measured, ...]:
        """Growth."""
        return tuple(self.coverage.growth.values())

    @property
    def forced(self) -> tuple[Forced, ...]:
        """Tokens that grammars forced, by method."""
        return tuple(self.coverage.forced.values())

    @cached_property
    def families(self) -> tuple[FamiliesMeasured, ...]:
        """On which families growth was to be measured, by vocabulary."""
        return self.of(FamiliesMeasured)

    @cached_property
    def growth_judged(self) -> tuple[GrowthJudged, ...]:
        """Growth held against its bounds."""
        return self.of(GrowthJudged)

    @cached_property
    def forced_corpora(self) -> tuple[ForcedCorpus, ...]:
        """The corpora of schemas that were walked."""
        return self.of(ForcedCorpus)

    @cached_property
    def forced_witnesses(self) -> tuple[ForcedWitness, ...]:
        """Texts on which forced tokens are not canonical."""
        return self.of(ForcedWitness)

    @cached_property
    def expectations(self) -> tuple[ExpectationJudged, ...]:
        """What became of the entries of the expectations file."""
        return self.of(ExpectationJudged)

    @cached_property
    def texts(self) -> dict[str, Any] | None:
        """What became of the user's texts; None where there were none."""
        return document(self.kept.values())

    @property
    def campaign(self) -> Campaign | None:
        """The campaign that this was a session of."""
        return next(iter(self.of(Campaign)), None)

    @cached_property
    def cluster(self) -> Cluster:
        """What a cluster did."""
        return Cluster.of(self.kept.values())

    @cached_property
    def healers(self) -> Mapping[tuple[str, str], float]:
        """What healers force, by contract and name: the share of what might be forced."""
        forced, possible = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for batch in self.of(BatchDone):
            for name, counts in batch.forced.items():
                forced[batch.contract, name] += counts["forced"]
                possible[batch.contract, name] += counts["possible"]
        return {place: forced[place] / number for place, number in possible.items() if number}

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
        return self.coverage.complete

    @property
    def verdict(self) -> Verdict:
        """The gate's verdict."""
        return verdict_of(self.finished)

    @property
    def cases(self) -> int:
        """Cases run; from the batches where the run did not say."""
        return (self.finished or self.coverage).cases

    @property
    def comparisons(self) -> int:
        """Comparisons made; from the batches where the run did not say."""
        return (self.finished or self.coverage).comparisons

    @property
    def seconds(self) -> float | None:
        """Wall-clock duration, None where the run was cut off."""
        return self.finished.seconds if self.finished else None

    @property
    def reasons(self) -> list[str]:
        """Why the gate does not hold, in the run's own words."""
        return list(self.finished.reasons) if self.finished else []

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left open, and who was withdrawn, also where the run was cut off."""
        said = self.finished.notes if self.finished else []
        return (*said, *(one.line for one in self.withdrawn if one.line not in said))

    @property
    def versions(self) -> Mapping[str, str]:
        """Of all who took part."""
        return self.started.versions if self.started else {}

    @property
    def specs(self) -> Mapping[str, str]:
        """How each implementation was given."""
        return self.started.specs if self.started else {}

    @cached_property
    def implementations(self) -> tuple[str, ...]:
        """Everyone who took part or was turned away, by name, references first."""
        names = dict.fromkeys(name for one in self.contracts for name in one.references)
        others = {f.implementation for f in self.failures}
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
        made = []
        for alike in by_cause(self.findings).values():
            variants = [
                Bucket(name, of, max(self.coverage.counts.get(name, 0), len(of)), name in expired)
                for name, of in grouped(alike, lambda found: found.bucket).items()
            ]
            count, old = sum(one.count for one in variants), any(one.expired for one in variants)
            made.append(Bucket(named(alike), alike, count, old, variants))
        place = {b.name: SEVERITIES.index(severity(b.example)) for b in made}
        return tuple(sorted(made, key=lambda b: (b.expected, place[b.name], -b.count, b.name)))

    @cached_property
    def cards(self) -> Mapping[str, str]:
        """The addresses on the page of the cards that there are, by the names of their buckets."""
        return {one.name: f"#{one.example.id}" for one in self.buckets[:MAX_CARDS]}

    @property
    def unexpected(self) -> tuple[Bucket, ...]:
        """The buckets that fail the gate."""
        return tuple(b for b in self.buckets if not b.expected)

    @cached_property
    def reason(self) -> str:
        """Why the verdict is what it is, in one sentence."""
        counted = plural(len(self.unexpected), "unexpected finding")
        cases = plural(self.cases, "case")
        match self.verdict:
            case Verdict.INCOMPLETE:
                seen = counted if self.unexpected else "nothing unexpected"
                ended = "The run did not come to its end, so nothing can be concluded"
                return f"{ended}: {cases} run, {seen} so far."
            case Verdict.PASS if self.forced_corpora and not self.implementations:
                return f"Exact forced no wrong token in {plural(self.cases, 'text')} of the corpus."
            case Verdict.PASS:
                expected = len(self.buckets) - len(self.unexpected)
                shown = f"; {plural(expected, 'expected divergence')} shown" if expected else ""
                return f"No unexpected finding in {self._extent()}{shown}."
            case Verdict.NOT_EXAMINED if len(self.reasons) > 1:
                number = len(self.reasons)
                return f"Nothing that was examined is wrong, but {number} things were not examined."
        failing = sum(e.status in FAILING_EXPECTATIONS for e in self.expectations)
        said = [counted] if self.unexpected else []
        if failing:
            said.append(plural(failing, "stale or expired expectation"))
        if self.failures:
            said.append(f"{plural(len(self.failures), 'implementation')} that failed to start")
        if not said or self.verdict is Verdict.NOT_EXAMINED:
            return self.reasons[0] if self.reasons else "The gate does not hold."
        worst = ""
        if self.unexpected:
            example = self.unexpected[0].example
            worst = f"; the worst is {severity(example)}: {spoken(example)}"
        return f"{listed(said)}{worst}."

    def _extent(self) -> str:
        """What the absence of findings is a statement about: who was compared, or judged."""
        what, who = plural(self.comparisons, "comparison"), self.compared
        if not self.comparisons:
            what, who = plural(self.cases, "case"), self.judged
        idle = len(self.implementations) - len(self.judged)
        rest = f" ({idle:,} more took no part)" if idle else ""
        judged = {contract for (contract, _, _), n in self.coverage.judged.items() if n}
        places = {one.vocabulary for one in self.contracts if one.id in judged}
        vocabularies = plural(len(places), "vocabulary", "vocabularies")
        return f"{what} of {plural(len(who), 'implementation')}{rest} on {vocabularies}"

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


def cell_of(event: Measured | GrowthJudged) -> tuple[str, str, str, str]:
    """What a measurement of growth is about."""
    return event.implementation, event.vocabulary, event.family, event.measure
