"""``tokgate site``: a static site of all runs in a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.cli.commands.common import trend_series
from harness.cli.display import Display
from harness.core.writing import writing
from harness.engine.selection import SelectionError
from harness.ledger.history import history, open_existing
from reports import write
from reports.blocks.units import plural
from reports.site import pages


def site(
    ledger: Annotated[
        str,
        typer.Option(
            envvar="TOKGATE_LEDGER",
            help="The database that runs were kept in: a SQLite file, or postgresql://..",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder that receives the site.")] = Path(
        "tokgate-site"
    ),
    url: Annotated[
        str,
        typer.Option(help="Where the site will be, https://..: for its feed and badges."),
    ] = "",
    title: Annotated[str, typer.Option(help="What the site is called.")] = "tokgate",
) -> None:
    """Write a static site of all runs in a ledger: libraries, vocabularies, defects, trends.

    The files need no server and no network. What runs no longer have is left in the folder.
    """

    if url and not url.startswith(("https://", "http://")):
        raise SelectionError(f"--url {url!r}: no address; write https://..")
    known, series = history(open_existing(ledger)), trend_series(ledger)
    with writing(out):
        files, size = write(pages.render(known, series, title, url), out)
    summary = f"{plural(len(known.runs), 'run')}: {plural(files, 'file')}, {size / 1e6:.1f} MB"
    console = Display(stderr=True)
    console.print(Text(summary), soft_wrap=True)
    console.print(Text(f"  {out / 'index.html'}", style="dim"), soft_wrap=True)
