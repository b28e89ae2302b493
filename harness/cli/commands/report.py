"""``tokgate report``: a recorded run in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import Ledger, option
from harness.cli.records import known, recorded
from harness.engine.selection import SelectionError
from reports import FORMATS, comment, html


def command(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")] = Path("tokgate-out"),
    form: Annotated[
        str,
        option(
            "html, junit, sarif, markdown, json, annotations (::error lines for GitHub), or "
            "comment (for a pull request).",
            "FORMAT",
            "--format",
        ),
    ] = "html",
    ledger: Ledger = None,
    baseline: Annotated[
        Path | None,
        option("Folder of an earlier run; the comment then says what is new and fixed.", "FOLDER"),
    ] = None,
) -> None:
    """Print the report of a recorded run in any format.

    The run may be finished or interrupted. The report goes to standard output.
    """

    if form not in FORMATS:
        raise SelectionError(f"--format {form!r}: unknown format; use one of {', '.join(FORMATS)}")
    if baseline and form != "comment":
        raise SelectionError("--baseline: give it with --format comment; `tokgate diff` tells more")
    record = recorded(folder)
    if form == "html":
        series, findings = known(ledger)
        text = html.render(record, series, folder.absolute(), findings)
    elif baseline:
        text = comment.render(record, recorded(baseline))
    else:
        text = FORMATS[form](record)
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
