"""The matrix of report.html: implementations by contract, with a mark for each check."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from reports.record import NOBODY, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.events import ContractOpened
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
    """One implementation under one contract. Without marks, ``reason`` says why.

    fault: what is said of the violations: ``at fault``, or ``differ`` where nobody is blamed.
    """

    marks: list[Mark]
    word: str
    reason: str
    exercised: int
    violations: int
    fault: str
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
        fault=_fault([c for c in cells if c.violations]),
        anchor=anchor,
        target=target,
        reference=name in contract.references,
    )


def _fault(cells: Sequence[Cell]) -> str:
    """What is said of the cases of some cells: nobody is at fault where equals differ."""
    return "differ" if cells and all(c.reason == NOBODY for c in cells) else "at fault"


def _mark(cell: Cell, letter: str) -> Mark:
    text = f"{cell.check}: {cell.status.value}"
    if cell.exercised:
        text += f", {cell.exercised:,} judged"
    if cell.violations:
        text += f", {cell.violations:,} {_fault([cell])}"
    if cell.reason:
        text += f" ({cell.reason})"
    return Mark(letter, GLYPHS[cell.status], cell.status.name.lower().replace("_", "-"), text)
