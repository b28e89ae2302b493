"""Who was judged where, and how: a mark for each implementation on each vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from harness.events import ContractOpened, Found
from harness.verdict.coverage import State
from reports.blocks import Block, Column, Details, Inline, Items, Paragraph, Section, Span, Table
from reports.blocks import Cell as Field
from reports.record import Bucket, RunRecord
from reports.studies import grouped
from reports.text import clipped

Place = tuple[str, str, str]
"""An implementation, the id of a contract, a check."""

NOBODY = "it differs from an equally trusted implementation, so neither is blamed"
"""The reason for which a cell is violated of which no finding blames its implementation."""

VIOLATED, EXPECTED = "violated", "expected"
"""What is known of a cell with findings; of one without, its state in the coverage."""

MARKS = {
    State.FAILED.value: "!",
    VIOLATED: "✗",
    State.UNSETTLED.value: "?",
    EXPECTED: "≈",
    State.JUDGED.value: "✓",
    State.UNANSWERED.value: "∅",
    State.NOT_ASKED.value: "·",
    State.DECLINED.value: "–",
}
"""What stands for each status in a field; the worst come first."""

REASON_SHOWN = 600
"""Characters of why somebody takes no part."""

UNKNOWN = "tokenization"
"""The heading of a matrix whose vocabularies the record says nothing of."""


@dataclass(frozen=True)
class Cell:
    """One field of the matrix implementation x contract x check.

    status: a key of :data:`MARKS`. exercised: outcomes judged. violations: cases at fault. reason:
    why there is nothing to show, or why a violation is expected. buckets: the names of the causes
    behind the violations.
    """

    implementation: str
    contract: ContractOpened
    check: str
    status: str
    exercised: int
    violations: int
    reason: str
    buckets: Sequence[str]


def matrix(record: RunRecord) -> Mapping[Place, Cell]:
    """(implementation, contract id, check) to its cell, complete over all three."""
    blamed: dict[Place, list[tuple[Bucket, Found]]] = {}
    for bucket in record.buckets:
        for one in bucket.findings:
            for culprit in one.culprits:
                blamed.setdefault((culprit, one.contract, one.check), []).append((bucket, one))
    elsewhere = {place[:2] for place in blamed}
    cells = {}
    for name, contract, check in product(record.implementations, record.contracts, record.checks):
        place = name, contract.id, check
        known, found = record.coverage.cell(name, contract, check), blamed.get(place, [])
        status, reason = known.state.value, known.reason
        if found and all(f.expected is not None and not b.expired for b, f in found):
            # By the findings here: the same cause may be unexpected elsewhere.
            status = EXPECTED
            reason = "; ".join(dict.fromkeys(one.expected or "" for _, one in found))
        elif found:
            status, reason = VIOLATED, NOBODY * all(one.undecided for _, one in found)
        elif known.state is State.JUDGED and known.at_fault:
            # When they were asked again they may have become a finding of another check.
            if place[:2] in elsewhere:
                reason = "the failing cases are counted with another finding"
            elif record.complete:  # what was not looked into is an event of its own
                reason = "the failing cases gave the right answer when tested again alone"
            else:
                status, reason = State.UNSETTLED.value, "the failing cases were not examined"
        names = list(dict.fromkeys(bucket.name for bucket, _ in found))
        numbers = known.judged, known.at_fault
        cells[place] = Cell(name, contract, check, status, *numbers, reason, names)
    return cells


def sections(record: RunRecord) -> list[Section]:
    """A matrix an algorithm, for the page alone."""
    algorithms = {one.id: one.algorithm for one in record.vocabularies}
    contracts = sorted(record.contracts, key=lambda one: one.vocabulary)
    tables = grouped(contracts, lambda one: algorithms.get(one.vocabulary, UNKNOWN))
    legend: list[Inline] = [(_mark(one), f" {one}") for one in MARKS]
    told: Inline = (
        "A mark shows the worst result of all checks in all modes. Point at it to see each.",
        *(Span(one, "entry") for one in (*legend, (Span("R", "strong"), " reference"))),
    )
    cells = matrix(record)
    blocks = [block for one, of in tables.items() for block in _matrix(record, cells, one, of)]
    title, first = "Matrix" if len(tables) == 1 else "Matrices", Paragraph(told, "legend")
    return [Section(title, [first, *blocks], "matrix", page=True)] if tables else []


def _mark(status: str, text: Inline = None, href: str = "", hint: str = "") -> Span:
    """The mark of a status. text: what stands beside it; the rest as a span has them."""
    return Span((MARKS[status], text), f"mark {status.replace(' ', '-')}", href, hint)


def _matrix(
    record: RunRecord,
    known: Mapping[Place, Cell],
    algorithm: str,
    contracts: Sequence[ContractOpened],
) -> Iterator[Block]:
    """The matrix of an algorithm, and who takes no part in it."""
    columns = grouped(contracts, lambda one: one.vocabulary)
    rows: list[list[Inline | Field]] = []
    absent: dict[str, list[str]] = {}
    for name in record.implementations:
        fields = [
            [known[name, contract.id, check] for contract in of for check in record.checks]
            for of in columns.values()
        ]
        if {cell.status for cells in fields for cell in cells} == {State.DECLINED.value}:
            absent.setdefault(fields[0][0].reason, []).append(name)
        else:
            version = Span(f" {record.versions.get(name, '')}", "quiet")
            rows.append([(name, version), *(_field(record, cells) for cells in fields)])
    yield Table(
        f"Implementations by vocabularies, {algorithm}",
        [Column("Implementation"), *(Column(one, upright=True) for one in columns)],
        rows,
        f"{algorithm}: an implementation a row, a vocabulary a column",
        "matrix",
    )
    why = [
        (Span(", ".join(names), "strong"), f": {clipped(reason, REASON_SHOWN)}")
        for reason, names in absent.items()
    ]
    if why:
        yield Details(f"Who takes no part in {algorithm}, and why", [Items(why)])


def _field(record: RunRecord, cells: Sequence[Cell]) -> Field:
    """One implementation on one vocabulary: the worst mark of all checks in all modes."""
    worst = min((c.status for c in cells), key=list(MARKS).index, default=State.NOT_ASKED.value)
    trusted = any(one.implementation in one.contract.references for one in cells)
    alike = grouped(cells, lambda one: (one.contract.mode, one.status, one.reason))
    told = "; ".join(
        f"{mode}: {status}: {', '.join(_counted(one, record) for one in found)}"
        + (f" ({why})" if why else "")
        for (mode, status, why), found in alike.items()
    )
    # Buckets come worst first, so the first one blamed here is the one to read.
    blamed = {name for one in cells for name in one.buckets}
    href = next((record.cards[b] for b in record.cards if b in blamed), "")
    said = Span(told + ", reference" * trusted, "sr")
    return Field(_mark(worst, (Span("R", "ref") if trusted else None, said), href, told))


def _counted(cell: Cell, record: RunRecord) -> str:
    """A check, and of how many cases it says what."""
    # Nobody is at fault where equals differ.
    fault = "differ" if cell.reason == NOBODY else "at fault"
    wrong = f" {cell.violations:,} {fault} of" if cell.violations else ""
    number = f" {cell.exercised:,}" if cell.exercised or wrong else ""
    share = record.healers.get((cell.contract.id, cell.implementation))
    if cell.check == "heal" and share is not None:
        number += f" (forces {100 * share:.1f} % of what may be forced)"
    return f"{cell.check}{wrong}{number}"
