"""Rows of a ledger folded into what pages show: libraries, vocabularies, defects. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.verdict.diff import CHANCE, missed
from reports.site.names import family_of
from reports.studies import grouped
from reports.words import listed, severity, spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

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

COUNTED = ("cases", "compared", "wrong", "deaths", "trusted")

Counts = Counter[str]
"""Sums of tallies, by :data:`COUNTED`; trusted: the runs in which it was the reference."""


@dataclass(frozen=True, slots=True, eq=False)
class Defect:
    """A finding over all runs.

    ids: of all its findings; on random vocabularies, which differ from run to run, what is alike in
    all but the vocabulary is one defect. row: the last. family: of the vocabulary, as its page is
    about it. detail: None where the ledger is older than it. first, last: runs that saw it. seen:
    the runs that saw it, of the ``judged`` runs that did or could have (:meth:`Project._able`).
    without: how many complete ones of these came after the last that saw it. since: versions that
    it was first seen with; fixing: the first run of another version without it, and fixed_in those,
    where it is fixed. page: its file, if any.
    """

    ids: tuple[str, ...]
    row: RunFinding
    family: str
    detail: RecordedFinding | None
    first: Run
    last: Run
    seen: AbstractSet[str]
    judged: int
    without: int
    state: str
    since: str
    fixing: Run | None
    fixed_in: str
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
class Asked:
    """A tally with what it is of. family: of its vocabulary, as its page is about it."""

    row: RunTally
    run: Run
    version: str
    family: str

    @property
    def name(self) -> str:
        """The implementation that was judged."""
        return self.row.implementation


def totals(asked: Iterable[Asked]) -> Counts:
    """The sums of some tallies.

    The same seed makes the same cases, and a session of a campaign goes on with those before it: of
    runs that asked the same, the one with the most comparisons counts, and the others do not.
    """
    most = {
        (j.name, j.version, j.row.vocabulary, j.run.campaign, j.run.suite, j.run.seed): j.row
        for j in sorted(asked, key=lambda one: (one.row.compared, one.row.cases))
    }
    return Counter({kind: sum(getattr(row, kind) for row in most.values()) for kind in COUNTED})


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """An implementation over all runs. growth: the last of each family, the steepest first."""

    name: str
    asked: Sequence[Asked]
    growth: Sequence[RunGrowth]
    defects: Sequence[Defect]

    @property
    def versions(self) -> dict[str, list[Asked]]:
        """What was asked of each version, the latest last."""
        by_version = grouped(self.asked, lambda one: one.version)
        order = {name: (day(of[-1].run), day(of[0].run)) for name, of in by_version.items()}
        return {name: by_version[name] for name in sorted(order, key=lambda name: order[name])}

    @property
    def version(self) -> str:
        """The latest."""
        return next(reversed(self.versions), "")

    @property
    def latest(self) -> list[Asked]:
        """What was asked of the latest version."""
        return self.versions.get(self.version, [])

    @property
    def agreement(self) -> dict[str, Counts]:
        """Of its latest version, by vocabulary."""
        by_family = grouped(self.latest, lambda one: one.family)
        return {name: totals(by_family[name]) for name in sorted(by_family)}


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """A vocabulary over all runs, or all random ones of a kind. row: of the latest run."""

    name: str
    row: RunVocabulary | None
    many: int
    libraries: Mapping[str, Counts]
    defects: Sequence[Defect]


def live(defects: Iterable[Defect]) -> list[Defect]:
    """Those that are still there, and for which somebody is blamed."""
    return [one for one in defects if one.state == LIVE and one.blamed]


def news(defects: Iterable[Defect]) -> list[tuple[str, str, Defect]]:
    """When a defect was ``new`` or ``fixed``, the latest first; what is expected is no news.

    The time is that of a run, in ISO 8601.
    """
    unexpected = [one for one in defects if not one.row.expected]
    found = [(one.first.started, "new", one) for one in unexpected]
    found += [(one.fixing.started, "fixed", one) for one in unexpected if one.fixing]
    return sorted(found, key=lambda one: (*one[:2], one[2].id), reverse=True)


def day(run: Run) -> str:
    """The day of a run: ``2026-11-27``."""
    return run.started[:10]


class Project:
    """All that the pages show. defects: the live ones first, then by the time last seen."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.runs = {run.id: run for run in history.runs}
        by_run = grouped(history.versions, lambda row: row.run)
        self.versions = {run: {v.name: v.version for v in by_run.get(run, ())} for run in self.runs}
        self.sources = {(row.run, row.vocabulary): row.source for row in history.vocabularies}
        asked = [
            Asked(
                row, self.runs[row.run], self.versions[row.run].get(row.implementation, ""),
                self.family(row),
            )
            for row in history.tallies
            if row.cases
        ]  # fmt: skip
        self._asked = grouped(asked, lambda one: (one.name, one.family))
        self.defects = self._defects()
        names = {name for defect in self.defects for name in defect.libraries}
        for rows in (history.tallies, history.growth, history.speeds):
            names.update(row.implementation for row in rows)
        latest = {(row.implementation, row.vocabulary, row.family): row for row in history.growth}
        steepest = sorted(latest.values(), key=lambda row: -(row.exponent or 0))
        self.libraries = [
            Library(
                name,
                [one for one in asked if one.name == name],
                [row for row in steepest if row.implementation == name],
                [one for one in self.defects if name in one.libraries],
            )
            for name in sorted(names - NO_LIBRARIES)
        ]
        self.vocabularies = self._vocabularies()

    def family(self, row: RunTally | RunFinding | RunVocabulary) -> str:
        """The vocabulary that a page is about, of a row about one."""
        return family_of(row.vocabulary, self.sources.get((row.run, row.vocabulary), ""))

    def _vocabularies(self) -> list[Vocabulary]:
        rows = grouped(self.history.vocabularies, self.family)
        defects = grouped(self.defects, lambda one: one.family)
        agreement = {one.name: one.agreement for one in self.libraries}
        return [
            Vocabulary(
                name,
                rows[name][-1] if name in rows else None,
                len({one.vocabulary for one in rows.get(name, [])}
                    | {one.row.vocabulary for one in defects.get(name, [])}),
                {who: counts[name] for who, counts in agreement.items() if name in counts},
                defects.get(name, []),
            )
            for name in sorted({*rows, *defects})
        ]  # fmt: skip

    def _defects(self) -> list[Defect]:
        def alike(row: RunFinding) -> tuple[str, ...]:
            family = self.family(row)
            return (row.id,) if family == row.vocabulary else (family, row.bucket)

        details = {one.found.id: one for one in self.history.details}
        made = [
            self._defect(rows, details) for rows in grouped(self.history.findings, alike).values()
        ]
        made.sort(key=lambda one: one.id)
        made.sort(key=lambda one: one.last.started, reverse=True)
        made.sort(key=lambda one: (STATES.index(one.state), one.row.expected))
        paged = [replace(one, page=f"defects/{one.id}.html") for one in made[:MAX_PAGES]]
        return paged + made[MAX_PAGES:]

    def _defect(self, rows: Sequence[RunFinding], details: Mapping[str, RecordedFinding]) -> Defect:
        row = rows[-1]
        ids = tuple(dict.fromkeys(one.id for one in rows))
        with_it = {one.run for one in rows}
        detail = next((details[name] for name in ids if name in details), None)
        could = with_it | self._able(rows, detail)
        judged = [run for run in self.runs.values() if run.id in could]
        place = max(number for number, run in enumerate(judged) if run.id in with_it)
        last = judged[place]
        # Only a run that came to its end tells anything by what it did not see.
        after = [run for run in judged[place + 1 :] if run.complete]

        def versions(run: Run) -> str:
            have = self.versions[run.id]
            return ", ".join(f"{name} {have.get(name, '')}".strip() for name in row.culprits)

        changed = [run for run in after if versions(run) != versions(last)]
        state = _state(len(with_it), place + 1, len(after), len(changed))
        fixing = changed[0] if state == FIXED else None
        first = self.runs[rows[0].run]
        return Defect(
            ids, row, self.family(row), detail, first, last, with_it, len(judged), len(after),
            state, versions(first), fixing, versions(fixing) if fixing else "",
        )  # fmt: skip

    def _able(self, rows: Sequence[RunFinding], detail: RecordedFinding | None) -> set[str]:
        """The runs that could have seen a defect.

        They asked all of its libraries, by the check that finds it, cases of the generator that
        showed it, and at least as many cases as the least of the runs that saw it.
        """
        check = detail.found.check if detail else rows[-1].bucket.partition("/")[0]
        generator = detail.found.generator if detail else ""
        able = []
        for name in rows[-1].culprits:
            asked = self._asked.get((name, self.family(rows[-1])), [])
            cases = Counter[str]()
            for one in asked:
                cases[one.run.id] += one.row.cases
            least = min(cases[row.run] for row in rows)
            able.append(
                {
                    one.run.id
                    for one in asked
                    if check in (one.row.checks or [check])
                    and generator in (*(one.row.generators or [generator]), "")
                    and cases[one.run.id] >= least
                }
            )
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
