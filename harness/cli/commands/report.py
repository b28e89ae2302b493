"""``tokgate report``: a recorded run in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.commands.common import Ledger, known_findings, recorded, trend_series
from harness.engine.selection import SelectionError
from reports import FORMATS, html


def report(
    folder: Annotated[Path, typer.Argument(help="A run's folder.")] = Path("tokgate-out"),
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="html, junit, sarif, markdown, json, or annotations (GitHub's ::error lines).",
        ),
    ] = "html",
    ledger: Ledger = None,
) -> None:
    """Print a report of a recorded run, in another format or of an interrupted run."""

    if form not in FORMATS:
        raise SelectionError(f"--format {form!r}: no such format; there are {', '.join(FORMATS)}")
    record = recorded(folder)
    page = form == "html"
    text = (
        html.render(record, trend_series(ledger), folder.absolute(), known_findings(ledger))
        if page
        else FORMATS[form](record)
    )
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
