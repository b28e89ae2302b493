"""What the search asks of an implementation: the cost of inputs. Live, by a worker; or planted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.workers.pool import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from harness.core.countdown import Countdown
    from harness.core.outcomes import Results
    from harness.engine.costs import Loaded

T = TypeVar("T")

DEATHS = frozenset(
    {Status.ERRORED, Status.CRASHED, Status.TIMED_OUT, Status.OUT_OF_MEMORY, Status.PROTOCOL}
)
"""Ways to give no answer that are results of a search."""


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


SLOWEST = 3e9
"""Nanoseconds of work in a request, as far as it can be foretold: beyond, an input is not asked,
and inputs are not asked together. Well within the limit of a request on a busy machine."""


def foretold(least: Mapping[int, int], size: int) -> float:
    """Nanoseconds that a size may take: its own, or if they grow quadratically from smaller sizes
    on; 0 where nothing is known."""
    known = [one for one in least if one <= size]
    return least[max(known)] * (size / max(known)) ** 2 if known else 0.0


def portions(items: Iterable[T], foretold: Callable[[T], float]) -> Iterator[list[T]]:
    """The items in requests that take no longer than :data:`SLOWEST`, or are of one item."""
    part: list[T] = []
    room = SLOWEST
    for item in items:
        needed = foretold(item)
        if part and needed > room:
            yield part
            part, room = [], SLOWEST
        part.append(item)
        room -= needed
    if part:
        yield part


class Gauge(Protocol):
    """Measures inputs, each one once; every input gets a reading, whatever happens."""

    def read(self, inputs: Sequence[bytes], meter: Meter) -> list[Reading]:
        """One reading an input, in order."""
        ...

    @property
    def over(self) -> str:
        """Why nothing can be measured any more; empty while it can."""
        ...


OUT_OF_TIME = Reading(Status.UNSUPPORTED, message="the time was up")
"""The reading of an input that was not asked, or whose answer was not waited for."""


class Timely:
    """A gauge that asks nothing any more once the time is up.

    cut: whether any input was not asked, or its answer was not waited for, since this was last
    set to False.
    """

    def __init__(self, gauge: Gauge, countdown: Countdown) -> None:
        self._gauge = gauge
        self._whole = countdown
        self._phase = countdown
        self.cut = False

    def confine(self, countdown: Countdown) -> None:
        """Ask nothing after this end, either, until the next call."""
        self._phase = countdown

    @property
    def over(self) -> str:
        """Why nothing can be measured any more, by the implementation's fault."""
        return "" if self._whole.over else self._gauge.over

    def read(self, inputs: Sequence[bytes], meter: Meter) -> list[Reading]:
        """One reading an input; :data:`OUT_OF_TIME` where there was no time for it."""
        if not self._phase.over and not self._whole.over:
            try:
                return self._gauge.read(inputs, meter)
            except Stopped:  # at the end of the time, a request in flight is cut off
                if not self._whole.over:
                    raise
        self.cut = True
        return [OUT_OF_TIME] * len(inputs)


class Live:
    """A loaded implementation in its worker."""

    def __init__(self, on: Loaded) -> None:
        self._on = on

    @property
    def over(self) -> str:
        """Why the worker is withdrawn."""
        return self._on.pool.withdrawn().get(self._on.participant.name, "")

    def read(self, inputs: Sequence[bytes], meter: Meter) -> list[Reading]:
        """One reading an input. Raises Stopped where the pool was killed."""
        if not inputs:
            return []
        results = self._on.gauge(inputs, meter)
        if results.costs is not None:
            rows = results.costs.tolist()
            return [reading(results, index, row, meter) for index, row in enumerate(rows)]
        if len(inputs) == 1:
            return [reading(results, 0, [0], meter)]
        # A death takes its neighbours' costs away, and their turn: they are asked again.
        died = [int(status) in DEATHS for status in results.status]
        return [
            reading(results, index, [0], meter) if died[index] else self.read([data], meter)[0]
            for index, data in enumerate(inputs)
        ]


def reading(results: Results, index: int, row: list[int], meter: Meter) -> Reading:
    """The reading of one input of a batch."""
    status = Status(int(results.status[index]))
    message = results.messages.get(index, "")
    if status is Status.ENCODED and results.costs is None:
        status, message = Status.PROTOCOL, "gave no costs"
    counts = tuple(row[1:]) if meter is Meter.LINES else ()
    return Reading(status, row[0], message, counts)
