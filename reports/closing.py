"""The last words of a command with a gate: its verdict, why, and where the report is."""

from __future__ import annotations

import base64
from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from harness.events import PASS, UNEXAMINED, by_cause, named
from reports.blocks.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rich.console import Console

    from harness.events import ExpectationJudged, Finished, Found

CAUSES_SHOWN = 12
"""Causes named at the end on the terminal; the report has all."""

INPUT_SHOWN = 60
"""Characters of an input in a line."""

WORDS = {
    "shown": "seen",
    "stale": "gone (delete their entries)",
    "expired": "expired",
    "not-exercised": "not tested",
}
"""What became of the entries of the expectations files, in words."""


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
    console.print(Text.assemble(verdict_word(finished), f"  {summary}"))
    for reason in finished.reasons:
        # What follows the first line, such as a traceback, is in the report.
        console.print(f"  {reason.split(chr(10), 1)[0]}")
    for note in finished.notes:
        console.print(f"  {note}", style="yellow")
    for line in more:
        console.print(f"  {line}")
    console.print(f"  {report}", style="dim")


def verdict_word(finished: Finished) -> tuple[str, str]:
    """The verdict in one word, and the style in which it is shown."""
    if not finished.complete:
        return "INCOMPLETE", "bold yellow"
    if finished.verdict == PASS:
        return "PASSED", "bold green"
    if finished.verdict == UNEXAMINED:
        return "NOT EXAMINED", "bold yellow"
    return "FAILED", "bold red"


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
        where = f"  on {found.vocabulary}: {shown(found)}{more}"
        console.print(Text.assemble((named(alike), "bold red"), where))
        nobody = "nobody is blamed; " if found.undecided else ""
        seen = f"; seen in {found.place}" if found.place else ""
        console.print(f"    {nobody}{found.difference}{seen}", style="dim")
    if len(causes) > CAUSES_SHOWN:
        console.print(f"and {len(causes) - CAUSES_SHOWN} more", style="dim")
    known = Counter(one.status for one in expectations)
    if known:
        words = [f"{known[status]} {word}" for status, word in WORDS.items() if known[status]]
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


def shown(found: Found) -> str:
    """An input as a Python literal, cut to a line."""
    data = base64.b64decode(found.input_b64)
    try:
        literal = ascii(data.decode())
    except UnicodeDecodeError:
        literal = repr(data)
    return literal if len(literal) <= INPUT_SHOWN else f"{literal[: INPUT_SHOWN - 3]}..."
