"""The last words of a command with a gate: the verdict, what was found, why, where the report is.

They fit on :data:`ROWS` lines of a terminal of :data:`COLUMNS` columns: what there is no room for
is counted, and is in the report.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.events import ExpectationJudged, Finished, Found, by_cause
from reports.blocks import Block, Items, Paragraph, Span
from reports.blocks.terminal import clipped
from reports.blocks.units import plural
from reports.html import STATUSES
from reports.record import VERDICTS, verdict_of
from reports.words import smallest, spoken

ROWS, COLUMNS = 12, 80
"""Lines that the last words take at most, on a terminal of so many columns."""

LONGEST = 3
"""Lines that one remark takes at most."""

FOUND_ROWS = 2
"""Lines of a finding: its input with what happens, and what differs."""

FEWEST_FOUND = 3
"""Findings that are shown in any case, however much else there is to say."""

NOT_TESTED = "not tested"
"""What a note says of what was not examined: such notes come first."""

INPUT_SHOWN = 24
"""Characters of an input there."""


def closing(
    finished: Finished,
    summary: str,
    report: Path,
    findings: Iterable[Found] = (),
    expectations: Sequence[ExpectationJudged] = (),
    more: Iterable[str] = (),
) -> list[Block]:
    """The verdict, the findings, the other reasons, what was left open, and the report's path.

    summary: of what was done, after the verdict's word. findings: those that are new or unexpected.
    expectations: what became of each entry of the expectations files, of which the numbers follow.
    more: further lines.
    """
    word, tone = VERDICTS[verdict_of(finished)]
    causes = [alike[0] for alike in by_cause(findings).values()]
    counted = plural(len(causes), "unexpected finding")
    # What follows the first line of a reason, such as a traceback, is in the report.
    reasons = [one.split("\n", 1)[0] for one in finished.reasons]
    said = [
        *((one, "") for one in reasons if not (causes and one.startswith(counted))),
        *((one, "warn") for one in more),
        *((one, "warn") for one in sorted(finished.notes, key=lambda one: NOT_TESTED not in one)),
        *((one, "quiet") for one in _known(expectations)),
    ]
    head, room = f"{word}  {summary}", ROWS - 1
    room -= _rows(head)
    owed = FOUND_ROWS * min(len(causes), FEWEST_FOUND) + (len(causes) > FEWEST_FOUND)
    remarks = _fitting(said, room - owed)
    room -= sum(_rows(line) for line, _ in remarks)
    shown = len(causes) if FOUND_ROWS * len(causes) <= room else (room - 1) // FOUND_ROWS
    return [
        Paragraph((Span(word, f"strong {tone}"), f"  {summary}")),
        *(block for one in causes[:shown] for block in told(one)),
        *[Paragraph(f"  and {plural(len(causes) - shown, 'more finding')}")]
        * (shown < len(causes)),
        *(Items([f"  {line}"], style) for line, style in remarks),
        Items([f"  {report}"], "quiet"),
    ]


def told(found: Found) -> Iterator[Block]:
    """A finding on two lines: its id and smallest input with what happens, and what differs."""
    place = f"; seen in {found.place}" if found.place else ""
    what = f": {smallest(found, INPUT_SHOWN)} on {found.vocabulary}: {spoken(found)}"
    head = clipped(f"  {found.id}{what}", COLUMNS)[len(found.id) + 2 :]
    yield Paragraph(("  ", Span(found.id, "strong bad"), head))
    yield Paragraph(clipped(f"    {found.difference}{place}", COLUMNS), "quiet")


def _known(expectations: Sequence[ExpectationJudged]) -> list[str]:
    counts = Counter(one.status for one in expectations)
    words = [f"{counts[one]} {word}" for one, (_, _, word) in STATUSES.items() if counts[one]]
    return [f"known differences: {', '.join(words)}"] if words else []


def _rows(line: str) -> int:
    """The lines that a line takes on a terminal."""
    return len(textwrap.wrap(f"  {line}", COLUMNS)) or 1


def _fitting(said: Sequence[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """The first remarks that fit into so many lines, none too long, and how many do not."""
    made = list[tuple[str, str]]()
    for at, (line, style) in enumerate(said):
        shown = clipped(line, LONGEST * (COLUMNS - 2))
        last = at + 1 == len(said)
        if _rows(shown) > room - (not last):
            return [*made, (f"and {plural(len(said) - at, 'more remark')} in the report", "quiet")]
        room -= _rows(shown)
        made.append((shown, style))
    return made


def run_summary(finished: Finished, unexpected: int) -> str:
    """How many unexpected findings a run has, how much it did, and in how long."""
    # Few implementations run every vocabulary, so fewer are compared than there are.
    among = f"{plural(finished.compared, 'implementation')}, " if finished.compared else ""
    return (
        f"{plural(unexpected, 'finding')}, {among}{plural(finished.cases, 'case')}, "
        f"{plural(finished.comparisons, 'comparison')}, "
        f"{finished.seconds - (finished.prepared or 0):.0f} s"
    )
