"""Gauges whose costs are formulas: what a search finds must be what was planted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.studies.worst.gauge import Reading

A_BYTE = 100
"""Nanoseconds of an ordinary byte."""

Cost = Callable[[bytes], float]


@dataclass
class Planted:
    """time, memory: the cost of an input. dies: the message where it gives no answer.

    noise: the share by which times are too long, by a law with a heavy tail.
    """

    time: Cost = lambda data: A_BYTE * len(data)
    memory: Cost = lambda data: 10 * len(data)
    dies: Callable[[bytes], Status | None] = lambda data: None
    noise: float = 0.0
    seen: list[int] = field(default_factory=list)
    over: str = ""

    def __post_init__(self) -> None:
        self._rng = random.Random(0)

    def read(self, inputs: Sequence[bytes], meter: Meter) -> list[Reading]:
        return [self._one(data, meter) for data in inputs]

    def _one(self, data: bytes, meter: Meter) -> Reading:
        self.seen.append(len(data))
        status = self.dies(data)
        if status is not None:
            return Reading(status, 0, f"{status.label} as planted")
        if meter is Meter.MEMORY:
            return Reading(Status.ENCODED, int(self.memory(data)))
        late = 1 + self.noise * self._rng.paretovariate(1.5) if self.noise else 1.0
        return Reading(Status.ENCODED, int(self.time(data) * late))


def runs(byte: bytes) -> Cost:
    """Quadratic in the length of each run of one byte."""
    found = re.compile(re.escape(byte) + b"+")
    return lambda data: (
        A_BYTE * len(data)
        + sum((end - start) ** 2 for start, end in (m.span() for m in found.finditer(data)))
    )


def many(part: bytes) -> Cost:
    """Quadratic in how often a part occurs, wherever it stands."""
    return lambda data: A_BYTE * len(data) + data.count(part) ** 2
