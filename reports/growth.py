"""Growth in reports: what breaks a bound, candidates, grids of all cells, the worst timings."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from typing import TYPE_CHECKING

from harness.verdict.bounds import IN_TIME, POWERS
from impls import registry
from reports.blocks import (
    COLOURS,
    SIZES,
    Axis,
    Cell,
    Code,
    Column,
    Details,
    Figure,
    Group,
    Items,
    Paragraph,
    Plot,
    Section,
    Series,
    Span,
    Table,
    numbers,
)
from reports.blocks.html import drawn
from reports.blocks.units import duration, figure, interval, plural, size, usable
from reports.record import BAD_GROWTH, cell_of
from reports.studies import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.events import GrowthJudged, Measured
    from reports.blocks import Block, Inline, Point
    from reports.record import RunRecord

    Judged = Mapping[tuple[str, str, str, str], GrowthJudged]

PLOTS = 800_000
"""Characters of plots of families, the worst first: a night measures thousands of cells, and the
page is to stay below 4 MB."""

WORST_FIRST = ("failed", "superlinear", "inconclusive", "linear")
EXACT = frozenset({"steps", "instructions"})
"""Measures without noise."""

MARKS = {"superlinear": "✗ ", "inconclusive": "? ", "failed": "! "}
"""What stands before the exponent in a field."""

MOST_FAULTS = 200
"""Measurements that are listed as broken, or as not settled."""

MOST_PEERS = 3
"""Grids that start open though everything in them is linear."""

OUTCOMES = {
    "fail": ("over its bound", "superlinear"),
    "inconclusive": ("undecided", "inconclusive"),
}
"""What is said of a bound that is not kept, the worst first, and in which colour."""

TIME, BYTES = Axis("time", "", 10), Axis("size", "bytes", 2)
COSTS = {"time": TIME, "claim": TIME, "memory": BYTES, "left": BYTES}
"""The axes of measures; any other is a number."""

INTRODUCTION = (
    "Cost grows as (input length) to the power of the exponent: 1 is linear. A field leads to the "
    "plot of its family with all implementations: point at a line, or at its name, to follow it. "
    "Thick lines are candidates. A dashed line is the limit of a candidate; it starts at the first "
    "size that costs more than the call itself."
)
LEGEND = Paragraph(
    "A field shows the exponent. ! means failed, ✗ superlinear, ? inconclusive, M memory out of "
    "proportion. The gate fails for fields with a frame.",
    "legend",
)


def rank(verdict: str) -> int:
    """The place of a verdict on growth, the worst first."""
    return [*WORST_FIRST, verdict].index(verdict)


def sections(record: RunRecord) -> list[Section]:
    """All that was measured; what there was no time for."""
    judged = {cell_of(one): one for one in record.growth_judged}
    left_out = [
        Paragraph(
            f"On {one.vocabulary} there was no time for growth on {len(one.left_out)} of "
            f"{plural(len(one.chosen), 'chosen family', 'chosen families')} (of {one.known} "
            f"known): {', '.join(one.left_out)}.",
            "quiet",
        )
        for one in record.families
        if one.left_out
    ]
    faults = _faults(record, judged)
    if not (record.measured or left_out or faults.rows):
        return []
    blocks: list[Block] = [Paragraph("Growth was not measured in this run.", "empty")]
    grids: list[Block] = []
    if record.measured:
        blocks = [Paragraph(INTRODUCTION, "quiet", page=True)]
        grids = [Group([LEGEND, *_grids(record, judged), *worst(record.measured)], page=True)]
    return [Section("Growth", [*blocks, *left_out, faults, *grids], "scaling")]


def _faults(record: RunRecord, judged: Judged) -> Table:
    """Growth that breaks its bound, or has none and is bad; then what is undecided."""
    rows = [
        (
            one.outcome != "fail",
            *OUTCOMES[one.outcome],
            one,
            one.bound,
            one.line or one.reason,
        )
        for one in judged.values()
        if one.outcome in OUTCOMES
    ] + [
        (False, one.verdict, one.verdict, one, "none", reading(one))
        for one in record.measured
        if one.verdict in BAD_GROWTH and cell_of(one) not in judged
    ]
    rows.sort(key=lambda row: row[0])
    return Table(
        "Growth that is not linear, or not within its bound",
        ("Growth", "Implementation", "Family", "Vocabulary", "Measure", "Bound", "Measured"),
        [
            [
                Span(said, f"tally {style}"), one.implementation, one.family, one.vocabulary,
                one.measure, limit, line,
            ]
            for _, said, style, one, limit, line in rows[:MOST_FAULTS]
        ],
        "What grows faster than its bound, or than linearly without one; then what is undecided",
        "dense",
    )  # fmt: skip


def plot(
    rows: Sequence[Measured], places: Mapping[str, int], bounds: Mapping[str, str]
) -> Plot | None:
    """The growth of all on one family, by the first one's measure; None where none has points.

    places: of each implementation among the colours, so that it has the same in all plots. bounds:
    of candidates, which are drawn thick, and the line that their bound allows dashed.
    """
    first = rows[0]
    lines = [
        (m, points) for m in rows if m.measure == first.measure if (points := usable(m.points))
    ]
    if not lines:
        return None
    series = []
    for row, points in lines:
        name, bound = row.implementation, bounds.get(row.implementation, "")
        place = places.get(name, 0)
        dash, wide = place >= COLOURS, bool(bound)
        series.append(Series(name, points, place % COLOURS, dash=dash, wide=wide))
        if line := bound_line(points, row.overhead or 0.0, bound):
            series.append(Series(f"{name}: {bound}", line, "text", "thin", dash=True))
    across = SIZES if first.axis == "bytes" else Axis("count", first.axis, 2)
    slowest = max(lines, key=lambda line: line[1][-1][1])[0].implementation
    label = (
        f"{plural(len(lines), 'implementation')} on {first.family}; slowest at the end: {slowest}"
    )
    return Plot(label, across, COSTS.get(first.measure, Axis("count", first.measure, 10)), series)


def bound_line(points: Sequence[Point], overhead: float, bound: str) -> list[Point]:
    """A cost that grows as a bound allows, from the first point that is more than the overhead.

    Empty where there are no two such points, or the bound has no law.
    """
    grown = [(x, y) for x, y in points if y > 2 * overhead]
    if bound not in IN_TIME or len(grown) < 2:
        return []
    first, start = grown[0]

    def law(x: float) -> float:
        logarithm = math.log(max(x, 2.0)) if bound == "n log n" else 1.0
        return float(x ** POWERS.get(bound, 1.0) * logarithm)

    return [(x, overhead + (start - overhead) * law(x) / law(first)) for x, _ in grown]


def deciding(rows: Sequence[Measured]) -> Measured:
    """The measure by which a cell is coloured: the worst, where an exact one settles a doubt."""
    sure = [row for row in rows if row.verdict != "inconclusive"]
    settled = any(row.measure in EXACT for row in sure)
    return min(sure if settled else rows, key=lambda row: rank(row.verdict))


def _grids(record: RunRecord, judged: Judged) -> Iterator[Block]:
    """A grid a vocabulary, families down, implementations across, with the plots of families."""
    measured = sorted(record.measured, key=lambda m: (m.measure != "time", m.measure))
    places = {name: at for at, name in enumerate(grouped(measured, lambda m: m.implementation))}
    # Bounds are drawn of candidates, and of whoever breaks one.
    bounds = {
        place: one.bound
        for place, one in judged.items()
        if one.outcome == "fail"
        or not registry.built_in(record.specs.get(one.implementation, one.implementation))
    }
    tables = grouped(measured, lambda m: m.vocabulary)
    for number, (vocabulary, rows) in enumerate(tables.items()):
        room, across = PLOTS // len(tables), list(grouped(rows, lambda m: m.implementation))
        families = [
            grouped(of, lambda m: m.implementation)
            for of in grouped(rows, lambda m: m.family).values()
        ]
        families.sort(key=lambda cells: min(rank(deciding(of).verdict) for of in cells.values()))
        figures: list[Block] = []
        grid: list[list[Inline]] = []
        for cells in families:
            first = [of[0] for of in cells.values()]
            held = {m.implementation: bounds[cell_of(m)] for m in first if cell_of(m) in bounds}
            made, anchor = plot(first, places, held), ""
            room -= len(drawn(made)) if made else 0
            if made and room > 0:
                anchor = f"growth-{number}-{len(grid)}"
                caption = Span(first[0].family, "strong"), f" on {vocabulary}"
                figures.append(Figure(caption, [made, *_told(cells, judged)], anchor))
            fields = [_field(cells.get(name), judged, anchor and f"#{anchor}") for name in across]
            grid.append([first[0].family, *fields])
        verdicts = Counter(deciding(of).verdict for cells in families for of in cells.values())
        tally = [
            (Span(f"{verdicts[one]:,} {one}", f"tally {one}"), " ")
            for one in sorted(verdicts, key=rank)
        ]
        shown = Table(
            f"Growth exponents on {vocabulary}, a family a row, an implementation a column",
            ("Family", *(Column(name, upright=True) for name in across)),
            grid,
            style="growth",
        )
        opened = number < MOST_PEERS or set(verdicts) != {"linear"}
        blocks: list[Block] = [shown, Group(figures, "plots")]
        yield Details((f"{vocabulary} ", *tally), blocks, "growthbox", open=opened)


def _told(cells: Mapping[str, Sequence[Measured]], judged: Judged) -> Iterator[Block]:
    """What is not linear on a family, or held to a bound; the command for its largest input."""
    measured = [row for rows in cells.values() for row in rows]
    lines = [
        (Span(row.implementation, "strong"), f": {reading(row, judged.get(cell_of(row)))}")
        for row in measured
        if row.verdict != "linear" or cell_of(row) in judged
    ]
    if lines:
        yield Details("Measured", [Items(lines)])
    first = measured[0]
    if first.expression and first.axis == "bytes":
        largest = max((x for row in measured for x, _ in usable(row.points)), default=0)
        code = f"import random, sys; n = {largest:.0f}; sys.stdout.buffer.write({first.expression})"
        what = f"the command that writes the largest input of {first.family}"
        yield Code(f"python -c {shlex.quote(code)}", what, "literal")


def _field(rows: Sequence[Measured] | None, judged: Judged, href: str) -> Span:
    """A field of the grid: the exponent that decides, what it leads to, and all measures."""
    if not rows:
        return Span(Span("not measured", "sr"), "cell none")
    decided, known = deciding(rows), [judged.get(cell_of(row)) for row in rows]
    verdict, name = decided.verdict, f"{decided.implementation} on {decided.family}"
    exponent = "" if decided.exponent is None else f"{decided.exponent:.2f}"
    hungry = any(row.memory_verdict in {"hungry", "superlinear"} for row in rows)
    said = "; ".join(reading(row, bound) for row, bound in zip(rows, known, strict=True))
    spoken = None if verdict == "linear" and exponent else Span(f" {verdict}", "sr")
    return Span(
        (MARKS.get(verdict, "") + exponent + " M" * hungry, spoken),
        f"cell {verdict}" + " broken" * any(one and one.outcome == "fail" for one in known),
        href,
        f"{name}: {said}",
    )


def reading(row: Measured, judged: GrowthJudged | None = None) -> str:
    """One measurement in words, and what the gate holds it to."""
    unit = "ns" if row.measure == "time" else row.measure
    around = interval(row.low, row.high)
    said = [f"{row.measure}: {row.verdict}"]
    if row.exponent is not None:
        said.append(f"exponent {row.exponent:.2f}" + (f" ({around})" if around else ""))
    if row.law:
        said.append(f"best as {row.law}")
    if row.constant and row.verdict == "linear":
        said.append(f"{figure(row.constant)} {unit} a byte")
    if row.memory_verdict:
        by = f" ({row.memory_per_byte:,.1f} bytes a byte)" if row.memory_per_byte else ""
        said.append(f"memory {row.memory_verdict}{by}")
    for x, y in usable(row.cached)[-1:]:
        said.append(f"the same input again {duration(y)} for {size(x)}")
    if judged:
        said.append(f"bound {judged.bound}: {judged.outcome}")
    return ", ".join([*said, row.note] if row.note else said)


def worst(measured: Sequence[Measured]) -> Iterator[Table]:
    """A table a vocabulary: each implementation's worst family, by what a byte costs in the end."""
    timed: dict[str, dict[str, list[tuple[float, Measured]]]] = {}
    for one in measured:
        if one.measure == "time" and one.axis == "bytes" and (points := usable(one.points)):
            x, y = points[-1]
            of = timed.setdefault(one.vocabulary, {}).setdefault(one.implementation, [])
            of.append((y / x, one))
    for vocabulary, by_name in timed.items():
        for costs in by_name.values():
            costs.sort(key=lambda pair: pair[0])
        yield Table(
            f"Worst timings on {vocabulary}",
            (
                "Implementation", "Worst family", *numbers("Size", "Time", "A byte", "Median ×"),
                "Input",
            ),
            [_worst(one) for one in sorted(by_name.values(), key=lambda costs: -costs[-1][0])],
            f"Worst timings on {vocabulary}, each at its largest size. Median ×: the cost of a "
            "byte against the implementation's own median family",
            "worst",
        )  # fmt: skip


def _worst(costs: Sequence[tuple[float, Measured]]) -> list[Inline | Cell]:
    """The worst of some families, by what a byte costs, and how much more than the median."""
    cost, row = costs[-1]
    x, y = usable(row.points)[-1]
    bad = Span(f" {row.verdict}", f"tally {row.verdict}") if row.verdict != "linear" else None
    what = f"the worst input of {row.implementation} as Python"
    return [
        row.implementation,
        (row.family, bad),
        Cell(size(x), sort=x),
        Cell(duration(y), sort=y),
        Cell(f"{figure(cost * 1e9)} ns", sort=cost),
        f"{cost / costs[len(costs) // 2][0]:,.1f}" if len(costs) > 1 else "",
        Cell(
            style="expression",
            blocks=[Code(row.expression, what, "literal")] if row.expression else [],
        ),
    ]
