"""Speeds of all measurements as the site shows them: tables of libraries, and series. Pure."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterator, Sequence

from harness.events import Benched, BenchStarted
from harness.events.bench import MEBIBYTE
from harness.ledger.trends import Trend
from reports.blocks import Banner, Block, Cell, Facts, Inline, Paragraph, Section, Span
from reports.blocks.units import plural, rate, size
from reports.site.shared import Told, address, listing
from reports.speeds import KINDS, MEANINGS, BenchTable

NANOSECONDS = 1e9

ANSWERS: dict[str, Inline] = {
    "equal": "right",
    "by-law": "others by design",
    "unchecked": "not compared",
    "different": Span("✗ wrong", "bad strong"),
}
"""What is said of the ids that were timed."""

Line = tuple[Benched, Told]
"""What was timed, with its facts: its speeds, fresh, warm and cold, and whether the ids are right.
"""


def latest(measured: Sequence[BenchTable]) -> list[list[Line]]:
    """Of each kind of text in one mode on one vocabulary the last table, at its largest size."""
    last = {(one.vocabulary, one.mode, one.text): one for one in measured}
    made = (list(_lines(last[place])) for place in sorted(last))
    return [lines for lines in made if lines]


def _lines(table: BenchTable) -> Iterator[Line]:
    measured = (at for line in table.lines for at in line.cells if line.speed(at).best)
    largest, began = max(measured, default=0), table.started
    for line in table.lines:
        if not line.speed(largest).best:
            continue
        told: dict[str, Inline | Cell] = {}
        for kind in KINDS:
            cell = Cell(Span("not measured", "quiet"), sort=0)
            if (one := line.speed(largest, kind)).best:
                slowest = Span(f" slowest {rate(one.slowest)}", "quiet block-line")
                cell = Cell((Span(rate(one.best), "strong"), slowest), sort=one.best)
            told[f"{kind.capitalize()}:"] = cell
        timed = line.cells[largest]
        version = began.versions.get(timed.implementation, "")
        which = Span(f" {version}, {began.cpu}", "quiet block-line")
        yield timed, {**told, "Ids": ANSWERS[timed.answer], "Measured": (began.time[:10], which)}


def page(tables: Sequence[Sequence[Line]]) -> Iterator[Block]:
    """All libraries side by side on each kind of text."""
    measured = {timed.implementation for lines in tables for timed, _ in lines}
    said = (
        f"The last measurement of each kind of text ({len(tables):,}): MiB of input a second of "
        "CPU time, one thread. The best of all rounds, followed by the slowest."
    )
    none = "Nothing was measured yet: tokgate bench --ledger does it."
    yield Banner(f"Speed of {plural(len(measured), 'library')}", said if tables else none)
    yield from [Facts(list(MEANINGS.items()), "kinds")] * bool(tables)
    for number, lines in enumerate(tables, start=1):
        rows = [
            (Span(timed.row, href=f"/{address('libraries', timed.implementation)}#speed"), told)
            for timed, told in lines
        ]
        one = lines[0][0]
        what, caption = f"{one.text}, {one.mode}, {one.vocabulary}", f"{size(one.size)} of text"
        yield from listing(what, "Library", rows, caption, anchor=f"speed-{number}")


def sections(library: str, tables: Sequence[Sequence[Line]]) -> list[Section]:
    """The speeds of a library on all kinds of text."""
    rows = []
    for one, told in (line for lines in tables for line in lines):
        if one.implementation == library:
            what = f"{one.row}: " * (one.row != library) + f"{one.text}, {one.mode}"
            where = Span(f" {one.vocabulary}, {size(one.size)}", "quiet block-line")
            rows.append(((what, where), told))
    caption = (
        "The last measurement of each kind of text: MiB a second of CPU time, one thread, the best "
        "of all rounds and the slowest"
    )
    everybody = Paragraph(Span("All libraries side by side", href="/speed.html"), "quiet")
    return listing("Speed", "Text", rows, caption, above=[everybody])


def series(measured: Sequence[BenchTable]) -> dict[str, list[Trend]]:
    """Of each library its time a byte of fresh text over all measurements on one processor.

    The processor is that of the last measurement, and the size the largest that it had: others
    would be another machine, or another task.
    """
    fresh: dict[tuple[str, str], list[tuple[BenchStarted, Benched, float]]] = defaultdict(list)
    for table in measured:
        for line in table.lines:
            for at, cell in line.cells.items():
                if best := line.speed(at, "fresh").best:
                    fresh[line.name, table.title].append((table.started, cell, best))
    made: dict[str, list[Trend]] = defaultdict(list)
    for (name, text), every in sorted(fresh.items()):
        began, timed, _ = max(every, key=lambda one: (one[0].time, one[1].size))
        points = [
            (
                datetime.datetime.fromisoformat(one.time),
                one.versions.get(timed.implementation, ""),
                NANOSECONDS / (best * MEBIBYTE),
            )
            for one, cell, best in every
            if (one.cpu, cell.size) == (began.cpu, timed.size)
        ]
        what = f"{name} on {text}: time of fresh text"
        made[timed.implementation].append(Trend(what, "ns/byte", points))
    return made
