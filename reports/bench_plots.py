"""Plots of speed: lines by size, and ratios with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.bench import KINDS
from reports.plots import COLOURS, SIZES, Axis, Plot, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.bench import BenchTable, Line

TONES = {"fresh": 0, "warm": 1, "cold": 4}
"""The colour of each kind of call."""


def colours(lines: Sequence[Line]) -> dict[str, int]:
    """A colour for each name, by the alphabet, so that it has the same in each plot of a page."""
    return {name: i for i, name in enumerate(sorted({line.name for line in lines}))}


def by_size(table: BenchTable, places: dict[str, int]) -> Markup:
    """MiB/s of fresh text by size, both logarithmic; empty markup where there is nothing.

    A line goes through the best rounds; below each point it is drawn down to the slowest one.
    """
    drawn = [(line, _points(line)) for line in table.lines]
    drawn = [(line, points) for line, points in drawn if points]
    if not drawn or len(table.sizes) < 2:  # one size is one column of dots: ratios say more
        return Markup("")
    series = [
        Series(
            f"{line.name} {line.mark}".rstrip(),
            [(size, best) for size, best, _ in points],
            places.get(line.name, 0) % COLOURS,
            dash=line.answer == "different" or places.get(line.name, 0) >= COLOURS,
            wide=line.name == table.base,
            spread=[(size, slowest, best) for size, best, slowest in points],
        )
        for line, points in drawn
    ]
    speeds = Axis("speed", "", 10)
    return Plot(f"Speed by size on {table.title}", SIZES, speeds, series, height=340).markup()


def ratios(table: BenchTable) -> Markup:
    """Ratios to the base at the largest size, fresh, warm and cold, with what is sure of each."""
    rows = [(line, line.fields[-1]) for line in table.lines if line.fields]
    rows = [(line, one) for line, one in rows if any(s.ratio for s in one.speeds.values())]
    if not rows:
        return Markup("")
    series = []
    for kind in KINDS:
        points, spread = [], []
        for place, (_, one) in enumerate(rows):
            speed = one.speeds.get(kind)
            if speed is None or not speed.ratio:
                continue
            points.append((float(place), speed.ratio))
            low, high = speed.ratio * speed.slowest / speed.best, speed.ratio
            sure = speed.paired
            if sure is not None and sure.low is not None and sure.high is not None:
                low, high = sure.low, sure.high
            if low > 0:
                spread.append((float(place), low, high))
        if points:
            series.append(Series(kind, points, TONES.get(kind, 0), "dots", spread=spread))
    names = [f"{line.name} {line.mark}".rstrip() for line, _ in rows]
    label = f"Ratios to {table.base} on {table.title}"
    ratio = Axis("ratio", "", 10)
    return Plot(label, Axis("place", names=names), ratio, series, rule=1.0, height=340).markup()


def _points(line: Line) -> list[tuple[float, float, float]]:
    """Size, the best speed and the slowest."""
    found = []
    for one in line.fields:
        speed = next((one.speeds[kind] for kind in KINDS if kind in one.speeds), None)
        if speed is not None and speed.best > 0:
            found.append((float(one.size), speed.best, speed.slowest))
    return found
