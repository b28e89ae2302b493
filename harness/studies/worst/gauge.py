"""What the search asks of an implementation: the cost of inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.studies.worst.state import Death
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from harness.core.countdown import Countdown
    from harness.engine.costs import Loaded
    from harness.studies.worst.state import Candidate

T = TypeVar("T")

DEATHS = frozenset(
    {Status.ERRORED, Status.CRASHED, Status.TIMED_OUT, Status.OUT_OF_MEMORY, Status.PROTOCOL}
)
"""Ways to give no answer that are results of a search."""

SLOWEST = 3e9
"""Nanoseconds of work in a request, as far as it can be foretold: beyond, an input is not asked,
and inputs are not asked together. Well within the limit of a request on a busy machine."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one input cost, in nanoseconds, bytes of peak memory or steps; or how it failed.

    counts: by place in the source, of a reading of lines.
    """

    status: Status
    cost: int = 0
    message: str = ""
    counts: tuple[int, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether there was an encoding."""
        return self.status is Status.ENCODED

    @property
    def died(self) -> bool:
        """Whether there was no answer, through the implementation's own fault."""
        return self.status in DEATHS


class Gauge:
    """Measures inputs on a loaded implementation. readings: how many so far.

    phase: when it is over, no further input is asked; that of the whole search ends a request that
    is on (:meth:`harness.workers.pool.WorkerPool.limit_by`).
    """

    def __init__(self, on: Loaded, phase: Countdown) -> None:
        self.on, self.phase = on, phase
        self.readings = 0

    @property
    def over(self) -> str:
        """Why the worker is withdrawn; empty while it answers."""
        return self.on.pool.withdrawn().get(self.on.participant.name, "")

    @property
    def able(self) -> bool:
        """Whether there is time left, and somebody to ask."""
        return not self.phase.over and not self.over

    def read(self, inputs: Sequence[bytes], meter: Meter = Meter.TIME) -> list[Reading]:
        """One reading an input, in order. Raises OutOfTime, and Stopped."""
        if not inputs:
            return []
        if self.phase.over:
            raise OutOfTime
        results = self.on.gauge(inputs, meter)
        if results.costs is None and len(inputs) > 1:
            # A death takes its neighbours' answers; and who is late may have been short of their
            # time. Each by itself, then.
            return [reading for data in inputs for reading in self.read([data], meter)]
        self.readings += len(inputs)
        statuses, rows = [Status(one) for one in results.status.tolist()], [[0]]
        if results.costs is not None:
            rows = results.costs.tolist()
        elif statuses == [Status.ENCODED]:
            return [Reading(Status.PROTOCOL, 0, "gave no costs")]
        return [
            Reading(status, row[0], results.messages.get(index, ""), tuple(row[1:]))
            for index, (status, row) in enumerate(zip(statuses, rows, strict=True))
        ]

    def measure(
        self, asked: Sequence[tuple[Candidate, int]], meter: Meter = Meter.TIME
    ) -> list[Death]:
        """Measure each candidate at a size, on an input that it was not measured on before.

        Raises OutOfTime.
        """
        died = []
        for part in portions(asked, lambda pair: pair[0].foretold(pair[1])):
            inputs = [one.pattern.make(size, one.looks(size)) for one, size in part]
            readings = self.read(inputs, meter)
            for (one, size), data, reading in zip(part, inputs, readings, strict=True):
                if reading.died:
                    status, message = reading.status, reading.message
                    died.append(Death(one.pattern, len(data), size, status, message))
                elif reading.answered and meter is Meter.TIME:
                    one.take(size, len(data), reading.cost)
                elif reading.answered and (known := one.at(size)) is not None:
                    known.memory = min(reading.cost, known.memory or reading.cost)
        return died


def portions(items: Iterable[T], foretold: Callable[[T], float]) -> Iterator[list[T]]:
    """The items in requests that take no longer than :data:`SLOWEST`, or are of one item."""
    part: list[T] = []
    spent = 0.0
    for item in items:
        needed = foretold(item)
        if part and spent + needed > SLOWEST:
            yield part
            part, spent = [], 0.0
        part.append(item)
        spent += needed
    if part:
        yield part
