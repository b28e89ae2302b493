"""The findings of a run: an index that leads to cards, and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.blocks import Cell, Filters, Group, Paragraph, Row, Section, Span, Table, numbers
from reports.blocks.html import link
from reports.blocks.units import plural
from reports.cards import badge, card
from reports.severity import SEVERITIES, severity
from reports.trends import history_of
from reports.words import also, headline, smallest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from harness.ledger.trends import Seen
    from reports.blocks import Block, Inline
    from reports.record import RunRecord

MAX_LINES = 1_000
"""Buckets in the index; those beyond are counted."""
OPEN_CARDS = 6
"""Up to so many buckets all cards start open; beyond, the index leads to them."""
INPUT_SHOWN = 60
"""Characters of an input in the index."""
CHOICES = {
    "state": "State",
    "severity": "Severity",
    "check": "Check",
    "who": "Implementation",
    "vocabulary": "Vocabulary",
}
"""What cards can be chosen by."""


def section(record: RunRecord, folder: Path | None, known: Mapping[str, Seen]) -> Section:
    """All findings. folder, known: as :func:`reports.html.render` has them."""
    buckets = record.buckets
    if not buckets:
        cut = "" if record.complete else ", until the run was cut off"
        judged = f"No check was violated in {plural(record.cases, 'case')}{cut}."
        nothing = Paragraph(judged if record.cases else "No case was judged.", "empty")
        return Section("Findings", [nothing], "findings")
    cards = [
        card(
            one, record, folder,
            unfolded=len(buckets) <= OPEN_CARDS,
            history=history_of((found.id for found in one.findings), known),
        )
        for one in buckets[: len(record.cards)]
    ]  # fmt: skip
    blocks: list[Block] = [_index(record)]
    for most, where in ((len(record.cards), "shown in full"), (MAX_LINES, "listed")):
        if len(buckets) > most:
            said = f"{most:,} of {plural(len(buckets), 'finding')} are {where}"
            blocks.append(Paragraph(f"{said}, the worst first; summary.json has all.", "quiet"))
    values = [
        (key, label, sorted({one for each in cards for one in each.data[key].split("\n")}))
        for key, label in CHOICES.items()
    ]
    filters = Filters([one for one in values if len(one[2]) > 1])
    beside = [filters] if len(buckets) > 1 else []
    return Section("Findings", [*blocks, Group(cards, page=True)], "findings", beside=beside)


def _index(record: RunRecord) -> Table:
    rows = []
    for number, one in enumerate(record.buckets[:MAX_LINES], start=1):
        example, word = one.example, severity(one.example)
        href = record.cards.get(one.name, "")
        address = link(one.link or "")
        reason = (Span(one.reason, "quiet block-line", address), " ") if one.reason else None
        cells: list[Inline | Cell] = [
            number,
            (Span(headline(one), href=href), f"{also(one)} ", reason, Span(one.name, "code quiet")),
            Cell(word, sort=SEVERITIES.index(word)),
            Span(smallest(example, INPUT_SHOWN), "literal"),
            example.contract, badge(one.state), one.count,
        ]  # fmt: skip
        rows.append(Row(cells, of=example.id))
    (place, seen) = numbers("No.", "Seen")
    return Table(
        "Index of findings",
        (place, "What", "Severity", "Smallest input", "Where", "State", seen), rows,
        "Findings by cause, unexpected first", "index", header=1,
    )  # fmt: skip
