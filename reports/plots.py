"""Plots as data: what a page draws with uPlot (``reports/vendor``), and as a table without script.

A plot is written as JSON beside an empty box; ``templates/plots.js`` draws it when it comes into
view, in the colours of the page. Whoever has no script, or no eyes for it, has the same numbers in
a table.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from corpora.plain_text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from harness.events import Measured

_BYTES = ("B", "KiB", "MiB", "GiB")
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))

FITTED = 16
"""Largest size over smallest of the points that a fit is drawn through: those of the judgement."""

COLOURS = 8
"""Colours that the style sheet has for lines; the next implementations have them dashed."""

DIGITS = 4
"""Significant digits of a number that is drawn: more than a screen has points."""

Point = tuple[float, float]

Unit = Literal["size", "time", "count", "speed", "ratio", "number", "place"]
"""What numbers of an axis mean, and so how they are written; a place has a name instead."""

Tone = int | Literal["accent", "text", "quiet"]
"""The colour of a line: one of the style sheet's numbered ones, or by its part."""


def size(value: float) -> str:
    """Bytes in binary units: ``100 B``, ``26 KiB``, ``1 MiB``."""
    step = min(len(_BYTES) - 1, max(0, int(math.log2(value) // 10))) if value >= 1 else 0
    shown = value / 1024**step
    return f"{shown:.0f} {_BYTES[step]}" if shown >= 100 else f"{shown:.3g} {_BYTES[step]}"


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
    """How a cost of this measure is written: seconds as time, bytes as sizes, others as numbers."""
    return {"time": duration, "claim": duration, "memory": size, "left": size}.get(measure, count)


def usable(points: Iterable[Sequence[float]]) -> list[Point]:
    """The points that a logarithmic axis can hold, by size."""
    return sorted(
        (p[0], p[1]) for p in points if len(p) == 2 and all(math.isfinite(v) and v > 0 for v in p)
    )


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis. log: its base, or 0 for an even axis. names: of the places 0, 1, 2 and so on."""

    unit: Unit
    label: str = ""
    log: int = 0
    names: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """A line, or dots. spread: (x, least, greatest) of points whose range is known."""

    name: str
    points: Sequence[Point]
    tone: Tone = "accent"
    style: Literal["line", "dots", "steps", "thin"] = "line"
    dash: bool = False
    wide: bool = False
    spread: Sequence[tuple[float, float, float]] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """What is drawn. label: for who cannot see it, and above the table of its values.

    area: (x, from, to), shaded behind the lines. marks: (x, class of the style sheet), lines from
    bottom to top. rule: a value that a line across stands for.
    """

    label: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    area: Sequence[tuple[float, float, float]] = ()
    marks: Sequence[tuple[float, str]] = ()
    rule: float | None = None
    height: int = 280

    def markup(self, values: bool = True) -> Markup:
        """The box, what is drawn in it, and a table of it. values: False where a table is there."""
        drawn = asdict(_printable(self), dict_factory=_rounded)
        # A closing tag within a name must not end the data.
        data = json.dumps(drawn, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        return Markup(
            '<div class="plot" role="img" aria-label="{label}" data-height="{height}"></div>'
            '<script type="application/json">{data}</script>{table}'
        ).format(
            label=printable(self.label), height=self.height, data=Markup(data),
            table=_table(self) if values else Markup(""),
        )  # fmt: skip


def _printable(plot: Plot) -> Plot:
    """A plot whose names hide and reorder nothing."""
    return replace(
        plot,
        label=printable(plot.label),
        x=replace(plot.x, names=list(map(printable, plot.x.names))),
        series=[replace(one, name=printable(one.name)) for one in plot.series],
    )


def _rounded(fields: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The fields that say something, with numbers of so many digits as can be seen."""
    silent: tuple[object, ...] = ((), [], "")
    return {
        name: _round(value)
        for name, value in fields
        if value is not None and value is not False and value not in silent
    }


def _round(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, (list, tuple)):
        return [_round(one) for one in value]
    return value


def _table(plot: Plot) -> Markup:
    """The values of a plot, a line a row, folded."""
    across, written = writer(plot.x), writer(plot.y)
    xs = sorted({x for one in plot.series for x, _ in one.points})
    heads = Markup("").join(Markup('<th scope="col">{}</th>').format(across(x)) for x in xs)
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            printable(one.name),
            Markup("").join(
                Markup('<td class="num">{}</td>').format(written(known[x]) if x in known else "")
                for x in xs
            ),
        )
        for one in plot.series
        if (known := dict(one.points))
    )
    return Markup(
        '<details class="inner values"><summary>Values</summary><div class="scroll" role="region" '
        'aria-label="Values: {label}" tabindex="0"><table><caption class="sr">{label}</caption>'
        "<thead><tr><td></td>{heads}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    ).format(label=printable(plot.label), heads=heads, rows=rows)


def writer(axis: Axis) -> Callable[[float], str]:
    """How values of an axis are written. ``templates/plots.js`` writes them likewise."""
    if axis.unit == "place":
        return lambda value: printable(axis.names[int(value)])
    return {
        "size": size,
        "time": duration,
        "count": count,
        "speed": lambda value: f"{value:.3g} MiB/s",
        "ratio": lambda value: f"{value:.3g} ×",
        "number": figure,
    }[axis.unit]


def costs(measure: str) -> Axis:
    """The axis of a cost of this measure."""
    if measure in {"memory", "left"}:
        return Axis("size", measure, 2)
    timed = measure in {"time", "claim"}
    return Axis("time" if timed else "count", "" if timed else measure, 10)


SIZES = Axis("size", "input", 2)
"""The axis of sizes of inputs."""


def grown(axis: str) -> Axis:
    """The axis of what grows in a measurement: bytes of the input, or a number of something."""
    return SIZES if axis == "bytes" else Axis("count", axis, 2)


def extent(axis: str) -> Callable[[float], str]:
    """How a place on that axis is written."""
    return size if axis == "bytes" else lambda value: f"{value:,.0f} {axis}"


def loglog(shown: Measured, peers: Iterable[Measured]) -> Markup:
    """The growth of ``shown`` over its ``peers``, its fit with the interval, and slope 1, dashed.

    Empty markup where there is no point to draw.
    """
    own = usable(shown.points)
    if not own:
        return Markup("")
    write, far = cost(shown.measure), extent(shown.axis)
    band, middle = fit(shown)
    linear = [own[0], (own[-1][0], own[0][1] * own[-1][0] / own[0][0])]
    series = [
        *(
            Series(peer.implementation, usable(peer.points), "quiet", "thin")
            for peer in peers
            if usable(peer.points)
        ),
        *([Series("linear", linear, "quiet", "thin", dash=True)] if len(own) > 1 else []),
        *([Series("fit", middle, "text", "thin", dash=True)] if middle else []),
        Series(shown.implementation, own, "accent", wide=True),
    ]
    label = (
        f"{shown.implementation} on {shown.family}: from {far(own[0][0])} in "
        f"{write(own[0][1])} to {far(own[-1][0])} in {write(own[-1][1])}"
    )
    area = [(x, low, high) for (x, low), (_, high) in zip(*band, strict=True)] if band else []
    plot = Plot(label, grown(shown.axis), costs(shown.measure), series, area=area)
    return plot.markup(values=False)


def colours(rows: Sequence[Measured]) -> dict[str, int]:
    """The place of each implementation among the colours, in the order of measuring."""
    names = dict.fromkeys(row.implementation for row in rows)
    return {name: place for place, name in enumerate(names)}


def family_plot(family: str, rows: Sequence[Measured], places: Mapping[str, int]) -> Markup:
    """The growth of all rows of one family, by one measure; empty where none has points.

    places: of each implementation among the colours, so that it has the same in all plots.
    """
    lines = [(row, usable(row.points)) for row in rows if row.measure == rows[0].measure]
    lines = [(row, points) for row, points in lines if points]
    if not lines:
        return Markup("")
    series = [
        Series(
            row.implementation,
            points,
            places.get(row.implementation, 0) % COLOURS,
            dash=places.get(row.implementation, 0) >= COLOURS,
        )
        for row, points in lines
    ]
    slowest = max(lines, key=lambda line: line[1][-1][1])[0].implementation
    label = f"{len(lines)} implementations on {family}; slowest at the end: {slowest}"
    return Plot(label, grown(rows[0].axis), costs(rows[0].measure), series).markup()


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
