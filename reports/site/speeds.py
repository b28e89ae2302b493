"""Speeds of all measurements as the site shows them: tables of libraries, and series. Pure."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence

from harness.events.bench import MEBIBYTE
from harness.ledger.models import MeasuredSpeed
from harness.ledger.trends import Trend
from reports.blocks import Banner, Block, Cell, Facts, Inline, Paragraph, Section, Span
from reports.blocks.units import plural, rate, size
from reports.site.shared import address, listing
from reports.speeds import KINDS, MEANINGS
from reports.studies import grouped

Line = Mapping[str, MeasuredSpeed]
"""The speeds of a row of a measurement by kind, at the largest size."""

NANOSECONDS = 1e9

ANSWERS: dict[str, Inline] = {
    "equal": "right",
    "by-law": "others by design",
    "unchecked": "not compared",
    "different": Span("✗ wrong", "bad strong"),
}
"""What is said of the ids that were timed."""


def latest(rows: Sequence[MeasuredSpeed]) -> list[list[Line]]:
    """Of each kind of text in one mode on one vocabulary the last measurement, the fastest first.

    rows: the oldest first.
    """
    made: list[list[Line]] = []
    texts = grouped(rows, lambda row: (row.vocabulary, row.mode, row.text))
    for _, every in sorted(texts.items()):
        last = [row for row in every if row.id == every[-1].id]
        largest = max(row.size for row in last)
        lines = grouped((row for row in last if row.size == largest), lambda row: row.row)
        by_kind = [{row.kind: row for row in line} for line in lines.values()]
        made.append(sorted(by_kind, key=lambda line: -leading(line).best))
    return made


def leading(line: Line) -> MeasuredSpeed:
    """The speed that a line is sorted by."""
    return next(line[kind] for kind in KINDS if kind in line)


def told(line: Line) -> dict[str, Inline | Cell]:
    """The facts of a line: its speeds, fresh, warm and cold, and whether the ids are right."""
    made: dict[str, Inline | Cell] = {}
    for kind in KINDS:
        cell = Cell(Span("not measured", "quiet"), sort=0)
        if (one := line.get(kind)) is not None:
            slowest = Span(f" slowest {rate(one.slowest)}", "quiet block-line")
            cell = Cell((Span(rate(one.best), "strong"), slowest), sort=one.best)
        made[f"{kind.capitalize()}:"] = cell
    row = leading(line)
    which = Span(f" {row.version}, {row.cpu}", "quiet block-line")
    return {**made, "Ids": ANSWERS[row.answer], "Measured": (row.started[:10], which)}


def page(tables: Sequence[Sequence[Line]]) -> list[Block]:
    """All libraries side by side on each kind of text."""
    measured = {leading(line).implementation for lines in tables for line in lines}
    said = (
        f"The last measurement of each kind of text ({len(tables):,}): MiB of input a second of "
        "CPU time, one thread. The best of all rounds, and beside it the slowest."
    )
    none = "Nothing was measured yet: tokgate bench --ledger does it."
    title = f"Speed of {plural(len(measured), 'library')}"
    blocks: list[Block] = [Banner(title, said if tables else none)]
    blocks += [Facts(list(MEANINGS.items()), "kinds")] * bool(tables)
    for number, lines in enumerate(tables, start=1):
        one, rows = leading(lines[0]), [(_named(line), told(line)) for line in lines]
        what, caption = f"{one.text}, {one.mode}, {one.vocabulary}", f"{size(one.size)} of text"
        blocks += listing(what, "Library", rows, caption, anchor=f"speed-{number}")
    return blocks


def _named(line: Line) -> Span:
    """The name of a line, which leads to the speeds of its library."""
    one = leading(line)
    return Span(one.row, href=f"/{address('libraries', one.implementation)}#speed")


def sections(library: str, tables: Sequence[Sequence[Line]]) -> list[Section]:
    """The speeds of a library on all kinds of text."""
    rows = []
    for line in (line for lines in tables for line in lines):
        row = leading(line)
        if row.implementation == library:
            what = f"{row.row}: " * (row.row != library) + f"{row.text}, {row.mode}"
            where = Span(f" {row.vocabulary}, {size(row.size)}", "quiet block-line")
            rows.append(((what, where), told(line)))
    caption = (
        "The last measurement of each kind of text: MiB a second of CPU time, one thread, the best "
        "of all rounds and the slowest"
    )
    everybody = Paragraph(Span("All libraries side by side", href="/speed.html"), "quiet")
    return listing("Speed", "Text", rows, caption, above=[everybody])


def series(rows: Sequence[MeasuredSpeed]) -> dict[str, list[Trend]]:
    """Of each library its time a byte of fresh text over all measurements on one processor.

    The processor is that of the last measurement, and the size the largest that it had: others
    would be another machine, or another task.
    """
    fresh = grouped(
        (row for row in rows if row.kind == "fresh"),
        lambda row: (row.row, row.vocabulary, row.mode, row.text),
    )
    made: dict[str, list[Trend]] = defaultdict(list)
    for (name, vocabulary, mode, text), every in sorted(fresh.items()):
        last = max(every, key=lambda row: (row.started, row.id, row.size))
        points = [
            (
                datetime.datetime.fromisoformat(row.started), row.version,
                NANOSECONDS / (row.best * MEBIBYTE),
            )
            for row in every
            if (row.cpu, row.size) == (last.cpu, last.size)
        ]  # fmt: skip
        what = f"{name} on {text}, {mode}, {vocabulary}: time of fresh text"
        made[last.implementation].append(Trend(what, "ns/byte", points))
    return made
