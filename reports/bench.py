"""The record of a measurement of speed, and its tables; :mod:`reports.bench_page` shows them."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from harness.events import (
    Benched,
    BenchStarted,
    Finished,
    ImplementationFailed,
    VocabularyLoaded,
    VocabularyOpened,
)
from harness.events.timing import THREADS
from reports.bench_ratio import Ratio, paired

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.events import Event

SCHEMA = 1
"""The version of the format of ``bench.json``. It changes with what a reader of the file would
notice."""

MEANINGS = {
    "fresh": "text not seen before, in an encoder that has seen others of its kind",
    "warm": "the same text again",
    "cold": "the first call of a freshly loaded encoder, with all that it puts off till then",
}
"""The kinds of calls, the most telling first: fresh decides the order of rows and the ratios."""

KINDS = tuple(MEANINGS)

MARKS = {
    "different": (
        "✗",
        "gave other ids than the trusted implementation: its speed is that of a wrong answer",
    ),
    "by-law": ("≈", "gives other ids by design"),
    "unchecked": ("?", "was not compared with a trusted implementation"),
}
"""By answer, the worst first: the mark beside a name, and what it means."""


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
        whole = {"schema": SCHEMA, "complete": self.complete, **asdict(self)}
        return json.dumps(whole, indent=1) + "\n"


def record_of(events: Iterable[Event]) -> BenchRecord:
    """The record of a stream of events."""
    record = BenchRecord()
    for event in events:
        record.consume(event)
    return record


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

    @property
    def sure(self) -> Ratio | None:
        """The comparison with the base, where there were rounds enough for its interval."""
        return self.paired if self.paired is not None and self.paired.verdict else None


@dataclass(frozen=True, slots=True)
class Field:
    """A row at a size. speeds: by kind, those that were measured. note: why there is none."""

    size: int
    status: str
    note: str
    speeds: dict[str, Speed]

    @property
    def leading(self) -> Speed | None:
        """The speed of the most telling kind that was measured."""
        return next((self.speeds[kind] for kind in KINDS if kind in self.speeds), None)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table. answer: the worst of its sizes; see :class:`harness.events.Benched`.

    gain: how many times as fast several threads are as one at the largest size, by the medians of
    fresh text, where both were measured.
    """

    name: str
    homepage: str
    answer: str
    fields: list[Field]
    gain: float | None = None

    @property
    def mark(self) -> str:
        """``✗`` for wrong ids, ``≈`` for ids that are others by design, ``?`` for unchecked."""
        return MARKS[self.answer][0] if self.answer in MARKS else ""

    @property
    def marked(self) -> str:
        """The name with its mark."""
        return f"{self.name} {self.mark}".rstrip()


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
    def batches(self) -> str:
        """How many threads encode batches of texts; empty where none do."""
        return {"batch": "batches", THREADS: f"batches on {self.threads} threads"}.get(
            self.mode, ""
        )

    @property
    def tag(self) -> str:
        """How the encoders were called, in a word or two."""
        return self.batches or {"text": "pre-tokenized", "raw": "one piece"}[self.mode]

    @property
    def gains(self) -> bool:
        """Whether it is known of anybody what several threads gain."""
        return any(line.gain is not None for line in self.lines)

    @property
    def title(self) -> str:
        """``source, text, tekken_240911``."""
        return f"{self.text}, {self.mode}, {self.vocabulary}"

    @property
    def notes(self) -> list[str]:
        """Why fields are empty, one sentence for all of a reason; what the marks mean."""
        who: dict[str, dict[str, None]] = {}
        for line in self.lines:
            for one in line.fields:
                if one.note and not one.speeds:
                    who.setdefault(one.note, {})[line.name] = None
        answers = dict.fromkeys(line.answer for line in self.lines)
        return [f"{', '.join(names)}: {note}" for note, names in who.items()] + [
            " ".join(MARKS[answer]) for answer in answers if answer in MARKS
        ]


def tables(record: BenchRecord) -> list[BenchTable]:
    """The tables of a record, in the order of measuring."""
    if record.started is None:
        return []
    places = dict.fromkeys((c.vocabulary, c.mode, c.text) for c in record.cells)
    return [_table(record, record.started, *place) for place in places]


def _table(
    record: BenchRecord, started: BenchStarted, vocabulary: str, mode: str, text: str
) -> BenchTable:
    here = [
        c
        for c in record.cells
        if (c.vocabulary, c.mode, c.text) == (vocabulary, mode, text)
        and (c.status != "unsupported" or c.timings)
    ]
    measured = {c.row for c in here if c.timings}
    base = next((name for name in started.base.get(mode, []) if name in measured), "")
    bases = {c.size: c for c in here if c.row == base}
    lines = []
    for row in dict.fromkeys(c.row for c in here):
        cells = sorted((c for c in here if c.row == row), key=lambda c: c.size)
        answers = {c.answer for c in cells if c.timings}
        worst = next((answer for answer in MARKS if answer in answers), "equal")
        homepage = started.homepages.get(cells[0].implementation, "")
        gain = _gain(record, cells[-1]) if mode == THREADS else None
        fields = [_field(c, bases.get(c.size)) for c in cells]
        lines.append(Line(row, homepage, worst, fields, gain))
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
    """Speeds from the largest size down, by which lines are sorted."""
    return [one.leading.best if one.leading else -math.inf for one in reversed(line.fields)]
