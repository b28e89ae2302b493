"""``tokgate site``: a static site of all runs in a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from harness.cli.display import Display
from harness.cli.options import Out, option
from harness.core.output import writing
from harness.engine.selection import SelectionError
from harness.ledger.store import history, open_existing
from harness.ledger.trends import series
from reports import write
from reports.blocks.units import plural
from reports.site import pages


def command(
    ledger: Annotated[
        str,
        option(
            "The database with the runs: a SQLite file, or postgresql://..",
            "DATABASE",
            envvar="TOKGATE_LEDGER",
        ),
    ],
    out: Out = Path("tokgate-site"),
    url: Annotated[
        str,
        option("The address at which the site will be published, for its feed and badges.", "URL"),
    ] = "",
    title: Annotated[str, option("The title of the site.")] = "tokgate",
) -> None:
    """Write a static website about all runs in a ledger.

    It has pages for libraries, vocabularies, defects and trends. The files need no server and no
    network. Files of earlier sites stay in the folder.
    """

    if url and not url.startswith(("https://", "http://")):
        raise SelectionError(f"--url {url!r}: not a web address: write https://..")
    known = history(open_existing(ledger))
    with writing(out):
        files, size = write(pages.render(known, series(known), title, url), out)
    console = Display(stderr=True)
    runs = plural(len(known.runs), "run")
    console.print(f"{runs}: {plural(files, 'file')}, {size / 1e6:.1f} MB")
    console.print(f"  {out / 'index.html'}", style="dim")
