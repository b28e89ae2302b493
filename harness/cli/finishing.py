"""A run of a plan from the command line, and its end: reports, last words, exit status."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

import typer

from harness.cli.display import Display
from harness.cli.options import command_line
from harness.cli.progress.moving import Progress
from harness.cli.records import opened, reported
from harness.engine.runner import execute
from harness.events import by_cause
from harness.findings.folder import RunFolder
from harness.studies.default import studies
from reports import github
from reports.blocks import terminal
from reports.closing import closing, run_summary, tell
from reports.texts import sections

if TYPE_CHECKING:
    from pathlib import Path

    from harness.engine.planning import Plan
    from harness.engine.runner import Elsewhere, RunResult


def perform(
    plan: Plan, out: Path, ledger: str | None = None, elsewhere: Elsewhere | None = None
) -> RunResult:
    """Carry out a plan into a folder, with its display and its record.

    elsewhere: as :func:`harness.engine.runner.execute` takes it. Raises LedgerError, OutputError.
    """
    opened(ledger)  # one that cannot be used is told before the run
    folder = RunFolder(out)
    progress = Progress(Display(stderr=True), plan.budget.seconds)
    try:
        return execute(plan, folder, [progress.consume], command_line(), studies, elsewhere)
    finally:
        progress.stop()


def finish(result: RunResult, out: Path, ledger: str | None = None) -> NoReturn:
    """Keep the run, write all reports, say the last words, exit with the verdict's status."""
    record = reported(out, ledger, keep=True)
    if github.wanted(os.environ):
        print(github.render(record), end="")
    console = Display(stderr=True)
    console.show(terminal.render(sections(record.texts)))
    unexpected = [one for one in result.findings if one.expected is None]
    tell(console, unexpected, result.expectations)
    summary = run_summary(result.finished, len(by_cause(unexpected)))
    closing(console, result.finished, summary, out / "report.html")
    raise typer.Exit(result.finished.exit_status)
