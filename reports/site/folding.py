"""Rows of the ledger folded into what pages show: libraries, vocabularies, defects. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.verdict.diff import CHANCE, missed
from reports.site.data import NO_LIBRARIES
from reports.site.names import family_of
from reports.standings import wilson

if TYPE_CHECKING:
    import datetime
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from reports.site.data import (
        DetailRow,
        FindingRow,
        GrowthRow,
        History,
        RunRow,
        TallyRow,
        VocabularyRow,
    )

LIVE, UNSEEN, FIXED = "live", "not seen lately", "fixed"
"""What became of a defect: the last run that could see it did; it did not; or it is gone for good,
as :func:`_state` says."""
STATES = (LIVE, UNSEEN, FIXED)

FEWEST_WITHOUT = 3
"""Runs without a defect, at least, after which it may be told as fixed."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Comparisons of a library with others: how many, and how many of them it lost."""

    compared: int = 0
    wrong: int = 0
    cases: int = 0
    deaths: int = 0
    trusted: bool = False

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(
            self.compared + other.compared,
            self.wrong + other.wrong,
            self.cases + other.cases,
            self.deaths + other.deaths,
            self.trusted or other.trusted,
        )

    @property
    def share(self) -> float | None:
        """The share of comparisons without a violation; None where nothing was compared."""
        return None if not self.compared else 1 - self.wrong / self.compared

    @property
    def shown(self) -> str:
        """The share in per cent, never rounded up to 100."""
        return "" if self.share is None else per_cent(self.share)

    @property
    def interval(self) -> str:
        """Its interval of 95 % (Wilson's)."""
        low, high = wilson(self.compared - self.wrong, self.compared)
        return f"{per_cent(low)} to {per_cent(high)}"


def per_cent(share: float) -> str:
    """A share in per cent, with two figures of what it lacks: ``99.86 %``, ``99.9971 %``."""
    lacking = 100 * (1 - share)
    if share in {0.0, 1.0}:
        return f"{100 * share:.0f} %"
    digits = min(6, max(1, 1 - math.floor(math.log10(lacking)))) if lacking > 0 else 1
    return f"{math.floor(100 * share * 10**digits) / 10**digits:.{digits}f} %"


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a library, with the runs that had it."""

    name: str
    first: datetime.datetime
    last: datetime.datetime
    runs: int
    agreement: Agreement
    defects: int


@dataclass(frozen=True, slots=True, eq=False)
class Defect:
    """A finding over all runs.

    seen: in how many of the ``judged`` runs that saw it, or could have (:func:`_able`).
    without: how many such runs came after the last that saw it. fixed_in: the versions of the first
    run without it that had another version than the last one with it. detail: None where the ledger
    is older than it. family: of the vocabulary, as its page is about it. under: libraries with the
    versions that it was seen with. ids: of all its findings; on random vocabularies, which differ
    from run to run, what is alike in all but the vocabulary is one defect with the first one's id.
    """

    id: str
    bucket: str
    vocabulary: str
    family: str
    libraries: tuple[str, ...]
    expected: bool
    first: datetime.datetime
    last: datetime.datetime
    seen: int
    judged: int
    without: int
    count: int
    state: str
    since: str
    fixed_in: str
    fixed_at: datetime.datetime | None
    detail: DetailRow | None
    under: frozenset[tuple[str, str]]
    ids: tuple[str, ...]

    @property
    def blamed(self) -> bool:
        """Whether anybody is: not, where equally trusted ones differ."""
        return self.detail is None or not self.detail.found.undecided


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """An implementation over all runs. agreement: of its latest version, by vocabulary."""

    name: str
    versions: tuple[Version, ...]
    agreement: Mapping[str, Agreement]
    growth: tuple[GrowthRow, ...]
    defects: tuple[Defect, ...]

    @property
    def version(self) -> str:
        """The latest."""
        return self.versions[-1].name if self.versions else ""

    @property
    def overall(self) -> Agreement:
        """Its latest version on all vocabularies."""
        return sum(self.agreement.values(), Agreement())

    @property
    def live(self) -> list[Defect]:
        """The defects that the last run that could see them saw, and for which it is blamed."""
        return [one for one in self.defects if one.state == LIVE and one.blamed]

    @property
    def trusted(self) -> list[str]:
        """The vocabularies on which it is a reference."""
        return [name for name, one in self.agreement.items() if one.trusted]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """A vocabulary over all runs, or all random ones of a kind. row: of the latest run."""

    name: str
    row: VocabularyRow | None
    many: int
    libraries: Mapping[str, Agreement]
    defects: tuple[Defect, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """All that the pages show. defects: the live ones first, then by the time last seen."""

    runs: Sequence[RunRow]
    libraries: Sequence[Library]
    vocabularies: Sequence[Vocabulary]
    defects: Sequence[Defect]
    latest: datetime.datetime | None


@dataclass(slots=True)
class _Index:
    """Rows by what they are looked up by."""

    runs: dict[str, RunRow]
    families: dict[tuple[str, str], str]
    judged: dict[tuple[str, str], dict[str, list[TallyRow]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def family(self, run: str, vocabulary: str) -> str:
        return self.families.get((run, vocabulary)) or family_of(vocabulary)

    def asked(self, library: str, family: str, run: str) -> int:
        """How many cases of a vocabulary, or of all random ones of a kind."""
        return sum(row.cases for row in self.judged.get((library, family), {}).get(run, ()))

    def version(self, run: str, library: str) -> str:
        return self.runs[run].versions.get(library, "")


def fold(history: History) -> Project:
    """The project of a history."""
    index = _Index(
        runs={run.id: run for run in history.runs},
        families={
            (row.run, row.name): family_of(row.name, row.source) for row in history.vocabularies
        },
    )
    for tally in history.tallies:
        if tally.cases:
            family = index.family(tally.run, tally.vocabulary)
            index.judged[tally.library, family][tally.run].append(tally)
    defects = _defects(history, index)
    names = {row.library for row in history.tallies} | {row.library for row in history.growth}
    names |= {name for row in history.findings for name in row.culprits}
    names |= {row.library for row in history.speeds}
    agreements = _agreements(history.tallies, index)
    growth = _latest_growth(history.growth)
    libraries = [
        _library(name, index, agreements, growth.get(name, []), defects)
        for name in sorted(names - NO_LIBRARIES)
    ]
    return Project(
        runs=history.runs,
        libraries=libraries,
        vocabularies=_vocabularies(history, index, libraries, defects),
        defects=defects,
        latest=history.runs[-1].when if history.runs else None,
    )


def _agreements(
    tallies: Iterable[TallyRow], index: _Index
) -> dict[tuple[str, str, str], Agreement]:
    """By library, version and vocabulary, or kind of random ones.

    The same seed makes the same cases, and a session of a campaign goes on with those before it:
    of runs that asked the same, the one with the most comparisons counts, and the others do not.
    """
    most: dict[tuple[str, ...], TallyRow] = {}
    for tally in tallies:
        run = index.runs.get(tally.run)
        if run is None:
            continue
        version = run.versions.get(tally.library, "")
        asked = (run.campaign or "", run.suite, str(run.seed))
        key = (tally.library, version, tally.vocabulary, *asked)
        known = most.get(key)
        if known is None or (tally.compared, tally.cases) >= (known.compared, known.cases):
            most[key] = tally
    sums: dict[tuple[str, str, str], Agreement] = defaultdict(Agreement)
    for (library, version, *_), one in most.items():
        place = library, version, index.family(one.run, one.vocabulary)
        sums[place] += Agreement(one.compared, one.wrong, one.cases, one.deaths, one.trusted)
    return sums


def _latest_growth(rows: Iterable[GrowthRow]) -> dict[str, list[GrowthRow]]:
    """Of each library, vocabulary and family the last measurement."""
    last = {(row.library, row.vocabulary, row.family): row for row in rows}
    made: dict[str, list[GrowthRow]] = defaultdict(list)
    for row in last.values():
        made[row.library].append(row)
    return made


def _library(
    name: str,
    index: _Index,
    agreements: Mapping[tuple[str, str, str], Agreement],
    growth: Collection[GrowthRow],
    defects: Sequence[Defect],
) -> Library:
    mine = tuple(one for one in defects if name in one.libraries)
    runs: dict[str, list[RunRow]] = defaultdict(list)
    took_part = {
        run for (library, _), ids in index.judged.items() if library == name for run in ids
    }
    for run in index.runs.values():
        if name in run.versions and (run.id in took_part or not index.judged):
            runs[run.versions[name]].append(run)
    versions = tuple(
        Version(
            name=version,
            first=with_it[0].when,
            last=with_it[-1].when,
            runs=len(with_it),
            agreement=sum(
                (one for (who, v, _), one in agreements.items() if (who, v) == (name, version)),
                Agreement(),
            ),
            defects=sum(one.blamed and (name, version) in one.under for one in mine),
        )
        for version, with_it in runs.items()
    )
    versions = tuple(sorted(versions, key=lambda one: (one.last, one.first)))
    latest = versions[-1].name if versions else ""
    return Library(
        name=name,
        versions=versions,
        agreement={
            vocabulary: one
            for (who, version, vocabulary), one in sorted(agreements.items())
            if (who, version) == (name, latest)
        },
        growth=tuple(sorted(growth, key=lambda row: -(row.exponent or 0.0))),
        defects=mine,
    )


def _vocabularies(
    history: History, index: _Index, libraries: Iterable[Library], defects: Iterable[Defect]
) -> list[Vocabulary]:
    rows: dict[str, VocabularyRow] = {}
    members: dict[str, set[str]] = defaultdict(set)
    for row in history.vocabularies:
        name = index.family(row.run, row.name)
        rows[name] = row
        members[name].add(row.name)
    for defect in defects:
        members[defect.family].add(defect.vocabulary)
    known = {lib.name: lib for lib in libraries}
    return [
        Vocabulary(
            name=name,
            row=rows.get(name),
            many=len(members[name]),
            libraries={
                lib.name: lib.agreement[name] for lib in known.values() if name in lib.agreement
            },
            defects=tuple(one for one in defects if one.family == name),
        )
        for name in sorted(members)
    ]


def _defects(history: History, index: _Index) -> list[Defect]:
    seen: dict[tuple[str, ...], list[FindingRow]] = defaultdict(list)
    for row in history.findings:
        if row.run in index.runs:
            family = index.family(row.run, row.vocabulary)
            key = (row.id,) if family == row.vocabulary else (family, row.bucket)
            seen[key].append(row)
    details = {one.found.id: one for one in history.details}
    made = [_defect(rows, details, index) for rows in seen.values()]
    order = {state: place for place, state in enumerate(STATES)}
    return sorted(
        made, key=lambda one: (order[one.state], one.expected, -one.last.timestamp(), one.id)
    )


def _defect(rows: Sequence[FindingRow], details: Mapping[str, DetailRow], index: _Index) -> Defect:
    last = rows[-1]
    ids = tuple(dict.fromkeys(row.id for row in rows))
    family = index.family(last.run, last.vocabulary)
    with_it = {row.run for row in rows}
    libraries = tuple(dict.fromkeys(last.culprits))
    detail = next((details[name] for name in ids if name in details), None)
    could = with_it | _able(rows, detail, libraries, family, index)
    judged = [run for run in index.runs.values() if run.id in could]
    place = max(number for number, run in enumerate(judged) if run.id in with_it)
    # Only a run that came to its end tells anything by what it did not see.
    after = [run for run in judged[place + 1 :] if run.complete]
    there = judged[place]
    changed = [
        run for run in after if any(run.versions.get(n) != there.versions.get(n) for n in libraries)
    ]
    state = _state(len(with_it), place + 1, len(after), len(changed))
    fixing = changed[0] if state == FIXED else None
    first = index.runs[rows[0].run]
    return Defect(
        id=ids[0],
        bucket=last.bucket,
        vocabulary=last.vocabulary,
        family=family,
        libraries=libraries,
        expected=last.expected,
        first=first.when,
        last=there.when,
        seen=len(with_it),
        judged=len(judged),
        without=len(after),
        count=last.count,
        state=state,
        since=_versions(first, libraries),
        fixed_in=_versions(fixing, libraries) if fixing else "",
        fixed_at=fixing.when if fixing else None,
        detail=detail,
        under=frozenset(
            (name, index.version(row.run, name)) for row in rows for name in row.culprits
        ),
        ids=ids,
    )


def _able(
    rows: Sequence[FindingRow],
    detail: DetailRow | None,
    libraries: Sequence[str],
    family: str,
    index: _Index,
) -> set[str]:
    """The runs that could have seen a defect.

    They asked all of its libraries, by the check that finds it, cases of the generator that showed
    it, and at least as many cases as the least of the runs that saw it.
    """
    check = detail.found.check if detail else rows[-1].bucket.partition("/")[0]
    generator = detail.found.generator if detail else None
    able: set[str] | None = None
    for name in libraries:
        least = min((index.asked(name, family, row.run) for row in rows), default=0)
        mine = {
            run
            for run, tallies in index.judged.get((name, family), {}).items()
            if any(
                (not one.checks or check in one.checks)
                and (generator is None or not one.generators or generator in one.generators)
                for one in tallies
            )
            and index.asked(name, family, run) >= least
        }
        able = mine if able is None else able & mine
    return able or set()


def _versions(run: RunRow, libraries: Iterable[str]) -> str:
    return ", ".join(f"{name} {run.versions.get(name, '')}".strip() for name in libraries)


def _state(seen: int, judged: int, without: int, changed: int) -> str:
    """What became of a defect.

    It is fixed where a library of another version has been asked in so many complete runs without
    it that chance would explain that in fewer than one of twenty cases, if each run saw it as often
    as those did until it was last seen. seen of judged: those; changed: runs without it, of another
    version; without: all runs without it.
    """
    if not without:
        return LIVE
    gone = changed >= FEWEST_WITHOUT and missed(seen, judged + 1, changed) <= CHANCE
    return FIXED if gone else UNSEEN
