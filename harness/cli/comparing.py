"""``tokgate run`` at work: its plan carried out, with its display, its journal and its record.

It imports all that runs, and is imported when the plan is made, so that a mistake in what the user
gave is told before.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from harness.cli.commands.common import command_line, recorders
from harness.cli.display import Display
from harness.cli.progress.run import Progress, promised
from harness.cluster import opening
from harness.engine.runner import execute
from harness.findings.folder import RunFolder
from harness.studies import sittings, units
from harness.studies.default import studies
from harness.studies.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

    from harness.engine.planning import Plan
    from harness.engine.runner import RunResult


def perform(
    plan: Plan,
    out: Path,
    how_long: str,
    checks: int,
    ledger: str | None,
    cluster: str | None,
    *,
    resume: bool,
) -> RunResult:
    """Carry out a plan into a folder, or go on with what is there where resume is set.

    how_long: the budget in words. checks: how many the user chose. ledger, cluster: as on the
    command line.
    """
    console = Display(stderr=True)
    with contextlib.ExitStack() as held:
        # First of all: what another run has in this folder stays.
        journal = held.enter_context(Journal(out, plan))
        if cluster is not None:
            elsewhere = units.on(opening.opened(cluster, len(plan.participants)), journal)
        else:
            elsewhere = sittings.sitting(journal, resume=resume)
            if resume and not journal.holds(plan.visited):
                console.print(
                    f"--resume: {out} has no interrupted run of these options; this one begins anew"
                )
        kept = recorders(ledger, out)
        folder = RunFolder(out)
        console.print(
            promised(
                len(plan.visited),
                len(plan.participants),
                how_long,
                checks,
                len(plan.scaled),
                plan.seed,
            ),
            soft_wrap=True,
        )
        progress = Progress(console, plan.budget.seconds)
        try:
            result = execute(
                plan, folder, [progress.consume, *kept], command_line(), studies, elsewhere
            )
        finally:
            progress.stop()
        if result.finished.complete:
            journal.remove()
    return result
