"""Log-log plots of measured growth as inline SVG: no script, no font, colours from the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from corpora.plain_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from harness.events import Measured

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 66, 16, 14, 44
_BYTES = ("B", "kB", "MB", "GB")
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))

FITTED = 16
"""Largest size over smallest of the points that a fit is drawn through: those of the judgement."""

Point = tuple[float, float]


def size(value: float) -> str:
    """Bytes in decimal units: ``100 B``, ``26 kB``, ``1 MB``."""
    step = min(len(_BYTES) - 1, max(0, int(math.log10(value) // 3))) if value >= 1 else 0
    return f"{value / 1000**step:.3g} {_BYTES[step]}"


def duration(seconds: float) -> str:
    """Seconds in a fitting unit: ``1.2 ms``."""
    for unit, name in _TIMES:
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}" if seconds < 1000 else f"{seconds:,.0f} s"
    return f"{seconds:.3g} s"


def count(value: float) -> str:
    """A number of steps or instructions: ``1.2 M``."""
    for unit, name in _COUNTS:
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value:.3g}"


def figure(value: float) -> str:
    """A number by three digits, and all those before the point: ``0.123``, ``6,650``."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def cost(measure: str) -> Callable[[float], str]:
    """How a cost of this measure is written: seconds as time, the others as numbers."""
    return duration if measure == "time" else count


def usable(points: Iterable[Sequence[float]]) -> list[Point]:
    """The points that a logarithmic axis can hold, by size."""
    return sorted(
        (p[0], p[1]) for p in points if len(p) == 2 and all(math.isfinite(v) and v > 0 for v in p)
    )


def loglog(shown: Measured, peers: Iterable[Measured]) -> Markup:
    """An SVG of ``shown`` over its ``peers``, its fit with the interval, and slope 1, dashed.

    Empty markup where there is no point to draw.
    """
    own = usable(shown.points)
    if not own:
        return Markup("")
    others = [(p.implementation, usable(p.points)) for p in peers]
    every = own + [point for _, points in others for point in points]
    write = cost(shown.measure)
    axes = Axes(every, write)
    start = own[0]
    linear = [start, (axes.right, start[1] * axes.right / start[0])]
    band, middle = fit(shown)
    parts = [
        *axes.grid(),
        Markup('<g clip-path="url(#plot-area)">'),
        axes.line(linear, "linear"),
        *(axes.line(points, "peer", name) for name, points in others if points),
        *([axes.area(*band)] if band else []),
        axes.line(own, "own", shown.implementation),
        *([axes.line(middle, "fit", "fit")] if middle else []),
        Markup("</g>"),
        *axes.dots(own),
        *axes.names([(name, points[-1]) for name, points in others if points]),
    ]
    label = printable(
        f"{shown.implementation} on {shown.family}: from {size(own[0][0])} in "
        f"{write(own[0][1])} to {size(own[-1][0])} in {write(own[-1][1])}"
    )
    return svg(label, parts)


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


def svg(label: str, parts: Iterable[Markup], style: str = "plot") -> Markup:
    """A picture that a screen reader reads as its label."""
    return Markup(
        '<svg class="{style}" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">{parts}</svg>'
    ).format(style=style, w=WIDTH, h=HEIGHT, label=label, parts=Markup("").join(parts))


class Axes:
    """Decades on both axes, wide enough for all points.

    write: a cost with its unit. margin: what stays free on the right.
    """

    def __init__(
        self, points: Sequence[Point], write: Callable[[float], str], margin: int = RIGHT
    ) -> None:
        self.edge = WIDTH - margin
        self.x0, self.x1 = self._decades([p[0] for p in points])
        self.y0, self.y1 = self._decades([p[1] for p in points])
        self.write = write

    @staticmethod
    def _decades(values: Sequence[float]) -> tuple[int, int]:
        low = math.floor(math.log10(min(values)))
        return low, max(low + 1, math.ceil(math.log10(max(values))))

    @property
    def right(self) -> float:
        """The size at the right edge."""
        return 10.0**self.x1

    def x(self, value: float) -> float:
        """Where a size stands."""
        share = (math.log10(value) - self.x0) / (self.x1 - self.x0)
        return LEFT + share * (self.edge - LEFT)

    def y(self, value: float) -> float:
        """Where a cost stands."""
        share = (math.log10(value) - self.y0) / (self.y1 - self.y0)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def grid(self) -> Iterable[Markup]:
        """Lines at the decades, with what they stand for."""
        bottom, right = HEIGHT - BOTTOM, self.edge
        lines = "".join(f"M{self.x(10.0**p):.1f} {TOP}V{bottom}" for p in self._powers(0))
        lines += "".join(f"M{LEFT} {self.y(10.0**p):.1f}H{right}" for p in self._powers(1))
        yield Markup('<path class="grid" d="{}"/>').format(lines)
        for power in self._powers(0):
            yield Markup('<text x="{x:.1f}" y="{y}" text-anchor="middle">{s}</text>').format(
                x=self.x(10.0**power), y=bottom + 18, s=size(10.0**power)
            )
        for power in self._powers(1):
            yield Markup('<text x="{x}" y="{y:.1f}" text-anchor="end">{s}</text>').format(
                x=LEFT - 8, y=self.y(10.0**power) + 4, s=self.write(10.0**power)
            )
        yield Markup('<text x="{x}" y="{y}" text-anchor="middle">input</text>').format(
            x=(LEFT + right) // 2, y=HEIGHT - 6
        )

    def _powers(self, axis: int) -> range:
        return range(self.y0, self.y1 + 1) if axis else range(self.x0, self.x1 + 1)

    def path(self, points: Iterable[Point]) -> str:
        """The points as the data of a path."""
        return "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)

    def line(self, points: Sequence[Point], style: str, name: str = "") -> Markup:
        """A line of this class."""
        title = Markup("<title>{}</title>").format(printable(name)) if name else Markup("")
        path = self.path(points)
        return Markup('<path class="{}" d="M{}">{}</path>').format(style, path, title)

    def area(self, one: Sequence[Point], other: Sequence[Point]) -> Markup:
        """What lies between two lines."""
        outline = self.path([*one, *reversed(other)])
        return Markup('<path class="band" d="M{}Z"/>').format(outline)

    def dots(self, points: Sequence[Point]) -> Iterable[Markup]:
        """A mark at each point, with its values."""
        for x, y in points:
            yield Markup('<circle cx="{:.1f}" cy="{:.1f}" r="4"><title>{}</title></circle>').format(
                self.x(x), self.y(y), escape(f"{size(x)}: {self.write(y)}")
            )

    def names(self, ends: Iterable[tuple[str, Point]]) -> Iterable[Markup]:
        """Names above the ends of lines; where two would overlap, the upper one only."""
        taken: list[float] = []
        for name, (x, y) in sorted(ends, key=lambda end: -end[1][1]):
            height = max(self.y(y) - 5, float(TOP))
            if all(abs(height - other) >= 12 for other in taken):
                taken.append(height)
                yield Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>').format(
                    self.x(x), height, printable(name)
                )
