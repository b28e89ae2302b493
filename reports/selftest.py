"""A selftest: which generator and check catches which planted mistake, and how fast."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from harness.events import Finished
from harness.studies.selftest.events import HuntDone, MistakeJudged, SelftestStarted
from reports import cluster
from reports.blocks import Cell, Column, Items, Page, Paragraph, Section, Span, Table, numbers
from reports.blocks.html import render
from reports.blocks.units import duration, figure, plural
from reports.studies import banner, complete, last, of
from reports.text import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from harness.events import Event
    from reports.blocks import Block

    Sighting = dict[str, Any]
    """See :class:`harness.studies.selftest.events.Sighting`."""

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


@dataclass(frozen=True, slots=True)
class SelftestLine:
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


def mistakes(events: Sequence[Event]) -> list[MistakeJudged]:
    """All that were judged, without the controls."""
    return [one for one in of(events, MistakeJudged) if one.check]


def by_generator(events: Sequence[Event]) -> list[SelftestLine]:
    """A line for each generator, in their order; growth's families and schemas are not among them.

    Only answers that break the property that is a mistake's own count, or show it in any way where
    it was found so.
    """
    caught: dict[str, dict[str, Sighting]] = defaultdict(dict)
    for one in mistakes(events):
        for sighting in sorted(one.sightings, key=lambda one: -one["cases"]):
            caught[sighting["generator"]][one.name] = sighting  # the one with the least stays
    started, lines = last(events, SelftestStarted), []
    for name in started.generators if started else ():
        hunts = [hunt for hunt in of(events, HuntDone) if hunt.cases.get(name)]
        tried = sum(len(hunt.mistakes) for hunt in hunts)
        lines.append(_line(name, tried, caught, "", sum(hunt.cases[name] for hunt in hunts)))
    return lines


def by_check(events: Sequence[Event]) -> list[SelftestLine]:
    """A line for each check, in their order: what it catches, planted for it or not."""
    caught: dict[str, dict[str, Sighting]] = defaultdict(dict)
    planted = mistakes(events)
    for one in planted:
        named = {name.partition("/")[0] for name in one.named}
        for check in named | {sighting["check"] for sighting in one.sightings}:
            caught[check][one.name] = earliest(one, check) or {}
    started = last(events, SelftestStarted)
    return [
        _line(check, sum(one.check == check for one in planted), caught, "all_")
        for check in (started.checks if started else ())
    ]


def _line(
    name: str, tried: int, caught: Mapping[str, Mapping[str, Sighting]], of: str, cases: int = 0
) -> SelftestLine:
    """A line of what all of a kind have caught. of: begins the names of what is told of it."""
    mine = caught.get(name, {})
    others = {mistake for other, found in caught.items() if other != name for mistake in found}
    alone = tuple(mistake for mistake in mine if mistake not in others)
    seconds, needed = (
        middle(one[f"{of}{what}"] for one in mine.values() if one) for what in ("seconds", "cases")
    )
    return SelftestLine(name, tried, tuple(mine), alone, seconds, needed, cases)


def earliest(mistake: MistakeJudged, check: str = "") -> Sighting | None:
    """The first sighting of a mistake (by a check, if one is named)."""
    sightings = [s for s in mistake.sightings if not check or s["check"] == check]
    return min(sightings, key=lambda one: float(one["all_seconds"]), default=None)


def middle(figures: Iterable[float]) -> float | None:
    """The median, if there is anything."""
    every = list(figures)
    return median(every) if every else None


def medians(events: Sequence[Event]) -> tuple[float | None, float | None]:
    """Seconds and cases until a mistake that is caught is first seen."""
    first = [one for mistake in mistakes(events) if (one := earliest(mistake))]
    seconds = middle(one["all_seconds"] for one in first)
    return seconds, middle(one["all_cases"] for one in first if one["cases"])


def files(events: Sequence[Event]) -> list[tuple[str, str]]:
    """``selftest.json`` and ``selftest.html``, by their names."""
    return [("selftest.json", to_json(events)), ("selftest.html", render(page(events)))]


def to_json(events: Sequence[Event]) -> str:
    """``selftest.json``: all that was told, and the tables made of it."""
    started, finished = last(events, SelftestStarted), last(events, Finished)
    seconds, cases = medians(events)
    judged = [
        {**asdict(one), "caught": one.caught, "rightly": one.rightly}
        for one in of(events, MistakeJudged)
    ]
    used = cluster.Cluster.of(events)
    whole = {
        "complete": complete(events),
        "verdict": finished.verdict if finished else "fail",
        "reasons": finished.reasons if finished else [],
        **(asdict(started) if started else {}),
        "seconds": finished and finished.seconds,
        "median_seconds": seconds,
        "median_cases": cases,
        **{
            name: [{**asdict(line), "caught": len(line.caught)} for line in lines]
            for name, lines in (("generators", by_generator(events)), ("checks", by_check(events)))
        },
        "mistakes": [one for one in judged if one["check"]],
        "controls": [one for one in judged if not one["check"]],
        "hunts": [asdict(one) for one in of(events, HuntDone)],
        **({"cluster": used.summary()} if used else {}),
    }
    return json.dumps(whole, indent=1)


def page(events: Sequence[Event]) -> Page:
    """``selftest.html``."""
    started, finished = last(events, SelftestStarted), last(events, Finished)
    reasons = finished.reasons if finished else []
    took = finished.seconds if finished else None
    seconds, cases = medians(events)
    caught, planted = (
        sum(one.rightly for one in mistakes(events)),
        started.mistakes if started else 0,
    )
    decided = ""
    if started:
        decided = f"Budget {started.budget} s in all, seed {started.seed}, {started.machine}."
    checks, generators = by_check(events), by_generator(events)
    blocks: list[Block] = [
        banner(
            f"{caught} of {planted} planted mistakes caught",
            f"Median until detection: {shown(seconds, duration)}, {shown(cases)} cases; "
            f"{shown(took, duration)} in all.",
            "fail" if reasons else "pass",
            [Items(reasons)],
            "" if complete(events) else "Not complete: what had been hunted by then.",
        ),
        Paragraph((HOW, decided), "intro", page=True),
        Section(
            "What each check catches",
            [Paragraph(CHECKS, page=True), _grid("Check", "Planted", checks)],
            "checks",
            nav="Checks",
        ),
        Section(
            "What each generator brings out",
            [
                Paragraph(GENERATORS, page=True),
                _grid("Generator", "Tried", generators),
                *(Paragraph(line, "warn") for line in idle(generators)),
            ],
            "generators",
            nav="Generators",
        ),
        _mistakes(mistakes(events)),
        *cluster.sections(cluster.Cluster.of(events), page=True),
    ]
    return Page("tokgate: selftest", "selftest", blocks, skip="tables")


def idle(generators: Sequence[SelftestLine]) -> list[str]:
    """A sentence on each generator that caught nothing."""
    return [
        f"The generator {one.name} caught nothing in {plural(one.cases, 'case')}."
        for one in generators
        if one.cases and not one.caught
    ]


def shown(number: float | None, write: Callable[[float], str] = figure) -> str:
    """A number for a table, or nothing."""
    return "" if number is None else write(number)


def _grid(what: str, tried: str, lines: Sequence[SelftestLine]) -> Table:
    return Table(
        f"By {what.lower()}",
        (what, *numbers(tried, "Caught", "No other", "Median", "Cases")),
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


def _mistakes(planted: Sequence[MistakeJudged]) -> Section:
    """Every mistake, with what found it first."""
    rows = []
    for one in planted:
        first = earliest(one) or {"generator": "", "all_seconds": None, "cases": 0}
        smallest = literal(base64.b64decode(one.input_b64), INPUT_SHOWN)
        missed = "not hunted" if one.trouble else "escaped"
        rows.append(
            (
                Span(one.name, "code"), one.summary, one.vocabulary,
                "caught" if one.rightly else "misnamed" if one.caught else missed,
                ", ".join(one.named),
                Span(smallest.code + ("…" if smallest.missing else ""), "code"),
                first["generator"], shown(first["all_seconds"], duration),
                shown(first["all_cases"]) if first["cases"] else None,
                len({sighting["generator"] for sighting in one.sightings}),
            )
        )  # fmt: skip
    columns: tuple[str | Column, ...] = (
        "Mistake", "What is wrong", "Vocabulary", "Verdict", "Found as", "Smallest input",
        "First by", *numbers("After", "Cases", "Generators"),
    )  # fmt: skip
    table = Table("Table of the mistakes", columns, rows, style="dense mistakes")
    return Section("The mistakes", [table], "mistakes", nav="Mistakes", page=True)
