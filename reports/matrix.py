"""Who was judged where, and how: a mark for each implementation on each vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from harness.verdict.coverage import State
from reports.blocks import Cell as Field
from reports.blocks import Column, Details, Items, Paragraph, Section, Span, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.events import ContractOpened, Found
    from reports.blocks import Block, Inline
    from reports.record import Bucket, RunRecord

    Place = tuple[str, str, str]
    """An implementation, the id of a contract, a check."""

NOBODY = "it differs from another that is trusted equally, and nobody is blamed"
"""The reason for which a cell is violated of which no finding blames its implementation."""


class Status(StrEnum):
    """What is known of one check of one implementation under one contract; the worst come first."""

    FAILED = "failed to start"
    VIOLATED = "violated"
    UNSETTLED = "not settled"
    EXPECTED = "expected"
    OK = "ok"
    NO_ANSWER = "no answer"
    NOT_EXERCISED = "not tested"
    UNSUPPORTED = "unsupported"


OF_STATE = {
    State.JUDGED: Status.OK,
    State.UNSETTLED: Status.UNSETTLED,
    State.UNANSWERED: Status.NO_ANSWER,
    State.DECLINED: Status.UNSUPPORTED,
    State.FAILED: Status.FAILED,
    State.NOT_ASKED: Status.NOT_EXERCISED,
}
"""What is said of a cell in which there is no finding."""

MARKS = {
    Status.OK: "✓",
    Status.VIOLATED: "✗",
    Status.EXPECTED: "≈",
    Status.UNSETTLED: "?",
    Status.NO_ANSWER: "∅",
    Status.NOT_EXERCISED: "·",
    Status.UNSUPPORTED: "–",
    Status.FAILED: "!",
}
"""What stands for each in a field."""

REASON_SHOWN = 600
"""Characters of why somebody takes no part."""

UNKNOWN = "tokenization"
"""The heading of a matrix whose vocabularies the record says nothing of."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One field of the matrix implementation x contract x check.

    exercised: outcomes judged. violations: cases at fault. reason: why there is nothing to show,
    or why a violation is expected. buckets: the signatures behind the violations.
    """

    implementation: str
    contract: str
    check: str
    status: Status
    exercised: int = 0
    violations: int = 0
    reason: str = ""
    buckets: tuple[str, ...] = ()


def matrix(record: RunRecord) -> Mapping[Place, Cell]:
    """(implementation, contract id, check) to its cell, complete over all three."""
    blamed: dict[Place, list[tuple[Bucket, Found]]] = {}
    for bucket in record.buckets:
        for finding in bucket.findings:
            for culprit in finding.culprits:
                place = culprit, finding.contract, finding.check
                blamed.setdefault(place, []).append((bucket, finding))
    elsewhere = {place[:2] for place in blamed}
    return {
        place: _cell(record, contract, place, blamed.get(place, []), place[:2] in elsewhere)
        for name in record.implementations
        for contract in record.contracts
        for check in record.checks
        for place in [(name, contract.id, check)]
    }


def _cell(
    record: RunRecord,
    contract: ContractOpened,
    place: Place,
    blamed: Sequence[tuple[Bucket, Found]],
    elsewhere: bool,
) -> Cell:
    """The findings of a cell, or else what its coverage says.

    Cases that a check found wrong are no finding by themselves: when they were asked again they
    may have become one of another check, such as determinism. elsewhere: they may, as there is one.
    """
    known = record.coverage.cell(place[0], contract, place[2])
    status, reason = OF_STATE[known.state], known.reason
    if blamed and all(f.expected is not None and not b.expired for b, f in blamed):
        # By the findings of this cell: the same cause may be unexpected on another vocabulary.
        status = Status.EXPECTED
        reason = "; ".join(dict.fromkeys(found.expected or "" for _, found in blamed))
    elif blamed:
        status = Status.VIOLATED
        reason = NOBODY if all(found.undecided for _, found in blamed) else ""
    elif known.state is State.JUDGED and known.at_fault:
        if elsewhere:
            reason = "the failing cases are counted with another finding"
        elif record.complete:  # what was not looked into is an event of its own
            reason = "the failing cases were right when asked again alone"
        else:
            status, reason = Status.UNSETTLED, "the failing cases were not looked into"
    names = tuple(dict.fromkeys(bucket.name for bucket, _ in blamed))
    return Cell(*place, status, known.judged, known.at_fault, reason, names)


def sections(record: RunRecord) -> list[Section]:
    """A matrix an algorithm, for the page alone."""
    algorithms = {v.id: v.algorithm for v in record.vocabularies}
    columns: dict[str, dict[str, list[str]]] = {}
    for one in sorted(record.contracts, key=lambda c: c.vocabulary):
        of_algorithm = columns.setdefault(algorithms.get(one.vocabulary, UNKNOWN), {})
        of_algorithm.setdefault(one.vocabulary, []).append(one.id)
    if not columns:
        return []
    entries = [(_mark(one), f" {one.value}") for one in MARKS]
    legend = [Span(one, "entry") for one in (*entries, (Span("R", "strong"), " reference"))]
    told = Paragraph(
        ("A mark is that of the worst check in any mode; it tells all of them.", *legend), "legend"
    )
    cells = matrix(record)
    blocks = [block for one in columns for block in _matrix(record, cells, one, columns[one])]
    title = "Matrix" if len(columns) == 1 else "Matrices"
    return [Section(title, [told, *blocks], "matrix", page=True)]


def _mark(status: Status, text: Inline = None, href: str = "", hint: str = "") -> Span:
    """The mark of a status. text: what stands beside it; the rest as a span has them."""
    return Span((MARKS[status], text), f"mark {status.name.lower().replace('_', '-')}", href, hint)


def _matrix(
    record: RunRecord, known: Mapping[Place, Cell], algorithm: str, columns: Mapping[str, list[str]]
) -> list[Block]:
    """One matrix, and who takes no part in it. columns: the contracts of each vocabulary."""
    rows: list[list[Inline | Field]] = []
    absent: dict[str, list[str]] = {}
    for name in record.implementations:
        fields = [
            [known[name, contract, check] for contract in contracts for check in record.checks]
            for contracts in columns.values()
        ]
        if {cell.status for cells in fields for cell in cells} == {Status.UNSUPPORTED}:
            absent.setdefault(fields[0][0].reason, []).append(name)
        else:
            version = Span(f" {record.versions.get(name, '')}", "quiet")
            rows.append([(name, version), *(_field(record, cells) for cells in fields)])
    table = Table(
        f"Implementations by vocabularies, {algorithm}",
        ("Implementation", *(Column(one, upright=True) for one in columns)),
        rows,
        f"{algorithm}: an implementation a row, a vocabulary a column",
        "matrix",
    )
    why = [
        (Span(", ".join(names), "strong"), ": ", Span(reason[:REASON_SHOWN], "quiet"))
        for reason, names in absent.items()
    ]
    title = f"Who takes no part in {algorithm}, and why"
    return [table, *([Details(title, [Items(why)])] if why else [])]


def _field(record: RunRecord, cells: Sequence[Cell]) -> Field:
    """One implementation on one vocabulary: the worst mark of all checks in all modes."""
    order = list(Status)
    worst = min((c.status for c in cells), key=order.index, default=Status.NOT_EXERCISED)
    contracts = {one.id: one for one in record.contracts}
    trusted = any(one.implementation in contracts[one.contract].references for one in cells)
    alike: dict[tuple[str, Status, str], list[Cell]] = {}
    for cell in cells:
        alike.setdefault((contracts[cell.contract].mode, cell.status, cell.reason), []).append(cell)
    told = "; ".join(
        f"{mode}: {status.value}: {', '.join(_counted(one, record) for one in found)}"
        + (f" ({why})" if why else "")
        for (mode, status, why), found in alike.items()
    )
    # Buckets come worst first, so the first one blamed here is the one to read.
    blamed = {name for one in cells for name in one.buckets}
    href = next((record.cards[b] for b in record.cards if b in blamed), "")
    said = Span(told + (", reference" if trusted else ""), "sr")
    return Field(_mark(worst, (Span("R", "ref") if trusted else None, said), href, told))


def _counted(cell: Cell, record: RunRecord) -> str:
    """A check, and of how many cases it says what."""
    # Nobody is at fault where equals differ.
    fault = "differ" if cell.reason == NOBODY else "at fault"
    wrong = f" {cell.violations:,} {fault} of" if cell.violations else ""
    number = f" {cell.exercised:,}" if cell.exercised or wrong else ""
    share = record.healers.get((cell.contract, cell.implementation))
    forces = ""
    if cell.check == "heal" and share is not None:
        forces = f" (forces {100 * share:.1f} % of what may be forced)"
    return f"{cell.check}{wrong}{number}{forces}"
