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
    "pass": ("within its bound", "linear"),
}
"""What is said of a bound, the worst first, and in which colour."""

TIME, BYTES = Axis("time", "", 10), Axis("size", "bytes", 2)
COSTS = {"time": TIME, "claim": TIME, "memory": BYTES, "left": BYTES}
"""The axes of measures; any other is a number."""

INTRODUCTION = (
    "Cost grows as (input length) to the power of the exponent: 1 is linear. A field leads to the "
    "plot of its family with all implementations: point at a line, or at its name, to follow it. "
    "Thick is a candidate, dashed what its bound allows, from the first size whose cost is more "
    "than that of the call."
)
LEGEND = Paragraph(
    (
        "Fields:",
        *(
            Span((Span(look, f"tally {said}"), f" {said}"), "entry")
            for look, said in zip(("!", "✗ 1.97", "? 1.18", "1.02"), WORST_FIRST, strict=True)
        ),
        Span("framed: the gate fails for it", "entry"),
        Span((Span("M", "strong"), " memory out of proportion"), "entry"),
    ),
    "legend",
)


def sections(record: RunRecord) -> list[Section]:
    """All that was measured; what there was no time for."""
    faults, left_out = _faults(record), growth_left_out(record)
    if not (record.measured or left_out or faults.rows):
        return []
    measured = {cell_of(one) for one in record.measured}
    judged = {place: one for one in record.growth_judged if (place := cell_of(one)) in measured}
    held = {
        place: one
        for place, one in judged.items()
        if one.outcome == "fail"
        or not registry.built_in(record.specs.get(one.implementation, one.implementation))
    }
    nothing = Paragraph("Growth was not measured in this run.", "empty")
    grids = Group([LEGEND, *_grids(record, judged, held), *worst(record.measured)], page=True)
    blocks: list[Block] = [
        Paragraph(INTRODUCTION, "quiet", page=True) if record.measured else nothing,
        *(Paragraph(line, "quiet") for line in left_out),
        faults,
        *([grids] if record.measured else []),
    ]
    return [Section("Growth", blocks, "scaling")]


def growth_left_out(record: RunRecord) -> list[str]:
    """A line for each vocabulary on which there was no time to measure growth on all families."""
    return [
        f"On {one.vocabulary} there was no time for growth on {len(one.left_out)} of "
        f"{plural(len(one.chosen), 'chosen family', 'chosen families')} (of {one.known} known): "
        f"{', '.join(one.left_out)}."
        for one in record.families
        if one.left_out
    ]


def _faults(record: RunRecord) -> Table:
    """Growth that breaks its bound, or has none and is bad; then what is undecided."""
    bound = {cell_of(one) for one in record.growth_judged}
    rows = [
        (
            one.outcome != "fail", *OUTCOMES[one.outcome], one, one.bound, one.line or one.reason,
        )
        for one in record.growth_judged
        if one.outcome != "pass"
    ] + [
        (False, one.verdict, one.verdict, one, "none", reading(one))
        for one in record.measured
        if one.verdict in BAD_GROWTH and cell_of(one) not in bound
    ]  # fmt: skip
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
    measure = rows[0].measure
    lines = [(one, usable(one.points)) for one in rows if one.measure == measure]
    lines = [line for line in lines if line[1]]
    if not lines:
        return None
    series = []
    for row, points in lines:
        name, bound = row.implementation, bounds.get(row.implementation)
        place, wide = places.get(name, 0), bound is not None
        series.append(Series(name, points, place % COLOURS, dash=place >= COLOURS, wide=wide))
        if line := bound_line(points, row.overhead or 0.0, bound or ""):
            series.append(Series(f"{name}: {bound}", line, "text", "thin", dash=True))
    across = SIZES if rows[0].axis == "bytes" else Axis("count", rows[0].axis, 2)
    slowest = max(lines, key=lambda line: line[1][-1][1])[0]
    label = (
        f"{plural(len(lines), 'implementation')} on {slowest.family}; "
        f"slowest at the end: {slowest.implementation}"
    )
    return Plot(label, across, COSTS.get(measure, Axis("count", measure, 10)), series)


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


def deciding(rows: Sequence[Measured]) -> Measured:
    """The measure by which a cell is coloured: the worst, where an exact one settles a doubt."""
    exact = [row for row in rows if row.measure in EXACT and row.verdict != "inconclusive"]
    sure = [row for row in rows if row.verdict != "inconclusive"] if exact else rows
    return min(sure or rows, key=lambda row: _rank(row.verdict))


def _rank(verdict: str) -> int:
    return WORST_FIRST.index(verdict) if verdict in WORST_FIRST else len(WORST_FIRST)


def _grids(record: RunRecord, judged: Judged, held: Judged) -> Iterator[Block]:
    """A grid a vocabulary, families down, implementations across, with the plots of families.

    held: of ``judged``, those of candidates.
    """
    places: dict[str, int] = {}
    tables: dict[str, dict[str, dict[str, list[Measured]]]] = {}
    for one in sorted(record.measured, key=lambda m: (m.measure != "time", m.measure)):
        places.setdefault(one.implementation, len(places))
        families = tables.setdefault(one.vocabulary, {})
        families.setdefault(one.family, {}).setdefault(one.implementation, []).append(one)
    for number, (vocabulary, table) in enumerate(tables.items()):
        room, across = PLOTS // len(tables), dict.fromkeys(n for of in table.values() for n in of)
        figures: list[Block] = []
        grid: list[list[Inline]] = []
        for family, cells in sorted(table.items(), key=_worst_of):
            rows = [found[0] for found in cells.values()]
            bounds = {m.implementation: held[cell_of(m)].bound for m in rows if cell_of(m) in held}
            made, anchor = plot(rows, places, bounds), f"growth-{number}-{len(grid)}"
            room -= len(drawn(made)) if made else 0
            drawable = made is not None and room > 0
            if made and drawable:
                caption = Span(family, "strong"), f" on {vocabulary}"
                told = [made, *_telling(cells, judged), *_command(rows)]
                figures.append(Figure(caption, told, anchor))
            href = f"#{anchor}" if drawable else ""
            grid.append([family, *(_field(cells.get(name), judged, href) for name in across)])
        verdicts = Counter(deciding(m).verdict for of in table.values() for m in of.values())
        tally = [
            (Span(f"{verdicts[v]:,} {v}", f"tally {v}"), " ") for v in sorted(verdicts, key=_rank)
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


def _worst_of(family: tuple[str, Mapping[str, Sequence[Measured]]]) -> int:
    """By which the families of a grid are sorted: the worst verdict of all."""
    return min(_rank(deciding(rows).verdict) for rows in family[1].values())


def _telling(cells: Mapping[str, Sequence[Measured]], judged: Judged) -> list[Block]:
    """What was measured of a family in words, where it is not linear, or is held to a bound."""
    lines = [
        (Span(name, "strong"), f": {reading(row, judged.get(cell_of(row)))}")
        for name, rows in cells.items()
        for row in rows
        if row.verdict != "linear" or cell_of(row) in judged
    ]
    return [Details("Measured", [Items(lines)])] if lines else []


def _command(rows: Sequence[Measured]) -> list[Block]:
    """The command that writes the largest input of a family."""
    largest = max((x for row in rows for x, _ in usable(row.points)), default=0)
    first = rows[0]
    if not first.expression or first.axis != "bytes":
        return []
    code = f"import random, sys; n = {largest:.0f}; sys.stdout.buffer.write({first.expression})"
    what = f"the command that writes the largest input of {first.family}"
    return [Code(f"python -c {shlex.quote(code)}", what, "literal")]


def _field(rows: Sequence[Measured] | None, judged: Judged, href: str) -> Span:
    """A field of the grid: the exponent that decides, what it leads to, and all measures."""
    if not rows:
        return Span(Span("not measured", "sr"), "cell none")
    decided = deciding(rows)
    exponent = "" if decided.exponent is None else f"{decided.exponent:.2f}"
    known = [judged.get(cell_of(row)) for row in rows]
    hungry = any(row.memory_verdict in {"hungry", "superlinear"} for row in rows)
    quiet = decided.verdict == "linear" and exponent
    said = "; ".join(reading(row, bound) for row, bound in zip(rows, known, strict=True))
    return Span(
        (
            MARKS.get(decided.verdict, "") + exponent + " M" * hungry,
            None if quiet else Span(f" {decided.verdict}", "sr"),
        ),
        f"cell {decided.verdict}" + " broken" * any(one and one.outcome == "fail" for one in known),
        href,
        f"{decided.implementation} on {decided.family}: {said}",
    )


def reading(row: Measured, judged: GrowthJudged | None = None) -> str:
    """One measurement in words, and what the gate holds it to."""
    unit = "ns" if row.measure == "time" else row.measure
    exponent = "" if row.exponent is None else f"exponent {row.exponent:.2f}"
    said = [
        f"{row.measure}: {row.verdict}",
        _around(exponent, interval(row.low, row.high)),
        f"best as {row.law}" if row.law else "",
        f"{figure(row.constant)} {unit} a byte" if row.constant and row.verdict == "linear" else "",
        _around(f"memory {row.memory_verdict}" if row.memory_verdict else "",
                row.memory_per_byte and f"{row.memory_per_byte:,.1f} bytes a byte"),
        *(f"the same input again {duration(y)} for {size(x)}" for x, y in usable(row.cached)[-1:]),
        f"bound {judged.bound}: {judged.outcome}" if judged else "",
        row.note,
    ]  # fmt: skip
    return ", ".join(filter(None, said))


def _around(said: str, more: str | float | None) -> str:
    return f"{said} ({more})" if said and more else said


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
