"""The table of a search for the worst input, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from corpora.plain_text import printable
from reports.worst import shown_exponent, shown_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from reports.worst import Row, WorstRecord

LISTED = 3
"""Listed families that are shown beside what was found."""

LONGEST = 300
"""Characters of an expression; the whole is in ``worst.json`` and on the page."""


def render(record: WorstRecord) -> Iterator[RenderableType]:
    """What `tokgate worst` prints: a table, then each input found as a line of Python."""
    yield Text.assemble((printable(record.title), "bold"))
    grid = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    grid.add_column("input")
    grid.add_column("ns/byte", justify="right", no_wrap=True)
    grid.add_column("× prose", justify="right", no_wrap=True)
    grid.add_column("exponent", no_wrap=True)
    grid.add_column("growth")
    grid.add_column("", overflow="fold")
    for number, row in enumerate(record.found, 1):
        grid.add_row(*_cells(row, f"{number}  {row.kind}"))
    hidden = set(record.facts["withheld"])
    for row in record.listed[:LISTED]:
        how = "withheld" if row.name in hidden else "listed"
        grid.add_row(*_cells(row, f"{row.name} ({how})"), style="dim")
    if record.control is not None:
        grid.add_row(*_cells(record.control, f"{record.control.name} (control)"), style="dim")
    yield grid
    for number, row in enumerate(record.found, 1):
        said = row.expression
        said = said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"
        yield Text.assemble((f"  {number}  ", "dim"), printable(said))
    verdict = record.verdict
    yield Text(printable(f"{verdict[:1].upper()}{verdict[1:]}."), style="bold")
    if record.left:
        yield Text(printable(f"{record.left}."), style="yellow")
    yield Text(printable(f"{record.how}."), style="dim")


def _cells(row: Row, name: str) -> list[Text]:
    remark = row.message
    if row.died:
        remark = f"at {row.length:,} bytes: {row.message}"
    elif row.kind == "memory" and row.memory:
        remark = f"{row.memory:,.0f} bytes of memory a byte"
    cost = "" if row.a_byte is None else f"{row.a_byte:,.0f}"
    figures = (cost, shown_times(row.times), shown_exponent(row), row.verdict)
    return [Text(printable(one)) for one in (name, *figures, remark)]
