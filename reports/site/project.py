"""What a ledger says of all runs together: libraries, vocabularies and defects. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.events import Found, cause_of
from harness.ledger.models import History, Run, Tally
from harness.verdict.diff import gone
from reports.speeds import tables
from reports.standings import sums
from reports.studies import grouped
from reports.words import SEVERITIES, severity, spoken

LIVE, UNSEEN, FIXED = STATES = ("live", "not seen lately", "fixed")
"""What became of a defect: the last run that could see it did; it did not; or it is gone for good,
as :meth:`Project._defect` says."""

FEWEST_WITHOUT = 3
"""Runs without a defect, at least, after which it counts as fixed."""

RANDOM = "random:"
"""The names and sources of random vocabularies begin so."""


@dataclass(frozen=True)
class Defect:
    """A finding over all runs.

    Findings of one cause are one defect, as in the report of a run, on each vocabulary, or on all
    random ones of a kind. family: of the vocabulary, as its page is about it. ids: of all its
    findings; its address has the first, and ``found`` is that finding as ``run``, the last that saw
    it, told it. seen: the runs that saw any of them. expected: whether an expectations file covers
    all of it. judged: how many runs saw it or could have (:meth:`Project._able`). without: the
    complete ones of these that came after the last that saw it. fixing: the first run of another
    version without it, where it is fixed.
    """

    family: str
    ids: Sequence[str]
    run: Run
    found: Found
    seen: Sequence[Run]
    expected: bool
    judged: int
    without: int
    fixing: Run | None

    @property
    def page(self) -> str:
        """Its file."""
        return f"defects/{self.ids[0]}.html"

    @property
    def state(self) -> str:
        """What became of it."""
        return FIXED if self.fixing else UNSEEN if self.without else LIVE

    @property
    def title(self) -> str:
        """What happens, in words."""
        return spoken(self.found)

    @property
    def severity(self) -> str:
        """How bad it is, in a word."""
        return severity(self.found)

    @property
    def found_in(self) -> str:
        """The versions with which it was seen first."""
        return versions(self.found.culprits, self.seen[0])

    @property
    def fixed_in(self) -> str:
        """The versions that do not have it, where it is fixed."""
        return versions(self.found.culprits, self.fixing) if self.fixing else ""


def versions(names: Iterable[str], run: Run) -> str:
    """The versions of libraries in a run: ``mine 1.2``."""
    have = run.began.versions
    return ", ".join(f"{name} {have.get(name, '')}".strip() for name in names)


@dataclass(frozen=True)
class Asked:
    """A tally with what it is of. family: of its vocabulary, as its page is about it."""

    tally: Tally
    run: Run
    version: str
    family: str


def totals(asked: Iterable[Asked]) -> Counter[str]:
    """The sums of some tallies.

    The same seed makes the same cases, and a session of a campaign goes on with those before it: of
    runs that asked the same, the one with the most comparisons counts, and the others do not.
    """
    most = {
        (
            one.tally.implementation, one.version, one.tally.vocabulary,
            one.run.campaign, one.run.began.suite, one.run.began.seed,
        ): one.tally
        for one in sorted(asked, key=lambda one: (one.tally.compared, one.tally.cases))
    }  # fmt: skip
    return sums(most.values())


def rank(defect: Defect) -> int:
    """How bad a defect is; the worst has 0."""
    return SEVERITIES.index(severity(defect.found))


def counts(defects: Iterable[Defect]) -> tuple[int, int]:
    """How many causes there are among defects that are still there: unexpected, and expected.

    These are the numbers of the report of a run: of all vocabularies together, and also of what
    nobody is blamed for.
    """
    causes: dict[str, bool] = {}
    for one in defects:
        if one.state == LIVE:
            name = cause_of(one.found.bucket)
            causes[name] = causes.get(name, True) and one.expected
    expected = sum(causes.values())
    return len(causes) - expected, expected


def live(defects: Iterable[Defect]) -> list[Defect]:
    """Those that are still there, and for which somebody is blamed."""
    return [one for one in defects if one.state == LIVE and not one.found.undecided]


def day(run: Run) -> str:
    """The day of a run: ``2026-11-27``."""
    return run.began.time[:10]


def source_of(run: Run, vocabulary: str) -> str:
    """The text by which a vocabulary of a run was given, where it was loaded."""
    loaded = run.coverage.vocabularies.get(vocabulary)
    return loaded.source if loaded else ""


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

    asked: by library; releases: the same, version by version, the latest last. growth: by library,
    the last of each vocabulary, family and measure, the steepest first. defects: the live ones
    first, those that nobody expects before others, the worst first, then by the time last seen.
    loaded: what runs say of each vocabulary, or of all random ones of a kind. speeds: the tables of
    all measurements.
    """

    def __init__(self, history: History) -> None:
        self.runs = history.runs
        self.speeds = [one for events in history.measurements for one in tables(events)]
        loaded = (one for run in self.runs for one in run.coverage.vocabularies.values())
        self.loaded = grouped(loaded, lambda one: family_of(one.id, one.source))
        asked = [
            Asked(
                one, run, run.began.versions.get(one.implementation, ""),
                family_of(one.vocabulary, source_of(run, one.vocabulary)),
            )
            for run in self.runs
            for one in run.tallies
        ]  # fmt: skip
        self.asked = grouped(asked, lambda one: one.tally.implementation)
        self.releases = {
            name: sorted(
                grouped(rows, lambda one: one.version).values(),
                key=lambda rows: (day(rows[-1].run), day(rows[0].run)),
            )
            for name, rows in self.asked.items()
        }
        measured = {key: one for run in self.runs for key, one in run.coverage.growth.items()}
        steepest = sorted(measured.values(), key=lambda one: -(one.exponent or 0))
        self.growth = grouped(steepest, lambda one: one.implementation)
        self.defects = sorted(self._defects(), key=lambda one: one.ids[0])
        self.defects.sort(key=lambda one: one.seen[-1].began.time, reverse=True)
        self.defects.sort(key=lambda one: (STATES.index(one.state), one.expected, rank(one)))
        timed = (cell for one in self.speeds for line in one.lines for cell in line.cells.values())
        self.libraries = sorted(
            {*self.asked, *self.growth}.union(*(one.found.culprits for one in self.defects)).union(
                cell.implementation for cell in timed if cell.timings
            )
        )

    def latest(self, library: str, vocabulary: str = "") -> list[Asked]:
        """What its latest version was asked (on a vocabulary)."""
        asked = self.releases.get(library, [])[-1:]
        return [one for rows in asked for one in rows if vocabulary in ("", one.family)]

    def version(self, library: str) -> str:
        """The latest of a library."""
        return next((one.version for one in self.latest(library)), "")

    def of(self, library: str) -> list[Defect]:
        """The defects of a library."""
        return [one for one in self.defects if library in one.found.culprits]

    def on(self, vocabulary: str) -> list[Defect]:
        """The defects on a vocabulary."""
        return [one for one in self.defects if vocabulary == one.family]

    def _defects(self) -> Iterator[Defect]:
        sightings: dict[tuple[str, str], list[tuple[Run, Found]]] = {}
        for run in self.runs:
            for found in run.coverage.findings.values():
                family = family_of(found.vocabulary, source_of(run, found.vocabulary))
                # By cause, as in the reports of runs; ids differ with random vocabularies, too.
                sightings.setdefault((family, cause_of(found.bucket)), []).append((run, found))
        for (family, _), told in sightings.items():
            yield self._defect(family, *zip(*told, strict=True))

    def _defect(self, family: str, seen: Sequence[Run], told: Sequence[Found]) -> Defect:
        """What became of a finding, by all that runs told of it.

        It is fixed where a library of another version has been asked in so many complete runs
        without it that chance would explain it in fewer than one of twenty cases, if each run saw
        it as often as those did until it was last seen.
        """
        ids, last = list(dict.fromkeys(one.id for one in told)), seen[-1]
        run, found = [one for one in zip(seen, told, strict=True) if one[1].id == ids[0]][-1]
        able = self._able(family, told[-1], seen)
        judged = [one for one in self.runs if one in able or one in seen]
        before = judged.index(last) + 1
        # Only a run that came to its end tells anything by what it did not see.
        after = [one for one in judged[before:] if one.ended.complete]
        had = versions(found.culprits, last)
        changed = [one for one in after if versions(found.culprits, one) != had]
        fixed = len(changed) >= FEWEST_WITHOUT and gone(len({*seen}), before + 1, len(changed))
        expected = all(
            one.expected is not None for of, one in zip(seen, told, strict=True) if of is last
        )
        return Defect(
            family, ids, run, found, seen, expected,
            len(judged), len(after), changed[0] if fixed else None,
        )  # fmt: skip

    def _able(self, family: str, found: Found, seen: Sequence[Run]) -> set[Run]:
        """The runs that could have seen a defect.

        They asked all of its libraries, by the check that finds it, cases of the generator that
        showed it, and at least as many cases as the least of the runs that saw it.
        """
        able = []
        for name in found.culprits:
            asked = [one for one in self.asked.get(name, ()) if one.family == family]
            cases = Counter[Run]()
            for one in asked:
                cases[one.run] += one.tally.cases
            least = min(cases[run] for run in seen)
            able.append(
                {
                    one.run
                    for one in asked
                    if found.check in one.tally.checks
                    and found.generator in (*one.tally.generators, "")
                    and cases[one.run] >= least
                }
            )
        return set.intersection(*able) if able else set()
