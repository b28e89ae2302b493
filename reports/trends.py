"""What a ledger says of all runs: trends, with the steps in them; since when findings are known.

See :mod:`reports.steps` for what a step is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from harness.ledger.trends import Seen, Trend
from reports.blocks import (
    Axis,
    Figure,
    Group,
    Inline,
    Paragraph,
    Plot,
    Section,
    Series,
    Span,
    Table,
)
from reports.blocks.units import duration, figure, plural
from reports.steps import LEAST, Step, steps, stretches

FEWEST = 2
"""Runs from which on a series is a trend at all."""
MAX_PLOTS = 24
"""Series that are drawn: those with a step, the latest first, then the others as they come."""
COUNTS = frozenset({"", "findings"})
"""Units of whole numbers: any change of level is worth telling."""
SECONDS = frozenset({"s", "seconds"})

INTRODUCTION = (
    "Over all runs in the ledger. A step is a level that changed and stayed for three runs at "
    "least, found by a piecewise constant fit."
)


def history_of(ids: Iterable[str], known: Mapping[str, Seen]) -> str:
    """A line on the findings of one cause; nothing where the ledger has none of them."""
    seen = [known[one] for one in ids if one in known]
    if not seen:
        return ""
    begun, ended, numbers = zip(*seen, strict=True)
    first, last, runs = min(begun).date(), max(ended).date(), max(numbers)
    return f"first seen {first}, last seen {last}, in {plural(runs, 'run')} of the ledger"


def sections(series: Sequence[Trend]) -> list[Section]:
    """What to show of these series; nothing where there is not one with two runs."""
    known: list[tuple[Trend, list[Step]]] = []
    for one in series:
        points = [point for point in one.points if math.isfinite(point[2])]
        if len(points) >= FEWEST:
            # A count changes by what it changes; of a timing only what is worth telling.
            least = 0.0 if one.unit in COUNTS else LEAST
            found = steps([value for _, _, value in points], least)
            known.append((Trend(one.name, one.unit, points), found))
    # Sorting is stable: the latest step first, then those without in the order given.
    known.sort(key=lambda one: -max((_when(one[0], step) for step in one[1]), default=-math.inf))
    told = [
        (trend, step, f"#trend-{place}" * (place < MAX_PLOTS))
        for place, (trend, found) in enumerate(known)
        for step in found
    ]
    told.sort(key=lambda one: -_when(*one[:2]))
    further = len(known) - MAX_PLOTS
    table = Table(
        "Steps",
        "Since | What | Before: | After: | Change: | Version",
        [_row(*one) for one in told],
        "Steps, the latest first",
        "since",
        header=1,
        empty="No series has a step.",
    )
    blocks = [
        Paragraph(INTRODUCTION, "quiet"),
        table,
        Group([_figure(*one, place) for place, one in enumerate(known[:MAX_PLOTS])], "trends"),
        Paragraph(f"{further:,} further series not drawn." if further > 0 else None, "quiet"),
    ]
    return [Section("Trends", blocks, "trends")] if known else []


def _when(trend: Trend, step: Step) -> float:
    """When the first run at the new level was, in seconds."""
    return trend.points[step.place][0].timestamp()


def _written(trend: Trend, value: float) -> str:
    """A value with its unit; a count is named by its series."""
    if trend.unit in SECONDS:
        return duration(value)
    return figure(value) + ("" if trend.unit in COUNTS else f" {trend.unit}")


def _row(trend: Trend, step: Step, href: str) -> list[Inline]:
    (_, before, _), (when, version, _) = trend.points[step.place - 1 : step.place + 1]
    change = f"+{figure(step.after - step.before)}"
    if step.before > 0:
        change = f"{step.after / step.before - 1:+,.0%}"
    worse = step.after > step.before
    return [
        when.date().isoformat(),
        Span(trend.name, href=href),
        _written(trend, step.before),
        _written(trend, step.after),
        Span(f"{'▲' if worse else '▼'} {change}", f"tally {'superlinear' if worse else 'linear'}"),
        version if version == before or not before else f"{before} → {version}",
    ]


def _figure(trend: Trend, found: Sequence[Step], place: int) -> Figure:
    """The runs as dots in even distance, the levels as lines, the steps marked."""
    values = [value for _, _, value in trend.points]
    last, runs = _written(trend, values[-1]), plural(len(values), "run")
    levels = [
        (float(place), part.level)
        for part in stretches(values)
        for place in range(part.start, part.end)
    ]
    names = [f"{when:%Y-%m-%d %H:%M} {version}".rstrip() for when, version, _ in trend.points]
    drawn = Plot(
        f"{trend.name}: {runs}, now {last}",
        Axis("place", names=names),
        Axis("time" if trend.unit in SECONDS else "number"),  # others have theirs in the heading
        [
            Series("level", levels, "text", "steps"),
            Series("run", list(enumerate(values)), "accent", "dots"),
        ],
        marks=[(s.place - 0.5, "bad" if s.after > s.before else "ok") for s in found],
        height=170,
    )
    return Figure((trend.name, Span(f" {last}, {runs}", "quiet")), [drawn], f"trend-{place}")
