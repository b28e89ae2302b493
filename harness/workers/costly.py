"""The batches whose answers took an implementation longest for their length."""

from __future__ import annotations

import heapq
import statistics
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.core.messages import Meter

if TYPE_CHECKING:
    from concurrent.futures import Future

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


@dataclass(slots=True)
class CostlyBatches:
    """What one implementation was asked, as far as it took long. Thread-safe.

    Times are those of the clock on the wall, which a busy machine makes longer: they say what is
    worth measuring, and nothing else.
    """

    _paces: list[float] = field(default_factory=list)
    _kept: list[tuple[float, int, Encode, Results]] = field(default_factory=list)
    _idle_since: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def watch(self, request: Encode, answer: Future[Results]) -> None:
        """Take note of how long the answer to a request takes once its turn has come.

        What is measured otherwise (but for what is held afterwards) says nothing of its pace.
        """
        began, size = time.monotonic(), len(request.inputs.data) + CALL * len(request.inputs)

        def answered(done: Future[Results]) -> None:
            now = time.monotonic()
            with self._lock:
                seconds = now - max(began, self._idle_since)
                self._idle_since = now
                if size and not done.cancelled() and done.exception() is None:
                    self._paces.append(seconds / size)
                    beyond = seconds - size * statistics.median(self._paces[-RECENT:])
                    one = (beyond, len(self._paces), request, done.result())
                    if size <= LARGEST:
                        self._kept = heapq.nlargest(KEPT, [*self._kept, one])

        if request.meter in {None, Meter.HELD}:
            answer.add_done_callback(answered)

    def taken(self) -> tuple[float, list[tuple[Encode, Results]]]:
        """The usual nanoseconds for each byte, and the costliest batches, the worst first.

        What was noted is forgotten: the next vocabulary has other costs.
        """
        with self._lock:
            usual = statistics.median(self._paces) * 1e9 if self._paces else 0.0
            kept, self._kept, self._paces = self._kept, [], []
            return usual, [(request, results) for *_, request, results in kept]
