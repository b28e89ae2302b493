"""A measurement of speed: ``bench.json``, and ``bench.html`` with tables and plots."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from harness.events import (
    Benched,
    BenchStarted,
    Event,
    Finished,
    ImplementationFailed,
    VocabularyLoaded,
    VocabularyOpened,
)
from harness.events.bench import MEBIBYTE, THREADS
from reports.blocks import (
    SIZES,
    Axis,
    Banner,
    Cell,
    Cells,
    Column,
    Facts,
    Figure,
    Group,
    Inline,
    Items,
    Page,
    Paragraph,
    Plot,
    Row,
    Section,
    Series,
    Span,
    Table,
)
from reports.blocks.units import rate, size
from reports.html import made_by
from reports.speeds import KINDS, LEAST_ROUNDS, MARKS, MEANINGS, BenchTable, Line, tables
from reports.studies import complete, grouped, of

SCHEMA = 1
"""The version of the format of ``bench.json``. It changes with what a reader of the file would
notice."""

OPENING = {
    "code": "importing the library, or our modules and loading a toy vocabulary",
    "cold": "from the file to the ids of a first text, compiled, without our tables on disk",
    "warm": "the same with the tables that the cold one left (libraries keep none)",
    "before": "resident memory of the process before it read the file",
    "vocabulary": "what is added when it has encoded the first text",
    "own": "the part of it that is not mapped from a file; processes share the rest, such as our "
    "tables on disk",
    "text": "what is added when it has encoded the whole text, such as a cache of pieces",
}
"""The columns of what opening a vocabulary takes: the first three in seconds, the others in MiB."""

MOST_SIZES = 4
"""Sizes that a terminal has room for, the largest; a page has all."""

TONES = {"fresh": 0, "warm": 1, "cold": 4}
"""The colour of each kind of call."""

HOW = (
    "Each implementation runs in a process of its own, with one thread unless the table says "
    "otherwise, and all of them take turns in each round. The time is CPU time, or wall-clock time "
    "for several threads, of the encoding calls only."
)


def to_json(events: Sequence[Event]) -> str:
    """``bench.json``: every raw point, and what decided it."""
    kinds: dict[str, type[Event]] = {
        "vocabularies": VocabularyLoaded, "failures": ImplementationFailed,
        "cells": Benched, "openings": VocabularyOpened,
    }  # fmt: skip
    whole = {
        "schema": SCHEMA,
        "complete": complete(events),
        "started": asdict(of(events, BenchStarted)[-1]),
        "finished": asdict(of(events, Finished)[-1]),
        **{name: [asdict(one) for one in of(events, kind)] for name, kind in kinds.items()},
    }
    return json.dumps(whole, indent=1) + "\n"


def page(events: Sequence[Event]) -> Page:
    """``bench.html``."""
    made, openings = list(tables(events)), of(events, VocabularyOpened)
    names = sorted({line.name for table in made for line in table.lines})  # colours are by place
    blocks = [
        Banner(
            "How fast tokenizers encode",
            leader(made) if made or not openings else None,
            stamp="Interrupted: the measurements so far." * (not complete(events)),
        ),
        Paragraph(HOW, "intro", page=True),
        Facts(list(MEANINGS.items()), "kinds"),
        *(_section(number, table, names) for number, table in enumerate(made)),
        *opening_sections(openings),
        _measurement(events),
    ]
    return Page("tokgate: speed", "speed", blocks, skip="tables")


def leader(made: Sequence[BenchTable]) -> str:
    """Who is the fastest in the first table, of those whose answers are right, in a sentence."""
    for table in made:
        at = table.sizes[-1]
        for line in table.lines:
            if (speed := line.speed(at, "fresh")).best and not line.mark:
                times = f", {rate(speed.ratio)} times {table.base}" * bool(speed.ratio)
                where = f"{table.text} ({size(at)}, {table.vocabulary})"
                times *= line.name != table.base
                return f"Fastest on {where}: {line.name} with {rate(speed.best)} MiB/s{times}."
    return "No implementation with the right answers was measured."


def _section(number: int, table: BenchTable, names: Sequence[str]) -> Section:
    unmeasured: dict[str, dict[str, None]] = {}
    for line in table.lines:
        for cell in line.cells.values():
            if cell.note and not cell.timings:
                unmeasured.setdefault(cell.note, {})[line.name] = None
    marks = dict.fromkeys(line.mark for line in table.lines if line.mark)
    notes = [f"{', '.join(who)}: {note}" for note, who in unmeasured.items()]
    blocks = [
        Paragraph(_caption(table), "quiet"),
        Group([*by_size(table, names), *ratios(table)], "figures"),
        _grid(table),
        Items([*notes, *(" ".join(MARKS[mark]) for mark in marks)], "remarks"),
    ]
    tags, nav = (table.tag, table.vocabulary), f"{table.text}, {table.mode}"
    return Section(table.text, blocks, f"table-{number}", tags, nav=nav)


def _caption(table: BenchTable) -> str:
    """What was timed, in a few sentences."""
    clock = "of wall-clock time" if table.mode == THREADS else "of CPU time, one thread"
    way, call = "pre-tokenized", "fastest documented way from its own kind of input to ids"
    if table.mode == "raw":
        way = "as one piece, without pre-tokenization"
    elif table.mode != "text":
        way += f", in {table.tag}, of texts of {size(table.started.document)}"
        call = "own call for many texts, or one text after another where it has none"
    return (
        f"MiB of input per second {clock}, {way}, on {table.started.texts.get(table.text, '')}: "
        f"each library's {call}, the best of all rounds. Ratios are to "
        f"{table.base or 'nothing, as no base was measured'}: "
        "the median of the rounds' ratios, with a 95 % interval, or the ratio of the best rounds "
        f"if there were fewer than {LEAST_ROUNDS}."
    )


def _grid(table: BenchTable) -> Table:
    """Speeds with their ratios. A terminal shows those of fresh text, of the largest sizes."""
    largest, base = table.sizes[-1], table.base
    gains = any(line.gain for line in table.lines)
    columns, rows = [Column("Implementation")], []
    shown = [(at, k) for at in table.sizes for k in (KINDS if at == largest else KINDS[:2])]
    for at, kind in shown:
        fresh = kind == "fresh" and at in table.sizes[-MOST_SIZES:]
        # A terminal is too narrow for what threads gain beside other kinds.
        seen = fresh or (at == largest and not gains)
        columns.append(Column(kind, True, size(at), page=not seen))
        columns.append(Column("×", True, size(at), page=not fresh))
    columns += [Column("× one thread", True)] * gains
    for line in table.lines:
        look = "bad" if line.mark == "different" else "quiet"
        link = Span(line.name, href=table.started.homepages.get(line.largest.implementation, ""))
        row: Cells = [(link, Span(line.marked.removeprefix(line.name), look))]
        for at, kind in shown:
            row += _speed(line, at, kind, own=line.name == base, page=at != largest)
        rows.append(
            Row([*row, *[rate(line.gain or None)] * gains], "base-row" * (line.name == base))
        )
    times = f", and times as fast as {base}" if base else ""
    caption = f"MiB/s, best of all rounds (median of them){times}"
    return Table(f"Speed on {table.title}", columns, rows, caption, "speeds")


def _speed(line: Line, at: int, kind: str, *, own: bool, page: bool) -> tuple[Cell, Cell]:
    """A speed and its ratio. own: of the base. page: the interval is for a page alone."""
    speed = line.speed(at, kind)
    if not speed.best:
        cell = line.cells.get(at)
        broke = cell and kind == "fresh" and cell.status not in {"skipped", "measured"}
        return Cell(cell.status if cell and broke else "–", "quiet"), Cell()
    typical = Span(f" ({rate(speed.median)})", "quiet", page=True) if kind != "cold" else None
    words = f" {' to '.join(map(rate, speed.between))}, {speed.verdict}"
    between = Span(words, "count", page=page) if speed.interval and not own else None
    ratio = Cell((rate(speed.ratio or None), between), "by" if speed.ratio > 1 else "under")
    return Cell((Span(rate(speed.best), "strong"), typical)), ratio


def by_size(table: BenchTable, names: Sequence[str]) -> Iterator[Figure]:
    """MiB/s of fresh text by size, both logarithmic; nothing where there is nothing.

    A line goes through the best rounds; below each point it is drawn down to the slowest one.
    names: of all lines, by whose places they have their colours.
    """
    series = []
    for line in table.lines:
        spread = [
            (float(at), speed.slowest, speed.best)
            for at in table.sizes
            if (speed := line.speed(at)).best
        ]
        points, dash = [(x, best) for x, _, best in spread], line.mark == "different"
        look, wide = names.index(line.name), line.name == table.base
        series.append(Series(line.marked, points, look, dash=dash, wide=wide, spread=spread))
    series = [one for one in series if one.points]
    if series and len(table.sizes) > 1:  # one size is one column of dots: ratios say more
        base = f"; the thick line is {table.base}" * bool(table.base)
        title, speeds = f"Speed by size on {table.title}", Axis("speed", "", 10)
        caption = f"MiB/s of fresh text by size: the best round, and down to the slowest{base}"
        yield Figure(caption, [Plot(title, SIZES, speeds, series, height=340)])


def ratios(table: BenchTable) -> Iterator[Figure]:
    """Ratios to the base at the largest size, fresh, warm and cold, with what is sure of each."""
    at = table.sizes[-1]
    rows = [line for line in table.lines if line.speed(at).ratio]
    series = []
    for kind, tone in TONES.items():
        speeds = [(float(x), line.speed(at, kind)) for x, line in enumerate(rows)]
        known = [(x, speed) for x, speed in speeds if speed.ratio]
        points = [(x, speed.ratio) for x, speed in known]
        spread = [(x, *speed.between) for x, speed in known]
        series += [Series(kind, points, tone, "dots", spread=spread)] * bool(points)
    if series:
        caption = (
            f"Times as fast as {table.base} at {size(at)}: fresh, warm, cold; the line through a "
            "dot is the 95 % interval, or the range from the slowest round to the best if there "
            "were few rounds"
        )
        places, times = Axis("place", names=[line.marked for line in rows]), Axis("ratio", "", 10)
        title = f"Ratios to {table.base} on {table.title}"
        yield Figure(caption, [Plot(title, places, times, series, rule=1.0, height=340)])


def opening_sections(openings: Sequence[VocabularyOpened]) -> Iterator[Section]:
    """What opening each vocabulary takes, from the quickest implementation down."""
    by_vocabulary = grouped(openings, lambda one: one.vocabulary)
    for number, (vocabulary, here) in enumerate(by_vocabulary.items()):
        rounds = max(len(one.openings) for one in here) // 2
        caption = (
            f"Seconds of CPU time, the least of {rounds} rounds, and MiB of resident memory, the "
            "median of the warm ones, each in a separate process. The "
            f"whole text is {here[0].text}, {here[0].bytes:,} bytes."
        )
        table = Table(
            f"What opening {vocabulary} takes",
            f"Implementation | (Reads) | {': | '.join(OPENING)}:",
            [row for _, row in sorted(_opened(one) for one in here if one.openings)],
            "Seconds of CPU time and MiB of memory",
            "openings",
        )
        notes = [f"{name}: {words}" for name, words in OPENING.items()]
        notes += [f"{one.implementation}: {one.note}" for one in here if one.status == "failed"]
        told = [Paragraph(caption, "quiet"), table, Items(notes, "remarks")]
        title, nav = "Opening a vocabulary", f"load, {vocabulary}"
        yield Section(title, told, f"opening-{number}", (vocabulary,), nav=nav)


def _opened(one: VocabularyOpened) -> tuple[float, list[str]]:
    """The seconds that it took, and the row of an implementation."""
    openings: list[Any] = list(one.openings)
    cold, warm = ([o for o in openings if o["kind"] == kind] for kind in ("cold", "warm"))
    usual = warm or cold
    shown = [
        f"{min(o[key] for o in found):.2f}" if found else ""
        for found, key in ((openings, "code"), (cold, "cpu"), (warm, "cpu"))
    ]
    grown = [("before", ""), ("after", "before"), ("own_after", "own_before"), ("worked", "after")]
    shown += [
        f"{median(o[later] - o.get(earlier, 0) for o in usual) / MEBIBYTE:.1f}"
        for later, earlier in grown
    ]
    return min(o["cpu"] for o in usual), [one.implementation, one.file, *shown]


def _measurement(events: Sequence[Event]) -> Section:
    """What decided it, and the command that repeats it."""
    started, finished = of(events, BenchStarted)[-1], of(events, Finished)[-1]
    facts: list[tuple[str, Inline]] = [
        ("CPU", started.cpu),
        ("Machine", started.machine),
        ("Confinement", started.confinement),
        ("Started", started.time),
        ("Seed", str(started.seed)),
        *(
            ("Vocabulary", (f"{v.id}, {v.tokens:,} ids, ", Span(v.fingerprint[:12], "code")))
            for v in of(events, VocabularyLoaded)
        ),
        ("Took", f"{finished.seconds:.0f} s"),
    ]
    failed = [
        Paragraph(f"{one.implementation} cannot run {one.vocabulary}: {one.message}", "bad")
        for one in of(events, ImplementationFailed)
    ]
    told = [*failed, *made_by(started.command, facts, started.versions)]
    return Section("This measurement", told, "run", page=True)
