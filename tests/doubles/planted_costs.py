"""Pools of one worker whose costs are formulas: what a search finds must be what was planted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from corpora.vocabularies import sources
from harness.core.comparisons import contracts_of
from harness.core.countdown import Countdown
from harness.core.messages import Meter
from harness.core.outcomes import Encoded, Failed, Results, Status
from harness.engine import selection
from harness.engine.costs import Loaded
from harness.studies.worst.gauge import Gauge

A_BYTE = 100
"""Nanoseconds of an ordinary byte."""

Cost = Callable[[bytes], float]


@dataclass
class Planted:
    """time, memory: the cost of an input. dies: the message where it gives no answer.

    noise: the share by which times are too long, by a law with a heavy tail. lines: the counts of
    an input by place in the source. late: what is asked with others is late.
    """

    time: Cost = lambda data: A_BYTE * len(data)
    memory: Cost = lambda data: 10 * len(data)
    dies: Callable[[bytes], Status | None] = lambda data: None
    noise: float = 0.0
    lines: Callable[[bytes], Sequence[int]] = lambda data: (len(data),)
    late: bool = False
    seen: list[int] = field(default_factory=list)

    def __post_init__(self):
        self._rng = random.Random(0)

    def gauge(self, name, contract, inputs, meter):
        """As the pool does: costs, unless one of the inputs has no answer."""
        self.seen += map(len, inputs)
        outcomes = []
        for place, data in enumerate(inputs):
            status = self.dies(data)
            if self.late and place == 0 and len(inputs) > 1:
                status = Status.TIMED_OUT
            said = f"{status.label} as planted" if status else ""
            outcomes.append(Failed(status, said) if status else Encoded((1,)))
        results = Results.of(outcomes)
        if any(isinstance(one, Failed) for one in outcomes):
            return results
        costs = [self._costs(data, meter) for data in inputs]
        object.__setattr__(results, "costs", np.array(costs, dtype=np.int64))
        return results

    def _costs(self, data, meter):
        if meter is Meter.MEMORY:
            return [int(self.memory(data)), 0]
        if meter is Meter.LINES:
            return [0, *self.lines(data)]
        late = 1 + self.noise * self._rng.paretovariate(1.5) if self.noise else 1.0
        return [int(self.time(data) * late)]

    def answer(self, name, request):
        """Nobody says himself what a call took."""
        return Results.of([Encoded((1,))])

    def withdrawn(self):
        """Nobody is."""
        return {}


def on(planted):
    """As if it were loaded."""
    [participant], _ = selection.participants(["bpe.heap"])
    vocabulary = sources.resolve("toy_bytes")
    contract = contracts_of(vocabulary, [participant], frozenset(), proper=True)[0]
    return Loaded(planted, participant, contract)


def gauge_of(planted):
    """A gauge with all the time that it takes."""
    return Gauge(on(planted), Countdown(None).start())


def runs(byte):
    """Quadratic in the length of each run of one byte."""
    found = re.compile(re.escape(byte) + b"+")
    return lambda data: (
        A_BYTE * len(data)
        + sum((end - start) ** 2 for start, end in (m.span() for m in found.finditer(data)))
    )


def many(part):
    """Quadratic in how often a part occurs, wherever it stands."""
    return lambda data: A_BYTE * len(data) + data.count(part) ** 2
