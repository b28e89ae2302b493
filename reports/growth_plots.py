"""Growth as plots: a measurement with its fit or its bound, and a family with everybody's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.verdict.bounds import IN_TIME, POWERS
from reports.blocks import COLOURS, SIZES, Axis, Plot, Series
from reports.blocks.units import count, duration, size, usable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from harness.events import Measured
    from reports.blocks import Point, Tone

FITTED = 16
"""Largest size over smallest of the points that a fit is drawn through: those of the judgement."""

SMALL = 160
"""Pixels of height of a plot with a bound."""

TIMED = frozenset({"time", "claim"})
BYTES = frozenset({"memory", "left"})
"""Measures by what they count."""


def cost(measure: str) -> Callable[[float], str]:
    """How a cost of this measure is written: seconds as time, bytes as sizes, others as numbers."""
    return duration if measure in TIMED else size if measure in BYTES else count


def extent(axis: str) -> Callable[[float], str]:
    """How a place on the axis of what grows is written: bytes of the input, or a number."""
    return size if axis == "bytes" else lambda value: f"{value:,.0f} {axis}"


def _axes(row: Measured) -> tuple[Axis, Axis]:
    """What grows in a measurement, and what it costs."""
    across = SIZES if row.axis == "bytes" else Axis("count", row.axis, 2)
    if row.measure in TIMED:
        return across, Axis("time", "", 10)
    bytes_ = row.measure in BYTES
    return across, Axis("size" if bytes_ else "count", row.measure, 2 if bytes_ else 10)


def loglog(shown: Measured, peers: Iterable[Measured], bound: str | None = None) -> Plot | None:
    """The growth of ``shown`` over its ``peers``; None where there is no point to draw.

    With its fit, the interval of that, and slope 1, dashed; or with its bound, if it is given.
    """
    own = usable(shown.points)
    if not own:
        return None
    band, middle = fit(shown) if bound is None else (None, [])
    linear = [own[0], (own[-1][0], own[0][1] * own[-1][0] / own[0][0])]
    dashed: list[tuple[str, Sequence[Point], Tone]] = [
        ("linear", linear if len(own) > 1 else [], "quiet"),
        ("fit", middle, "text"),
    ]
    if bound is not None:
        dashed = [(f"bound: {bound}", bound_line(own, shown.overhead or 0.0, bound), "text")]
    series = [
        *(
            Series(peer.implementation, points, "quiet", "thin")
            for peer in peers
            if (points := usable(peer.points))
        ),
        *(Series(name, line, tone, "thin", dash=True) for name, line, tone in dashed if line),
        Series(shown.implementation, own, "accent", wide=True),
    ]
    write, far = cost(shown.measure), extent(shown.axis)
    label = (
        f"{shown.implementation} on {shown.family}: from {far(own[0][0])} in "
        f"{write(own[0][1])} to {far(own[-1][0])} in {write(own[-1][1])}"
    )
    area = [(x, low, high) for (x, low), (_, high) in zip(*band, strict=True)] if band else []
    height = 280 if bound is None else SMALL
    return Plot(label, *_axes(shown), series, area=area, height=height, values=False)


def family_plot(family: str, rows: Sequence[Measured], places: Mapping[str, int]) -> Plot | None:
    """The growth of all rows of one family, by one measure; None where none has points.

    places: of each implementation among the colours, so that it has the same in all plots.
    """
    lines = [(row, usable(row.points)) for row in rows if row.measure == rows[0].measure]
    lines = [(row, points) for row, points in lines if points]
    if not lines:
        return None
    series = [
        Series(row.implementation, points, place % COLOURS, dash=place >= COLOURS)
        for row, points in lines
        for place in [places.get(row.implementation, 0)]
    ]
    slowest = max(lines, key=lambda line: line[1][-1][1])[0].implementation
    label = f"{len(lines)} implementations on {family}; slowest at the end: {slowest}"
    return Plot(label, *_axes(rows[0]), series)


def fit(row: Measured) -> tuple[tuple[list[Point], list[Point]] | None, list[Point]]:
    """What the judgement says, as lines over the largest points: the interval's two, the middle.

    Each is overhead + c * n^exponent, with c such that it goes through the middle of the points
    in log-log. None and an empty list where there is no exponent, or too few points.
    """
    points = usable(row.points)
    points = [p for p in points if p[0] * FITTED >= points[-1][0]]
    overhead = row.overhead or 0.0
    grown = [(x, y - overhead) for x, y in points if y > overhead]
    if row.exponent is None or len(grown) < 2:
        return None, []
    log_x = sum(math.log(x) for x, _ in grown) / len(grown)
    log_y = sum(math.log(y) for _, y in grown) / len(grown)
    first, last = math.log(grown[0][0]), math.log(grown[-1][0])
    steps = [first + (last - first) * i / 8 for i in range(9)]

    def curve(exponent: float) -> list[Point]:
        return [(math.exp(x), overhead + math.exp(log_y + exponent * (x - log_x))) for x in steps]

    edges = [edge for edge in (row.low, row.high) if edge is not None and math.isfinite(edge)]
    band = (curve(edges[0]), curve(edges[1])) if len(edges) == 2 else None
    return band, curve(row.exponent) if math.isfinite(row.exponent) else []


def bound_line(points: Sequence[Point], overhead: float, bound: str) -> list[Point]:
    """A cost that grows as a bound allows, from the first point that is more than the overhead.

    Empty where there are no two such points, or the bound has no law.
    """
    grown = [(x, y) for x, y in points if y > 2 * overhead]
    if bound not in IN_TIME or len(grown) < 2:
        return []
    power = POWERS.get(bound, 1.0)
    first, start = grown[0]

    def allowed(x: float) -> float:
        logarithms = math.log(x) / math.log(first) if bound == "n log n" and first > 1 else 1.0
        return float(overhead + (start - overhead) * (x / first) ** power * logarithms)

    return [(x, allowed(x)) for x, _ in grown]
