"""The matrices of report.html: a mark for each implementation on each vocabulary, by algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.cells import NOBODY, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.events import ContractOpened
    from reports.cells import Cell
    from reports.record import RunRecord

GLYPHS = {
    Status.OK: "✓",
    Status.VIOLATED: "✗",
    Status.EXPECTED: "≈",
    Status.UNSETTLED: "?",
    Status.NO_ANSWER: "∅",
    Status.NOT_EXERCISED: "·",
    Status.UNSUPPORTED: "–",
    Status.FAILED: "!",
}

WORST_FIRST = (
    Status.FAILED,
    Status.VIOLATED,
    Status.UNSETTLED,
    Status.EXPECTED,
    Status.OK,
    Status.NO_ANSWER,
    Status.NOT_EXERCISED,
    Status.UNSUPPORTED,
)
"""The mark of a field is that of the worst of its checks."""

MOST_COLUMNS = 24
"""A matrix has so many vocabularies at the most, so that it is never wider than the page; further
ones stand in another one below it."""

UNKNOWN = "tokenization"
"""The heading of a matrix whose vocabularies the record says nothing of."""


@dataclass(frozen=True, slots=True)
class Field:
    """One implementation on one vocabulary: the worst mark of all checks in all modes.

    lines: what each check in each mode came to, in words. violations: cases at fault, and in
    ``fault`` what is said of them: ``at fault``, or ``differ`` where nobody is blamed. anchor,
    target: the card of the worst finding, and its number.
    """

    glyph: str
    style: str
    word: str
    lines: list[str]
    exercised: int
    violations: int
    fault: str
    anchor: str
    target: str
    reference: bool

    @property
    def text(self) -> str:
        """All that is known, as one text."""
        return "; ".join(self.lines)


@dataclass(frozen=True, slots=True)
class Row:
    """All fields of one implementation."""

    name: str
    version: str
    fields: list[Field]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Implementations by vocabularies of one algorithm. absent: who runs none of them, and why."""

    algorithm: str
    columns: list[str]
    rows: list[Row]
    absent: list[tuple[str, list[str]]]


def matrices(record: RunRecord, anchors: Mapping[str, tuple[str, str]]) -> list[Matrix]:
    """The matrices of a record; ``anchors`` leads from a bucket to its card and number."""
    algorithms = {v.id: v.algorithm for v in record.vocabularies}
    grouped: dict[str, dict[str, list[ContractOpened]]] = {}
    for contract in sorted(record.contracts, key=lambda c: c.vocabulary):
        of_algorithm = grouped.setdefault(algorithms.get(contract.vocabulary, UNKNOWN), {})
        of_algorithm.setdefault(contract.vocabulary, []).append(contract)
    made = []
    for algorithm, columns in grouped.items():
        names = list(columns)
        for start in range(0, len(names), MOST_COLUMNS):
            part = {name: columns[name] for name in names[start : start + MOST_COLUMNS]}
            made.append(_matrix(record, algorithm, part, anchors))
    return made


def _matrix(
    record: RunRecord,
    algorithm: str,
    columns: Mapping[str, Sequence[ContractOpened]],
    anchors: Mapping[str, tuple[str, str]],
) -> Matrix:
    versions = record.started.versions if record.started else {}
    rows, absent = [], dict[str, list[str]]()
    for name in record.implementations:
        fields = [_field(record, name, contracts, anchors) for contracts in columns.values()]
        if all(field.word == Status.UNSUPPORTED.value for field in fields):
            absent.setdefault(fields[0].text, []).append(name)
        else:
            rows.append(Row(name, versions.get(name, ""), fields))
    return Matrix(algorithm, list(columns), rows, list(absent.items()))


def _field(
    record: RunRecord,
    name: str,
    contracts: Sequence[ContractOpened],
    anchors: Mapping[str, tuple[str, str]],
) -> Field:
    by_contract = [
        (contract.mode, [record.matrix[name, contract.id, check] for check in record.checks])
        for contract in contracts
    ]
    cells = [cell for _, of_contract in by_contract for cell in of_contract]
    worst = min((c.status for c in cells), key=WORST_FIRST.index, default=Status.NOT_EXERCISED)
    # Buckets come worst first, so the first one blamed here is the one to read.
    blamed = {b for c in cells for b in c.buckets}
    first = next((b.name for b in record.buckets if b.name in blamed), None)
    anchor, target = anchors.get(first, ("", "")) if first is not None else ("", "")
    return Field(
        glyph=GLYPHS[worst],
        style=worst.name.lower().replace("_", "-"),
        word=worst.value,
        lines=[line for mode, found in by_contract for line in _lines(mode, found, record)],
        exercised=sum(max((c.exercised for c in found), default=0) for _, found in by_contract),
        violations=sum(c.violations for c in cells),
        fault=_fault([c for c in cells if c.violations]),
        anchor=anchor,
        target=target,
        reference=any(name in contract.references for contract in contracts),
    )


def _lines(mode: str, cells: Sequence[Cell], record: RunRecord) -> list[str]:
    """What the checks of one mode came to: those that all say the same are one line."""
    alike: dict[tuple[Status, str], list[Cell]] = {}
    for cell in cells:
        alike.setdefault((cell.status, cell.reason), []).append(cell)
    return [
        f"{mode}: {_line(status, why, found, record)}" for (status, why), found in alike.items()
    ]


def _line(status: Status, why: str, cells: Sequence[Cell], record: RunRecord) -> str:
    counted = ", ".join(_counted(cell, record) for cell in cells)
    if status in {Status.UNSUPPORTED, Status.FAILED, Status.NO_ANSWER, Status.NOT_EXERCISED}:
        counted = "" if len(cells) > 1 else f" {counted}"
        return f"{status.value}{counted}" + (f" ({why})" if why else "")
    return f"{status.value}: {counted}" + (f" ({why})" if why else "")


def _counted(cell: Cell, record: RunRecord) -> str:
    text = cell.check
    if cell.violations:
        text += f" {cell.violations:,} {_fault([cell])} of {cell.exercised:,}"
    elif cell.exercised:
        text += f" {cell.exercised:,}"
    if cell.check == "heal":
        text += record.healers.share_shown(cell.contract, cell.implementation)
    return text


def _fault(cells: Sequence[Cell]) -> str:
    """What is said of the cases of some cells: nobody is at fault where equals differ."""
    return "differ" if cells and all(c.reason == NOBODY for c in cells) else "at fault"
