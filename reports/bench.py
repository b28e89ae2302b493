"""A measurement of speed: ``bench.json``, and ``bench.html`` with tables and plots."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
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
    "code": "importing the library, or our modules and the loading of a toy",
    "cold": "from the file to the ids of a first text, no tables of ours on disk, all compiled",
    "warm": "the same with the tables that the cold one left (libraries keep none)",
    "before": "resident memory of the process before it read the file",
    "vocabulary": "what it has more once it has encoded the first text",
    "own": "of that, what is mapped from no file; the rest, as our tables on disk, is memory that "
    "processes share",
    "text": "what it has more once it has encoded the whole text, a cache of pieces for one",
}
"""The columns of what opening a vocabulary takes: the first three in seconds, the others in MiB."""

MOST_SIZES = 4
"""Sizes that a terminal has room for, the largest; a page has all."""

TONES = {"fresh": 0, "warm": 1, "cold": 4}
"""The colour of each kind of call."""

HOW = (
    "Each implementation in a process of its own, with one thread where nothing else is said; "
    "rounds take all of them in turn. The clock is the CPU time of the process, and that on the "
    "wall for several threads; it is read inside the process around the encoding calls and nothing "
    "else."
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
    made, openings = tables(events), of(events, VocabularyOpened)
    names = sorted({line.name for table in made for line in table.lines})
    colours = {name: place for place, name in enumerate(names)}  # the same in each plot
    cut_off = "Interrupted: what had been measured by then." * (not complete(events))
    fastest = leader(made) if made or not openings else None
    blocks = [
        Banner("How fast tokenizers encode", fastest, stamp=cut_off),
        Paragraph(HOW, "intro", page=True),
        Facts(list(MEANINGS.items()), "kinds"),
        *(_section(number, table, colours) for number, table in enumerate(made)),
        *opening_sections(openings),
        _measurement(events),
    ]
    return Page("tokgate: speed", "speed", blocks, skip="tables")


def leader(made: Sequence[BenchTable]) -> str:
    """Who is the fastest in the first table, of those whose answers are right, in a sentence."""
    for table in made:
        for line in table.lines:
            speed = line.speeds.get((table.sizes[-1], "fresh"))
            if speed is not None and line.answer == "equal":
                ratio = speed.ratio if line.name != table.base else None
                times = f", {rate(ratio.value)} times {table.base}" if ratio else ""
                where = f"{table.text} ({size(table.sizes[-1])}, {table.vocabulary})"
                return f"Fastest on {where}: {line.name} with {rate(speed.best)} MiB/s{times}."
    return "No implementation with the right answers was measured."


def _section(number: int, table: BenchTable, colours: Mapping[str, int]) -> Section:
    unmeasured = grouped(
        (
            (cell.note, line.name)
            for line in table.lines
            for cell in line.cells.values()
            if cell.note and not cell.timings
        ),
        lambda one: one[0],
    )
    notes = [
        f"{', '.join(dict.fromkeys(name for _, name in of))}: {note}"
        for note, of in unmeasured.items()
    ]
    answers = dict.fromkeys(line.answer for line in table.lines if line.mark)
    blocks = [
        Paragraph(_caption(table), "quiet"),
        Group(list(_figures(table, colours)), "figures"),
        _grid(table),
        Items([*notes, *(" ".join(MARKS[answer]) for answer in answers)], "remarks"),
    ]
    tags, nav = (table.tag, table.vocabulary), f"{table.text}, {table.mode}"
    return Section(table.text, blocks, f"table-{number}", tags, nav=nav)


def _caption(table: BenchTable) -> str:
    """What was timed, in a few sentences."""
    clock = "by the clock on the wall" if table.mode == THREADS else "of CPU time, one thread"
    way, call = "pre-tokenized", "fastest documented way from its own kind of input to ids"
    if table.mode == "raw":
        way = "as one piece, without pre-tokenization"
    elif table.mode != "text":
        way += f", in {table.tag}, of texts of {size(table.started.document)}"
        call = "own call for many texts, or one text after another where it has none"
    return (
        f"MiB of input a second {clock}, {way}, on {table.started.texts.get(table.text, '')}: each "
        f"library's {call}, the best of all rounds. Ratios are to "
        f"{table.base or 'nothing, as no base was measured'}: "
        "the median of the rounds' ratios, with its interval of 95 %, or of the best rounds where "
        f"there were fewer than {LEAST_ROUNDS}."
    )


def _grid(table: BenchTable) -> Table:
    """Speeds with their ratios. A terminal shows those of fresh text, of the largest sizes."""
    largest, base = table.sizes[-1], table.base
    shown = [(at, k) for at in table.sizes for k in (KINDS if at == largest else KINDS[:2])]
    columns = [Column("Implementation")]
    for at, kind in shown:
        fresh, group = kind == "fresh", size(at)
        # A terminal is too narrow for what threads gain beside other kinds.
        seen = at in table.sizes[-MOST_SIZES:] and (fresh or (at == largest and not table.gains))
        columns.append(Column(kind, True, group, page=not seen))
        columns.append(Column("×", True, group, page=not (seen and fresh)))
    columns += [Column("× one thread", True)] * table.gains
    rows = []
    for line in table.lines:
        look = "bad" if line.answer == "different" else "quiet"
        row: Cells = [(Span(line.name, href=line.homepage), Span(f" {line.mark}".rstrip(), look))]
        for at, kind in shown:
            row += _speed(line, at, kind, own=line.name == base, page=at != largest)
        row += [rate(line.gain)] * table.gains
        rows.append(Row(row, "base-row" * (line.name == base)))
    times = f", and times as fast as {base}" if base else ""
    caption = f"MiB/s, best of all rounds (median of them){times}"
    return Table(f"Speed on {table.title}", columns, rows, caption, "speeds")


def _speed(line: Line, at: int, kind: str, *, own: bool, page: bool) -> tuple[Cell, Cell]:
    """A speed and its ratio. own: of the base. page: the interval is for a page alone."""
    speed, cell = line.speeds.get((at, kind)), line.cells.get(at)
    if speed is None:
        said = cell is not None and kind == "fresh" and cell.status not in {"skipped", "measured"}
        word = cell.status if cell and said else "–"
        return Cell(word, "quiet", hint=cell.note if cell else ""), Cell()
    typical = Span(f" ({rate(speed.median)})", "quiet", page=True) if kind != "cold" else None
    told = Cell((Span(rate(speed.best), "strong"), typical))
    if (ratio := speed.ratio) is None:
        return told, Cell(style="under")
    between = None
    if ratio.interval and not own:
        words = f" {' to '.join(map(rate, ratio.interval))}, {ratio.verdict}"
        between = Span(words, "count", page=page)
    return told, Cell((rate(ratio.value), between), "by" if ratio.value > 1 else "under")


def _figures(table: BenchTable, colours: Mapping[str, int]) -> Iterator[Figure]:
    if plot := by_size(table, colours):
        base = f"; the thick line is {table.base}" if table.base else ""
        caption = f"MiB/s of fresh text by size: the best round, and down to the slowest{base}"
        yield Figure(caption, [plot])
    if plot := ratios(table):
        yield Figure(
            f"Times as fast as {table.base} at {size(table.sizes[-1])}: fresh, warm, cold; "
            "the line through a dot is the interval of 95 %, or goes from the slowest round to the "
            "best where there were few rounds",
            [plot],
        )


def by_size(table: BenchTable, colours: Mapping[str, int]) -> Plot | None:
    """MiB/s of fresh text by size, both logarithmic; None where there is nothing.

    A line goes through the best rounds; below each point it is drawn down to the slowest one.
    """
    series = []
    for line in table.lines:
        known = [(float(at), one) for at in table.sizes if (one := line.leading(at))]
        place, points = colours.get(line.name, 0), [(x, speed.best) for x, speed in known]
        spread = [(x, speed.slowest, speed.best) for x, speed in known]
        dash, wide = line.answer == "different", line.name == table.base
        made = Series(line.marked, points, place, dash=dash, wide=wide, spread=spread)
        series += [made] * bool(known)
    if not series or len(table.sizes) < 2:  # one size is one column of dots: ratios say more
        return None
    return Plot(f"Speed by size on {table.title}", SIZES, Axis("speed", "", 10), series, height=340)


def ratios(table: BenchTable) -> Plot | None:
    """Ratios to the base at the largest size, fresh, warm and cold, with what is sure of each."""
    at, series = table.sizes[-1], []
    rows = [line for line in table.lines if (one := line.leading(at)) and one.ratio is not None]
    for kind in KINDS:
        points, spread = [], []
        for place, line in enumerate(rows):
            speed = line.speeds.get((at, kind))
            if speed is not None and (ratio := speed.ratio) is not None:
                points.append((float(place), ratio.value))
                slowest = ratio.value * speed.slowest / speed.best
                spread.append((float(place), *(ratio.interval or (slowest, ratio.value))))
        series += [Series(kind, points, TONES[kind], "dots", spread=spread)] * bool(points)
    places, times = Axis("place", names=[line.marked for line in rows]), Axis("ratio", "", 10)
    label = f"Ratios to {table.base} on {table.title}"
    return Plot(label, places, times, series, rule=1.0, height=340) if series else None


def opening_sections(openings: Sequence[VocabularyOpened]) -> Iterator[Section]:
    """What opening each vocabulary takes, from the quickest implementation down."""
    by_vocabulary = grouped(openings, lambda one: one.vocabulary)
    for number, (vocabulary, here) in enumerate(by_vocabulary.items()):
        rounds = max(len(one.openings) for one in here) // 2
        caption = (
            f"Seconds of CPU time, the least of {rounds} rounds, and MiB of resident memory, the "
            "median of the warm ones, each in a process of its own that did nothing else. The "
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
