"""Speeds: how fast each implementation was beside a base, and how sure that is.

Rounds are interleaved, so the speeds of one round are compared with one another: what disturbs the
machine falls on both. The ratio is the median of the rounds' ratios. Its interval lies between two
of them, by rank: the median of what they were drawn from lies outside with the probability that a
fair coin falls so unevenly, whatever the distribution (Conover, *Practical Nonparametric
Statistics*, 3rd edition, 1999, section 3.2). A bootstrap of the median, tried on implementations
that were equally fast, called one the faster in 5 to 13 % of measurements of 6 to 31 rounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

from harness.events import Benched, BenchStarted, Event
from harness.events.bench import THREADS
from reports.studies import grouped, last, of

DOUBT = 0.05
"""The interval misses the true ratio in this share of measurements at the most."""

LEAST_ROUNDS = 6
"""All of five rounds lie on one side of the median once in sixteen times, so that an interval of
95 % takes six."""

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


@dataclass(frozen=True, slots=True)
class Ratio:
    """Speed over speed. interval: of 95 %; None for fewer than ``LEAST_ROUNDS`` common rounds.

    value: the median of the rounds' ratios, or the best speed over the best where there is no
    interval.
    """

    value: float
    interval: tuple[float, float] | None = None

    @property
    def verdict(self) -> str:
        """``ahead``, ``behind``, ``no difference``, or nothing where there were too few rounds."""
        if self.interval is None:
            return ""
        low, high = self.interval
        return "ahead" if low > 1 else "behind" if high < 1 else "no difference"


def compared(mine: Mapping[int, float], others: Mapping[int, float]) -> Ratio:
    """Compare speeds, by the numbers of their rounds; neither may be empty."""
    ratios = sorted(mine[one] / others[one] for one in mine.keys() & others.keys())
    count = len(ratios)
    if count < LEAST_ROUNDS:
        return Ratio(max(mine.values()) / max(others.values()))
    # So many values may lie outside the interval, on each side.
    beyond, chance = 0, 2.0 / 2**count
    while (chance := chance + 2.0 * comb(count, beyond + 1) / 2**count) <= DOUBT:
        beyond += 1
    return Ratio(median(ratios), (ratios[beyond], ratios[count - 1 - beyond]))


@dataclass(frozen=True, slots=True)
class Speed:
    """MiB/s of one kind of call: in the best round, in the median and in the slowest.

    ratio: to the base at that size, if it was measured.
    """

    best: float
    median: float
    slowest: float
    ratio: Ratio | None


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table. cells: by size. speeds: by size and kind, those that were measured.

    gain: how many times as fast several threads are as one at the largest size, by the medians of
    fresh text, where both were measured.
    """

    name: str
    homepage: str
    cells: Mapping[int, Benched]
    speeds: Mapping[tuple[int, str], Speed]
    gain: float | None

    @property
    def answer(self) -> str:
        """The worst of its sizes; see :class:`harness.events.Benched`."""
        answers = {one.answer for one in self.cells.values() if one.timings}
        return next(filter(answers.__contains__, MARKS), "equal")

    @property
    def mark(self) -> str:
        """``✗`` for wrong ids, ``≈`` for ids that are others by design, ``?`` for unchecked."""
        return MARKS.get(self.answer, ("",))[0]

    @property
    def marked(self) -> str:
        """The name with its mark."""
        return f"{self.name} {self.mark}".rstrip()

    def leading(self, at: int) -> Speed | None:
        """The speed of the most telling kind that was measured at a size."""
        return next((self.speeds[at, kind] for kind in KINDS if (at, kind) in self.speeds), None)


@dataclass(frozen=True, slots=True)
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
    def gains(self) -> bool:
        """Whether it is known of anybody what several threads gain."""
        return any(line.gain is not None for line in self.lines)

    @property
    def title(self) -> str:
        """``source, text, tekken_240911``."""
        return f"{self.text}, {self.mode}, {self.vocabulary}"


def tables(events: Sequence[Event]) -> list[BenchTable]:
    """The tables of a measurement, in its order; none where its beginning is missing."""
    started = last(events, BenchStarted)
    cells = [one for one in of(events, Benched) if one.timings or one.status != "unsupported"]
    alone = {
        (one.vocabulary, one.text, one.row, one.size): one for one in cells if one.mode == "batch"
    }
    made: list[BenchTable] = []
    if started is None:
        return made
    places = grouped(cells, lambda one: (one.vocabulary, one.mode, one.text))
    for (vocabulary, mode, text), here in places.items():
        rows = {
            name: {one.size: one for one in row}
            for name, row in grouped(here, lambda one: one.row).items()
        }
        measured = {one.row for one in here if one.timings}
        base = next((name for name in started.base.get(mode, []) if name in measured), "")
        lines = []
        for name, row in rows.items():
            largest = row[max(row)]
            homepage = started.homepages.get(largest.implementation, "")
            one = alone.get((vocabulary, text, name, largest.size))
            gain = None
            if mode == THREADS and one:  # both by the clock on the wall
                together = largest.speeds("fresh").values()
                single = one.speeds("fresh", waiting=True).values()
                gain = median(together) / median(single) if single and together else None
            lines.append(Line(name, homepage, row, _speeds(row, rows.get(base, {})), gain))
        sizes = sorted({one.size for one in here})
        # By speed at the largest size, and where that is missing at the next.
        lines.sort(
            key=lambda line: [
                -speed.best if (speed := line.leading(at)) else math.inf for at in reversed(sizes)
            ]
        )
        made.append(BenchTable(started, vocabulary, mode, text, base, sizes, lines))
    return made


def _speeds(
    row: Mapping[int, Benched], base: Mapping[int, Benched]
) -> dict[tuple[int, str], Speed]:
    """The speeds of a row, each beside that of the base at its size."""
    made = {}
    for at, cell in row.items():
        for kind in KINDS:
            if found := cell.speeds(kind):
                others = base[at].speeds(kind) if at in base else {}
                ratio = compared(found, others) if others else None
                speeds = found.values()
                made[at, kind] = Speed(max(speeds), median(speeds), min(speeds), ratio)
    return made
