"""Growth in report.html: a grid of implementations by families, its plots, the worst timings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from reports.plots import colours, cost, duration, extent, family_plot, figure, loglog, size, usable
from reports.record import cell_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.events import GrowthJudged, Measured
    from reports.record import RunRecord

OWN_PLOTS = 1_200_000
"""Characters of plots of single cells, the worst first: a night measures thousands of cells, and
the page is to stay below 5 MB."""
SHARED_PLOTS = 600_000
"""Characters of plots of whole families, which the other cells lead to."""

WORST_FIRST = ("failed", "superlinear", "inconclusive", "linear")
EXACT = frozenset({"steps", "instructions"})
"""Measures without noise."""

REACHED = 0.9
"""The share of cells that must have reached the size at which worst timings are compared: the
others are drawn out to it, and said to be."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One measure of a cell, in words. bound: what the gate holds it to, and the outcome."""

    measure: str
    verdict: str
    exponent: str
    interval: str
    law: str
    constant: str
    bound: str
    note: str


@dataclass(frozen=True, slots=True)
class Growth:
    """One cell: how it reads, and what it opens.

    exponent, verdict: of the measure that decides. broken: it fails the gate. target: the id of
    the box with the plot, empty where there is none. box: whether that box is its own.
    """

    implementation: str
    family: str
    verdict: str
    exponent: str
    hint: str
    broken: bool
    hungry: bool
    target: str
    box: bool
    readings: list[Reading]
    plot: Markup
    peers: list[str]
    points: list[tuple[str, str]]
    memory: str
    cached: str


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """A family with its cells, None where not measured. plot: of all, at ``target``, or empty."""

    family: str
    expression: str
    cells: list[Growth | None]
    target: str
    plot: Markup


@dataclass(frozen=True, slots=True)
class GrowthGrid:
    """Growth on one vocabulary: families down, implementations across.

    tally: how many cells have each verdict. telling: something in it is not linear.
    """

    vocabulary: str
    names: list[str]
    rows: list[FamilyRow]
    tally: list[tuple[str, int]]
    telling: bool


@dataclass(frozen=True, slots=True)
class WorstRow:
    """An implementation's worst family at one size.

    times: how much more than on its median family. drawn_out: the size from which the time was
    drawn out by the exponent, as it was stopped there; empty where it was measured.
    """

    implementation: str
    family: str
    verdict: str
    time: str
    a_byte: str
    times: str
    drawn_out: str
    expression: str
    seconds: float


@dataclass(frozen=True, slots=True)
class WorstTable:
    """The worst timings on a vocabulary at ``size`` bytes, the worst implementation first."""

    vocabulary: str
    size: int
    rows: list[WorstRow]


def growth(record: RunRecord) -> list[GrowthGrid]:
    """One grid a vocabulary, everything in the order of measuring."""
    judged = {cell_of(one): one for one in record.growth_judged}
    cells: dict[tuple[str, str, str], list[Measured]] = {}
    for one in record.measured:
        cells.setdefault((one.vocabulary, one.family, one.implementation), []).append(one)
    for rows in cells.values():
        rows.sort(key=lambda m: (m.measure != "time", m.measure))
    own = _own_plots(cells)
    shared = _shared_plots(cells)
    vocabularies = dict.fromkeys(key[0] for key in cells)
    return [
        _grid(vocabulary, place, cells, own, shared, judged)
        for place, vocabulary in enumerate(vocabularies)
    ]


Cells = dict[tuple[str, str, str], "list[Measured]"]


def _deciding(rows: Sequence[Measured]) -> Measured:
    """The measure by which a cell is coloured: the worst, where an exact one settles a doubt."""
    exact = [row for row in rows if row.measure in EXACT and row.verdict != "inconclusive"]
    sure = [row for row in rows if row.verdict != "inconclusive"] if exact else rows
    return min(sure or rows, key=lambda row: _rank(row.verdict))


def _rank(verdict: str) -> int:
    return WORST_FIRST.index(verdict) if verdict in WORST_FIRST else len(WORST_FIRST)


def _own_plots(cells: Cells) -> dict[tuple[str, str, str], Markup]:
    """Plots of single cells, the worst first, as many as there is room for."""
    decided = {key: _deciding(rows) for key, rows in cells.items()}
    families: dict[tuple[str, str], list[Measured]] = {}
    for key, rows in cells.items():
        families.setdefault(key[:2], []).extend(rows)
    order = sorted(decided, key=lambda k: (_rank(decided[k].verdict), -(decided[k].exponent or 0)))
    plots: dict[tuple[str, str, str], Markup] = {}
    room = OWN_PLOTS
    for key in order:
        shown = cells[key][0]
        others = [m for m in families[key[:2]] if m is not shown and m.measure == shown.measure]
        plot = loglog(shown, others)
        room -= len(plot)
        if room < 0:
            break
        plots[key] = plot
    return plots


def _shared_plots(cells: Cells) -> dict[tuple[str, str], Markup]:
    """Plots of families with all implementations, the worst first, as long as there is room."""
    families: dict[tuple[str, str], list[Measured]] = {}
    for (vocabulary, family, _), rows in cells.items():
        families.setdefault((vocabulary, family), []).append(rows[0])
    places = colours([rows[0] for rows in cells.values()])
    worst_of = {
        key: min(_rank(_deciding(cells[(*key, row.implementation)]).verdict) for row in rows)
        for key, rows in families.items()
    }
    plots: dict[tuple[str, str], Markup] = {}
    room = SHARED_PLOTS
    for key in sorted(families, key=lambda one: worst_of[one]):
        plot = family_plot(key[1], families[key], places)
        room -= len(plot)
        if room < 0:
            break
        plots[key] = plot
    return plots


def _grid(
    vocabulary: str,
    place: int,
    cells: Cells,
    own: Mapping[tuple[str, str, str], Markup],
    shared: Mapping[tuple[str, str], Markup],
    judged: Mapping[tuple[str, str, str, str], GrowthJudged],
) -> GrowthGrid:
    here = [(family, name) for v, family, name in cells if v == vocabulary]
    names = list(dict.fromkeys(name for _, name in here))
    rows = []
    for i, family in enumerate(dict.fromkeys(family for family, _ in here)):
        target = f"growth-{place}-{i}"
        fields: list[Growth | None] = []
        expression = ""
        for j, name in enumerate(names):
            key = vocabulary, family, name
            if key not in cells:
                fields.append(None)
                continue
            expression = expression or cells[key][0].expression
            peers = [n for f, n in here if f == family and n != name]
            common = target if shared.get((vocabulary, family)) else ""
            spot = f"{target}-{j}" if key in own else common
            fields.append(_cell(cells[key], spot, own.get(key), peers, judged))
        rows.append(
            FamilyRow(
                family, expression, fields, target, shared.get((vocabulary, family), Markup(""))
            )
        )
    verdicts = [cell.verdict for row in rows for cell in row.cells if cell is not None]
    tally = [(v, verdicts.count(v)) for v in dict.fromkeys([*WORST_FIRST, *verdicts])]
    present = [(verdict, number) for verdict, number in tally if number]
    return GrowthGrid(vocabulary, names, rows, present, any(v != "linear" for v in verdicts))


def _cell(
    rows: Sequence[Measured],
    target: str,
    plot: Markup | None,
    peers: list[str],
    judged: Mapping[tuple[str, str, str, str], GrowthJudged],
) -> Growth:
    first, deciding = rows[0], _deciding(rows)
    readings = [_reading(row, judged.get(cell_of(row))) for row in rows]
    outcomes = [judged[cell_of(row)].outcome for row in rows if cell_of(row) in judged]
    write, far = cost(first.measure), extent(first.axis)
    exponent = "" if deciding.exponent is None else f"{deciding.exponent:.2f}"
    return Growth(
        implementation=first.implementation,
        family=first.family,
        verdict=deciding.verdict,
        exponent=exponent,
        hint=f"{first.implementation} on {first.family}: {deciding.verdict}"
        + (f", exponent {exponent}" if exponent else "")
        + (f", {deciding.note}" if deciding.note else ""),
        broken="fail" in outcomes,
        hungry=any(row.memory_verdict in {"hungry", "superlinear"} for row in rows),
        target=target,
        box=plot is not None,
        readings=readings,
        plot=plot or Markup(""),
        peers=peers[:12],
        points=[(far(x), write(y)) for x, y in usable(first.points)] if plot is not None else [],
        memory=next((_memory(row) for row in rows if row.memory_verdict), ""),
        cached=_cached(first),
    )


def _reading(row: Measured, judged: GrowthJudged | None) -> Reading:
    interval = "" if row.low is None or row.high is None else f"{row.low:.2f} to {row.high:.2f}"
    constant = ""
    if row.constant is not None and row.verdict == "linear":
        unit = "ns a byte" if row.measure == "time" else f"{row.measure} a byte"
        constant = f"{figure(row.constant)} {unit}"
        if row.constant_low is not None and row.constant_high is not None:
            constant += f" ({figure(row.constant_low)} to {figure(row.constant_high)})"
    return Reading(
        measure=row.measure,
        verdict=row.verdict,
        exponent="" if row.exponent is None else f"{row.exponent:.2f}",
        interval=interval,
        law=row.law,
        constant=constant,
        bound="" if judged is None else f"bound {judged.bound}: {judged.outcome}",
        note=row.note,
    )


def _memory(row: Measured) -> str:
    a_byte = "" if row.memory_per_byte is None else f", {row.memory_per_byte:,.1f} bytes a byte"
    return f"{row.memory_verdict}{a_byte}"


def _cached(row: Measured) -> str:
    """The largest input once more, just after it was encoded."""
    points = usable(row.cached)
    return f"{duration(points[-1][1])} for {size(points[-1][0])}" if points else ""


def worst(measured: Sequence[Measured]) -> list[WorstTable]:
    """A table a vocabulary: each implementation's worst family, at a size that most reached."""
    tables = []
    timed = [m for m in measured if m.measure == "time" and m.axis == "bytes" and usable(m.points)]
    for vocabulary in dict.fromkeys(m.vocabulary for m in timed):
        here = [m for m in timed if m.vocabulary == vocabulary]
        at = _common_size(here)
        rows = [
            _worst_row([m for m in here if m.implementation == name], at)
            for name in dict.fromkeys(m.implementation for m in here)
        ]
        rows.sort(key=lambda row: -row.seconds)
        tables.append(WorstTable(vocabulary, at, rows))
    return tables


def _common_size(rows: Sequence[Measured]) -> int:
    """The largest size that :data:`REACHED` of the cells have; at least the smallest there is."""
    largest = sorted(int(usable(row.points)[-1][0]) for row in rows)
    return largest[len(largest) - math.ceil(REACHED * len(largest))]


def _worst_row(rows: Sequence[Measured], at: int) -> WorstRow:
    times = sorted(((_time_at(row, at), row) for row in rows), key=lambda pair: pair[0])
    seconds, row = times[-1]
    median = times[len(times) // 2][0]
    reached = usable(row.points)[-1][0]
    return WorstRow(
        implementation=row.implementation,
        family=row.family,
        verdict=row.verdict,
        time=duration(seconds),
        a_byte=f"{figure(seconds / at * 1e9)} ns",
        times=f"{seconds / median:,.1f}" if len(times) > 1 else "",
        drawn_out=size(reached) if reached < at else "",
        expression=row.expression,
        seconds=seconds,
    )


def _time_at(row: Measured, at: int) -> float:
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
