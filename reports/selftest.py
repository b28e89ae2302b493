"""A selftest: which generator and check catches which planted mistake, and how fast."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from harness.events import Event, Finished
from harness.studies.selftest.events import HuntDone, MistakeJudged, SelftestStarted
from reports import cluster
from reports.blocks import Banner, Cell, Items, Page, Paragraph, Section, Span, Table
from reports.blocks.units import duration, figure, plural
from reports.studies import complete, of
from reports.text import literal

Sighting = dict[str, Any]
"""See :class:`harness.studies.selftest.events.Sighting`."""
Line = dict[str, Any]
"""What one generator or check did, as ``selftest.json`` has it.

tried: mistakes that it could have caught: for a generator those to which it gave cases, for a
check those planted for it. caught: how many it did; alone: which of them no other of its kind
caught. Medians are until the first catch, of this one's own. cases: in all.
"""

INPUT_SHOWN = 60
"""Bytes of a minimal input on the page."""

HOW = (
    "Each mistake is an implementation with one thing wrong. It takes part in campaigns like any "
    "other implementation, together with references and with its correct original. "
)
CHECKS = (
    "Planted: for this check. Median and cases: of the whole campaign until it first showed a "
    "mistake."
)
GENERATORS = (
    "Tried: mistakes to which it gave cases. Median and cases: its own, until a mistake first "
    "showed."
)


def mistakes(events: Sequence[Event]) -> list[MistakeJudged]:
    """All that were judged, without the controls."""
    return [one for one in of(events, MistakeJudged) if one.check]


def begun(events: Sequence[Event]) -> SelftestStarted:
    """What was to be done; a record of a selftest has it."""
    return of(events, SelftestStarted)[-1]


def by_generator(events: Sequence[Event]) -> list[Line]:
    """A line for each generator, in their order; growth's families and schemas are not among them.

    Only answers that break the property that is a mistake's own count, or show it in any way where
    it was found so.
    """
    cases, tried = Counter[str](), Counter[str]()
    for hunt in of(events, HuntDone):
        cases.update(hunt.cases)
        tried.update({name: len(hunt.mistakes) for name, n in hunt.cases.items() if n})
    found = {
        one.name: {sighting["generator"]: sighting for sighting in _descending(one, "cases")}
        for one in mistakes(events)
    }
    return _lines(begun(events).generators, found, tried, "", cases)


def by_check(events: Sequence[Event]) -> list[Line]:
    """A line for each check, in their order: what it catches, planted for it or not."""
    planted = mistakes(events)
    found: dict[str, dict[str, Sighting]] = {
        one.name: {name.partition("/")[0]: {} for name in one.named}
        | {sighting["check"]: sighting for sighting in _descending(one)}
        for one in planted
    }
    return _lines(
        begun(events).checks, found, Counter(one.check for one in planted), "all_", Counter()
    )


def _descending(mistake: MistakeJudged, what: str = "all_seconds") -> list[Sighting]:
    """The sightings of a mistake, the one with the least last."""
    return sorted(mistake.sightings, key=lambda one: -float(one[what]))


def _lines(
    names: Iterable[str], found: Mapping[str, Mapping[str, Sighting]], tried: Counter[str],
    kind: str, cases: Counter[str],
) -> list[Line]:  # fmt: skip
    """A line a name. found: of each mistake who showed it, with the sighting that counts, if any.

    kind: begins the names of what a sighting tells.
    """
    lines = []
    for name in names:
        mine = {mistake: by[name] for mistake, by in found.items() if name in by}
        medians = {
            f"median_{what}": middle(one[f"{kind}{what}"] for one in mine.values() if one)
            for what in ("seconds", "cases")
        }
        alone = [mistake for mistake in mine if len(found[mistake]) == 1]
        told = {"tried": tried[name], "caught": len(mine), "cases": cases[name], "alone": alone}
        lines.append({"name": name, **told, **medians})
    return lines


def middle(figures: Iterable[float]) -> float | None:
    """The median, if there is anything."""
    every = list(figures)
    return median(every) if every else None


def medians(events: Sequence[Event]) -> tuple[float | None, float | None]:
    """Seconds and cases until a mistake that is caught is first seen."""
    first = [one for mistake in mistakes(events) for one in _descending(mistake)[-1:]]
    seconds = middle(one["all_seconds"] for one in first)
    return seconds, middle(one["all_cases"] for one in first if one["cases"])


def to_json(events: Sequence[Event]) -> str:
    """``selftest.json``: all that was told, and the tables made of it."""
    finished = of(events, Finished)[-1]
    seconds, cases = medians(events)
    judged = [
        {**asdict(one), "caught": one.caught, "rightly": one.rightly}
        for one in of(events, MistakeJudged)
    ]
    whole = {
        "complete": complete(events),
        "verdict": finished.verdict,
        "reasons": finished.reasons,
        **asdict(begun(events)),
        "seconds": finished.seconds,
        "median_seconds": seconds,
        "median_cases": cases,
        "generators": by_generator(events),
        "checks": by_check(events),
        "mistakes": [one for one in judged if one["check"]],
        "controls": [one for one in judged if not one["check"]],
        "hunts": [asdict(one) for one in of(events, HuntDone)],
        **cluster.summary(events),
    }
    return json.dumps(whole, indent=1)


def page(events: Sequence[Event]) -> Page:
    """``selftest.html``."""
    started, finished = begun(events), of(events, Finished)[-1]
    seconds, cases = medians(events)
    planted, generators = mistakes(events), by_generator(events)
    caught = sum(one.rightly for one in planted)
    decided = f"Budget {started.budget} s in all, seed {started.seed}, {started.machine}."
    blocks = [
        Banner(
            f"{caught} of {started.mistakes} planted mistakes caught",
            f"Median until detection: {shown(seconds, duration)}, {shown(cases)} cases; "
            f"{duration(finished.seconds)} in all.",
            "fail" if finished.reasons else "pass",
            [Items(finished.reasons)],
            "Not complete: the results so far." * (not complete(events)),
        ),
        Paragraph((HOW, decided), "intro", page=True),
        _section("What each check catches", "Check | Planted", CHECKS, by_check(events)),
        _section("What each generator brings out", "Generator | Tried", GENERATORS, generators),
        Items(idle(generators), "warn"),
        _mistakes(planted),
        *cluster.sections(events, page=True),
    ]
    return Page("tokgate: selftest", "selftest", blocks, skip="tables")


def idle(generators: Sequence[Line]) -> list[str]:
    """A sentence on each generator that caught nothing."""
    return [
        f"The generator {one['name']} caught nothing in {plural(one['cases'], 'case')}."
        for one in generators
        if one["cases"] and not one["caught"]
    ]


def shown(number: float | None, write: Callable[[float], str] = figure) -> str:
    """A number for a table, or nothing."""
    return "" if number is None else write(number)


def _section(title: str, columns: str, how: str, lines: Sequence[Line]) -> Section:
    """A table of checks, or of generators. columns: the first two."""
    rows = [
        (
            line["name"], line["tried"],
            Cell(line["caught"], "bad" * bool(line["tried"] and not line["caught"])),
            len(line["alone"]) or None, shown(line["median_seconds"], duration),
            shown(line["median_cases"]),
        )
        for line in lines
    ]  # fmt: skip
    names = f"{columns}: | Caught: | No other: | Median: | Cases:"
    kind = f"{columns.partition(' ')[0]}s"
    table = Table(f"Table of {kind}", names, rows)
    return Section(title, [Paragraph(how, page=True), table], kind.lower(), nav=kind)


def _mistakes(planted: Sequence[MistakeJudged]) -> Section:
    """Every mistake, with what found it first."""
    rows = []
    for one in planted:
        nobody: Sighting = {"generator": "", "all_seconds": None, "cases": 0}
        first = [nobody, *_descending(one)][-1]
        missed = "not hunted" if one.trouble else "escaped"
        row = (
            Span(one.name, "code"), one.summary, one.vocabulary,
            "caught" if one.rightly else "misnamed" if one.caught else missed,
            ", ".join(one.named),
            Span(str(literal(base64.b64decode(one.input_b64), INPUT_SHOWN)), "code"),
            first["generator"], shown(first["all_seconds"], duration),
            shown(first["all_cases"]) if first["cases"] else None,
        )  # fmt: skip
        rows.append(row)
    columns = (
        "Mistake | What is wrong | Vocabulary | Verdict | Found as | Smallest input | First by | "
        "After: | Cases:"
    )
    table = Table("Table of the mistakes", columns, rows, style="dense mistakes", most=1_000)
    return Section("The mistakes", [table], "mistakes", nav="Mistakes", page=True)
