"""The last words of a command with a gate: findings, the verdict, why, where the report is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.events import ExpectationJudged, Finished, Found, by_cause, named
from reports.blocks import Block, Items, Paragraph, Span
from reports.blocks.units import plural
from reports.html import STATUSES
from reports.record import VERDICTS, verdict_of
from reports.words import smallest

CAUSES_SHOWN = 12
"""Causes named at the end on the terminal; the report has all."""


def closing(
    finished: Finished, summary: str, report: Path, more: Iterable[str] = ()
) -> list[Block]:
    """The verdict, its reasons, what was left open, and the path of the report.

    summary: of what was done, after the verdict's word. more: further lines.
    """
    word, tone = VERDICTS[verdict_of(finished)]
    # What follows the first line of a reason, such as a traceback, is in the report.
    reasons = [one.split("\n", 1)[0] for one in finished.reasons]
    lines = ((reasons, ""), (finished.notes, "warn"), (more, ""), ([report], "quiet"))
    said = [Items([f"  {one}" for one in told], style) for told, style in lines]
    return [Paragraph((Span(word, f"strong {tone}"), f"  {summary}")), *said]


def told(findings: Iterable[Found], expectations: Sequence[ExpectationJudged]) -> Iterator[Block]:
    """The first of some findings by cause, each with its clearest input and what differs.

    expectations: what became of each entry of the expectations files, of which the numbers follow.
    """
    causes = list(by_cause(findings).values())
    for alike in causes[:CAUSES_SHOWN]:
        found = alike[0]
        more = "" if len(alike) == 1 else f"  (the report has {len(alike)} such inputs)"
        where = f"  on {found.vocabulary}: {smallest(found)}{more}"
        yield Paragraph((Span(named(alike), "strong bad"), where))
        nobody = "nobody is blamed; " if found.undecided else ""
        seen = f"; seen in {found.place}" if found.place else ""
        yield Paragraph(f"    {nobody}{found.difference}{seen}", "quiet")
    left = len(causes) - CAUSES_SHOWN
    yield Paragraph(f"and {left} more" if left > 0 else None, "quiet")
    known = Counter(one.status for one in expectations)
    words = [f"{known[one]} {word}" for one, (_, _, word) in STATUSES.items() if known[one]]
    yield Paragraph(f"known differences: {', '.join(words)}" if words else None)


def run_summary(finished: Finished, unexpected: int) -> str:
    """How much a run did, in how long, and how many unexpected findings there are."""
    # Few implementations run every vocabulary, so fewer are compared than there are.
    among = f" of {plural(finished.compared, 'implementation')}" if finished.compared else ""
    ready = finished.prepared
    took = f" after {ready:.0f} s of preparation" if ready is not None else ""
    return (
        f"{plural(finished.cases, 'case')}, {plural(finished.comparisons, 'comparison')}{among}, "
        f"{finished.seconds - (ready or 0):.0f} s{took}, "
        f"{plural(unexpected, 'unexpected finding')}"
    )
