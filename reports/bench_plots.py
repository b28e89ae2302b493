"""Plots of speed as inline SVG: lines by size on log axes, bars of ratios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from markupsafe import Markup

from corpora.plain_text import printable
from reports.bench import KINDS, shown_ratio, shown_size, shown_speed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.bench import BenchTable, Line

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 680, 52, 150, 16, 42
LABEL, LINE, GAP = 12, 26, 6
BAR, BAR_GAP, BAR_LEFT, BAR_RIGHT = 10, 3, 150, 72

NAME_SIGNS = 20
"""Characters of a name that there is room for beside a plot."""

HUES = 8
"""Classes ``h0`` to ``h7`` of the page's style."""

Point = tuple[float, float]


def hues(lines: Sequence[Line]) -> dict[str, int]:
    """A colour for each name, by the alphabet, so that it has the same in each plot of a page."""
    return {name: i % HUES for i, name in enumerate(sorted({line.name for line in lines}))}


def by_size(table: BenchTable, colours: dict[str, int]) -> Markup:
    """MiB/s of fresh text by size, both logarithmic; empty markup where there is nothing."""
    drawn = [(line, _points(line)) for line in table.lines]
    drawn = [(line, points) for line, points in drawn if points]
    if not drawn or len(table.sizes) < 2:  # one size is one column of dots: bars say more
        return Markup("")
    height = max(300, TOP + BOTTOM + LABEL * len(drawn) + 30)
    ends = [(x, y) for _, points in drawn for x, *both in points for y in both]
    axes = _Axes(ends, table.sizes, height)
    parts = [*axes.grid()]
    for line, points in drawn:
        base = " base" if line.name == table.base else ""
        wrong = " wrong" if line.answer == "different" else ""
        path = "L".join(f"{axes.x(x):.1f} {axes.y(y):.1f}" for x, y, _ in points)
        colour = colours.get(line.name, 0)
        parts.append(
            Markup('<g class="h{h}{base}{wrong}"><path d="M{path}"/>').format(
                h=colour, base=base, wrong=wrong, path=path
            )
        )
        for x, y, low in points:
            parts.append(
                Markup('<path class="spread" d="M{:.1f} {:.1f}V{:.1f}"/>').format(
                    axes.x(x), axes.y(y), axes.y(low)
                )
            )
            parts.append(
                Markup('<circle cx="{:.1f}" cy="{:.1f}" r="3"><title>{}</title></circle>').format(
                    axes.x(x),
                    axes.y(y),
                    printable(
                        f"{line.name}, {shown_size(int(x))}: {shown_speed(y)} MiB/s, "
                        f"{shown_speed(low)} in the slowest round"
                    ),
                )
            )
        parts.append(Markup("</g>"))
    parts += axes.names([(line, points[-1][:2]) for line, points in drawn], colours)
    return _svg(f"Speed by size on {table.title}", WIDTH, height, parts)


def bars(table: BenchTable, colours: dict[str, int]) -> Markup:
    """Ratios to the base at the largest size, fresh, warm and cold."""
    rows = [(line, line.fields[-1]) for line in table.lines if line.fields]
    rows = [(line, one) for line, one in rows if any(s.ratio for s in one.speeds.values())]
    if not rows:
        return Markup("")
    speeds = [speed for _, one in rows for speed in one.speeds.values()]
    top = max(max(s.ratio or 0, (s.paired and s.paired.high) or 0) for s in speeds)
    step = len(KINDS) * (BAR + BAR_GAP) + 10
    height = step * len(rows) + 12
    room = WIDTH - BAR_LEFT - BAR_RIGHT
    parts = []
    for number, (line, one) in enumerate(rows):
        y = number * step + 6
        parts.append(
            Markup('<text class="name" x="{}" y="{}" text-anchor="end">{}</text>').format(
                BAR_LEFT - 10, y + step / 2, _short(line)
            )
        )
        for place, kind in enumerate(KINDS):
            speed = one.speeds.get(kind)
            if speed is None or speed.ratio is None:
                continue
            at, width = y + place * (BAR + BAR_GAP), max(1.0, room * speed.ratio / top)
            mark = f"{line.name}, {kind}: {shown_speed(speed.best)} MiB/s, "
            mark += f"{shown_speed(speed.slowest)} in the slowest round"
            low, high = BAR_LEFT + width * speed.slowest / speed.best, BAR_LEFT + width
            sure = speed.paired
            if sure is not None and sure.low is not None and sure.high is not None:
                low, high = (BAR_LEFT + room * one / top for one in (sure.low, sure.high))
            parts.append(
                Markup(
                    '<rect class="{k} h{h}" x="{x}" y="{y}" width="{w:.1f}" height="{b}" rx="2">'
                    '<title>{t}</title></rect><text x="{tx:.1f}" y="{ty}">{r}</text>'
                ).format(
                    k=kind, h=colours.get(line.name, 0), x=BAR_LEFT, y=at, w=width, b=BAR,
                    t=printable(mark),
                    tx=BAR_LEFT + width + 5, ty=at + BAR - 1,
                    r=f"{shown_ratio(speed.ratio)} {kind}",
                )
            )  # fmt: skip
            parts.append(
                Markup('<path class="whisker" d="M{l:.1f} {t}v4m0 -2H{r:.1f}"/>').format(
                    l=low, t=at + BAR / 2 - 2, r=high
                )
            )
    x = BAR_LEFT + room / top
    parts.append(Markup('<path class="one" d="M{x:.1f} 2V{b}"/>').format(x=x, b=height - 4))
    return _svg(f"Ratios to {table.base} on {table.title}", WIDTH, height, parts)


def _svg(label: str, width: int, height: int, parts: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg class="plot speed" viewBox="0 0 {w} {h}" role="img" aria-label="{l}">{p}</svg>'
    ).format(w=width, h=height, l=printable(label), p=Markup("").join(parts))


def _points(line: Line) -> list[tuple[float, float, float]]:
    """Size, the best speed and the slowest."""
    found = []
    for one in line.fields:
        speed = next((one.speeds[kind] for kind in KINDS if kind in one.speeds), None)
        if speed is not None and speed.best > 0:
            found.append((float(one.size), speed.best, speed.slowest))
    return found


class _Axes:
    """Sizes across, MiB/s upwards in steps of 1, 2, 5; both logarithmic."""

    def __init__(self, points: Sequence[Point], sizes: Sequence[int], height: int) -> None:
        self._height = height
        self._sizes = sizes
        self.x0 = math.log(sizes[0]) - (0.5 if len(sizes) == 1 else 0)
        self.x1 = math.log(sizes[-1]) + (0.5 if len(sizes) == 1 else 0)
        self.y0 = math.log10(min(p[1] for p in points)) - 0.05
        self.y1 = math.log10(max(p[1] for p in points)) + 0.08

    def x(self, value: float) -> float:
        share = (math.log(value) - self.x0) / (self.x1 - self.x0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (math.log10(value) - self.y0) / (self.y1 - self.y0)
        return self._height - BOTTOM - share * (self._height - TOP - BOTTOM)

    def grid(self) -> Iterator[Markup]:
        bottom, right = self._height - BOTTOM, WIDTH - RIGHT
        for size in self._sizes:
            x = self.x(size)
            yield Markup('<path class="grid" d="M{x:.1f} {t}V{b}"/>').format(x=x, t=TOP, b=bottom)
            yield Markup('<text x="{x:.1f}" y="{y}" text-anchor="middle">{s}</text>').format(
                x=x, y=bottom + 18, s=shown_size(size)
            )
        steps = (1, 2, 5) if self.y1 - self.y0 < 2.2 else (1,)
        for power in range(math.floor(self.y0), math.ceil(self.y1) + 1):
            for digit in steps:
                value = digit * 10.0**power
                if not self.y0 <= math.log10(value) <= self.y1:
                    continue
                y = self.y(value)
                yield Markup('<path class="grid" d="M{l} {y:.1f}H{r}"/>').format(
                    l=LEFT, y=y, r=right
                )
                yield Markup('<text x="{x}" y="{y:.1f}" text-anchor="end">{s}</text>').format(
                    x=LEFT - 8, y=y + 4, s=f"{value:g}"
                )
        yield Markup('<text x="{}" y="{}">MiB/s</text>').format(4, TOP - 5)
        yield Markup('<text x="{x}" y="{y}" text-anchor="middle">input</text>').format(
            x=(LEFT + right) // 2, y=self._height - 6
        )

    def names(
        self, ends: Sequence[tuple[Line, Point]], colours: dict[str, int]
    ) -> Iterator[Markup]:
        """Names to the right of the lines' ends, pushed apart, each led to its line."""
        ordered = sorted(ends, key=lambda end: -end[1][1])
        heights = spread([self.y(y) for _, (_, y) in ordered], LABEL, self._height - BOTTOM)
        for (line, (x, y)), height in zip(ordered, heights, strict=True):
            edge = WIDTH - RIGHT
            lead = f"M{self.x(x) + 4:.1f} {self.y(y):.1f}L{edge + LINE - 8} {height:.1f}"
            yield Markup(
                '<g class="h{h}"><path class="lead" d="{d}"/>'
                '<text class="name" x="{x}" y="{y:.1f}">{n}</text></g>'
            ).format(
                h=colours.get(line.name, 0),
                d=lead,
                x=edge + LINE - GAP + 2,
                y=height + 4,
                n=_short(line),
            )


def _short(line: Line) -> str:
    name = printable(line.name)
    name = name if len(name) <= NAME_SIGNS else f"{name[: NAME_SIGNS - 1]}…"
    return f"{name} {line.mark}".rstrip()


def spread(heights: Sequence[float], least: float, bottom: float) -> list[float]:
    """Rising heights pushed down until ``least`` lies between any two, then up from ``bottom``."""
    found: list[float] = []
    for height in heights:
        found.append(max(height, found[-1] + least) if found else height)
    limit = bottom
    for place in range(len(found) - 1, -1, -1):
        found[place] = min(found[place], limit)
        limit = found[place] - least
    return found
