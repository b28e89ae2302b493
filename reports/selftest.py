"""A selftest: which generator and check catches which planted mistake, and how fast."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from reports import cluster
from reports.blocks import (
    Banner,
    Cell,
    Column,
    Items,
    Page,
    Paragraph,
    Section,
    Span,
    Table,
    numbers,
)
from reports.blocks.html import render
from reports.blocks.units import duration, figure, plural
from reports.cluster import Cluster
from reports.text import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from harness.events import Event
    from reports.blocks import Block

INPUT_SHOWN = 60
"""Bytes of a minimal input on the page."""

HOW = (
    "Each mistake is an implementation with one thing wrong. They take part in campaigns like any "
    "others, beside references and beside what they are without the mistake. "
)
CHECKS = (
    "Planted: for this check. Median and cases: of the whole campaign until it first showed a "
    "mistake."
)
GENERATORS = (
    "Tried: mistakes to which it gave cases. Median and cases: its own, until a mistake first "
    "showed."
)


@dataclass(slots=True)
class SelftestRecord:
    """What the events of a selftest told, as plain data."""

    started: dict[str, Any] = field(default_factory=dict)
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    controls: list[dict[str, Any]] = field(default_factory=list)
    hunts: list[dict[str, Any]] = field(default_factory=list)
    finished: dict[str, Any] = field(default_factory=dict)
    cluster: Cluster = field(default_factory=Cluster)

    def consume(self, event: Event) -> None:
        """Take an event; those of no selftest are passed over."""
        self.cluster.take(event)
        row: dict[str, Any] = json.loads(event.to_json())
        match row.pop("event"):
            case "SelftestStarted":
                self.started = row
            case "MistakeJudged":
                row["caught"] = bool(row["named"])
                row["rightly"] = rightly(row)
                (self.mistakes if row["check"] else self.controls).append(row)
            case "HuntDone":
                self.hunts.append(row)
            case "Finished":
                self.finished = row

    @property
    def complete(self) -> bool:
        """Whether every mistake was hunted."""
        return bool(self.finished.get("complete"))

    @property
    def medians(self) -> tuple[float | None, float | None]:
        """Seconds and cases until a mistake that is caught is first seen."""
        first = [one for row in self.mistakes if (one := earliest(row))]
        seconds = middle(one["all_seconds"] for one in first)
        return seconds, middle(one["all_cases"] for one in first if one["cases"])

    def to_json(self) -> str:
        """``selftest.json``: all that was told, and the tables made of it."""
        seconds, cases = self.medians
        return json.dumps(
            {
                "complete": self.complete,
                "verdict": self.finished.get("verdict", "fail"),
                "reasons": self.finished.get("reasons", []),
                **self.started,
                "seconds": self.finished.get("seconds"),
                "median_seconds": seconds,
                "median_cases": cases,
                "generators": [line.plain() for line in by_generator(self)],
                "checks": [line.plain() for line in by_check(self)],
                "mistakes": self.mistakes,
                "controls": self.controls,
                "hunts": self.hunts,
                **({"cluster": self.cluster.summary()} if self.cluster else {}),
            },
            indent=1,
        )


@dataclass(frozen=True, slots=True)
class Line:
    """What one generator or check did.

    tried: mistakes that it could have caught: for a generator those to which it gave cases, for a
    check those planted for it. caught: names. alone: of these, what no other of its kind caught.
    medians: until the first catch, of this one's own. cases: in all.
    """

    name: str
    tried: int
    caught: tuple[str, ...]
    alone: tuple[str, ...]
    median_seconds: float | None
    median_cases: float | None
    cases: int = 0

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "caught": len(self.caught)}


def rightly(row: dict[str, Any]) -> bool:
    """Whether a mistake was found under its name."""
    pairs = [name.partition("/") for name in row["named"]]
    stages = row["stages"]
    return any(check == row["check"] and (not stages or s in stages) for check, _, s in pairs)


Sighting = dict[str, Any]


def by_generator(record: SelftestRecord) -> list[Line]:
    """A line for each generator, in their order; growth's families and schemas are not among them.

    Only answers that break the property that is a mistake's own count, or show it in any way where
    it was found so.
    """
    caught: dict[str, dict[str, Sighting]] = defaultdict(dict)
    for one in record.mistakes:
        for sighting in sorted(one["sightings"], key=lambda one: -one["cases"]):
            caught[sighting["generator"]][one["name"]] = sighting  # the one with the least stays
    lines = []
    for name in record.started.get("generators", []):
        hunts = [hunt for hunt in record.hunts if hunt["cases"].get(name)]
        tried = sum(len(hunt["mistakes"]) for hunt in hunts)
        cases = sum(hunt["cases"][name] for hunt in hunts)
        lines.append(_line(name, tried, caught, "", cases))
    return lines


def by_check(record: SelftestRecord) -> list[Line]:
    """A line for each check, in their order: what it catches, planted for it or not."""
    caught: dict[str, dict[str, Sighting]] = defaultdict(dict)
    for one in record.mistakes:
        named = {name.partition("/")[0] for name in one["named"]}
        for check in named | {sighting["check"] for sighting in one["sightings"]}:
            caught[check][one["name"]] = earliest(one, check) or {}
    return [
        _line(check, sum(one["check"] == check for one in record.mistakes), caught, "all_")
        for check in record.started.get("checks", [])
    ]


def _line(
    name: str, tried: int, caught: dict[str, dict[str, Sighting]], of: str, cases: int = 0
) -> Line:
    """A line of what all of a kind have caught. of: begins the names of what is told of it."""
    mine = caught[name]
    others = {mistake for other, found in caught.items() if other != name for mistake in found}
    return Line(
        name,
        tried,
        tuple(mine),
        tuple(mistake for mistake in mine if mistake not in others),
        middle(one[f"{of}seconds"] for one in mine.values() if one),
        middle(one[f"{of}cases"] for one in mine.values() if one),
        cases,
    )


def earliest(row: dict[str, Any], check: str = "") -> dict[str, Any] | None:
    """The first sighting of a mistake (by a check, if one is named)."""
    sightings = [s for s in row["sightings"] if not check or s["check"] == check]
    return min(sightings, key=lambda one: float(one["all_seconds"]), default=None)


def middle(figures: Iterable[float]) -> float | None:
    """The median, if there is anything."""
    every = list(figures)
    return median(every) if every else None


def verdict_of(row: dict[str, Any]) -> str:
    """``caught``, ``misnamed``, ``escaped``, or ``not hunted``, in a word or two."""
    if row["rightly"]:
        return "caught"
    if row["caught"]:
        return "misnamed"
    return "not hunted" if row["trouble"] else "escaped"


def shown(number: float | None, write: Callable[[float], str] = figure) -> str:
    """A number for a table, or nothing."""
    return "" if number is None else write(number)


def idle(record: SelftestRecord) -> list[tuple[str, int]]:
    """Generators that caught nothing, and how many cases they gave."""
    lines = by_generator(record)
    return [(line.name, line.cases) for line in lines if line.cases and not line.caught]


def files(record: SelftestRecord) -> list[tuple[str, str]]:
    """``selftest.json`` and ``selftest.html``, by their names."""
    return [("selftest.json", record.to_json()), ("selftest.html", render(page(record)))]


def page(record: SelftestRecord) -> Page:
    """``selftest.html``."""
    started, reasons = record.started, record.finished.get("reasons", [])
    tone = ("fail", "✗") if reasons else ("pass", "✓")
    if not record.complete:
        tone = ("incomplete", "!")
    caught = sum(one["rightly"] for one in record.mistakes)
    seconds, cases = record.medians
    banner = Banner(
        f"{caught} of {started.get('mistakes', 0)} planted mistakes caught",
        tone[1],
        tone[0],
        f"Median until detection: {shown(seconds, duration)}, {shown(cases)} cases; "
        f"{shown(record.finished.get('seconds'), duration)} in all.",
        "" if record.complete else "Not complete: what had been hunted by then.",
        [Items(reasons)],
    )
    decided = ""
    if started:
        decided = (
            f"Budget {started['budget']} s in all, seed {started['seed']}, {started['machine']}."
        )
    lazy = [
        Paragraph(f"The generator {name} caught nothing in {plural(given, 'case')}.", "warn")
        for name, given in idle(record)
    ]
    checks = _grid("check", "planted", by_check(record))
    generators = _grid("generator", "tried", by_generator(record))
    sections = [
        Section(
            "What each check catches",
            [Paragraph(CHECKS, page=True), checks],
            "checks",
            nav="Checks",
        ),
        Section(
            "What each generator brings out",
            [Paragraph(GENERATORS, page=True), generators, *lazy],
            "generators",
            nav="Generators",
        ),
        _mistakes(record),
        *cluster.sections(record.cluster, page=True),
    ]
    blocks: list[Block] = [banner, Paragraph((HOW, decided), "intro", page=True), *sections]
    return Page("tokgate: selftest", "selftest", blocks, skip="tables")


def _grid(what: str, tried: str, lines: Sequence[Line]) -> Table:
    return Table(
        f"By {what}",
        (what.capitalize(), *numbers(tried.capitalize(), "Caught", "No other", "Median", "Cases")),
        [
            (
                line.name, line.tried,
                Cell(len(line.caught), "bad" if line.tried and not line.caught else ""),
                len(line.alone) or None, shown(line.median_seconds, duration),
                shown(line.median_cases),
            )
            for line in lines
        ],
    )  # fmt: skip


def _mistakes(record: SelftestRecord) -> Section:
    """Every mistake, with what found it first."""
    rows = []
    for one in record.mistakes:
        first = earliest(one) or {"generator": "", "all_seconds": None, "cases": 0}
        smallest = literal(base64.b64decode(one["input_b64"]), INPUT_SHOWN)
        rows.append(
            (
                Span(one["name"], "code"), one["summary"], one["vocabulary"], verdict_of(one),
                ", ".join(one["named"]),
                Span(smallest.code + ("…" if smallest.missing else ""), "code"),
                first["generator"], shown(first["all_seconds"], duration),
                shown(first["all_cases"]) if first["cases"] else None,
                len({sighting["generator"] for sighting in one["sightings"]}),
            )
        )  # fmt: skip
    columns: list[str | Column] = [
        "Mistake", "What is wrong", "Vocabulary", "Verdict", "Found as", "Smallest input",
        "First by", *numbers("After", "Cases", "Generators"),
    ]  # fmt: skip
    table = Table("Table of the mistakes", columns, rows, style="dense mistakes")
    return Section("The mistakes", [table], "mistakes", nav="Mistakes", page=True)
