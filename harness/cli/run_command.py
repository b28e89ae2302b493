"""A run of a plan from the command line, and its end: reports, last words, exit status."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.options import command_line
from harness.cli.progress import Progress
from harness.cli.records import opened, reported
from harness.engine.flow import USUAL, execute
from harness.engine.plan import Plan
from harness.events import by_cause
from harness.findings.folder import RunFolder
from harness.studies.default import studies
from reports import github
from reports.last_words import closing, run_summary
from reports.texts import sections

if TYPE_CHECKING:
    from harness.engine.flow import Ways


def perform(plan: Plan, out: Path, ledger: str | None = None, ways: Ways = USUAL) -> int:
    """Carry out a plan into a folder, write all reports, and return the verdict's exit status.

    ways: as :func:`harness.engine.flow.execute` takes it. Raises LedgerError, OutputError.
    """
    opened(ledger)  # one that cannot be used is told before the run
    progress = Progress(seconds=plan.budget.seconds)
    try:
        result = execute(plan, RunFolder(out), [progress.consume], command_line(), studies, ways)
    finally:
        progress.stop()
    finished = result.finished
    record = reported(out, ledger, keep=True)
    if github.wanted(os.environ):
        print(github.render(record), end="")
    unexpected = [one for one in result.findings if one.expected is None]
    summary = run_summary(finished, len(by_cause(unexpected)))
    last = closing(finished, summary, out / "report.html", unexpected, result.expectations)
    progress.console.show([*sections(record.texts), *last])
    return finished.exit_status
