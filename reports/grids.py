"""The two grids of report.html: checks by contract, and growth by family."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from reports.plots import duration, loglog, size, usable
from reports.record import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from harness.events import ContractOpened, Measured
    from reports.record import Cell, RunRecord

GLYPHS = {
    Status.OK: "✓",
    Status.VIOLATED: "✗",
    Status.EXPECTED: "≈",
    Status.NOT_EXERCISED: "·",
    Status.UNSUPPORTED: "–",
    Status.FAILED: "!",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One check in a cell: its letter and status, and the same in words."""

    letter: str
    glyph: str
    style: str
    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """One implementation under one contract. Without marks, ``reason`` says why."""

    marks: list[Mark]
    word: str
    reason: str
    exercised: int
    violations: int
    anchor: str
    target: str
    reference: bool


@dataclass(frozen=True, slots=True)
class Row:
    """All fields of one implementation."""

    name: str
    version: str
    fields: list[Field]


@dataclass(frozen=True, slots=True)
class Matrix:
    """columns: vocabulary to its contracts. letters: check to its letter."""

    columns: list[tuple[str, list[ContractOpened]]]
    letters: dict[str, str]
    rows: list[Row]
    reasons: list[tuple[str, list[str]]]


def matrix(record: RunRecord, anchors: Mapping[str, tuple[str, str]]) -> Matrix:
    """The matrix of a record; ``anchors`` leads from a bucket to its card and number."""
    ordered = sorted(record.contracts, key=lambda c: c.vocabulary)
    columns = [(v, list(cs)) for v, cs in groupby(ordered, key=lambda c: c.vocabulary)]
    letters = _letters(record.checks)
    versions = record.started.versions if record.started else {}
    rows = [
        Row(
            name,
            versions.get(name, ""),
            [_field(record, name, c, letters, anchors) for c in ordered],
        )
        for name in record.implementations
    ]
    why: dict[str, list[str]] = {}
    for row in rows:
        for contract, field in zip(ordered, row.fields, strict=True):
            if field.reason:
                why.setdefault(field.reason, []).append(f"{row.name} on {contract.id}")
    return Matrix(columns, letters, rows, list(why.items()))


def _letters(checks: Sequence[str]) -> dict[str, str]:
    """The shortest distinct beginnings of the checks' names, from one letter on."""
    for length in range(1, 30):
        short = [check[:length].capitalize() for check in checks]
        if len(set(short)) == len(short):
            return dict(zip(checks, short, strict=True))
    return {check: check for check in checks}


def _field(
    record: RunRecord,
    name: str,
    contract: ContractOpened,
    letters: Mapping[str, str],
    anchors: Mapping[str, tuple[str, str]],
) -> Field:
    cells = [record.matrix[name, contract.id, check] for check in letters]
    out = [c for c in cells if c.status in {Status.UNSUPPORTED, Status.FAILED}]
    shown = [] if len(out) == len(cells) else [_mark(c, letters[c.check]) for c in cells]
    # Buckets come worst first, so the first one blamed here is the one to read.
    blamed = {b for c in cells for b in c.buckets}
    first = next((b.name for b in record.buckets if b.name in blamed), None)
    anchor, target = anchors.get(first, ("", "")) if first is not None else ("", "")
    return Field(
        marks=shown,
        word=(out[0].status.value if out else "no checks") if not shown else "",
        reason=(out[0].reason if out else "") if not shown else "",
        exercised=max((c.exercised for c in cells), default=0),
        violations=sum(c.violations for c in cells),
        anchor=anchor,
        target=target,
        reference=name in contract.references,
    )


def _mark(cell: Cell, letter: str) -> Mark:
    text = f"{cell.check}: {cell.status.value}"
    if cell.exercised:
        text += f", {cell.exercised:,} judged"
    if cell.violations:
        text += f", {cell.violations:,} at fault"
    if cell.reason:
        text += f" ({cell.reason})"
    return Mark(letter, GLYPHS[cell.status], cell.status.name.lower().replace("_", "-"), text)


@dataclass(frozen=True, slots=True)
class Growth:
    """One measurement: how it reads, its plot over its peers, and its points."""

    id: str
    implementation: str
    family: str
    verdict: str
    exponent: str
    interval: str
    note: str
    plot: Markup
    peers: list[str]
    points: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class GrowthGrid:
    """Growth on one vocabulary: implementations down, families across; None not measured."""

    vocabulary: str
    families: list[str]
    rows: list[tuple[str, list[Growth | None]]]


def growth(measured: Sequence[Measured]) -> list[GrowthGrid]:
    """One grid a vocabulary, everything in the order of measuring."""
    grids = []
    for number, vocabulary in enumerate(dict.fromkeys(m.vocabulary for m in measured)):
        here = [m for m in measured if m.vocabulary == vocabulary]
        families = list(dict.fromkeys(m.family for m in here))
        names = list(dict.fromkeys(m.implementation for m in here))
        by_place = {(m.implementation, m.family): m for m in here}
        rows: list[tuple[str, list[Growth | None]]] = []
        for i, name in enumerate(names):
            fields: list[Growth | None] = []
            for j, family in enumerate(families):
                own = by_place.get((name, family))
                peers = [m for m in here if m.family == family and m is not own]
                place = f"growth-{number}-{i}-{j}"
                fields.append(None if own is None else _growth(place, own, peers))
            rows.append((name, fields))
        grids.append(GrowthGrid(vocabulary, families, rows))
    return grids


def _growth(place: str, own: Measured, peers: Sequence[Measured]) -> Growth:
    interval = ""
    if own.low is not None and own.high is not None:
        interval = f"{own.low:.2f} to {own.high:.2f}"
    return Growth(
        id=place,
        implementation=own.implementation,
        family=own.family,
        verdict=own.verdict,
        exponent="" if own.exponent is None else f"{own.exponent:.2f}",
        interval=interval,
        note=own.note,
        plot=loglog(own, peers),
        peers=[p.implementation for p in peers if usable(p.points)],
        points=[(size(x), duration(y)) for x, y in usable(own.points)],
    )
