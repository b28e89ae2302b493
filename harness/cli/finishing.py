"""The end of a run from the command line: reports, last words, exit status."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

import typer

from harness.cli.display import Display
from harness.cli.progress.closing import closing, run_summary, tell
from harness.cli.records import reported
from harness.events import by_cause
from reports import github
from reports.texts import lines

if TYPE_CHECKING:
    from pathlib import Path

    from harness.engine.runner import RunResult


def finish(result: RunResult, out: Path, ledger: str | None = None) -> NoReturn:
    """Write all reports, say the last words, exit with the verdict's status."""
    record = reported(out, ledger)
    if github.wanted(os.environ):
        print(github.render(record), end="")
    console = Display(stderr=True)
    for line in lines(record.texts):
        console.print(line)
    unexpected = [one for one in result.findings if one.expected is None]
    tell(console, unexpected, result.expectations)
    summary = run_summary(result.finished, len(by_cause(unexpected)))
    closing(console, result.finished, summary, out / "report.html")
    raise typer.Exit(result.finished.exit_status)
