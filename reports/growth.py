"""Growth in the page: candidates against their bounds, grids of all cells, the worst timings."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from typing import TYPE_CHECKING

from impls import registry
from reports.blocks import (
    Cell,
    Code,
    Column,
    Details,
    Figure,
    Group,
    Heading,
    Paragraph,
    Popover,
    Section,
    Span,
    Table,
    numbers,
)
from reports.blocks.html import drawn
from reports.blocks.units import duration, figure, size, usable
from reports.growth_plots import cost, extent, family_plot, loglog
from reports.record import cell_of
from reports.words import growth_left_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.events import GrowthJudged, Measured
    from reports.blocks import Block, Inline, Plot
    from reports.record import RunRecord

    Place = tuple[str, ...]
    """A vocabulary, a family and an implementation; or the first two alone."""
    Judged = Mapping[tuple[str, str, str, str], GrowthJudged]

OWN_PLOTS = 1_000_000
"""Characters of plots of single cells, the worst first: a night measures thousands of cells, and
the page is to stay below 5 MB."""
SHARED_PLOTS = 200_000
"""Characters of plots of whole families, which the other cells lead to; their tables of values
come on top."""

WORST_FIRST = ("failed", "superlinear", "inconclusive", "linear")
EXACT = frozenset({"steps", "instructions"})
"""Measures without noise."""

MARKS = {"superlinear": "✗ ", "inconclusive": "? ", "failed": "! "}
"""What stands before the exponent in a field."""

REACHED = 0.9
"""The share of cells that must have reached the size at which worst timings are compared: the
others are drawn out to it, and said to be."""

MOST_PLOTS = 24
"""Plots of one candidate on a vocabulary; the other families are lines of the grid below."""

MOST_PEERS = 3
"""Grids that start open though everything in them is linear."""

OUTCOMES = {
    "fail": ("over its bound", "superlinear"),
    "inconclusive": ("undecided", "inconclusive"),
    "pass": ("within its bound", "linear"),
}
"""What is said of a bound, the worst first, and in which colour."""

LEGEND = (
    ("1.02", "linear"),
    ("✗ 1.97", "superlinear"),
    ("? 1.18", "inconclusive"),
    ("!", "failed"),
)
"""Fields as they look, with what they say."""


def sections(record: RunRecord) -> list[Section]:
    """All that was measured; what there was no time for."""
    left_out: list[Block] = [Paragraph(line, "quiet") for line in growth_left_out(record)]
    if not record.measured:
        blocks = [Paragraph("Growth was not measured in this run.", "empty"), *left_out]
        return [Section("Growth", blocks, "scaling")] if left_out else []
    blocks = [
        Paragraph(
            "Cost grows as (input length) to the power of the exponent: 1 is linear. A field opens "
            "its own plot with the fit; below, each family of inputs with all implementations: "
            "point at a line, or at its name, to follow it.",
            "quiet",
        ),
        *left_out,
        Paragraph(
            (
                "Fields:",
                *(
                    Span((Span(look, f"tally {said}"), f" {said}"), "entry")
                    for look, said in LEGEND
                ),
                Span("framed: the gate fails for it", "entry"),
                Span((Span("M", "strong"), " memory out of proportion"), "entry"),
            ),
            "legend",
        ),
        *candidates(record),
        *_grids(record),
        *worst(record.measured),
    ]
    return [Section("Growth", blocks, "scaling")]


def candidates(record: RunRecord) -> Iterator[Block]:
    """Whoever is held to a bound in time and is the user's own, or breaks it; who does so first."""
    measured = {cell_of(one): one for one in record.measured}
    groups: dict[tuple[str, str], list[GrowthJudged]] = {}
    for one in record.growth_judged:
        if one.measure == "time" and cell_of(one) in measured:
            groups.setdefault((one.implementation, one.vocabulary), []).append(one)
    order = list(OUTCOMES)
    shown = []
    for (name, vocabulary), judged in groups.items():
        known = registry.built_in(record.specs.get(name, name))
        if not known or any(one.outcome == "fail" for one in judged):
            judged.sort(
                key=lambda one: (order.index(one.outcome), -_steepness(measured[cell_of(one)]))
            )
            shown.append((name, vocabulary, judged))
    for name, vocabulary, judged in sorted(shown, key=lambda one: order.index(one[2][0].outcome)):
        counts = Counter(one.outcome for one in judged)
        reached = {one.family for one in judged}
        chosen = [f for one in record.families if one.vocabulary == vocabulary for f in one.chosen]
        tally = [(*OUTCOMES[one], counts[one]) for one in order if counts[one]]
        missing = sum(family not in reached for family in chosen)
        tally += [("not measured", "", missing)] if missing else []
        told = [(Span(f"{n:,} {words}", f"tally {style}"), " ") for words, style, n in tally]
        yield Heading((name, Span(f" on {vocabulary} ", "quiet"), *told))
        plots = [_bounded(one, measured) for one in judged[:MOST_PLOTS]]
        yield Group(plots, "plots small")
        if len(judged) > MOST_PLOTS:
            more = f"{len(judged) - MOST_PLOTS:,} more families within their bound"
            yield Paragraph(f"{more} stand in the grid below.", "quiet")
    if shown:
        said = "Thick: the candidate. Dashed: its bound, from the first size whose cost is more"
        others = "than that of the call. Thin: the others on the same inputs."
        yield Paragraph(f"{said} {others}", "quiet")


def _steepness(cell: Measured) -> float:
    return cell.exponent if cell.exponent is not None and math.isfinite(cell.exponent) else 0.0


def _bounded(
    judged: GrowthJudged, measured: Mapping[tuple[str, str, str, str], Measured]
) -> Figure:
    """One family of a candidate, with its bound, its numbers, and a command to try it."""
    shown = measured[cell_of(judged)]
    others = [
        one
        for place, one in measured.items()
        if place[1:] == cell_of(judged)[1:] and one is not shown
    ]
    grown = f"exponent {shown.exponent:.2f}" if shown.exponent else ""
    line = judged.line or grown
    words = f" {OUTCOMES[judged.outcome][0]}" + (f": {line}" if line else "")
    blocks = [_drawn(loglog(shown, others, judged.bound)), *_points("Sizes and times", shown)]
    points = usable(shown.points)
    if shown.expression and points and shown.axis == "bytes":
        code = "import random, sys; n = {}; sys.stdout.buffer.write({})"
        command = shlex.quote(code.format(int(points[-1][0]), shown.expression))
        what = f"the command that writes the largest input of {shown.family}"
        blocks.append(Code(f"python -c {command}", what, "literal"))
    return Figure((Span(shown.family, "strong"), words), blocks)


def _drawn(plot: Plot | None) -> Block:
    return plot or Paragraph("No point could be measured.")


def _points(title: str, row: Measured) -> list[Block]:
    """The points of a measurement, folded."""
    write, far = cost(row.measure), extent(row.axis)
    points = [(far(x), write(y)) for x, y in usable(row.points)]
    label = f"Measured points of {row.implementation} on {row.family}"
    return [Details(title, [Table(label, ("Input", "Cost"), points)])] if points else []


def deciding(rows: Sequence[Measured]) -> Measured:
    """The measure by which a cell is coloured: the worst, where an exact one settles a doubt."""
    exact = [row for row in rows if row.measure in EXACT and row.verdict != "inconclusive"]
    sure = [row for row in rows if row.verdict != "inconclusive"] if exact else rows
    return min(sure or rows, key=lambda row: _rank(row.verdict))


def _rank(verdict: str) -> int:
    return WORST_FIRST.index(verdict) if verdict in WORST_FIRST else len(WORST_FIRST)


def _grids(record: RunRecord) -> Iterator[Block]:
    """A grid a vocabulary, families down, implementations across, with what each field opens."""
    cells: dict[Place, list[Measured]] = {}
    for one in record.measured:
        cells.setdefault((one.vocabulary, one.family, one.implementation), []).append(one)
    families: dict[Place, list[Measured]] = {}
    for place, rows in cells.items():
        rows.sort(key=lambda m: (m.measure != "time", m.measure))
        families.setdefault(place[:2], []).append(rows[0])
    decided = {place: deciding(rows) for place, rows in cells.items()}
    worst_of = {
        place: min(_rank(decided[(*place, row.implementation)].verdict) for row in rows)
        for place, rows in families.items()
    }
    order = sorted(decided, key=lambda k: (_rank(decided[k].verdict), -(decided[k].exponent or 0)))
    own = _as_many(
        OWN_PLOTS,
        ((place, loglog(cells[place][0], _peers(cells[place][0], families))) for place in order),
    )
    names = dict.fromkeys(rows[0].implementation for rows in cells.values())
    colours = {name: number for number, name in enumerate(names)}
    ordered = sorted(families, key=lambda place: worst_of[place])
    shared = _as_many(
        SHARED_PLOTS,
        ((place, family_plot(place[1], families[place], colours)) for place in ordered),
    )
    judged = {cell_of(one): one for one in record.growth_judged}
    for number, vocabulary in enumerate(dict.fromkeys(place[0] for place in cells)):
        here = {place: rows for place, rows in cells.items() if place[0] == vocabulary}
        across = list(dict.fromkeys(name for _, _, name in here))
        table: list[list[Inline]] = []
        figures: list[Block] = []
        boxes: list[Block] = []
        for i, family in enumerate(dict.fromkeys(family for _, family, _ in here)):
            row: list[Inline] = [family]
            target = f"growth-{number}-{i}"
            if plot := shared.get((vocabulary, family)):
                of_family = [rows for place, rows in here.items() if place[1] == family]
                figures.append(_family(target, of_family, plot))
            for j, name in enumerate(across):
                place = vocabulary, family, name
                rows = here.get(place, [])
                href = f"#{target}" if (vocabulary, family) in shared else ""
                if place in own:
                    href = f"#!{target}-{j}"
                    peers = len(families[place[:2]]) > 1
                    boxes.append(_box(f"{target}-{j}", rows, own[place], judged, peers=peers))
                row.append(_field(rows, decided.get(place), href, judged))
            table.append(row)
        verdicts = Counter(decided[place].verdict for place in here)
        tally = [(Span(f"{verdicts[v]:,} {v}", f"tally {v}"), " ")
                 for v in sorted(verdicts, key=_rank)]  # fmt: skip
        grid = Table(
            f"Growth exponents on {vocabulary}, a family a row, an implementation a column",
            ("Family", *(Column(name, upright=True) for name in across)),
            table,
            style="growth",
        )
        telling = number < MOST_PEERS or set(verdicts) != {"linear"}
        shown: list[Block] = [grid, Group(figures, "plots")]
        yield Details((f"{vocabulary} ", *tally), shown, "growthbox", open=telling)
        yield from boxes


def _as_many(room: int, plots: Iterable[tuple[Place, Plot | None]]) -> dict[Place, Plot]:
    """The first of some plots, as many as there is room for."""
    made = {}
    for place, plot in plots:
        if plot is not None:
            room -= len(drawn(plot))
            if room < 0:
                break
            made[place] = plot
    return made


def _peers(shown: Measured, families: Mapping[Place, Sequence[Measured]]) -> list[Measured]:
    alike = families[shown.vocabulary, shown.family]
    return [one for one in alike if one is not shown and one.measure == shown.measure]


def _family(target: str, cells: Sequence[Sequence[Measured]], plot: Plot) -> Figure:
    first = cells[0][0]
    what = f"the input of {first.family} on {first.vocabulary} as Python"
    caption = (Span(first.family, "strong"), f" on {first.vocabulary}")
    return Figure(caption, [plot, *_expression(first, what)], target)


def _expression(row: Measured, what: str) -> list[Block]:
    return [Code(row.expression, what, "literal")] if row.expression else []


def _field(
    rows: Sequence[Measured],
    deciding: Measured | None,
    href: str,
    judged: Judged,
) -> Span:
    """A field of the grid: the exponent that decides, and what it opens."""
    if deciding is None:
        return Span(Span("not measured", "sr"), "cell none")
    exponent = "" if deciding.exponent is None else f"{deciding.exponent:.2f}"
    known = [judged[cell_of(row)].outcome for row in rows if cell_of(row) in judged]
    hungry = any(row.memory_verdict in {"hungry", "superlinear"} for row in rows)
    said = [deciding.verdict, f"exponent {exponent}" if exponent else "", deciding.note]
    quiet = deciding.verdict == "linear" and exponent
    return Span(
        (
            MARKS.get(deciding.verdict, "") + exponent + " M" * hungry,
            None if quiet else Span(f" {deciding.verdict}", "sr"),
        ),
        f"cell {deciding.verdict}" + " broken" * ("fail" in known),
        href,
        f"{deciding.implementation} on {deciding.family}: {', '.join(filter(None, said))}",
    )


def _box(
    anchor: str,
    rows: Sequence[Measured],
    plot: Plot,
    judged: Judged,
    *,
    peers: bool,
) -> Popover:
    """What a field opens: each measure in words, the plot, the input, the points."""
    first = rows[0]
    name, family = first.implementation, first.family
    told = (
        f"Thick: {name}. Shaded: the interval of the fit. Dashed: the fit, and linear growth from"
    )
    blocks: list[Block] = [
        *(_reading(row, judged.get(cell_of(row))) for row in rows),
        plot,
        Paragraph(
            f"{told} the first point." + " Thin: the other implementations." * peers, "quiet"
        ),
    ]
    for row in [row for row in rows if row.memory_verdict][:1]:
        per_byte = row.memory_per_byte
        a_byte = "" if per_byte is None else f", {per_byte:,.1f} bytes a byte"
        blocks.append(Paragraph(f"Memory: {row.memory_verdict}{a_byte}.", "quiet"))
    for place, seconds in usable(first.cached)[-1:]:
        again = f"The same input again: {duration(seconds)} for {size(place)}."
        blocks.append(Paragraph(again, "quiet"))
    blocks += [*_expression(first, f"the input of {family} as Python"), *_points("Points", first)]
    title = (name, Span(f" on {family}, {first.vocabulary}", "quiet"))
    return Popover(anchor, f"Growth of {name} on {family}", title, blocks)


def _reading(row: Measured, judged: GrowthJudged | None) -> Paragraph:
    """One measure of a cell, in words, and what the gate holds it to."""
    said = ""
    if row.exponent is not None:
        said = f", exponent {row.exponent:.2f}"
        if row.low is not None and row.high is not None:
            said += f" ({row.low:.2f} to {row.high:.2f})"
    if row.law:
        said += f", best as {row.law}"
    if row.constant is not None and row.verdict == "linear":
        unit = "ns a byte" if row.measure == "time" else f"{row.measure} a byte"
        said += f", {figure(row.constant)} {unit}"
        if row.constant_low is not None and row.constant_high is not None:
            said += f" ({figure(row.constant_low)} to {figure(row.constant_high)})"
    bound = "" if judged is None else f"bound {judged.bound}: {judged.outcome}"
    said = "; ".join(filter(None, [said or " ", bound, row.note])).rstrip()
    return Paragraph((f"{row.measure}: ", Span(row.verdict, "strong"), said))


def worst(measured: Sequence[Measured]) -> Iterator[Block]:
    """A table a vocabulary: each implementation's worst family, at a size that most reached."""
    timed = [m for m in measured if m.measure == "time" and m.axis == "bytes" and usable(m.points)]
    for vocabulary in dict.fromkeys(m.vocabulary for m in timed):
        here = [m for m in timed if m.vocabulary == vocabulary]
        # The largest size that most of the cells have; at least the smallest there is.
        largest = sorted(int(usable(row.points)[-1][0]) for row in here)
        at = largest[len(largest) - math.ceil(REACHED * len(largest))]
        by_name: dict[str, list[tuple[float, Measured]]] = {}
        for one in here:
            by_name.setdefault(one.implementation, []).append((time_at(one, at), one))
        for times in by_name.values():
            times.sort(key=lambda pair: pair[0])
        slowest_first = sorted(by_name.values(), key=lambda times: -times[-1][0])
        yield Table(
            f"Worst timings on {vocabulary}",
            (
                "Implementation", "Worst family", *numbers("Time", "A byte", "Median ×"),
                f"Input, n = {at:,}",
            ),
            [_worst(times, at) for times in slowest_first],
            f"Worst timings on {vocabulary}, inputs of {at:,} bytes",
            "worst",
        )  # fmt: skip
    if timed:
        yield Paragraph(
            (
                "≈: drawn out by the exponent, where a call was stopped before that size. Median ×:"
                " against the implementation's own median family. The inputs are expressions in n; "
                "some need ", Span("import random", "code"), ".",
            ),
            "quiet",
        )  # fmt: skip


def _worst(times: Sequence[tuple[float, Measured]], at: int) -> list[Inline | Cell]:
    """The worst of some families, by their times at a size; how much more than the median."""
    seconds, row = times[-1]
    reached = usable(row.points)[-1][0]
    family: Inline = row.family
    if row.verdict != "linear":
        family = (f"{row.family} ", Span(row.verdict, f"tally {row.verdict}"))
    time: Inline = duration(seconds)
    if reached < at:
        time = (f"≈ {time}", Span(f" measured to {size(reached)}", "quiet block-line"))
    return [
        row.implementation,
        family,
        Cell(time, sort=seconds),
        f"{figure(seconds / at * 1e9)} ns",
        f"{seconds / times[len(times) // 2][0]:,.1f}" if len(times) > 1 else "",
        Cell(
            style="expression",
            blocks=_expression(row, f"the worst input of {row.implementation} as Python"),
        ),
    ]


def time_at(row: Measured, at: int) -> float:
    """Seconds at a size: between two measured ones by their slope, beyond the last by the fit's."""
    points = usable(row.points)
    below = [p for p in points if p[0] <= at]
    above = [p for p in points if p[0] >= at]
    if below and above:
        (x0, y0), (x1, y1) = below[-1], above[0]
        if x0 == x1:
            return y0
        slope = math.log(y1 / y0) / math.log(x1 / x0)
        return float(y0 * (at / x0) ** slope)
    x, y = points[-1] if below else points[0]
    known = row.exponent is not None and math.isfinite(row.exponent)
    return float(y * (at / x) ** (max(1.0, row.exponent or 1.0) if known else 1.0))
