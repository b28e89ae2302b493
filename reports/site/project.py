"""What a ledger says of all runs together: libraries, vocabularies and defects. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from harness.events import Found
from harness.ledger.history import History, RecordedFinding
from harness.ledger.models import Run, RunFinding, RunTally, RunVocabulary
from harness.verdict.diff import gone
from reports.studies import grouped
from reports.words import severity, spoken

LIVE, UNSEEN, FIXED = STATES = ("live", "not seen lately", "fixed")
"""What became of a defect: the last run that could see it did; it did not; or it is gone for good,
as :meth:`Project._defect` says."""

FEWEST_WITHOUT = 3
"""Runs without a defect, at least, after which it counts as fixed."""

MAX_PAGES = 1_000
"""Defects with a page of their own: the live ones, and of the others the last seen."""

NO_LIBRARIES = frozenset({"tokgate", "python"})
"""Entries among a run's versions that are no implementation."""

RANDOM = "random:"
"""The names and sources of random vocabularies begin so."""

COUNTED = ("cases", "compared", "wrong", "deaths", "trusted")

Counts = Counter[str]
"""Sums of tallies, by :data:`COUNTED`; trusted: the runs in which it was the reference."""


@dataclass(frozen=True, slots=True, eq=False)
class Defect:
    """A finding over all runs.

    ids: of all its findings; on random vocabularies, which differ from run to run, what is alike in
    all but the vocabulary is one defect. row: the last. family: of the vocabulary, as its page is
    about it. detail: it in full, as a run told it. first, last: runs that saw it. seen:
    the runs that saw it, of the ``judged`` runs that did or could have (:meth:`Project._able`).
    without: the complete ones of these that came after the last that saw it. since: versions that
    it was first seen with; fixing: the first run of another version without it, and fixed_in those,
    where it is fixed. page: its file, if any.
    """

    ids: Sequence[str]
    row: RunFinding
    family: str
    detail: RecordedFinding
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
    def title(self) -> str:
        """What happens, in words."""
        return spoken(self.detail.found)

    @property
    def severity(self) -> str:
        """How bad it is, in a word."""
        return severity(self.detail.found)

    @property
    def libraries(self) -> list[str]:
        """Who has it."""
        return list(dict.fromkeys(self.row.culprits))

    @property
    def blamed(self) -> bool:
        """Whether anybody is: not, where equally trusted ones differ."""
        return not self.detail.found.undecided


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A tally with what it is of. family: of its vocabulary, as its page is about it."""

    row: RunTally
    run: Run
    version: str
    family: str


def totals(asked: Iterable[Asked]) -> Counts:
    """The sums of some tallies.

    The same seed makes the same cases, and a session of a campaign goes on with those before it: of
    runs that asked the same, the one with the most comparisons counts, and the others do not.
    """
    most = {
        (
            one.row.implementation, one.version, one.row.vocabulary,
            one.run.campaign, one.run.suite, one.run.seed,
        ): one.row
        for one in sorted(asked, key=lambda one: (one.row.compared, one.row.cases))
    }  # fmt: skip
    return Counter({kind: sum(getattr(row, kind) for row in most.values()) for kind in COUNTED})


def live(defects: Iterable[Defect]) -> list[Defect]:
    """Those that are still there, and for which somebody is blamed."""
    return [one for one in defects if one.state == LIVE and one.blamed]


def day(run: Run) -> str:
    """The day of a run: ``2026-11-27``."""
    return run.started[:10]


def family_of(name: str, source: str = "") -> str:
    """The vocabulary that a page is about: all random ones of a kind are one.

    ``random:bpe:17`` is one of the ``random bpe`` vocabularies; every other stands for itself.
    """
    for text in (source, name):
        if text.startswith(RANDOM):
            return f"random {text.split(':')[1]}".rstrip()
    return name


class Project:
    """All that the pages show.

    releases: by library, all that it was asked, version by version, the latest last. growth: by
    library, the last of each vocabulary and family, the steepest first. defects: the live ones
    first, then by the time last seen. loaded: what runs say of each vocabulary, or of all random
    ones of a kind.
    """

    def __init__(self, history: History) -> None:
        self.runs = {run.id: run for run in history.runs}
        self.versions: dict[str, dict[str, str]] = {run: {} for run in self.runs}
        for version in history.versions:
            self.versions[version.run][version.name] = version.version
        self.sources = {(row.run, row.vocabulary): row.source for row in history.vocabularies}
        self._details = {one.found.id: one for one in history.details}
        asked = [
            Asked(
                row, self.runs[row.run], self.versions[row.run].get(row.implementation, ""),
                self.family(row),
            )
            for row in history.tallies
            if row.cases
        ]  # fmt: skip
        self._asked = grouped(asked, lambda one: one.row.implementation)
        # What the ledger does not have in full is told when a run sees it again.
        findings = [row for row in history.findings if row.id in self._details]
        made = [self._defect(rows) for rows in grouped(findings, self._alike).values()]
        made.sort(key=lambda one: one.ids[0])
        made.sort(key=lambda one: one.last.started, reverse=True)
        made.sort(key=lambda one: (STATES.index(one.state), one.row.expected))
        self.defects = [
            replace(one, page=f"defects/{one.ids[0]}.html" * (place < MAX_PAGES))
            for place, one in enumerate(made)
        ]
        steepest = sorted(
            {
                (row.implementation, row.vocabulary, row.family): row for row in history.growth
            }.values(),
            key=lambda row: -(row.exponent or 0),
        )
        self.growth = grouped(steepest, lambda row: row.implementation)
        names = {*self._asked, *self.growth, *(row.implementation for row in history.speeds)}
        names.update(name for one in made for name in one.libraries)
        self.libraries = sorted(names - NO_LIBRARIES)
        self.releases = {
            name: sorted(
                grouped(self._asked.get(name, []), lambda one: one.version).values(),
                key=lambda rows: (day(rows[-1].run), day(rows[0].run)),
            )
            for name in self.libraries
        }
        self.loaded = grouped(history.vocabularies, self.family)
        self.vocabularies = sorted(self.loaded)

    def latest(self, library: str, vocabulary: str = "") -> list[Asked]:
        """What its latest version was asked (on a vocabulary)."""
        asked = self.releases[library][-1:]
        return [one for rows in asked for one in rows if vocabulary in ("", one.family)]

    def version(self, library: str) -> str:
        """The latest of a library."""
        return next((one.version for one in self.latest(library)), "")

    def of(self, library: str) -> list[Defect]:
        """The defects of a library."""
        return [one for one in self.defects if library in one.libraries]

    def on(self, vocabulary: str) -> list[Defect]:
        """The defects on a vocabulary."""
        return [one for one in self.defects if vocabulary == one.family]

    def family(self, row: RunTally | RunFinding | RunVocabulary) -> str:
        """The vocabulary that a page is about, of a row about one."""
        return family_of(row.vocabulary, self.sources.get((row.run, row.vocabulary), ""))

    def _alike(self, row: RunFinding) -> tuple[str, ...]:
        """By which findings are the same defect."""
        family = self.family(row)
        return (row.id,) if family == row.vocabulary else (family, row.bucket)

    def _with(self, run: Run, names: Iterable[str]) -> str:
        """The versions of some libraries in a run: ``mine 1.2``."""
        have = self.versions[run.id]
        return ", ".join(f"{name} {have.get(name, '')}".strip() for name in names)

    def _defect(self, rows: Sequence[RunFinding]) -> Defect:
        """What became of a finding, by its rows of all runs.

        It is fixed where a library of another version has been asked in so many complete runs
        without it that chance would explain it in fewer than one of twenty cases, if each run saw
        it as often as those did until it was last seen.
        """
        row, seen = rows[-1], {one.run for one in rows}
        ids = tuple(dict.fromkeys(one.id for one in rows))
        detail = self._details[ids[0]]
        could = seen | self._able(rows, detail.found)
        judged = [run for run in self.runs.values() if run.id in could]
        last = max(place for place, run in enumerate(judged) if run.id in seen)
        # Only a run that came to its end tells anything by what it did not see.
        after = [run for run in judged[last + 1 :] if run.complete]
        told = {run.id: self._with(run, row.culprits) for run in judged}
        changed = [run for run in after if told[run.id] != told[judged[last].id]]
        fixed = len(changed) >= FEWEST_WITHOUT and gone(len(seen), last + 2, len(changed))
        first, fixing = self.runs[rows[0].run], changed[0] if fixed else None
        return Defect(
            ids, row, self.family(row), detail, first, judged[last], seen, len(judged), len(after),
            FIXED if fixed else UNSEEN if after else LIVE, told[first.id],
            fixing, told[fixing.id] if fixing else "",
        )  # fmt: skip

    def _able(self, rows: Sequence[RunFinding], found: Found) -> set[str]:
        """The runs that could have seen a defect.

        They asked all of its libraries, by the check that finds it, cases of the generator that
        showed it, and at least as many cases as the least of the runs that saw it.
        """
        family = self.family(rows[-1])
        able = [set[str]()]
        for name in rows[-1].culprits:
            asked = [one for one in self._asked.get(name, ()) if one.family == family]
            cases = Counter[str]()
            for one in asked:
                cases[one.run.id] += one.row.cases
            least = min(cases[row.run] for row in rows)
            able.append(
                {
                    one.run.id
                    for one in asked
                    if found.check in one.row.checks
                    and found.generator in (*one.row.generators, "")
                    and cases[one.run.id] >= least
                }
            )
        return set.intersection(*(able[1:] or able))
