"""Growth in reports: what breaks a bound, candidates, grids of all cells, the worst timings."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.events import FamiliesMeasured, GrowthJudged, Measured
from impls import registry
from reports.blocks import (
    SIZES,
    Axis,
    Block,
    Cell,
    Code,
    Column,
    Details,
    Figure,
    Group,
    Inline,
    Paragraph,
    Plot,
    Section,
    Series,
    Span,
    Table,
)
from reports.blocks.units import duration, exponent, figure, plural, size, usable
from reports.record import BAD_GROWTH, RunRecord
from reports.studies import grouped

MOST_PLOTS = 150
"""Plots of families, the worst first: a night measures thousands of cells, and the page is to stay
below 4 MB."""

WORST_FIRST = ("failed", "superlinear", "inconclusive", "linear")
EXACT = frozenset({"steps", "instructions"})
"""Measures without noise."""

MARKS = {"superlinear": "✗ ", "inconclusive": "? ", "failed": "! "}
"""What stands before the exponent in a field."""

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
    "Thick lines are candidates."
)
LEGEND = (
    "A field shows the exponent. ! means failed, ✗ superlinear, ? inconclusive, M memory out of "
    "proportion. The gate fails for fields with a frame."
)

Judged = Mapping[tuple[str, str, str, str], GrowthJudged]


def cell_of(event: Measured | GrowthJudged) -> tuple[str, str, str, str]:
    """What a measurement of growth is about."""
    return event.implementation, event.vocabulary, event.family, event.measure


def rank(verdict: str) -> int:
    """The place of a verdict on growth, the worst first."""
    return [*WORST_FIRST, verdict].index(verdict)


def sections(record: RunRecord) -> list[Section]:
    """All that was measured; what there was no time for."""
    judged = {cell_of(one): one for one in record.growth_judged}
    left_out = [
        Paragraph(
            f"On {one.vocabulary} there was no time for growth on {len(one.left_out)} of "
            f"{plural(len(one.chosen), 'chosen family')} (of {one.known} "
            f"known): {', '.join(one.left_out)}.",
            "quiet",
        )
        for one in record.of(FamiliesMeasured)
        if one.left_out
    ]
    faults = _faults(record, judged)
    if not (record.measured or left_out or faults.rows):
        return []
    if record.measured:
        first = Paragraph(INTRODUCTION, "quiet", page=True)
        grids = [Paragraph(LEGEND, "legend"), *_grids(record, judged), *worst(record.measured)]
    else:
        first, grids = Paragraph("Growth was not measured in this run.", "empty"), []
    blocks = [first, *left_out, faults, Group(grids, page=True)]
    return [Section("Growth", blocks, "scaling")]


def _faults(record: RunRecord, judged: Judged) -> Table:
    """Growth that breaks its bound, or has none and is bad; then what is undecided."""
    told: list[tuple[str, str, Measured | GrowthJudged, str, str]] = [
        (*OUTCOMES[one.outcome], one, one.bound, one.line or one.reason)
        for one in judged.values()
        if one.outcome in OUTCOMES
    ]
    told += [
        (one.verdict, one.verdict, one, "none", reading(one))
        for one in record.measured
        if one.verdict in BAD_GROWTH and cell_of(one) not in judged
    ]
    told.sort(key=lambda row: row[1] == "inconclusive")
    rows = [
        (
            Span(said, f"tally {style}"), one.implementation, one.family, one.vocabulary,
            one.measure, limit, line,
        )
        for said, style, one, limit, line in told
    ]  # fmt: skip
    return Table(
        "Growth that is not linear, or not within its bound",
        "Growth | Implementation | Family | Vocabulary | Measure | Bound | Measured",
        rows,
        "What grows faster than its bound, or than linearly without one; then what is undecided",
        "dense",
    )


def plot(
    rows: Sequence[Measured], places: Mapping[str, int], candidates: Collection[str]
) -> Plot | None:
    """The growth of all on one family, by the first one's measure; None where none has points.

    places: of each implementation among the colours, so that it has the same in all plots.
    candidates: whose lines are thick.
    """
    first, series = rows[0], []
    for row in rows:
        points, name = usable(row.points), row.implementation
        if row.measure == first.measure and points:
            series.append(Series(name, points, places.get(name, 0), wide=name in candidates))
    if not series:
        return None
    across = SIZES if first.axis == "bytes" else Axis("count", first.axis, 2)
    slowest = max(series, key=lambda one: one.points[-1][1]).name
    number = plural(len(series), "implementation")
    label = f"{number} on {first.family}; slowest at the end: {slowest}"
    return Plot(label, across, COSTS.get(first.measure, Axis("count", first.measure, 10)), series)


def deciding(rows: Sequence[Measured]) -> Measured:
    """The measure by which a cell is coloured: the worst, where an exact one settles a doubt."""
    sure = [row for row in rows if row.verdict != "inconclusive"]
    settled = any(row.measure in EXACT for row in sure)
    return min(sure if settled else rows, key=lambda row: rank(row.verdict))


def _grids(record: RunRecord, judged: Judged) -> Iterator[Block]:
    """A grid a vocabulary, families down, implementations across, with the plots of families."""
    measured = sorted(record.measured, key=lambda m: (m.measure != "time", m.measure))
    places = {name: at for at, name in enumerate(grouped(measured, lambda m: m.implementation))}
    candidates = {name for name in places if not registry.built_in(record.specs.get(name, name))}
    tables = grouped(measured, lambda m: m.vocabulary)
    for number, (vocabulary, rows) in enumerate(tables.items()):
        # As nothing but the clock decides who was measured first: references, then by name.
        who = {row.implementation for row in rows}
        across = sorted(who, key=lambda one: (one not in record.references, one))
        families = [
            grouped(of, lambda m: m.implementation)
            for of in grouped(rows, lambda m: m.family).values()
        ]
        families.sort(key=lambda cells: min(rank(deciding(of).verdict) for of in cells.values()))
        figures: list[Block] = []
        grid: list[list[Inline]] = []
        for place, cells in enumerate(families):
            first = [of[0] for of in cells.values()]
            made, anchor = plot(first, places, candidates), f"growth-{number}-{place}"
            if drawn := place < MOST_PLOTS // len(tables) and made is not None:
                caption = Span(first[0].family, "strong"), f" on {vocabulary}"
                figures.append(Figure(caption, [made, *_largest(first)], anchor))
            fields = [_field(cells.get(name, []), judged, f"#{anchor}" * drawn) for name in across]
            grid.append([first[0].family, *fields])
        verdicts = Counter(deciding(of).verdict for cells in families for of in cells.values())
        tally = [
            (Span(f"{verdicts[one]:,} {one}", f"tally {one}"), " ")
            for one in sorted(verdicts, key=rank)
        ]
        shown = Table(
            f"Growth exponents on {vocabulary}, a family a row, an implementation a column",
            [Column("Family"), *(Column(name, upright=True) for name in across)],
            grid,
            style="growth",
        )
        opened = number < MOST_PEERS or set(verdicts) != {"linear"}
        blocks = [shown, Group(figures, "plots")]
        yield Details((f"{vocabulary} ", *tally), blocks, "growthbox", open=opened)


def _largest(rows: Sequence[Measured]) -> Iterator[Code]:
    """The command for the largest input of a family."""
    first = rows[0]
    if first.expression and first.axis == "bytes":
        largest = max((x for row in rows for x, _ in usable(row.points)), default=0)
        code = f"import random, sys; n = {largest:.0f}; sys.stdout.buffer.write({first.expression})"
        what = f"the command that writes the largest input of {first.family}"
        yield Code(f"python -c {shlex.quote(code)}", what, "literal")


def _field(rows: Sequence[Measured], judged: Judged, href: str) -> Span:
    """A field of the grid: the exponent that decides, what it leads to, and all measures."""
    if not rows:
        return Span(Span("not measured", "sr"), "cell none")
    decided, known = deciding(rows), [judged.get(cell_of(row)) for row in rows]
    verdict = decided.verdict
    shown = exponent(decided.exponent).lstrip()
    hungry = any(row.memory_verdict in {"hungry", "superlinear"} for row in rows)
    said = "; ".join(reading(row, bound) for row, bound in zip(rows, known, strict=True))
    spoken = None if verdict == "linear" and shown else Span(f" {verdict}", "sr")
    return Span(
        (MARKS.get(verdict, "") + shown + " M" * hungry, spoken),
        f"cell {verdict}" + " broken" * any(one and one.outcome == "fail" for one in known),
        href,
        f"{decided.implementation} on {decided.family}: {said}",
    )


def reading(row: Measured, judged: GrowthJudged | None = None) -> str:
    """One measurement in words, and what the gate holds it to."""
    steady = row.constant and row.verdict == "linear"
    unit = "ns" if row.measure == "time" else row.measure
    by = f" ({row.memory_per_byte:,.1f} bytes a byte)" if row.memory_per_byte else ""
    said = [
        f"{row.measure}: {row.verdict}",
        row.exponent is not None and f"exponent{exponent(row.exponent, row.low, row.high)}",
        row.law and f"best as {row.law}",
        steady and f"{figure(row.constant or 0)} {unit} a byte",
        row.memory_verdict and f"memory {row.memory_verdict}{by}",
        *(f"the same input again {duration(y)} for {size(x)}" for x, y in usable(row.cached)[-1:]),
        judged and f"bound {judged.bound}: {judged.outcome}",
        row.note,
    ]
    return ", ".join(str(one) for one in said if one)


def worst(measured: Sequence[Measured]) -> Iterator[Table]:
    """A table a vocabulary: each implementation's worst family, by what a byte costs in the end."""
    timed = [
        (y / x, x, y, one)
        for one in measured
        if one.measure == "time" and one.axis == "bytes"
        for x, y in usable(one.points)[-1:]
    ]
    timed.sort(key=lambda cost: -cost[0])
    for vocabulary, here in grouped(timed, lambda cost: cost[3].vocabulary).items():
        rows = []
        for name, costs in grouped(here, lambda cost: cost[3].implementation).items():
            cost, x, y, row = costs[0]
            bad = Span(f" {row.verdict}", f"tally {row.verdict}")
            what = f"the worst input of {name} as Python"
            median = costs[(len(costs) - 1) // 2][0]
            code = [Code(row.expression, what, "literal")] * bool(row.expression)
            rows.append(
                (
                    name,
                    (row.family, bad if row.verdict != "linear" else None),
                    Cell(size(x), sort=x),
                    Cell(duration(y), sort=y),
                    Cell(f"{figure(cost * 1e9)} ns", sort=cost),
                    f"{cost / median:,.1f}" if len(costs) > 1 else "",
                    Cell(style="expression", blocks=code),
                )
            )
        yield Table(
            f"Worst timings on {vocabulary}",
            "Implementation | Worst family | Size: | Time: | A byte: | Median ×: | Input",
            rows,
            f"Worst timings on {vocabulary}, each at its largest size. Median ×: the cost of a "
            "byte against the implementation's own median family",
            "worst",
        )
