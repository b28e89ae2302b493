"""``tokgate list``: what there is to name."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer
from rich.table import Table
from rich.text import Text

from harness.cli.catalogues import rows
from harness.cli.display import Display
from harness.cli.options import AsJson


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
    # Of two columns alone, so that no name is broken, and words hardly ever, on a narrow terminal.
    table = Table.grid("", "", padding=(0, 2, 0, 0))
    table.columns[0].no_wrap, table.columns[1].overflow = True, "fold"
    for name, *more in (entry.values() for entry in entries):
        cells = (", ".join(one) if isinstance(one, list) else str(one) for one in more)
        table.add_row(Text(name, "bold"), Text("  ".join(filter(None, cells))))
    Display().print(table)
