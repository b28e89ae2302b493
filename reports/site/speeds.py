"""Speeds of all measurements as the site shows them: tables of libraries, and series. Pure."""

from __future__ import annotations

import datetime
from collections import defaultdict
from typing import TYPE_CHECKING

from harness.events.timing import MEBIBYTE
from reports.blocks import Cell, Facts, Paragraph, Section, Span
from reports.blocks.units import plural, rate, size
from reports.site.shared import address, listing
from reports.speeds import KINDS, MEANINGS
from reports.studies import banner
from reports.trends import Trend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.ledger.models import MeasuredSpeed
    from reports.blocks import Block, Inline
    from reports.site.shared import Told

    Lines = Mapping[str, Mapping[str, MeasuredSpeed]]
    """By row of a measurement, its speeds by kind, at the largest size; the fastest first."""

NANOSECONDS = 1e9

ANSWERS: dict[str, Inline] = {
    "equal": "right",
    "by-law": "others by design",
    "unchecked": "not compared",
    "different": Span("✗ wrong", "bad strong"),
}
"""What is said of the ids that were timed."""


def latest(rows: Sequence[MeasuredSpeed]) -> list[Lines]:
    """Of each kind of text in one mode on one vocabulary the last measurement."""
    last: dict[tuple[str, str, str], list[MeasuredSpeed]] = {}
    for row in rows:  # the oldest first
        key = row.vocabulary, row.mode, row.text
        last[key] = [*(one for one in last.get(key, ()) if one.id == row.id), row]
    made: list[Lines] = []
    for _, found in sorted(last.items()):
        lines: dict[str, dict[str, MeasuredSpeed]] = defaultdict(dict)
        for row in found:
            if row.size == max(one.size for one in found):
                lines[row.row][row.kind] = row
        made.append(dict(sorted(lines.items(), key=lambda line: -leading(line[1]).best)))
    return made


def leading(kinds: Mapping[str, MeasuredSpeed]) -> MeasuredSpeed:
    """The speed that a line is sorted by."""
    return next(kinds[kind] for kind in KINDS if kind in kinds)


def told(kinds: Mapping[str, MeasuredSpeed]) -> Told:
    """The facts of a line: its speeds, fresh, warm and cold, and whether the ids are right."""
    made: dict[str, Inline | Cell] = {}
    for kind in KINDS:
        one = kinds.get(kind)
        text: Inline = Span("not measured", "quiet")
        if one is not None:
            slowest = Span(f" slowest {rate(one.slowest)}", "quiet block-line")
            text = (Span(rate(one.best), "strong"), slowest)
        made[kind.capitalize()] = Cell(text, sort=one.best if one else 0)
    row = leading(kinds)
    which = Span(f" {row.version}, {row.cpu}", "quiet block-line")
    return {**made, "Ids": ANSWERS[row.answer], "Measured": (row.started[:10], which)}


def page(tables: Sequence[Lines]) -> list[Block]:
    """All libraries side by side on each kind of text."""
    measured = {leading(kinds).implementation for lines in tables for kinds in lines.values()}
    title = f"Speed of {plural(len(measured), 'library', 'libraries')}"
    if not tables:
        return [banner(title, "Nothing was measured yet: tokgate bench --ledger does it.")]
    said = (
        f"The last measurement of each of {plural(len(tables), 'kind of text', 'kinds of text')}: "
        "MiB of input a second of CPU time, one thread. The best of all rounds, and beside it the "
        "slowest."
    )
    blocks: list[Block] = [banner(title, said), Facts(list(MEANINGS.items()), "kinds")]
    for number, lines in enumerate(tables, start=1):
        one = leading(next(iter(lines.values())))
        what = f"{one.text}, {one.mode}, {one.vocabulary}"
        rows = [
            (Span(name, href=f"{address('libraries', leading(kinds).implementation)}#speed"), kinds)
            for name, kinds in lines.items()
        ]
        facts = [(name, told(kinds)) for name, kinds in rows]
        table = listing(f"Speed on {what}", "Library", facts, f"{size(one.size)} of text")
        blocks.append(Section(what, [table], f"speed-{number}"))
    return blocks


def sections(library: str, tables: Sequence[Lines]) -> list[Section]:
    """The speeds of a library on all kinds of text."""
    rows: list[tuple[Inline, Told]] = []
    for lines in tables:
        fresh = {name: kinds["fresh"] for name, kinds in lines.items() if "fresh" in kinds}
        right = [name for name, row in fresh.items() if row.answer in {"equal", "by-law"}]
        for name, kinds in lines.items():
            row = leading(kinds)
            if row.implementation == library:
                what = f"{name}: " * (name != library) + f"{row.text}, {row.mode}"
                where = Span(f" {row.vocabulary}, {size(row.size)}", "quiet block-line")
                place = right.index(name) + 1 if name in right else None
                among = Cell(place and f"{place} of {len(right)}", sort=place or 999)
                rows.append(((what, where), {**told(kinds), "Place": among}))
    caption = (
        "The last measurement of each kind of text: MiB a second of CPU time, one thread, the best "
        "of all rounds and the slowest. Place: among those with the right ids, on fresh text"
    )
    everybody = Paragraph(Span("All libraries side by side", href="../speed.html"), "quiet")
    table = listing("Table of speed", "Text", rows, caption)
    return [Section("Speed", [everybody, table], "speed")] if rows else []


def speed_series(rows: Sequence[MeasuredSpeed]) -> dict[str, list[Trend]]:
    """Of each library its time a byte of fresh text over all measurements on one processor.

    The processor is that of the last measurement, and the size the largest that it had: others
    would be another machine, or another task.
    """
    grouped: dict[tuple[str, str, str, str], list[MeasuredSpeed]] = defaultdict(list)
    for row in rows:
        if row.kind == "fresh":
            grouped[row.row, row.vocabulary, row.mode, row.text].append(row)
    made: dict[str, list[Trend]] = defaultdict(list)
    for (name, vocabulary, mode, text), found in sorted(grouped.items()):
        last = max(found, key=lambda row: (row.started, row.id, row.size))
        points = [
            (
                datetime.datetime.fromisoformat(row.started), row.version,
                NANOSECONDS / (row.best * MEBIBYTE),
            )
            for row in found
            if (row.cpu, row.size) == (last.cpu, last.size)
        ]  # fmt: skip
        what = f"{name} on {text}, {mode}, {vocabulary}: time of fresh text"
        made[last.implementation].append(Trend(what, "ns/byte", points))
    return made
