"""Log-log plots of measured growth as inline SVG: no script, no font, colours from the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from reports.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.events import Measured

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 66, 16, 14, 44
_BYTES = ("B", "kB", "MB", "GB")
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))

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


def usable(points: Iterable[Sequence[float]]) -> list[Point]:
    """The points that a logarithmic axis can hold, by size."""
    return sorted(
        (p[0], p[1]) for p in points if len(p) == 2 and all(math.isfinite(v) and v > 0 for v in p)
    )


def loglog(shown: Measured, peers: Iterable[Measured]) -> Markup:
    """An SVG of ``shown`` over its ``peers``, with a dashed line of slope 1 through its start.

    Empty markup where there is no point to draw.
    """
    own = usable(shown.points)
    if not own:
        return Markup("")
    others = [(p.implementation, usable(p.points)) for p in peers]
    every = own + [point for _, points in others for point in points]
    axes = _Axes(every)
    start = own[0]
    linear = [start, (axes.right, start[1] * axes.right / start[0])]
    parts = [
        *axes.grid(),
        Markup('<g clip-path="url(#plot-area)">'),
        axes.line(linear, "linear"),
        *(axes.line(points, "peer", name) for name, points in others if points),
        axes.line(own, "own", shown.implementation),
        Markup("</g>"),
        *axes.dots(own),
        *axes.names([(name, points[-1]) for name, points in others if points]),
    ]
    label = printable(
        f"{shown.implementation} on {shown.family}: from {size(own[0][0])} in "
        f"{duration(own[0][1])} to {size(own[-1][0])} in {duration(own[-1][1])}"
    )
    return Markup(
        '<svg class="plot" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">{parts}</svg>'
    ).format(w=WIDTH, h=HEIGHT, label=label, parts=Markup("").join(parts))


class _Axes:
    """Decades on both axes, wide enough for all points."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.x0, self.x1 = self._decades([p[0] for p in points])
        self.y0, self.y1 = self._decades([p[1] for p in points])

    @staticmethod
    def _decades(values: Sequence[float]) -> tuple[int, int]:
        low = math.floor(math.log10(min(values)))
        return low, max(low + 1, math.ceil(math.log10(max(values))))

    @property
    def right(self) -> float:
        return 10.0**self.x1

    def x(self, value: float) -> float:
        share = (math.log10(value) - self.x0) / (self.x1 - self.x0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (math.log10(value) - self.y0) / (self.y1 - self.y0)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def grid(self) -> Iterable[Markup]:
        bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
        for power in range(self.x0, self.x1 + 1):
            x = self.x(10.0**power)
            yield Markup('<path class="grid" d="M{x:.1f} {t}V{b}"/>').format(x=x, t=TOP, b=bottom)
            yield Markup('<text x="{x:.1f}" y="{y}" text-anchor="middle">{s}</text>').format(
                x=x, y=bottom + 18, s=size(10.0**power)
            )
        for power in range(self.y0, self.y1 + 1):
            y = self.y(10.0**power)
            yield Markup('<path class="grid" d="M{l} {y:.1f}H{r}"/>').format(l=LEFT, y=y, r=right)
            yield Markup('<text x="{x}" y="{y:.1f}" text-anchor="end">{s}</text>').format(
                x=LEFT - 8, y=y + 4, s=duration(10.0**power)
            )
        yield Markup('<text x="{x}" y="{y}" text-anchor="middle">input</text>').format(
            x=(LEFT + right) // 2, y=HEIGHT - 6
        )

    def line(self, points: Sequence[Point], style: str, name: str = "") -> Markup:
        path = "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)
        title = Markup("<title>{}</title>").format(printable(name)) if name else Markup("")
        return Markup('<path class="{}" d="M{}">{}</path>').format(style, path, title)

    def dots(self, points: Sequence[Point]) -> Iterable[Markup]:
        for x, y in points:
            yield Markup('<circle cx="{:.1f}" cy="{:.1f}" r="4"><title>{}</title></circle>').format(
                self.x(x), self.y(y), escape(f"{size(x)}: {duration(y)}")
            )

    def names(self, ends: Iterable[tuple[str, Point]]) -> Iterable[Markup]:
        """Names above the ends of lines; where two would overlap, the upper one only."""
        taken: list[float] = []
        for name, (x, y) in sorted(ends, key=lambda end: -end[1][1]):
            height = self.y(y) - 5
            if all(abs(height - other) >= 12 for other in taken):
                taken.append(height)
                yield Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>').format(
                    self.x(x), height, printable(name)
                )
