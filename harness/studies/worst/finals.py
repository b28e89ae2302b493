"""The finals: what was found and what is listed, measured side by side.

Every round takes all of them in turn, on fresh inputs of one size, so that a disturbance falls on
all alike; of each the least time counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.studies.worst.gauge import OUT_OF_TIME, SLOWEST, foretold, portions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.studies.worst.gauge import Gauge, Reading

HEATS = 2
"""Rounds at a small size after which most of the listed families are out."""

STAY = 5
"""Listed families that stay: the worst at a small size is among the worst at a large one."""

LEAST_ROUNDS, MOST_ROUNDS = 4, 16
"""The rounds of the comparison at one size. Four are made even where its share of the time is up,
though not where the whole time is."""

LEAST_GROWTH_ROUNDS, MOST_GROWTH_ROUNDS = 2, 6
"""The rounds of the sizes from which growth is judged, which hold some eight times as many
bytes."""

DOUBLINGS = 7
"""Sizes of the points from which growth is judged, each twice the one before: a range of 64."""


@dataclass(slots=True)
class Entrant:
    """One that takes part. make: the input of a size and a variant. least: nanoseconds by size."""

    name: str
    make: Callable[[int, int], bytes]
    listed: bool
    least: dict[int, int] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)
    failure: Reading | None = None

    def a_byte(self, size: int) -> float | None:
        """Nanoseconds a byte at a size, None where it was not measured."""
        if size not in self.least:
            return None
        return self.least[size] / max(1, self.lengths[size])

    def foretold(self, size: int) -> float:
        """Nanoseconds that a size may take: its own, or if they grow quadratically from smaller
        sizes on; 0 where nothing is known."""
        return foretold(self.least, size)


class Finals:
    """Measures entrants with one gauge. The rounds go on where they were, so that inputs are
    fresh.

    compared, grown: whole rounds of the comparison at one size, and of the sizes for growth.
    """

    def __init__(self, gauge: Gauge, entrants: Sequence[Entrant]) -> None:
        self.entrants = list(entrants)
        self._gauge = gauge
        self._round = 0
        self.compared = self.grown = 0

    def heats(self, size: int) -> None:
        """Send home the listed families that are not among the worst."""
        for _ in range(HEATS):
            self._pass([(one, size) for one in self.entrants])
        listed = sorted(
            (one for one in self.entrants if one.listed), key=lambda one: -(one.a_byte(size) or 0)
        )
        out = {id(one) for one in listed[STAY:]}
        self.entrants = [one for one in self.entrants if id(one) not in out]

    def compare(self, size: int, more: Callable[[], bool]) -> None:
        """Rounds of all at one size."""
        for number in range(MOST_ROUNDS):
            if number >= LEAST_ROUNDS and not more():
                break
            if not self._pass([(one, size) for one in self.entrants]):
                return
            self.compared += 1

    def grow(self, size: int, more: Callable[[], bool]) -> None:
        """Rounds of all at sizes up to ``size``."""
        sizes = sorted(size >> i for i in range(DOUBLINGS))
        for number in range(MOST_GROWTH_ROUNDS):
            if number >= LEAST_GROWTH_ROUNDS and not more():
                break
            for one_size in sizes:
                if not self._pass([(one, one_size) for one in self.entrants]):
                    return
            self.grown += 1

    def _pass(self, asked: Sequence[tuple[Entrant, int]]) -> bool:
        """One round; whether there was time for all of it."""
        self._round += 1
        alive = [
            (one, size)
            for one, size in asked
            if one.failure is None and one.foretold(size) <= SLOWEST
        ]
        for part in portions(alive, lambda pair: pair[0].foretold(pair[1])):
            inputs = [one.make(size, self._round) for one, size in part]
            readings = self._gauge.read(inputs, Meter.TIME)
            if OUT_OF_TIME in readings:
                return False
            for (one, size), data, reading in zip(part, inputs, readings, strict=True):
                if reading.died and len(part) > 1:
                    # It may have been short of the time that others took: by itself, then.
                    reading = self._gauge.read([data], Meter.TIME)[0]
                if reading == OUT_OF_TIME:
                    return False
                if reading.answered:
                    one.least[size] = min(one.least.get(size, reading.cost), reading.cost)
                    one.lengths[size] = len(data)
                else:
                    one.failure = reading
        return True
