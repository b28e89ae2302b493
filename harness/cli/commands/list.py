"""``tokgate list``: what there is to name."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from harness.cli.catalogues import NOT_INSTALLED, rows
from harness.cli.display import Display
from harness.cli.options import AsJson

WHOLE = ("name", "version")
"""Columns whose entries stay in one piece: they are copied into commands."""

GAP = 2
"""Spaces between two columns."""


def command(
    kind: Annotated[
        Literal["vocabs", "impls", "generators", "families", "checks"],
        typer.Argument(help="What to list."),
    ],
    as_json: AsJson = False,
) -> None:
    """List the names that the options of `tokgate run` accept."""

    entries = rows(kind)
    if as_json:
        print(json.dumps(entries, indent=1))
        return
    console = Display()
    headings = [*entries[0]] if entries else ["name"]
    widths = {heading: narrowest(entries, heading) for heading in headings}
    # A table that is too wide would break words and addresses into a few letters a line.
    left: list[str] = []
    room = console.width + GAP
    while len(headings) > len(WHOLE) and sum(widths[h] + GAP for h in headings) > room:
        left.insert(0, headings.pop())
    table = Table(box=None, padding=(0, GAP, 0, 0), show_edge=False, pad_edge=False)
    for heading in headings:
        whole = heading in WHOLE
        table.add_column(
            heading,
            header_style="dim",
            overflow="fold",
            no_wrap=whole,
            min_width=widths[heading] if whole else None,
        )
    for entry in entries:
        table.add_row(*(Text(plain(entry[heading])) for heading in headings))
    console.print(table)
    for entry in entries:
        if "homepage" in left and entry["version"] == NOT_INSTALLED:
            console.print(f"{entry['name']}: {entry['homepage']}")
    if left:
        console.print(f"--json, or a wider terminal, also shows {', '.join(left)}", style="dim")


def narrowest(entries: list[dict[str, Any]], heading: str) -> int:
    """How narrow a column can be without a word of it being broken."""
    cells = [heading, *(plain(entry[heading]) for entry in entries)]
    if heading not in WHOLE:
        cells = [word for cell in cells for word in cell.split()]
    return max(map(len, cells), default=0)


def plain(value: object) -> str:
    """A cell of a table."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
