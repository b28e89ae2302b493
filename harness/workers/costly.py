"""The batches whose answers took an implementation longest for their length."""

from __future__ import annotations

import heapq
import statistics
from typing import TYPE_CHECKING

from harness.core.messages import Meter

if TYPE_CHECKING:
    from harness.core.messages import Encode
    from harness.core.outcomes import Results

KEPT = 6
"""Batches kept: one input that costs too much is enough to make a family of it."""

CALL = 16
"""Bytes that a call for its own sake counts as."""

RECENT = 99
"""Batches by which a pace is usual."""

LARGEST = 1 << 20
"""Bytes of the largest batch that is kept."""


class CostlyBatches:
    """What one implementation was asked, as far as it took long.

    Times are those of the clock on the wall, which a busy machine makes longer: they say what is
    worth measuring, and nothing else.
    """

    def __init__(self) -> None:
        self._paces: list[float] = []
        self._kept: list[tuple[float, int, Encode, Results]] = []

    def note(self, request: Encode, results: Results, seconds: float) -> None:
        """Take note of how long the answer to a request took.

        What is measured otherwise (but for what is held afterwards) says nothing of its pace.
        """
        size = len(request.inputs.data) + CALL * len(request.inputs)
        if size and request.meter in {None, Meter.HELD}:
            self._paces.append(seconds / size)
            beyond = seconds - size * statistics.median(self._paces[-RECENT:])
            if size <= LARGEST:
                one = (beyond, len(self._paces), request, results)
                self._kept = heapq.nlargest(KEPT, [*self._kept, one])

    def taken(self) -> tuple[float, list[tuple[Encode, Results]]]:
        """The usual nanoseconds for each byte, and the costliest batches, the worst first.

        What was noted is forgotten: the next vocabulary has other costs. Nobody asks meanwhile.
        """
        usual = statistics.median(self._paces) * 1e9 if self._paces else 0.0
        kept, self._kept, self._paces = self._kept, [], []
        return usual, [(request, results) for *_, request, results in kept]
