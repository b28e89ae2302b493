"""Trends in report.html: quantities over all runs that are known, with the steps in them.

Fed with plain series, wherever they come from; see :mod:`reports.steps` for what a step is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.plots import Axis, Plot, Series, duration, figure
from reports.steps import LEAST, Step, Stretch, steps, stretches

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable, Sequence

    from markupsafe import Markup

    from reports.plots import Unit

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
    """The runs as dots in even distance, the levels as lines, the steps marked."""
    points = [point for point in series.points if math.isfinite(point[2])]
    values = [value for _, _, value in points]
    levels = [(float(place), part.level) for part in parts for place in range(part.start, part.end)]
    names = [f"{when:%Y-%m-%d %H:%M} {version}".rstrip() for when, version, _ in points]
    # The heading has the units of what is no time.
    unit: Unit = "time" if series.unit in SECONDS else "number"
    label = f"{series.name}: {len(points)} runs, now {_writer(series.unit)(values[-1])}"
    return Plot(
        label,
        Axis("place", names=names),
        Axis(unit),
        [
            Series("level", levels, "text", "steps"),
            Series(
                "run", [(float(at), value) for at, value in enumerate(values)], "accent", "dots"
            ),
        ],
        marks=[(step.place - 0.5, "bad" if step.after > step.before else "ok") for step in found],
        height=170,
    ).markup()
