"""The record of a measurement of speed, and the tables that reports make of it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from harness.events import (
    Benched,
    BenchStarted,
    Finished,
    ImplementationFailed,
    VocabularyLoaded,
    VocabularyOpened,
)
from harness.events.timing import THREADS
from reports.bench_ratio import LEAST_ROUNDS, Ratio, paired

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.events import Event

SCHEMA = 1
"""The version of the format of ``bench.json``. It changes with what a reader of the file would
notice."""

KINDS = ("fresh", "warm", "cold")
"""The most telling first: fresh decides the order of rows and the ratios of tables."""

MEANINGS = {
    "fresh": "text not seen before, in an encoder that has seen others of its kind",
    "warm": "the same text again",
    "cold": "the first call of a freshly loaded encoder, with all that it puts off till then",
}


@dataclass
class BenchRecord:
    """All that was measured. Without ``finished`` the measurement was killed."""

    started: BenchStarted | None = None
    vocabularies: list[VocabularyLoaded] = field(default_factory=list)
    failures: list[ImplementationFailed] = field(default_factory=list)
    cells: list[Benched] = field(default_factory=list)
    openings: list[VocabularyOpened] = field(default_factory=list)
    finished: Finished | None = None

    def consume(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case BenchStarted():
                self.started = event
            case VocabularyLoaded():
                self.vocabularies.append(event)
            case ImplementationFailed():
                self.failures.append(event)
            case Benched():
                self.cells.append(event)
            case VocabularyOpened():
                self.openings.append(event)
            case Finished():
                self.finished = event

    @property
    def complete(self) -> bool:
        """Whether it came to its end."""
        return self.finished is not None and self.finished.complete

    def to_json(self) -> str:
        """``bench.json``: every raw point, and what decided it."""
        whole: dict[str, Any] = {"schema": SCHEMA, "complete": self.complete}
        whole |= {
            "started": None if self.started is None else asdict(self.started),
            "vocabularies": [asdict(one) for one in self.vocabularies],
            "failures": [asdict(one) for one in self.failures],
            "cells": [asdict(one) for one in self.cells],
            "openings": [asdict(one) for one in self.openings],
            "finished": None if self.finished is None else asdict(self.finished),
        }
        return json.dumps(whole, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class Speed:
    """MiB/s of one kind: of the least CPU time, of the median, and of the most.

    ratio: to the base: the median of the rounds' ratios, or of the best to the base's best where
    there were too few rounds. paired: how it compares with the base round by round; None of the
    base itself, and where there is none.
    """

    best: float
    median: float
    ratio: float | None
    slowest: float
    paired: Ratio | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A row at a size. speeds: by kind, those that were measured. note: why there is none."""

    size: int
    status: str
    note: str
    speeds: dict[str, Speed]


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table. answer: the worst of its sizes; see :class:`harness.events.Benched`.

    gain: how many times as fast several threads are as one at the largest size, by the medians of
    fresh text, where both were measured.
    """

    name: str
    version: str
    homepage: str
    answer: str
    fields: list[Field]
    gain: float | None = None

    @property
    def mark(self) -> str:
        """``✗`` for wrong ids, ``≈`` for ids that are others by design, ``?`` for unchecked."""
        return {"different": "✗", "by-law": "≈", "unchecked": "?"}.get(self.answer, "")


@dataclass(frozen=True, slots=True)
class BenchTable:
    """One kind of text in one mode on one vocabulary; lines by speed at the largest size."""

    vocabulary: str
    text: str
    about: str
    mode: str
    base: str
    sizes: list[int]
    lines: list[Line]
    document: int = 0
    threads: int = 1

    @property
    def way(self) -> str:
        """How the encoders were called, in a few words."""
        batch = f"pre-tokenized, in batches of texts of {shown_size(self.document)}"
        return {
            "text": "pre-tokenized",
            "raw": "as one piece, without pre-tokenization",
            "batch": batch,
            THREADS: f"{batch}, on {self.threads} threads",
        }[self.mode]

    @property
    def gains(self) -> bool:
        """Whether it is known of anybody what several threads gain."""
        return any(line.gain is not None for line in self.lines)

    @property
    def tag(self) -> str:
        """The same in a word or two."""
        return {"text": "pre-tokenized", "raw": "one piece", "batch": "batches"}.get(
            self.mode, f"batches on {self.threads} threads"
        )

    @property
    def title(self) -> str:
        """``source, text, tekken_240911``."""
        return f"{self.text}, {self.mode}, {self.vocabulary}"

    @property
    def notes(self) -> list[str]:
        """Why fields are empty, one sentence for all of a reason."""
        who: dict[str, list[str]] = {}
        for line in self.lines:
            for one in line.fields:
                if one.note and not one.speeds:
                    names = who.setdefault(one.note, [])
                    if line.name not in names:
                        names.append(line.name)
        return [f"{', '.join(names)}: {note}" for note, names in who.items()]


def shown_size(size: int) -> str:
    """``64 KiB``, ``1 MiB``, ``1,000 B``."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power:
            return f"{size / (1 << power):g} {unit}"
    return f"{size:,} B"


def shown_speed(speed: float) -> str:
    """As many digits as tell speeds apart: ``0.31``, ``4.20``, ``41.3``, ``1,066``."""
    if speed >= 99.5:
        return f"{speed:,.0f}"
    return f"{speed:.1f}" if speed >= 9.95 else f"{speed:.2f}"


def shown_ratio(ratio: float | None) -> str:
    """``1.00``, ``23.4``, nothing where there is no base."""
    return "" if ratio is None else shown_speed(ratio)


def tables(record: BenchRecord) -> list[BenchTable]:
    """The tables of a record, in the order of measuring."""
    if record.started is None:
        return []
    places = dict.fromkeys((c.vocabulary, c.mode, c.text) for c in record.cells)
    return [_table(record, record.started, *place) for place in places]


def _table(
    record: BenchRecord, started: BenchStarted, vocabulary: str, mode: str, text: str
) -> BenchTable:
    here = [c for c in record.cells if (c.vocabulary, c.mode, c.text) == (vocabulary, mode, text)]
    here = [c for c in here if c.status != "unsupported" or c.timings]
    measured = {c.row for c in here if c.timings}
    base = next((name for name in started.base.get(mode, []) if name in measured), "")
    rows = dict.fromkeys(c.row for c in here)
    bases = {c.size: c for c in here if c.row == base}
    lines = []
    for row in rows:
        cells = sorted((c for c in here if c.row == row), key=lambda c: c.size)
        fields = [_field(c, bases.get(c.size)) for c in cells]
        name = cells[0].implementation
        answers = {c.answer for c in cells if c.timings}
        worst = next((a for a in ("different", "by-law", "unchecked") if a in answers), "equal")
        version = started.versions.get(name, "")
        gain = _gain(record, cells[-1]) if mode == THREADS else None
        lines.append(Line(row, version, started.homepages.get(name, ""), worst, fields, gain))
    lines.sort(key=_speeds_from_the_largest, reverse=True)
    about = started.texts.get(text, "")
    sizes = sorted({c.size for c in here})
    document, threads = started.document, started.threads
    return BenchTable(vocabulary, text, about, mode, base, sizes, lines, document, threads)


def _gain(record: BenchRecord, several: Benched) -> float | None:
    """The speed of several threads over that of one, both by the clock on the wall."""
    place = (several.vocabulary, several.text, several.row, several.size)
    for one in record.cells:
        if (one.vocabulary, one.text, one.row, one.size) == place and one.mode == "batch":
            alone, together = one.speeds("fresh", waiting=True), several.speeds("fresh")
            if alone and together:
                return median(together.values()) / median(alone.values())
    return None


def _field(cell: Benched, base: Benched | None) -> Field:
    """The speeds of a cell, beside those of the base at that size."""
    speeds = {}
    for kind in KINDS:
        found = cell.speeds(kind)
        if found:
            others = {} if base is None else base.speeds(kind)
            best, reference = max(found.values()), max(others.values(), default=0.0)
            sure = paired(found, others) if cell is not base else None
            ratio = best / reference if reference else None
            if sure is not None and sure.verdict:
                ratio = sure.median
            speeds[kind] = Speed(best, median(found.values()), ratio, min(found.values()), sure)
    return Field(cell.size, cell.status, cell.note, speeds)


def _speeds_from_the_largest(line: Line) -> list[float]:
    """Fresh speeds from the largest size down, by which lines are sorted."""
    return [
        next((one.speeds[k].best for k in KINDS if k in one.speeds), -math.inf)
        for one in reversed(line.fields)
    ]


def shown_interval(ratio: Ratio | None) -> str:
    """``8.9 to 9.6``, nothing where there is no interval."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return ""
    return f"{shown_speed(ratio.low)} to {shown_speed(ratio.high)}"


def caption(table: BenchTable) -> str:
    """What was timed, in a few sentences."""
    several = table.mode == THREADS
    clock = "by the clock on the wall" if several else "of CPU time, one thread"
    batches = "batch" in table.way
    way = (
        "own call for many texts, or one text after another where it has none,"
        if batches
        else ("fastest documented way from its own kind of input to ids,")
    )
    return (
        f"MiB of input a second {clock}, {table.way}, on {table.about}: each library's {way} the "
        f"best of all rounds. Ratios are to {table.base or 'nothing, as no base was measured'}: "
        "the median of the rounds' ratios, with its interval of 95 %, or of the best rounds where "
        f"there were fewer than {LEAST_ROUNDS}."
    )


def legend(lines: Sequence[Line]) -> list[str]:
    """What the marks beside names mean, those that occur."""
    words = {
        "✗": "gave other ids than the trusted implementation: its speed is that of a wrong answer",
        "≈": "gives other ids by design",
        "?": "was not compared with a trusted implementation",
    }
    marks = dict.fromkeys(line.mark for line in lines if line.mark)
    return [f"{mark} {words[mark]}" for mark in marks]


def record_of(events: Iterable[Event]) -> BenchRecord:
    """The record of a stream of events."""
    record = BenchRecord()
    for event in events:
        record.consume(event)
    return record
