"""The last words of a command with a gate: its verdict, why, and where the report is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from harness.events import by_cause, named
from reports.blocks.units import plural
from reports.html import STATUSES
from reports.record import VERDICTS, verdict_of
from reports.words import smallest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rich.console import Console

    from harness.events import ExpectationJudged, Finished, Found

CAUSES_SHOWN = 12
"""Causes named at the end on the terminal; the report has all."""

INPUT_SHOWN = 60
"""Characters of an input in a line."""


def closing(
    console: Console,
    finished: Finished,
    summary: str,
    report: Path,
    more: Iterable[str] = (),
) -> None:
    """Print the verdict, its reasons, what was left open, and the path of the report.

    summary: of what was done, after the verdict's word. more: further lines.
    """
    word, _, colour = VERDICTS[verdict_of(finished)]
    console.print(Text.assemble((word, f"bold {colour}"), f"  {summary}"))
    # What follows the first line of a reason, such as a traceback, is in the report.
    reasons = [one.split("\n", 1)[0] for one in finished.reasons]
    for lines, style in ((reasons, ""), (finished.notes, "yellow"), (more, ""), ([report], "dim")):
        for line in lines:
            console.print(f"  {line}", style=style)


def tell(
    console: Console, findings: Iterable[Found], expectations: Sequence[ExpectationJudged]
) -> None:
    """Print the first of some findings by cause, each with its clearest input and what differs.

    expectations: what became of each entry of the expectations files, of which the numbers follow.
    """
    causes = list(by_cause(findings).values())
    for alike in causes[:CAUSES_SHOWN]:
        found = alike[0]
        more = "" if len(alike) == 1 else f"  (the report has {len(alike)} such inputs)"
        where = f"  on {found.vocabulary}: {smallest(found, INPUT_SHOWN)}{more}"
        console.print(Text.assemble((named(alike), "bold red"), where))
        nobody = "nobody is blamed; " if found.undecided else ""
        seen = f"; seen in {found.place}" if found.place else ""
        console.print(f"    {nobody}{found.difference}{seen}", style="dim")
    if len(causes) > CAUSES_SHOWN:
        console.print(f"and {len(causes) - CAUSES_SHOWN} more", style="dim")
    known = Counter(one.status for one in expectations)
    words = [f"{known[one]} {word}" for one, (_, _, word) in STATUSES.items() if known[one]]
    if words:
        console.print(f"known differences: {', '.join(words)}", style="cyan")


def run_summary(finished: Finished, unexpected: int) -> str:
    """How much a run did, in how long, and how many unexpected findings there are."""
    # Few implementations run every vocabulary, so fewer are compared than there are.
    among = f" of {plural(finished.compared, 'implementation')}" if finished.compared else ""
    took = f"{finished.seconds:.0f} s"
    if finished.prepared is not None:
        checked = finished.seconds - finished.prepared
        took = f"{checked:.0f} s after {finished.prepared:.0f} s of preparation"
    return (
        f"{plural(finished.cases, 'case')}, {plural(finished.comparisons, 'comparison')}{among}, "
        f"{took}, {plural(unexpected, 'unexpected finding')}"
    )
