"""Speeds: how fast each implementation was beside a base, and how sure that is.

Rounds are interleaved, so the speeds of one round are compared with one another: what disturbs the
machine falls on both. The ratio is the median of the rounds' ratios. Its interval lies between two
of them, by rank: the median of what they were drawn from lies outside with the probability that a
fair coin falls so unevenly, whatever the distribution (Conover, *Practical Nonparametric
Statistics*, 3rd edition, 1999, section 3.2). A bootstrap of the median, tried on implementations
that were equally fast, called one the faster in 5 to 13 % of measurements of 6 to 31 rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb, inf
from statistics import median

from harness.events import Benched, BenchStarted, Event
from harness.events.bench import THREADS
from reports.studies import grouped, of

DOUBT = 0.05
"""The interval misses the true ratio in this share of measurements at the most."""

LEAST_ROUNDS = 6
"""All of five rounds lie on one side of the median once in sixteen times, so that an interval of
95 % takes six."""

MEANINGS = {
    "fresh": "text not seen before, in an encoder that has seen others of its kind",
    "warm": "the same text again",
    "cold": "the first call of a freshly loaded encoder, with everything that it does on first use",
}
"""The kinds of calls, the most telling first: fresh decides the order of rows and the ratios."""

KINDS = tuple(MEANINGS)

MARKS = {
    "": ("", ""),
    "different": (
        "✗",
        "gave other ids than the trusted implementation, so its speed is that of a wrong answer",
    ),
    "by-law": ("≈", "gives other ids by design"),
    "unchecked": ("?", "was not compared with a trusted implementation"),
}
"""By answer, the worst first: the mark beside a name, and what it means."""


@dataclass(frozen=True)
class Speed:
    """MiB/s of one kind of call: in the best round, in the median and in the slowest.

    ratio: to the base at that size, 0 where it was not measured: the median of the rounds' ratios,
    or the best speed over the best where there is no interval. interval: of 95 %; None for fewer
    than ``LEAST_ROUNDS`` common rounds.
    """

    best: float
    median: float
    slowest: float
    ratio: float = 0.0
    interval: tuple[float, float] | None = None

    @property
    def verdict(self) -> str:
        """``ahead``, ``behind``, ``no difference``, or nothing where there were too few rounds."""
        if self.interval is None:
            return ""
        low, high = self.interval
        return "ahead" if low > 1 else "behind" if high < 1 else "no difference"

    @property
    def between(self) -> tuple[float, float]:
        """The interval of the ratio, or else that of the slowest round, and that of the best."""
        return self.interval or (self.ratio * self.slowest / self.best, self.ratio)


NOTHING = Speed(0.0, 0.0, 0.0)
"""The speed of what was not measured."""


def compared(mine: Mapping[int, float], base: Mapping[int, float]) -> Speed:
    """A speed beside that of the base, which may have none; both by the numbers of rounds."""
    speeds = mine.values()
    known = max(speeds), median(speeds), min(speeds)
    ratios = sorted(mine[one] / base[one] for one in mine.keys() & base.keys())
    if (count := len(ratios)) < LEAST_ROUNDS:
        return Speed(*known, known[0] / max(base.values(), default=inf))
    # So many values may lie outside the interval, on each side.
    tails = accumulate(comb(count, outside) for outside in range(count))
    beyond = sum(2 * tail <= DOUBT * 2**count for tail in tails) - 1
    return Speed(*known, median(ratios), (ratios[beyond], ratios[~beyond]))


@dataclass(frozen=True)
class Line:
    """A row of a table. cells, base: its own and those that ratios refer to, by size.

    alone: of several threads, what one thread did at the largest size, if it was measured.
    """

    name: str
    cells: Mapping[int, Benched]
    base: Mapping[int, Benched]
    alone: Benched | None

    @property
    def largest(self) -> Benched:
        """The cell of the largest size."""
        return self.cells[max(self.cells)]

    @property
    def mark(self) -> str:
        """The worst answer of its sizes, a key of :data:`MARKS`; nothing where all are right."""
        answers = {one.answer for one in self.cells.values() if one.timings}
        return next(filter(answers.__contains__, MARKS), "")

    @property
    def marked(self) -> str:
        """The name with its mark, such as ``✗`` for wrong ids."""
        return f"{self.name} {MARKS[self.mark][0]}".rstrip()

    @property
    def gain(self) -> float:
        """How many times as fast several threads are as one, by the medians of fresh text.

        Both by the clock on the wall; 0 where one of them was not measured.
        """
        many = self.largest.speeds("fresh").values()
        one = self.alone.speeds("fresh", waiting=True).values() if self.alone else ()
        return median(many) / median(one) if many and one else 0.0

    def speed(self, at: int, *kinds: str) -> Speed:
        """The speed at a size, of the first of some kinds (of all) that was measured."""
        for kind in kinds or KINDS:
            if at in self.cells and (mine := self.cells[at].speeds(kind)):
                return compared(mine, self.base[at].speeds(kind) if at in self.base else {})
        return NOTHING


@dataclass(frozen=True)
class BenchTable:
    """One kind of text in one mode on one vocabulary; lines by speed at the largest size."""

    started: BenchStarted
    vocabulary: str
    mode: str
    text: str
    base: str
    sizes: list[int]
    lines: list[Line]

    @property
    def tag(self) -> str:
        """How the encoders were called, in a word or two."""
        words = {"text": "pre-tokenized", "raw": "one piece", "batch": "batches"}
        return words.get(self.mode, f"batches on {self.started.threads} threads")

    @property
    def title(self) -> str:
        """``source, text, tekken_240911``."""
        return f"{self.text}, {self.mode}, {self.vocabulary}"


def tables(events: Sequence[Event]) -> Iterator[BenchTable]:
    """The tables of a measurement, in its order."""
    cells = [one for one in of(events, Benched) if one.timings or one.status != "unsupported"]
    known = {(one.vocabulary, one.mode, one.text, one.row, one.size): one for one in cells}
    for place, here in grouped(cells, lambda one: (one.vocabulary, one.mode, one.text)).items():
        vocabulary, mode, text = place
        started = of(events, BenchStarted)[-1]
        rows = {
            name: {one.size: one for one in row}
            for name, row in grouped(here, lambda one: one.row).items()
        }
        measured = {one.row for one in here if one.timings}
        base = next((name for name in started.base.get(mode, ()) if name in measured), "")
        sizes, single = sorted({one.size for one in here}), "batch" if mode == THREADS else ""
        lines = [
            Line(
                name, row, rows.get(base, {}), known.get((vocabulary, single, text, name, max(row)))
            )
            for name, row in rows.items()
        ]
        # By speed at the largest size, and where that is missing at the next.
        lines.sort(key=lambda line: [-line.speed(at).best for at in reversed(sizes)])
        yield BenchTable(started, *place, base, sizes, lines)
