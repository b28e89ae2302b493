"""Trends in report.html: quantities over all runs that are known, with the steps in them.

Fed with plain series, wherever they come from; see :mod:`reports.steps` for what a step is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from corpora.plain_text import printable
from reports.plots import duration, figure
from reports.steps import LEAST, Step, Stretch, steps, stretches

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Sequence

WIDTH, HEIGHT = 520, 150
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 10, 24

FEWEST = 2
"""Runs from which on a series is a trend at all."""
MAX_PLOTS = 24
"""Series that are drawn: those with a step, the latest first, then the others as they come."""
COUNTS = frozenset({"", "findings"})
"""Units of whole numbers: any change of level is worth telling."""
SECONDS = frozenset({"s", "seconds"})
MAX_STEPS = 60
"""Steps that are listed, the latest first."""


@dataclass(frozen=True, slots=True)
class Trend:
    """One quantity over time. points: (when, version, value), the oldest first.

    unit: ``s`` for seconds, else what stands behind a number (``ns/byte``, ``findings``).
    """

    name: str
    unit: str
    points: Sequence[tuple[datetime.datetime, str, float]]


@dataclass(frozen=True, slots=True)
class StepView:
    """A step in words. change: ``+38 %``, or ``0 → 3`` where there is no ratio. worse: upwards."""

    name: str
    anchor: str
    when: str
    version: str
    before: str
    after: str
    change: str
    worse: bool
    moment: datetime.datetime


@dataclass(frozen=True, slots=True)
class TrendView:
    """One series, ready to print: its last value, its plot, how many steps it has."""

    name: str
    anchor: str
    last: str
    runs: int
    steps: list[StepView]
    plot: Markup


@dataclass(frozen=True, slots=True)
class Trends:
    """All series. hidden: how many are not drawn; more: how many steps are not listed."""

    steps: list[StepView]
    more: int
    plots: list[TrendView]
    hidden: int


def trends(series: Sequence[Trend]) -> Trends | None:
    """What to show of these series; None where there is not one with two runs."""
    views = [_view(place, one) for place, one in enumerate(series)]
    known = [view for view in views if view is not None]
    if not known:
        return None
    found = sorted(
        (step for view in known for step in view.steps), key=lambda s: s.moment, reverse=True
    )
    # Sorting is stable: the latest step first, then those without in the order given.
    known.sort(key=lambda v: -max((s.moment.timestamp() for s in v.steps), default=-math.inf))
    plots = known[:MAX_PLOTS]
    drawn = {view.anchor for view in plots}
    listed = [step if step.anchor in drawn else _without_anchor(step) for step in found[:MAX_STEPS]]
    return Trends(
        steps=listed,
        more=max(0, len(found) - MAX_STEPS),
        plots=plots,
        hidden=len(known) - len(plots),
    )


def _without_anchor(step: StepView) -> StepView:
    return StepView(
        step.name, "", step.when, step.version, step.before, step.after, step.change, step.worse,
        step.moment,
    )  # fmt: skip


def _view(place: int, series: Trend) -> TrendView | None:
    points = [point for point in series.points if math.isfinite(point[2])]
    if len(points) < FEWEST:
        return None
    values = [value for _, _, value in points]
    write = _writer(series.unit)
    anchor = f"trend-{place}"
    # A count changes by what it changes; of a timing only what is worth telling.
    found = steps(values, 0.0 if series.unit in COUNTS else LEAST)
    views = []
    for step in found:
        when, version, _ = points[step.place]
        views.append(
            StepView(
                name=series.name,
                anchor=anchor,
                when=when.date().isoformat(),
                version=_became(points[step.place - 1][1], version),
                before=write(step.before),
                after=write(step.after),
                change=_change(step),
                worse=step.after > step.before,
                moment=when,
            )
        )
    return TrendView(
        name=series.name,
        anchor=anchor,
        last=write(values[-1]),
        runs=len(values),
        steps=views,
        plot=plot(series, found, stretches(values)),
    )


def _writer(unit: str) -> Callable[[float], str]:
    if unit in SECONDS:
        return duration
    # A count is named by its series.
    behind = "" if unit in COUNTS else f" {unit}"
    return lambda value: f"{figure(value)}{behind}"


def _became(before: str, after: str) -> str:
    return after if before == after or not before else f"{before} → {after}"


def _change(step: Step) -> str:
    if step.before <= 0:
        return f"+{figure(step.after - step.before)}"
    ratio = step.after / step.before
    return f"{ratio - 1:+.0%}" if ratio < 3 else f"× {ratio:,.3g}"


def plot(series: Trend, found: Sequence[Step], parts: Sequence[Stretch]) -> Markup:
    """An SVG of the runs as dots in even distance, the levels as lines, the steps marked."""
    points = [point for point in series.points if math.isfinite(point[2])]
    values = [value for _, _, value in points]
    highest = max(values) if max(values) > 0 else 1.0
    top = highest * 1.08
    bottom = min(0.0, *values)
    write = _writer(series.unit)
    # The axis has no room for units other than those of time; the heading has them.
    tell = write if series.unit in SECONDS else figure
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(place: float) -> float:
        return LEFT + (place + 0.5) / len(points) * (right - LEFT)

    def y(value: float) -> float:
        return floor - (value - bottom) / (top - bottom) * (floor - TOP)

    lines = Markup("").join(
        Markup('<path class="level" d="M{:.1f} {:.1f}H{:.1f}"/>').format(
            x(part.start - 0.5), y(part.level), x(part.end - 0.5)
        )
        for part in parts
    )
    marks = Markup("").join(
        Markup('<path class="{}" d="M{x:.1f} {t}V{f}"/>').format(
            "up" if step.after > step.before else "down", x=x(step.place - 0.5), t=TOP, f=floor
        )
        for step in found
    )
    dots = Markup("").join(
        Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.5"><title>{}</title></circle>').format(
            x(place), y(value), printable(f"{when:%Y-%m-%d %H:%M} {version}: {write(value)}")
        )
        for place, (when, version, value) in enumerate(points)
    )
    ticks = [bottom, (bottom + highest) / 2, highest]
    grid = Markup("").join(
        Markup(
            '<path class="grid" d="M{l} {y:.1f}H{r}"/>'
            '<text x="{e}" y="{b:.1f}" text-anchor="end">{s}</text>'
        ).format(l=LEFT, r=right, y=y(tick), e=LEFT - 6, b=y(tick) + 4, s=tell(tick))
        for tick in ticks
    )
    ends = Markup(
        '<text x="{}" y="{y}">{}</text><text x="{}" y="{y}" text-anchor="end">{}</text>'
    ).format(
        LEFT, points[0][0].date().isoformat(), right, points[-1][0].date().isoformat(),
        y=HEIGHT - 6,
    )  # fmt: skip
    label = printable(f"{series.name}: {len(points)} runs, now {write(values[-1])}")
    return Markup(
        '<svg class="plot trend" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">'
        "{inner}</svg>"
    ).format(w=WIDTH, h=HEIGHT, label=label, inner=grid + marks + lines + dots + ends)
