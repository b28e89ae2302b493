"""Trends: quantities over all runs that are known, with the steps in them.

Fed with plain series, wherever they come from; see :mod:`reports.steps` for what a step is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.blocks import (
    Axis,
    Cell,
    Figure,
    Group,
    Paragraph,
    Plot,
    Section,
    Series,
    Span,
    Table,
    numbers,
)
from reports.blocks.units import duration, figure, plural
from reports.steps import LEAST, steps, stretches

if TYPE_CHECKING:
    import datetime
    from collections.abc import Sequence

    from reports.blocks import Block
    from reports.steps import Step

FEWEST = 2
"""Runs from which on a series is a trend at all."""
MAX_PLOTS = 24
"""Series that are drawn: those with a step, the latest first, then the others as they come."""
COUNTS = frozenset({"", "findings"})
"""Units of whole numbers: any change of level is worth telling."""
SECONDS = frozenset({"s", "seconds"})
MAX_STEPS = 60
"""Steps that are listed, the latest first."""

INTRODUCTION = (
    "Over all runs in the ledger. A step is a level that changed and stayed for three runs at "
    "least, found by a piecewise constant fit."
)


@dataclass(frozen=True, slots=True)
class Trend:
    """One quantity over time. points: (when, version, value), the oldest first.

    unit: ``s`` for seconds, else what stands behind a number (``ns/byte``, ``findings``).
    """

    name: str
    unit: str
    points: Sequence[tuple[datetime.datetime, str, float]]

    def written(self, value: float) -> str:
        """A value with its unit; a count is named by its series."""
        if self.unit in SECONDS:
            return duration(value)
        return figure(value) + ("" if self.unit in COUNTS else f" {self.unit}")


@dataclass(frozen=True, slots=True)
class Stepped:
    """A trend's finite points, and the steps in them. number: its place among all."""

    trend: Trend
    number: int
    found: Sequence[Step]

    @property
    def latest(self) -> float:
        """When the last step was, in seconds; before everything where there is none."""
        return max((self.when(step).timestamp() for step in self.found), default=-math.inf)

    def when(self, step: Step) -> datetime.datetime:
        """The first run at the new level."""
        return self.trend.points[step.place][0]


def sections(series: Sequence[Trend]) -> list[Section]:
    """What to show of these series; nothing where there is not one with two runs."""
    known = [
        Stepped(Trend(one.name, one.unit, points), number, _steps(one.unit, points))
        for number, one in enumerate(series)
        if len(points := [point for point in one.points if math.isfinite(point[2])]) >= FEWEST
    ]
    if not known:
        return []
    # Sorting is stable: the latest step first, then those without in the order given.
    known.sort(key=lambda one: -one.latest)
    drawn, hidden = known[:MAX_PLOTS], known[MAX_PLOTS:]
    found = sorted(
        ((one, step) for one in known for step in one.found),
        key=lambda pair: (-pair[0].when(pair[1]).timestamp(), pair[0].number),
    )
    linked = {one.number for one in drawn}
    rows = [_row(one, step, link=one.number in linked) for one, step in found[:MAX_STEPS]]
    blocks: list[Block] = [
        Paragraph(INTRODUCTION, "quiet"),
        Table(
            "Steps",
            ("Since", "What", *numbers("Before", "After", "Change"), "Version"),
            rows,
            "Steps, the latest first",
            "since",
            header=1,
            empty="No series has a step.",
        ),
    ]
    if len(found) > MAX_STEPS:
        more = plural(len(found) - MAX_STEPS, "earlier step")
        blocks.append(Paragraph(f"{more} not listed.", "quiet"))
    blocks.append(Group([_figure(one) for one in drawn], "trends"))
    if hidden:
        said = plural(len(hidden), "further series", "further series")
        blocks.append(Paragraph(f"{said} without a later step not drawn.", "quiet"))
    return [Section("Trends", blocks, "trends")]


def _steps(unit: str, points: Sequence[tuple[datetime.datetime, str, float]]) -> list[Step]:
    # A count changes by what it changes; of a timing only what is worth telling.
    return steps([value for _, _, value in points], 0.0 if unit in COUNTS else LEAST)


def _row(one: Stepped, step: Step, *, link: bool) -> list[str | Span | Cell]:
    trend, worse = one.trend, step.after > step.before
    version, before = (trend.points[place][1] for place in (step.place, step.place - 1))
    change = Span(
        f"{'▲' if worse else '▼'} {_change(step)}", f"tally {'superlinear' if worse else 'linear'}"
    )
    return [
        one.when(step).date().isoformat(),
        Span(trend.name, href=f"#trend-{one.number}") if link else trend.name,
        trend.written(step.before),
        trend.written(step.after),
        change,
        version if version == before or not before else f"{before} → {version}",
    ]


def _change(step: Step) -> str:
    if step.before <= 0:
        return f"+{figure(step.after - step.before)}"
    ratio = step.after / step.before
    return f"{ratio - 1:+.0%}" if ratio < 3 else f"× {ratio:,.3g}"


def _figure(one: Stepped) -> Figure:
    last = one.trend.written(one.trend.points[-1][2])
    runs = plural(len(one.trend.points), "run")
    caption = (one.trend.name, Span(f" {last}, {runs}", "quiet"))
    return Figure(caption, [plot(one)], f"trend-{one.number}")


def plot(one: Stepped) -> Plot:
    """The runs as dots in even distance, the levels as lines, the steps marked."""
    trend = one.trend
    values = [value for _, _, value in trend.points]
    levels = [
        (float(place), part.level)
        for part in stretches(values)
        for place in range(part.start, part.end)
    ]
    names = [f"{when:%Y-%m-%d %H:%M} {version}".rstrip() for when, version, _ in trend.points]
    return Plot(
        f"{trend.name}: {len(values)} runs, now {trend.written(values[-1])}",
        Axis("place", names=names),
        Axis("time" if trend.unit in SECONDS else "number"),  # others have theirs in the heading
        [
            Series("level", levels, "text", "steps"),
            Series("run", list(enumerate(values)), "accent", "dots"),
        ],
        marks=[(s.place - 0.5, "bad" if s.after > s.before else "ok") for s in one.found],
        height=170,
    )
