"""What a ledger says of all runs together: libraries, vocabularies and defects. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.events import Found
from harness.ledger.models import History, Run, Tally
from harness.verdict.diff import gone
from reports.speeds import tables
from reports.studies import grouped
from reports.words import severity, spoken

LIVE, UNSEEN, FIXED = STATES = ("live", "not seen lately", "fixed")
"""What became of a defect: the last run that could see it did; it did not; or it is gone for good,
as :meth:`Project._defect` says."""

FEWEST_WITHOUT = 3
"""Runs without a defect, at least, after which it counts as fixed."""

MAX_PAGES = 1_000
"""Defects with a page of their own: the live ones, and of the others the last seen."""

RANDOM = "random:"
"""The names and sources of random vocabularies begin so."""

COUNTED = ("cases", "compared", "wrong", "deaths", "trusted")

Counts = Counter[str]
"""Sums of tallies, by :data:`COUNTED`; trusted: the runs in which it was the reference."""


@dataclass(frozen=True, slots=True, eq=False)
class Defect:
    """A finding over all runs.

    sightings: the runs that saw it, each with what it told; on random vocabularies, which differ
    from run to run, what is alike in all but the vocabulary is one defect. family: of the
    vocabulary, as its page is about it. judged: how many runs saw it or could have
    (:meth:`Project._able`). without: the complete ones of these that came after the last that saw
    it. fixing: the first run of another version without it, where it is fixed. page: its file, if
    any.
    """

    sightings: Sequence[tuple[Run, Found]]
    family: str
    judged: int
    without: int
    fixing: Run | None
    page: str = ""

    @property
    def ids(self) -> list[str]:
        """The ids of all its findings; its address has the first."""
        return list(dict.fromkeys(found.id for _, found in self.sightings))

    @property
    def shown(self) -> tuple[Run, Found]:
        """The finding of its address, as the last run that saw it told it."""
        return next(one for one in reversed(self.sightings) if one[1].id == self.ids[0])

    @property
    def first(self) -> Run:
        """The first run that saw it."""
        return self.sightings[0][0]

    @property
    def last(self) -> Run:
        """The last run that saw it."""
        return self.sightings[-1][0]

    @property
    def expected(self) -> bool:
        """Whether an expectations file covers it."""
        return self.sightings[-1][1].expected is not None

    @property
    def state(self) -> str:
        """What became of it."""
        return FIXED if self.fixing else UNSEEN if self.without else LIVE

    @property
    def title(self) -> str:
        """What happens, in words."""
        return spoken(self.shown[1])

    @property
    def severity(self) -> str:
        """How bad it is, in a word."""
        return severity(self.shown[1])

    @property
    def libraries(self) -> list[str]:
        """Who has it."""
        return list(dict.fromkeys(self.shown[1].culprits))

    @property
    def blamed(self) -> bool:
        """Whether anybody is: not, where equally trusted ones differ."""
        return not self.shown[1].undecided

    @property
    def fixed_in(self) -> str:
        """The versions that do not have it, where it is fixed."""
        return self.versions(self.fixing) if self.fixing else ""

    def versions(self, run: Run) -> str:
        """The versions of its libraries in a run: ``mine 1.2``."""
        have = run.began.versions
        return ", ".join(f"{name} {have.get(name, '')}".strip() for name in self.libraries)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A tally with what it is of. family: of its vocabulary, as its page is about it."""

    tally: Tally
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
            one.tally.implementation, one.version, one.tally.vocabulary,
            one.run.campaign, one.run.began.suite, one.run.began.seed,
        ): one.tally
        for one in sorted(asked, key=lambda one: (one.tally.compared, one.tally.cases))
    }  # fmt: skip
    return Counter({kind: sum(getattr(one, kind) for one in most.values()) for kind in COUNTED})


def live(defects: Iterable[Defect]) -> list[Defect]:
    """Those that are still there, and for which somebody is blamed."""
    return [one for one in defects if one.state == LIVE and one.blamed]


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

    releases: by library, all that it was asked, version by version, the latest last. growth: by
    library, the last of each vocabulary and family, the steepest first. defects: the live ones
    first, then by the time last seen. loaded: what runs say of each vocabulary, or of all random
    ones of a kind. speeds: the tables of all measurements.
    """

    def __init__(self, history: History) -> None:
        self.runs = history.runs
        self.speeds = [one for events in history.measurements for one in tables(events)]
        self.loaded = grouped(
            (one for run in self.runs for one in run.coverage.vocabularies.values()),
            lambda one: family_of(one.id, one.source),
        )
        self._asked = grouped(
            (
                Asked(
                    one, run, run.began.versions.get(one.implementation, ""),
                    self._family(run, one.vocabulary),
                )
                for run in self.runs
                for one in run.tallies
                if one.cases
            ),
            lambda one: one.tally.implementation,
        )  # fmt: skip
        self.releases = {
            name: sorted(
                grouped(asked, lambda one: one.version).values(),
                key=lambda rows: (day(rows[-1].run), day(rows[0].run)),
            )
            for name, asked in self._asked.items()
        }
        measured = [one for run in self.runs for one in run.coverage.growth.values()]
        latest = {(one.implementation, one.vocabulary, one.family): one for one in measured}
        steepest = sorted(latest.values(), key=lambda one: -(one.exponent or 0))
        self.growth = grouped(steepest, lambda one: one.implementation)
        self.defects = self._defects()
        names = {*self._asked, *self.growth}
        names.update(name for one in self.defects for name in one.libraries)
        timed = (cell for one in self.speeds for line in one.lines for cell in line.cells.values())
        names.update(cell.implementation for cell in timed if cell.timings)
        self.libraries = sorted(names)
        self.vocabularies = sorted(self.loaded)

    def latest(self, library: str, vocabulary: str = "") -> list[Asked]:
        """What its latest version was asked (on a vocabulary)."""
        asked = self.releases.get(library, [])[-1:]
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

    @staticmethod
    def _family(run: Run, vocabulary: str) -> str:
        return family_of(vocabulary, source_of(run, vocabulary))

    def _defects(self) -> list[Defect]:
        """All defects in their order, each with its page."""
        sightings: dict[tuple[str, str], list[tuple[Run, Found]]] = {}
        for run in self.runs:
            for found in run.coverage.findings.values():
                family = self._family(run, found.vocabulary)
                # A random vocabulary, and with it the finding's id, is another in each run.
                same = found.id if family == found.vocabulary else found.bucket
                sightings.setdefault((family, same), []).append((run, found))
        made = [self._defect(family, seen) for (family, _), seen in sightings.items()]
        made.sort(key=lambda one: one.ids[0])
        made.sort(key=lambda one: one.last.began.time, reverse=True)
        made.sort(key=lambda one: (STATES.index(one.state), one.expected))
        return [
            replace(one, page=f"defects/{one.ids[0]}.html" * (place < MAX_PAGES))
            for place, one in enumerate(made)
        ]

    def _defect(self, family: str, sightings: Sequence[tuple[Run, Found]]) -> Defect:
        """What became of a finding, by all that runs told of it.

        It is fixed where a library of another version has been asked in so many complete runs
        without it that chance would explain it in fewer than one of twenty cases, if each run saw
        it as often as those did until it was last seen.
        """
        seen = {run for run, _ in sightings}
        could = seen | self._able(family, sightings)
        judged = [run for run in self.runs if run in could]
        before = judged.index(sightings[-1][0]) + 1
        # Only a run that came to its end tells anything by what it did not see.
        after = [run for run in judged[before:] if run.ended.complete]
        made = Defect(sightings, family, len(judged), len(after), None)
        changed = [run for run in after if made.versions(run) != made.versions(made.last)]
        if len(changed) >= FEWEST_WITHOUT and gone(len(seen), before + 1, len(changed)):
            return replace(made, fixing=changed[0])
        return made

    def _able(self, family: str, sightings: Sequence[tuple[Run, Found]]) -> set[Run]:
        """The runs that could have seen a defect.

        They asked all of its libraries, by the check that finds it, cases of the generator that
        showed it, and at least as many cases as the least of the runs that saw it.
        """
        found = sightings[-1][1]
        able: list[set[Run]] = []
        for name in found.culprits:
            asked = [one for one in self._asked.get(name, ()) if one.family == family]
            cases = Counter[Run]()
            for one in asked:
                cases[one.run] += one.tally.cases
            least = min(cases[run] for run, _ in sightings)
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
