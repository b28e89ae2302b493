"""One plot a family of inputs with the growth of all implementations, as inline SVG.

It needs no script: a line comes to the fore by the style sheet, where the pointer is on it or on
its name. Names stand beside the ends of their lines, moved apart where they would overlap. An
implementation has the same colour in all plots of a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from corpora.plain_text import printable
from reports.plots import BOTTOM, HEIGHT, TOP, WIDTH, Axes, cost, size, svg, usable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.events import Measured
    from reports.plots import Point

COLOURS = 8
"""Colours that the style sheet has for lines; the next implementations have them dashed."""

NAME_ROOM = 136
"""Units on the right for names."""

NAME_SIGNS = 19
"""Characters of a name that this room has."""

NAME_HEIGHT = 13
"""Units from one name to the next."""


def colours(rows: Sequence[Measured]) -> dict[str, int]:
    """The place of each implementation among the colours, in the order of measuring."""
    names = dict.fromkeys(row.implementation for row in rows)
    return {name: place for place, name in enumerate(names)}


def family_plot(family: str, rows: Sequence[Measured], places: Mapping[str, int]) -> Markup:
    """An SVG of all rows of one family, by one measure; empty where none has points."""
    lines = [(row, usable(row.points)) for row in rows if row.measure == rows[0].measure]
    lines = [(row, points) for row, points in lines if points]
    if not lines:
        return Markup("")
    write = cost(rows[0].measure)
    axes = Axes([point for _, points in lines for point in points], write, NAME_ROOM)
    heights = spread([axes.y(points[-1][1]) for _, points in lines])
    parts = list(axes.grid())
    for (row, points), height in zip(lines, heights, strict=True):
        said = f"{row.implementation}: {write(points[-1][1])} for {size(points[-1][0])}"
        if row.exponent is not None:
            said += f", exponent {row.exponent:.2f}"
        parts.append(_line(axes, row.implementation, points, height, places, said))
    slowest = max(lines, key=lambda line: line[1][-1][1])[0].implementation
    label = printable(f"{len(lines)} implementations on {family}; slowest at the end: {slowest}")
    return svg(label, parts, "plot families")


def _line(
    axes: Axes,
    name: str,
    points: Sequence[Point],
    height: float,
    places: Mapping[str, int],
    said: str,
) -> Markup:
    place = places.get(name, 0)
    style = f"series c{place % COLOURS}" + (" dashed" if place >= COLOURS else "")
    end_x, end_y = axes.x(points[-1][0]), axes.y(points[-1][1])
    edge = WIDTH - NAME_ROOM + 8
    path = axes.path(points)
    dots = Markup("").join(
        Markup('<circle cx="{:.1f}" cy="{:.1f}" r="2.5"/>').format(axes.x(x), axes.y(y))
        for x, y in points
    )
    shown = printable(name)
    if len(shown) > NAME_SIGNS:
        shown = f"{shown[: NAME_SIGNS - 1]}…"
    return Markup(
        '<g class="{style}"><title>{said}</title><path class="near" d="M{path}"/>'
        '<path class="stroke" d="M{path}"/>{dots}<path class="lead" d="M{x:.1f} {y:.1f}L{edge} '
        '{height:.1f}"/><text x="{text}" y="{base:.1f}">{name}</text></g>'
    ).format(
        style=style, said=printable(said), path=path, dots=dots, x=end_x, y=end_y,
        edge=edge, height=height, text=edge + 4, base=height + 4, name=shown,
    )  # fmt: skip


def spread(heights: Sequence[float]) -> list[float]:
    """Heights near the given ones, in their order, that leave each name its room on the plot.

    Where there are more names than room, they come as near to each other as they must.
    """
    if not heights:
        return []
    top, bottom = float(TOP), float(HEIGHT - BOTTOM)
    apart = min(float(NAME_HEIGHT), (bottom - top) / max(1, len(heights) - 1))
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    placed = [0.0] * len(heights)
    last = top - apart
    for at in order:
        last = placed[at] = max(heights[at], last + apart)
    last = bottom + apart
    for at in reversed(order):
        last = placed[at] = min(placed[at], last - apart)
    return placed
