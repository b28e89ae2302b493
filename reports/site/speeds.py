"""Speeds of all measurements as the site shows them: tables of libraries, and series. Pure."""

from __future__ import annotations

import datetime
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.events.timing import MEBIBYTE
from reports.bench import KINDS, MEANINGS
from reports.blocks import Cell, Facts, Paragraph, Section, Span, Table, numbers
from reports.blocks.units import plural, rate, size
from reports.site.shell import address, banner
from reports.trends import Trend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.ledger.models import MeasuredSpeed
    from reports.blocks import Block, Inline

NANOSECONDS = 1e9

ANSWERS: dict[str, Inline] = {
    "equal": "right",
    "by-law": "others by design",
    "unchecked": "not compared",
    "different": Span("✗ wrong", "bad strong"),
}
"""What is said of the ids that were timed."""


@dataclass(frozen=True, slots=True, eq=False)
class SpeedTable:
    """The last measurement of one kind of text in one mode on one vocabulary, the fastest first.

    any: one of its rows, for what they have in common. size: the largest. lines: by row, its speeds
    by kind, at that size. places: of those that gave the right ids, by speed on fresh text, from 1.
    """

    any: MeasuredSpeed
    size: int
    lines: Mapping[str, Mapping[str, MeasuredSpeed]]
    places: Mapping[str, int]


def speed_tables(rows: Sequence[MeasuredSpeed]) -> list[SpeedTable]:
    """Of each kind of text on each vocabulary the last measurement."""
    latest: dict[tuple[str, str, str], list[MeasuredSpeed]] = {}
    for row in rows:  # the oldest first
        key = row.vocabulary, row.mode, row.text
        if key not in latest or latest[key][0].id != row.id:
            latest[key] = []
        latest[key].append(row)
    return [_table(found) for _, found in sorted(latest.items())]


def _table(rows: Sequence[MeasuredSpeed]) -> SpeedTable:
    largest = max(row.size for row in rows)
    here: dict[str, dict[str, MeasuredSpeed]] = defaultdict(dict)
    for row in sorted(rows, key=lambda row: -row.best):
        if row.size == largest:
            here[row.row][row.kind] = row
    fresh = {name: kinds["fresh"] for name, kinds in here.items() if "fresh" in kinds}
    right = [name for name, row in fresh.items() if row.answer in {"equal", "by-law"}]
    right.sort(key=lambda name: (-fresh[name].best, name))
    lines = sorted(here.items(), key=lambda line: -leading(line[1]).best)
    places = {name: at for at, name in enumerate(right, start=1)}
    return SpeedTable(rows[0], largest, dict(lines), places)


def leading(kinds: Mapping[str, MeasuredSpeed]) -> MeasuredSpeed:
    """The speed that a line is sorted by."""
    return next(kinds[kind] for kind in KINDS if kind in kinds)


def _cells(kinds: Mapping[str, MeasuredSpeed]) -> list[Cell]:
    """The speeds of a line, fresh, warm and cold."""
    made = []
    for kind in KINDS:
        text: Inline = Span("not measured", "quiet")
        if (one := kinds.get(kind)) is not None:
            slowest = Span(f" slowest {rate(one.slowest)}", "quiet block-line")
            text = (Span(rate(one.best), "strong"), slowest)
        made.append(Cell(text, sort=one.best if one else 0))
    return made


def page(tables: Sequence[SpeedTable]) -> list[Block]:
    """All libraries side by side on each kind of text."""
    measured = {leading(kinds).implementation for one in tables for kinds in one.lines.values()}
    said = "Nothing was measured yet: tokgate bench --ledger does it."
    if tables:
        texts = plural(len(tables), "kind of text", "kinds of text")
        said = (
            f"The last measurement of each of {texts}: MiB of input a second of CPU time, one "
            "thread. The best of all rounds, and beside it the slowest."
        )
    blocks: list[Block] = [
        banner(f"Speed of {plural(len(measured), 'library', 'libraries')}", said)
    ]
    if tables:
        blocks.append(Facts(list(MEANINGS.items()), "kinds"))
    for number, one in enumerate(tables, start=1):
        what = f"{one.any.text}, {one.any.mode}, {one.any.vocabulary}"
        rows: list[list[Inline | Cell]] = []
        for name, kinds in one.lines.items():
            row = leading(kinds)
            where = f"{address('libraries', row.implementation)}#speed"
            who = (Span(name, href=where), Span(f" {row.version}", "quiet"))
            rows.append([who, *_cells(kinds), ANSWERS[row.answer]])
        table = Table(
            f"Speed on {what}",
            ("Library", *numbers("Fresh", "Warm", "Cold"), "Ids"),
            rows,
            f"{size(one.size)}, on {one.any.started[:10]}, {one.any.cpu}",
            "standings",
        )
        blocks.append(Section(what, [table], f"speed-{number}"))
    return blocks


def sections(library: str, tables: Sequence[SpeedTable]) -> list[Section]:
    """The speeds of a library on all kinds of text."""
    rows: list[list[Inline | Cell]] = []
    for one in tables:
        for name, kinds in one.lines.items():
            row, place = leading(kinds), one.places.get(name)
            if row.implementation == library:
                what = f"{name}: " * (name != library) + f"{row.text}, {row.mode}"
                where = Span(f" {row.vocabulary}, {size(one.size)}", "quiet block-line")
                which = Span(f" {row.version}, {row.cpu}", "quiet block-line")
                among = Cell(place and f"{place} of {len(one.places)}", sort=place or 999)
                answer, measured = ANSWERS[row.answer], (row.started[:10], which)
                rows.append([(what, where), *_cells(kinds), among, answer, measured])
    if not rows:
        return []
    table = Table(
        "Table of speed",
        ("Text", *numbers("Fresh", "Warm", "Cold", "Place"), "Ids", "Measured"),
        rows,
        "The last measurement of each kind of text: MiB a second of CPU time, one thread, the best "
        "of all rounds and the slowest. Place: among those with the right ids, on fresh text",
        "standings",
    )
    everybody = Paragraph(Span("All libraries side by side", href="../speed.html"), "quiet")
    return [Section("Speed", [everybody, table], "speed")]


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
        last = found[-1]
        largest = max(row.size for row in found if row.id == last.id)
        points = [
            (
                datetime.datetime.fromisoformat(row.started),
                row.version,
                NANOSECONDS / (row.best * MEBIBYTE),
            )
            for row in found
            if (row.cpu, row.size) == (last.cpu, largest)
        ]
        what = f"{name} on {text}, {mode}, {vocabulary}: time of fresh text"
        made[last.implementation].append(Trend(what, "ns/byte", points))
    return made
