"""Rows of the ledger folded into what pages show: libraries, vocabularies, defects. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

from harness.verdict.diff import CHANCE, missed
from reports.blocks.units import per_cent
from reports.severity import severity
from reports.site.names import family_of
from reports.standings import wilson
from reports.words import listed, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.ledger.history import History, RecordedFinding
    from harness.ledger.models import Run, RunFinding, RunGrowth, RunTally, RunVocabulary

LIVE, UNSEEN, FIXED = "live", "not seen lately", "fixed"
"""What became of a defect: the last run that could see it did; it did not; or it is gone for good,
as :func:`_state` says."""
STATES = (LIVE, UNSEEN, FIXED)

FEWEST_WITHOUT = 3
"""Runs without a defect, at least, after which it may be told as fixed."""

MAX_PAGES = 1_000
"""Defects with a page of their own: the live ones, and of the others the last seen."""

NO_LIBRARIES = frozenset({"tokgate", "python"})
"""Entries among a run's versions that are no implementation."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Comparisons of a library with others: how many, and how many of them it lost.

    trusted: in how many runs it was the reference.
    """

    compared: int = 0
    wrong: int = 0
    cases: int = 0
    deaths: int = 0
    trusted: int = 0

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

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


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a library, with the runs that had it. first, last: days."""

    name: str
    first: str
    last: str
    runs: int
    agreement: Agreement
    defects: int


@dataclass(frozen=True, slots=True, eq=False)
class Defect:
    """A finding over all runs.

    ids: of all its findings; on random vocabularies, which differ from run to run, what is alike in
    all but the vocabulary is one defect. row: the last. family: of the vocabulary, as its page is
    about it. first, last: runs that saw it. seen: in how many of the ``judged`` runs that saw it,
    or could have (:func:`_able`). without: how many such runs came after the last that saw it.
    since: versions that it was first seen with; fixing: the first run of another version without
    it, and fixed_in those, where it is fixed. detail: None where the ledger is older than it.
    under: libraries with the versions that it was seen with. page: its file, if it has one.
    """

    ids: tuple[str, ...]
    row: RunFinding
    family: str
    first: Run
    last: Run
    seen: int
    judged: int
    without: int
    state: str
    since: str
    fixing: Run | None
    fixed_in: str
    detail: RecordedFinding | None
    under: frozenset[tuple[str, str]]
    page: str = ""

    @property
    def id(self) -> str:
        """That of its first finding."""
        return self.ids[0]

    @property
    def title(self) -> str:
        """What happens, in words."""
        if self.detail is None:
            return f"{listed(self.libraries)}: {self.row.bucket}"
        return spoken(self.detail.found)

    @property
    def severity(self) -> str:
        """How bad it is, in a word; nothing where that is not known."""
        return severity(self.detail.found) if self.detail else ""

    @property
    def libraries(self) -> list[str]:
        """Who has it."""
        return list(dict.fromkeys(self.row.culprits))

    @property
    def blamed(self) -> bool:
        """Whether anybody is: not, where equally trusted ones differ."""
        return self.detail is None or not self.detail.found.undecided


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """An implementation over all runs. agreement: of its latest version, by vocabulary."""

    name: str
    versions: Sequence[Version]
    agreement: Mapping[str, Agreement]
    growth: Sequence[RunGrowth]
    defects: Sequence[Defect]

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
        return live(self.defects)


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """A vocabulary over all runs, or all random ones of a kind. row: of the latest run."""

    name: str
    row: RunVocabulary | None
    many: int
    libraries: Mapping[str, Agreement]
    defects: Sequence[Defect]


@dataclass(frozen=True, slots=True, eq=False)
class Project:
    """All that the pages show. defects: the live ones first, then by the time last seen."""

    runs: Sequence[Run]
    versions: Mapping[str, Mapping[str, str]]
    libraries: Sequence[Library]
    vocabularies: Sequence[Vocabulary]
    defects: Sequence[Defect]


@dataclass(frozen=True, slots=True, eq=False)
class News:
    """A defect that is ``new`` or ``fixed``, and since when: a run's time, in ISO 8601."""

    when: str
    what: str
    defect: Defect


def news(defects: Iterable[Defect]) -> list[News]:
    """What is new and what is fixed, the latest first; what is expected is no news."""
    unexpected = [one for one in defects if not one.row.expected]
    found = [News(one.first.started, "new", one) for one in unexpected]
    found += [News(one.fixing.started, "fixed", one) for one in unexpected if one.fixing]
    return sorted(found, key=lambda one: (one.when, one.what, one.defect.id), reverse=True)


def live(defects: Iterable[Defect]) -> list[Defect]:
    """Those that are still there, and for which somebody is blamed."""
    return [one for one in defects if one.state == LIVE and one.blamed]


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """A tally with what it is of. family: of its vocabulary."""

    run: Run
    version: str
    family: str
    row: RunTally

    @property
    def name(self) -> str:
        return self.row.implementation


class _Index:
    """Rows of a ledger by what they are looked up by."""

    def __init__(self, history: History) -> None:
        self.runs = {run.id: run for run in history.runs}
        self.versions: dict[str, dict[str, str]] = defaultdict(dict)
        for row in history.versions:
            self.versions[row.run][row.name] = row.version
        self._sources = {(row.run, row.vocabulary): row.source for row in history.vocabularies}
        self.judged = [
            _Judged(
                self.runs[row.run],
                self.versions[row.run].get(row.implementation, ""),
                self.family(row.run, row.vocabulary),
                row,
            )
            for row in history.tallies
            if row.cases and row.run in self.runs
        ]
        self.places: dict[tuple[str, str], list[_Judged]] = defaultdict(list)
        self.cases: Counter[tuple[str, str, str]] = Counter()
        for one in self.judged:
            self.places[one.name, one.family].append(one)
            self.cases[one.name, one.family, one.run.id] += one.row.cases

    def family(self, run: str, vocabulary: str) -> str:
        return family_of(vocabulary, self._sources.get((run, vocabulary), ""))

    def of(self, run: str, libraries: Iterable[str]) -> dict[str, str]:
        """The versions of some libraries in a run."""
        return {name: self.versions[run].get(name, "") for name in libraries}


def fold(history: History) -> Project:
    """The project of a history."""
    index = _Index(history)
    defects = _defects(history, index)
    names = {row.implementation for row in history.tallies}
    names |= {row.implementation for row in history.growth}
    names |= {row.implementation for row in history.speeds}
    names |= {name for row in history.findings for name in row.culprits}
    agreements = _agreements(index.judged)
    latest = {(row.implementation, row.vocabulary, row.family): row for row in history.growth}
    libraries = [
        _library(name, index, agreements, latest.values(), defects)
        for name in sorted(names - NO_LIBRARIES)
    ]
    vocabularies = _vocabularies(history, index, libraries, defects)
    return Project(history.runs, index.versions, libraries, vocabularies, defects)


Agreements = dict[str, dict[str, dict[str, Agreement]]]
"""By library, version and vocabulary, or kind of random ones."""


def _agreements(judged: Iterable[_Judged]) -> Agreements:
    """The sums of all that was asked.

    The same seed makes the same cases, and a session of a campaign goes on with those before it:
    of runs that asked the same, the one with the most comparisons counts, and the others do not.
    """
    most = {
        (j.name, j.version, j.row.vocabulary, j.run.campaign, j.run.suite, j.run.seed): j
        for j in sorted(judged, key=lambda one: (one.row.compared, one.row.cases))
    }
    sums: Agreements = defaultdict(lambda: defaultdict(lambda: defaultdict(Agreement)))
    for one in most.values():
        row = one.row
        sums[one.name][one.version][one.family] += Agreement(
            row.compared, row.wrong, row.cases, row.deaths, int(row.trusted)
        )
    return sums


def _library(
    name: str,
    index: _Index,
    agreements: Agreements,
    growth: Iterable[RunGrowth],
    defects: Sequence[Defect],
) -> Library:
    mine = [one for one in defects if name in one.libraries]
    took_part = {one.run.id for one in index.judged if one.name == name}
    runs: dict[str, list[Run]] = {}
    for run in index.runs.values():  # an older ledger does not say who took part
        if name in index.versions[run.id] and (run.id in took_part or not index.judged):
            runs.setdefault(index.versions[run.id][name], []).append(run)
    versions = [
        Version(
            name=version,
            first=day(with_it[0]),
            last=day(with_it[-1]),
            runs=len(with_it),
            agreement=sum(agreements[name][version].values(), Agreement()),
            defects=sum(one.blamed and (name, version) in one.under for one in mine),
        )
        for version, with_it in runs.items()
    ]
    versions.sort(key=lambda one: (one.last, one.first))
    latest = agreements[name][versions[-1].name if versions else ""]
    grown = sorted(
        (row for row in growth if row.implementation == name), key=lambda row: -(row.exponent or 0)
    )
    return Library(name, versions, dict(sorted(latest.items())), grown, mine)


def day(run: Run) -> str:
    """The day of a run: ``2026-11-27``."""
    return run.started[:10]


def _vocabularies(
    history: History, index: _Index, libraries: Sequence[Library], defects: Sequence[Defect]
) -> list[Vocabulary]:
    rows = {index.family(row.run, row.vocabulary): row for row in history.vocabularies}
    members: dict[str, set[str]] = defaultdict(set)
    for row in history.vocabularies:
        members[index.family(row.run, row.vocabulary)].add(row.vocabulary)
    for one in defects:
        members[one.family].add(one.row.vocabulary)
    return [
        Vocabulary(
            name,
            rows.get(name),
            len(members[name]),
            {one.name: one.agreement[name] for one in libraries if name in one.agreement},
            [one for one in defects if one.family == name],
        )
        for name in sorted(members)
    ]


def _defects(history: History, index: _Index) -> list[Defect]:
    seen: dict[tuple[str, ...], list[RunFinding]] = defaultdict(list)
    for row in history.findings:
        if row.run in index.runs:
            family = index.family(row.run, row.vocabulary)
            key = (row.id,) if family == row.vocabulary else (family, row.bucket)
            seen[key].append(row)
    details = {one.found.id: one for one in history.details}
    made = [_defect(rows, details, index) for rows in seen.values()]
    made.sort(key=lambda one: one.id)
    made.sort(key=lambda one: one.last.started, reverse=True)
    made.sort(key=lambda one: (STATES.index(one.state), one.row.expected))
    paged = [replace(one, page=f"defects/{one.id}.html") for one in made[:MAX_PAGES]]
    return paged + made[MAX_PAGES:]


def _defect(
    rows: Sequence[RunFinding], details: Mapping[str, RecordedFinding], index: _Index
) -> Defect:
    row = rows[-1]
    ids = tuple(dict.fromkeys(one.id for one in rows))
    family = index.family(row.run, row.vocabulary)
    with_it = {one.run for one in rows}
    libraries = dict.fromkeys(row.culprits)
    detail = next((details[name] for name in ids if name in details), None)
    could = with_it | _able(rows, detail, libraries, family, index)
    judged = [run for run in index.runs.values() if run.id in could]
    place = max(number for number, run in enumerate(judged) if run.id in with_it)
    last = judged[place]
    # Only a run that came to its end tells anything by what it did not see.
    after = [run for run in judged[place + 1 :] if run.complete]
    before = index.of(last.id, libraries)
    changed = [run for run in after if index.of(run.id, libraries) != before]
    state = _state(len(with_it), place + 1, len(after), len(changed))
    fixing = changed[0] if state == FIXED else None
    first = index.runs[rows[0].run]

    def versions(run: Run) -> str:
        return ", ".join(" ".join(pair).strip() for pair in index.of(run.id, libraries).items())

    return Defect(
        ids=ids,
        row=row,
        family=family,
        first=first,
        last=last,
        seen=len(with_it),
        judged=len(judged),
        without=len(after),
        state=state,
        since=versions(first),
        fixing=fixing,
        fixed_in=versions(fixing) if fixing else "",
        detail=detail,
        under=frozenset(p for one in rows for p in index.of(one.run, one.culprits).items()),
    )


def _able(
    rows: Sequence[RunFinding],
    detail: RecordedFinding | None,
    libraries: Iterable[str],
    family: str,
    index: _Index,
) -> set[str]:
    """The runs that could have seen a defect.

    They asked all of its libraries, by the check that finds it, cases of the generator that showed
    it, and at least as many cases as the least of the runs that saw it.
    """
    check = detail.found.check if detail else rows[-1].bucket.partition("/")[0]
    generator = detail.found.generator if detail else ""

    def could(name: str, one: _Judged, least: int) -> bool:
        by_check = not one.row.checks or check in one.row.checks
        with_it = not one.row.generators or generator in {*one.row.generators, ""}
        return by_check and with_it and index.cases[name, family, one.run.id] >= least

    able = []
    for name in libraries:
        least = min(index.cases[name, family, row.run] for row in rows)
        found = index.places.get((name, family), [])
        able.append({one.run.id for one in found if could(name, one, least)})
    return set.intersection(*able) if able else set()


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
