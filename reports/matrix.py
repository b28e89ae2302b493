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

    Modes = Sequence[tuple[str, Sequence["Cell"]]]
    """The cells of one implementation on one vocabulary, by mode."""

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
    Status.OK: ("✓", "ok"),
    Status.VIOLATED: ("✗", "violated"),
    Status.EXPECTED: ("≈", "expected violation"),
    Status.UNSETTLED: ("?", "not looked into"),
    Status.NO_ANSWER: ("∅", "no answer"),
    Status.NOT_EXERCISED: ("·", "not tested"),
    Status.UNSUPPORTED: ("–", "unsupported"),
    Status.FAILED: ("!", "failed to start"),
}
"""What stands for each in a field, and what the legend says of it."""

IDLE = {Status.UNSUPPORTED, Status.FAILED, Status.NO_ANSWER, Status.NOT_EXERCISED}
"""Those of which there is no number to tell."""

MOST_COLUMNS = 24
"""A matrix has so many vocabularies at the most, so that it is never wider than the page; further
ones stand in another one below it."""

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


def matrix(record: RunRecord) -> Mapping[tuple[str, str, str], Cell]:
    """(implementation, contract id, check) to its cell, complete over all three."""
    blamed: dict[tuple[str, str, str], list[tuple[Bucket, Found]]] = {}
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
    place: tuple[str, str, str],
    blamed: Sequence[tuple[Bucket, Found]],
    elsewhere: bool,
) -> Cell:
    """The findings of a cell, or else what its coverage says.

    Cases that a check found wrong are no finding by themselves: when they were asked again they
    may have become one of another check, such as determinism. elsewhere: they may, as there is one.
    """
    name, _, check = place
    known = record.coverage.cell(name, contract, check)
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


def sections(record: RunRecord, numbers: Mapping[str, int]) -> list[Section]:
    """The matrices. numbers: of the cards that there are, by the names of their buckets."""
    algorithms = {v.id: v.algorithm for v in record.vocabularies}
    grouped: dict[str, dict[str, list[ContractOpened]]] = {}
    for contract in sorted(record.contracts, key=lambda c: c.vocabulary):
        of_algorithm = grouped.setdefault(algorithms.get(contract.vocabulary, UNKNOWN), {})
        of_algorithm.setdefault(contract.vocabulary, []).append(contract)
    legend = [
        Span((Span(mark, f"mark {_style(one)}"), f" {said}"), "entry")
        for one, (mark, said) in MARKS.items()
    ]
    cells = matrix(record)
    blocks: list[Block] = []
    for algorithm, columns in grouped.items():
        names = list(columns)
        for start in range(0, len(names), MOST_COLUMNS):
            part = {name: columns[name] for name in names[start : start + MOST_COLUMNS]}
            blocks += _matrix(record, cells, algorithm, part, numbers)
    if not blocks:
        return []
    told = Paragraph(
        ("A mark is that of the worst check in any mode; it tells all of them.", *legend,
         Span((Span("R", "strong"), " reference"), "entry")),
        "legend",
    )  # fmt: skip
    title = "Matrix" if sum(isinstance(one, Table) for one in blocks) == 1 else "Matrices"
    return [Section(title, [told, *blocks], "matrix")]


def _style(status: Status) -> str:
    return status.name.lower().replace("_", "-")


def _matrix(
    record: RunRecord,
    known: Mapping[tuple[str, str, str], Cell],
    algorithm: str,
    columns: Mapping[str, Sequence[ContractOpened]],
    numbers: Mapping[str, int],
) -> list[Block]:
    """One matrix, and who takes no part in it."""
    rows: list[list[Inline | Field]] = []
    absent: dict[str, list[str]] = {}
    for name in record.implementations:
        cells = [
            [
                (contract.mode, [known[name, contract.id, one] for one in record.checks])
                for contract in contracts
            ]
            for contracts in columns.values()
        ]
        statuses = {c.status for field in cells for _, found in field for c in found}
        if statuses == {Status.UNSUPPORTED}:
            absent.setdefault(_told(cells[0], record), []).append(name)
            continue
        fields = [
            _field(record, field, numbers, any(name in one.references for one in contracts))
            for field, contracts in zip(cells, columns.values(), strict=True)
        ]
        rows.append([(name, Span(f" {record.versions.get(name, '')}", "quiet")), *fields])
    table = Table(
        f"Implementations by vocabularies, {algorithm}",
        ("Implementation", *(Column(one, upright=True) for one in columns)),
        rows,
        f"{algorithm}: an implementation a row, a vocabulary a column",
        "matrix",
    )
    if not absent:
        return [table]
    why = [
        (Span(", ".join(names), "strong"), ": ", Span(reason[:REASON_SHOWN], "quiet"))
        for reason, names in absent.items()
    ]
    return [table, Details(f"Who takes no part in {algorithm}, and why", [Items(why)])]


def _field(record: RunRecord, modes: Modes, numbers: Mapping[str, int], trusted: bool) -> Field:
    """One implementation on one vocabulary: the worst mark of all checks in all modes."""
    cells = [cell for _, found in modes for cell in found]
    order = list(Status)
    worst = min((c.status for c in cells), key=order.index, default=Status.NOT_EXERCISED)
    # Buckets come worst first, so the first one blamed here is the one to read.
    blamed = {b for c in cells for b in c.buckets}
    first = next((b for b in record.buckets if b.name in blamed), None)
    told = _told(modes, record)
    href, said = "", told
    if first is not None and first.name in numbers:
        wrong = [c for c in cells if c.violations]
        count = f"{sum(c.violations for c in wrong):,} {_fault(wrong)}"
        href = f"#{first.example.id}"
        said = f"{worst.value}, {count}, finding {numbers[first.name]}"
    mark = (
        MARKS[worst][0],
        Span("R", "ref") if trusted else None,
        Span(said + (", reference" if trusted else ""), "sr"),
    )
    return Field(Span(mark, f"mark {_style(worst)}", href, told))


def _told(modes: Modes, record: RunRecord) -> str:
    """What the checks of each mode came to: those that all say the same are told together."""
    lines = []
    for mode, cells in modes:
        alike: dict[tuple[Status, str], list[Cell]] = {}
        for cell in cells:
            alike.setdefault((cell.status, cell.reason), []).append(cell)
        for (status, why), found in alike.items():
            counted = ", ".join(_counted(cell, record) for cell in found)
            if status in IDLE:
                counted = "" if len(found) > 1 else f" {counted}"
            else:
                counted = f": {counted}"
            lines.append(f"{mode}: {status.value}{counted}" + (f" ({why})" if why else ""))
    return "; ".join(lines)


def _counted(cell: Cell, record: RunRecord) -> str:
    text = cell.check
    if cell.violations:
        text += f" {cell.violations:,} {_fault([cell])} of {cell.exercised:,}"
    elif cell.exercised:
        text += f" {cell.exercised:,}"
    share = record.healers.get((cell.contract, cell.implementation))
    if cell.check == "heal" and share is not None:
        text += f" (forces {100 * share:.1f} % of what may be forced)"
    return text


def _fault(cells: Sequence[Cell]) -> str:
    """What is said of the cases of some cells: nobody is at fault where equals differ."""
    return "differ" if cells and all(c.reason == NOBODY for c in cells) else "at fault"
