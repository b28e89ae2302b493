"""The record of a run, read once for every report.

:class:`harness.verdict.coverage.Coverage` is what a run examined and found; the gate reads it, too.
:class:`RunRecord` adds the events that reports alone show, and groups findings by their causes. It
is pure: the same events give the same record, whether they come from ``run.jsonl`` or from a run
that is still going on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.events import (
    FAIL,
    PASS,
    UNEXAMINED,
    BatchDone,
    Campaign,
    ClusterUsed,
    ContractOpened,
    Event,
    ExpectationJudged,
    FamiliesMeasured,
    Finished,
    Forced,
    ForcedCorpus,
    ForcedWitness,
    Found,
    GrowthJudged,
    ImplementationFailed,
    Measured,
    Started,
    TextsCompared,
    UnitDone,
    UnitResumed,
    VocabularyLoaded,
    Withdrawn,
    by_cause,
    kind_in,
    named,
)
from harness.verdict.coverage import Coverage
from reports.blocks.units import plural
from reports.studies import Kind, grouped, last, of
from reports.texts import document
from reports.words import SEVERITIES, listed, severity, spoken, title

FAILING = frozenset({"stale", "expired"})

BAD_GROWTH = frozenset({"superlinear", "failed"})
"""Verdicts on growth that a reader wants to know of."""

MAX_CARDS = 200
"""Buckets that get a card; those beyond are a line of the index, or the page grows too large."""

KINDS_SHOWN = 8
"""Variants of a cause that a line names."""

LATEST: dict[type[Event], Sequence[str]] = {
    Campaign: (),
    ClusterUsed: (),
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


INCOMPLETE = "incomplete"
"""The verdict where the run did not come to its end; the others are those of the gate."""

VERDICTS = {
    PASS: ("PASSED", "ok"),
    FAIL: ("FAILED", "bad"),
    UNEXAMINED: ("NOT EXAMINED", "warn"),
    INCOMPLETE: ("INCOMPLETE", "warn"),
}
"""Each verdict as a word, with its style on a terminal."""


def verdict_of(finished: Finished | None) -> str:
    """The verdict of a run; only one that came to its end can pass or fail."""
    if finished is None or not finished.complete:
        return INCOMPLETE
    return finished.verdict if finished.verdict in VERDICTS else FAIL


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
        shown = listed(kinds, KINDS_SHOWN)
        return f", also in the variant{'s' * (len(kinds) > 1)} {shown}" if kinds else ""

    @property
    def reason(self) -> str | None:
        """From the expectations file, None where any finding is unexpected.

        An expectation of one variant does not excuse another.
        """
        reasons = dict.fromkeys(one.expected for one in self.findings)
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

    coverage: what was examined and found. kept: what reports show besides, by what it is about. The
    rest is the coverage as tuples. measured: growth. forced: tokens that grammars forced, by
    method. withdrawn: who was not asked to the end.
    """

    coverage: Coverage
    kept: Mapping[Hashable, Event]
    started: Started | None
    finished: Finished | None
    findings: Sequence[Found]
    measured: Sequence[Measured]
    forced: Sequence[Forced]
    vocabularies: Sequence[VocabularyLoaded]
    contracts: Sequence[ContractOpened]
    failures: Sequence[ImplementationFailed]
    withdrawn: Sequence[Withdrawn]

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> RunRecord:
        """Read the stream; a later event about the same thing replaces the earlier one."""
        known = Coverage()
        kept: dict[Hashable, Event] = {}
        for number, event in enumerate(events):
            known.consume(event)
            kind = type(event)
            if kind in LATEST:
                kept[kind, *(str(getattr(event, name)) for name in LATEST[kind])] = event
            elif kind in EVERY or (isinstance(event, BatchDone) and event.forced):
                kept[number] = event
        folded: tuple[Mapping[Any, Any], ...] = (
            known.findings, known.growth, known.forced, known.vocabularies, known.contracts,
            known.failures, known.withdrawn,
        )  # fmt: skip
        tuples = (tuple(one.values()) for one in folded)
        return cls(known, kept, known.started, known.finished, *tuples)

    def of(self, kind: type[Kind]) -> list[Kind]:
        """The events of a kind that reports show besides the coverage."""
        return of(self.kept.values(), kind)

    @cached_property
    def growth_judged(self) -> list[GrowthJudged]:
        """Growth held against its bounds."""
        return self.of(GrowthJudged)

    @cached_property
    def expectations(self) -> list[ExpectationJudged]:
        """What became of the entries of the expectations file."""
        return self.of(ExpectationJudged)

    @cached_property
    def texts(self) -> dict[str, Any] | None:
        """What became of the user's texts; None where there were none."""
        return document(self.coverage, self.of(TextsCompared))

    @property
    def campaign(self) -> Campaign | None:
        """The campaign that this was a session of."""
        return last(self.kept.values(), Campaign)

    @cached_property
    def healers(self) -> Mapping[tuple[str, str], float]:
        """What healers force, by contract and name: the share of what might be forced."""
        sums: dict[tuple[str, str], Counter[str]] = {}
        for batch in self.of(BatchDone):
            for name, counts in batch.forced.items():
                sums.setdefault((batch.contract, name), Counter()).update(counts)
        return {place: n["forced"] / n["possible"] for place, n in sums.items() if n["possible"]}

    @property
    def complete(self) -> bool:
        """Whether the run came to its own end."""
        return self.coverage.complete

    @property
    def verdict(self) -> str:
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
        return self.finished.reasons if self.finished else []

    @property
    def notes(self) -> list[str]:
        """What was left open, and who was withdrawn, also where the run was cut off."""
        said = self.finished.notes if self.finished else []
        return [*said, *(one.line for one in self.withdrawn if one.line not in said)]

    @property
    def versions(self) -> Mapping[str, str]:
        """Of all who took part."""
        return self.started.versions if self.started else {}

    @property
    def specs(self) -> Mapping[str, str]:
        """How each implementation was given."""
        return self.started.specs if self.started else {}

    @cached_property
    def implementations(self) -> list[str]:
        """Everyone who took part or was turned away, by name, references first."""
        others = {f.implementation for f in self.failures}.union(
            *((*one.implementations, *one.excluded) for one in self.contracts)
        )
        return [*self.references, *sorted(others.difference(self.references))]

    @cached_property
    def judged(self) -> list[str]:
        """Those of whom a check judged any outcome, in the same order."""
        names = {name for (_, _, name), number in self.coverage.judged.items() if number}
        return [name for name in self.implementations if name in names]

    @cached_property
    def compared(self) -> list[str]:
        """Those of whom any outcome was compared with others', in the same order."""
        return [name for name in self.implementations if name in self.coverage.compared]

    @cached_property
    def references(self) -> list[str]:
        """Implementations that some contract trusts."""
        return list(dict.fromkeys(name for c in self.contracts for name in c.references))

    @cached_property
    def checks(self) -> list[str]:
        """Every check that was asked for or found something."""
        asked = [check for c in self.contracts for check in c.checks]
        judged = [check for _, check, _ in self.coverage.judged]
        return list(dict.fromkeys([*asked, *judged, *(f.check for f in self.findings)]))

    @cached_property
    def buckets(self) -> list[Bucket]:
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
        made.sort(
            key=lambda b: (b.expected, SEVERITIES.index(severity(b.example)), -b.count, b.name)
        )
        return made

    @cached_property
    def cards(self) -> Mapping[str, str]:
        """The addresses on the page of the cards that there are, by the names of their buckets."""
        return {one.name: f"#{one.example.id}" for one in self.buckets[:MAX_CARDS]}

    @property
    def unexpected(self) -> list[Bucket]:
        """The buckets that fail the gate."""
        return [b for b in self.buckets if not b.expected]

    @cached_property
    def reason(self) -> str:
        """Why the verdict is what it is, in one sentence."""
        found, verdict = self.unexpected, self.verdict
        if verdict == INCOMPLETE:
            seen = plural(len(found), "unexpected finding") if found else "nothing unexpected"
            return (
                "The run did not finish, so nothing can be concluded: "
                f"{plural(self.cases, 'case')} run, {seen} so far."
            )
        if verdict == PASS:
            if self.of(ForcedCorpus) and not self.implementations:
                return f"Exact forced no wrong token in {plural(self.cases, 'text')} of the corpus."
            expected = plural(len(self.buckets) - len(found), "expected divergence")
            shown = f"; {expected} shown" if self.buckets else ""
            return f"No unexpected finding in {self._extent()}{shown}."
        if verdict == UNEXAMINED and len(self.reasons) > 1:
            number = len(self.reasons)
            return f"Nothing that was examined is wrong, but {number} things were not examined."
        counts = (
            (found, "unexpected finding"),
            ([e for e in self.expectations if e.status in FAILING], "stale or expired expectation"),
            (self.failures, "implementation"),
        )
        said = [plural(len(some), what) for some, what in counts if some]
        if not said or verdict == UNEXAMINED:
            return self.reasons[0] if self.reasons else "The gate failed."
        failed = " that failed to start" if self.failures else ""
        worst = ""
        if found:
            worst = f"; the worst is {severity(found[0].example)}: {spoken(found[0].example)}"
        return f"{listed(said)}{failed}{worst}."

    def _extent(self) -> str:
        """What the absence of findings is a statement about: who was compared, or judged."""
        what, who = plural(self.comparisons, "comparison"), self.compared
        if not self.comparisons:
            what, who = plural(self.cases, "case"), self.judged
        idle = len(self.implementations) - len(self.judged)
        rest = f" ({idle:,} more took no part)" if idle else ""
        judged = {contract for (contract, _, _), n in self.coverage.judged.items() if n}
        places = {one.vocabulary for one in self.contracts if one.id in judged}
        vocabularies = plural(len(places), "vocabulary")
        return f"{what} of {plural(len(who), 'implementation')}{rest} on {vocabularies}"
