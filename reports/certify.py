"""What certifying came to: ``certify.html``, and what is printed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.blocks import Banner, Cell, Code, Page, Paragraph, Section, Span, Table
from reports.blocks.units import plural

if TYPE_CHECKING:
    from harness.studies.certify.results import Certificate, Example


def verdict(found: Certificate) -> str:
    """One sentence."""
    tally = found.tally
    if found.started.obstacle:
        return f"Nothing was decided: {found.started.obstacle}."
    many = f"{plural(tally.rows, 'row')} with {plural(tally.tokens, 'token')}"
    open_ = f"{tally.undecided:,} could not be decided"
    if tally.wrong:
        more = f"; {open_}" if tally.undecided else ""
        return f"{tally.wrong:,} of {many} are not the encoding of their text{more}."
    if tally.undecided:
        return f"No wrong ids in {many}, but {open_}."
    return f"{many}: all are the encodings of their texts." if tally.rows else "There is no row."


def page(found: Certificate) -> Page:
    """``certify.html``."""
    tone = {"right": "pass", "wrong": "fail", "not-examined": "not-examined"}[found.verdict]
    started = found.started
    how = f"Decided by {started.how}, in mode {started.mode}."
    complete = found.complete or started.obstacle
    blocks = [
        Banner(
            f"Ids of {started.vocabulary}",
            verdict(found),
            tone,
            blocks=[Paragraph(how, "quiet")],
            stamp="" if complete else "Interrupted: not all rows were looked at.",
        ),
        *(
            _rows(title, status, found)
            for title, status in (("Wrong rows", "wrong"), ("Not decided", "undecided"))
            if any(one.status == status for one in found.tally.examples)
        ),
        Section("This audit", [Code(started.command, "the command")], "again", page=True),
    ]
    return Page(f"tokgate: ids of {started.vocabulary}", "certificate", blocks)


def _rows(title: str, status: str, found: Certificate) -> Section:
    kept = [one for one in found.tally.examples if one.status == status]
    count = found.tally.wrong if status == "wrong" else found.tally.undecided
    rest = f"{count - len(kept):,} more of these." * (count > len(kept))
    table = Table(title, "Row | What", [(one.place, _what(one)) for one in kept])
    return Section(title, [table, Paragraph(rest, "quiet")], status)


def _what(one: Example) -> Cell:
    where = f"token {one.token}: " if one.token >= 0 and one.status == "wrong" else ""
    right = f"; right: {' '.join(one.right)}" if one.right else ""
    return Cell((f"{where}{one.reason}", Span(right, "quiet")))
