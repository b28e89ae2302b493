"""Growth in reports: what breaks a bound, candidates, grids of all cells, the worst timings."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter

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
EXACT = "steps"
"""The measure without noise."""

MARKS = {"superlinear": "✗ ", "inconclusive": "? ", "failed": "! "}
"""What stands before the exponent in a field."""

MOST_PEERS = 3
"""Grids that start open though everything in them is linear."""

UNDECIDED = "undecided"
OUTCOMES = {
    "fail": ("over its bound", "superlinear"),
    "inconclusive": (UNDECIDED, "inconclusive"),
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
"""What measurements were held to, by what they are about."""

about = attrgetter("implementation", "vocabulary", "family", "measure")
"""What a measurement of growth, or a judgement of it, is about."""


def rank(verdict: str) -> int:
    """The place of a verdict on growth, the worst first."""
    return [*WORST_FIRST, verdict].index(verdict)


def sections(record: RunRecord) -> list[Section]:
    """All that was measured; what there was no time for."""
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
    blocks: list[Block] = [Paragraph("Growth was not measured in this run.", "empty"), *left_out]
    if record.measured:
        judged = {about(one): one for one in record.growth_judged}
        grids = [Paragraph(LEGEND, "legend"), *_grids(record, judged), *worst(record.measured)]
        introduction = Paragraph(INTRODUCTION, "quiet", page=True)
        faults = _faults(record.measured, judged)
        blocks = [introduction, *left_out, faults, Group(grids, page=True)]
    return [Section("Growth", blocks, "scaling")] if record.measured or left_out else []


def _faults(measured: Sequence[Measured], judged: Judged) -> Table:
    """Growth that breaks its bound, or has none and is bad; then what is undecided."""
    rows = []
    for one in measured:
        if known := judged.get(about(one)):
            said, style = OUTCOMES.get(known.outcome, ("", ""))
            limit, line = known.bound, known.line or known.reason
        else:
            said = style = one.verdict if one.verdict in BAD_GROWTH else ""
            limit, line = "none", reading(one)
        if said:
            bad, where = Span(said, f"tally {style}"), (one.family, one.vocabulary, one.measure)
            rows.append((bad, one.implementation, *where, limit, line))
    rows.sort(key=lambda row: row[0].text == UNDECIDED)
    return Table(
        "Growth that is not linear, or not within its bound",
        "Growth | Implementation | Family | Vocabulary | Measure | Bound | Measured",
        rows,
        "First what grows faster than its limit, or faster than linearly without one; then what is "
        "undecided",
        "dense",
    )


def race(who: str, lines: Sequence[Series], x: Axis = SIZES, y: Axis = TIME) -> Plot:
    """Lines in one plot, of which it is said who is the slowest in the end."""
    slowest = max(lines, key=lambda one: one.points[-1][1]).name
    return Plot(f"{who}; slowest at the end: {slowest}", x, y, lines)


def axes(row: Measured) -> tuple[Axis, Axis]:
    """What grows in a measurement, and what it costs."""
    across = SIZES if row.axis == "bytes" else Axis("count", row.axis, 2)
    return across, COSTS.get(row.measure, Axis("count", row.measure, 10))


def plot(
    rows: Sequence[Measured], places: Mapping[str, int], candidates: Collection[str]
) -> Plot | None:
    """The growth of all on one family, by the first one's measure; None where none has points.

    places: of each implementation among the colours, so that it has the same in all plots.
    candidates: whose lines are thick.
    """
    first = rows[0]
    lines = [
        Series(
            row.implementation, points, places.get(row.implementation, 0),
            wide=row.implementation in candidates,
        )
        for row in rows
        if row.measure == first.measure and (points := usable(row.points))
    ]  # fmt: skip
    who = f"{plural(len(lines), 'implementation')} on {first.family}"
    return race(who, lines, *axes(first)) if lines else None


def deciding(rows: Sequence[Measured]) -> Measured:
    """The measure by which a cell is coloured: the worst, where an exact one settles a doubt."""
    sure = [row for row in rows if row.verdict != "inconclusive"]
    settled = any(row.measure == EXACT for row in sure)
    return min(sure if settled else rows, key=lambda row: rank(row.verdict))


def _grids(record: RunRecord, judged: Judged) -> Iterator[Details]:
    """A grid a vocabulary, families down, implementations across, with the plots of families."""
    everybody = {one.implementation for one in record.measured}
    # As nothing but the clock decides who was measured first: references, then by name.
    names = sorted(everybody, key=lambda one: (one not in record.references, one))
    tones = {name: at for at, name in enumerate(names)}
    candidates = {name for name in names if not registry.built_in(record.specs.get(name, name))}
    measured = sorted(record.measured, key=lambda one: (one.measure != "time", one.measure))
    tables = grouped(measured, lambda one: one.vocabulary)
    for number, (vocabulary, rows) in enumerate(tables.items()):
        here = {one.implementation for one in rows}
        across = [name for name in names if name in here]
        families = [
            grouped(of, lambda one: one.implementation)
            for of in grouped(rows, lambda one: one.family).values()
        ]
        families.sort(key=lambda cells: min(rank(deciding(of).verdict) for of in cells.values()))
        figures, grid = list[Block](), list[list[Inline]]()
        for place, cells in enumerate(families):
            first = [of[0] for of in cells.values()]
            drawn = plot(first, tones, candidates) if place < MOST_PLOTS // len(tables) else None
            family, anchor = first[0].family, f"growth-{number}-{place}" * bool(drawn)
            if drawn:
                caption = Span(family, "strong"), f" on {vocabulary}"
                figures.append(Figure(caption, [drawn, *_largest(first)], anchor))
            href = f"#{anchor}" * bool(anchor)
            grid.append([family, *(_field(cells.get(name), judged, href) for name in across)])
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


def _field(rows: Sequence[Measured] | None, judged: Judged, href: str) -> Span:
    """A field of the grid: the exponent that decides, what it leads to, and all measures."""
    if not rows:
        return Span(Span("not measured", "sr"), "cell none")
    decided, known = deciding(rows), [judged.get(about(row)) for row in rows]
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
    by = f" ({row.memory_per_byte:,.1f} bytes per byte)" if row.memory_per_byte else ""
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
