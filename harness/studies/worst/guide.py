"""The grey box: what raises the count of any place in the source is worth a measurement.

For algorithms of our own, whose compiled source runs interpreted as well. Counts of lines are the
same every time, so that no noise hides the first step of a way that leads up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corpora.families.pattern import Pattern
from harness.core.messages import Meter
from harness.studies.worst.candidates import Candidate

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from harness.studies.worst.breeding import Breeder
    from harness.studies.worst.gauge import Gauge

SIZE = 256
"""Bytes of inputs that are run interpreted: some twenty thousand lines, a few hundredths of a
second."""

EXPLORED = 3
"""Patterns of a generation that are run interpreted, which takes about as long as the batch that
is timed."""

RAISED = 1.05
"""A count has to be so many times as great as ever before: the last pump may be cut here or there,
which is no discovery."""

OWN = 0.6
"""Share of parents from those that raised a count; the others lead elsewhere."""

DRAWN = 0.15
"""Share of patterns out of nothing."""


class Guide:
    """The greatest count of each place so far, and whose it was."""

    def __init__(self, gauge: Gauge) -> None:
        self._gauge = gauge
        self._most: dict[int, tuple[float, Pattern]] = {}
        self.readings = 0

    @property
    def places(self) -> int:
        """How many places in the source were reached."""
        return len(self._most)

    def explore(
        self, rng: random.Random, breeder: Breeder, parent: Callable[[], Pattern | None]
    ) -> list[Candidate]:
        """Run some patterns; those that raised a count, to be timed. Nobody who died is among them:
        what an interpreted run makes of its limits says nothing of the compiled one."""
        tried = [self._next(rng, breeder, parent) for _ in range(EXPLORED)]
        tried = [one for one in dict.fromkeys(tried) if breeder.spells(one)]
        inputs = [one.make(SIZE) for one in tried]
        # Compiled first: what is built on first use would take minutes interpreted.
        self._gauge.read(inputs, Meter.TIME)
        readings = self._gauge.read(inputs, Meter.LINES)
        self.readings += len(readings)
        raised = []
        for pattern, reading in zip(tried, readings, strict=True):
            if reading.answered and self.take(pattern, reading.counts):
                raised.append(Candidate(pattern, "guided"))
        return raised

    def _next(
        self, rng: random.Random, breeder: Breeder, parent: Callable[[], Pattern | None]
    ) -> Pattern:
        if rng.random() < DRAWN:
            return breeder.fresh(rng)
        chosen = self._own(rng) if self._most and rng.random() < OWN else parent()
        if chosen is None:
            return breeder.fresh(rng)
        return breeder.child(rng, chosen, lambda: self._own(rng) if self._most else chosen)

    def _own(self, rng: random.Random) -> Pattern:
        return self._most[rng.choice(sorted(self._most))][1]

    def take(self, pattern: Pattern, counts: tuple[int, ...]) -> bool:
        """Take note of how often each place was run; whether any count was raised."""
        length = len(pattern.make(SIZE)) or 1
        raised = False
        for place, count in enumerate(counts):
            share = count / length
            if share and (place not in self._most or share > self._most[place][0] * RAISED):
                self._most[place] = (share, pattern)
                raised = True
        return raised

    def to_dict(self) -> dict[str, Any]:
        """For the state on disk."""
        most = [[place, share, p.to_dict()] for place, (share, p) in self._most.items()]
        return {"readings": self.readings, "most": most}

    def restore(self, data: Mapping[str, Any]) -> None:
        """Go on from what :meth:`to_dict` gave. Raises KeyError, TypeError, ValueError."""
        self.readings = data["readings"]
        self._most = {p: (share, Pattern.from_dict(one)) for p, share, one in data["most"]}
