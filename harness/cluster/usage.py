"""What a cluster is doing, and what it has done: one fold over its events."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.events.cluster import (
    ClusterUsed,
    NodeJoined,
    NodeLeft,
    NodeUsed,
    UnitDone,
    UnitLost,
    UnitResumed,
    UnitStarted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.events import Event


class Usage:
    """Counts by node. clock: in seconds. Events may come from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._present: dict[str, float] = {}
        self._slot_seconds = 0.0
        self._first: float | None = None
        self._last = 0.0
        self._bytes = self._resumed = 0
        self.nodes: dict[str, NodeUsed] = {}
        self.underway: dict[str, str] = {}
        """The node of each unit that is being performed."""
        self.lost: Counter[str] = Counter()

    @property
    def used(self) -> bool:
        """Whether there is a cluster at all."""
        return bool(self.nodes) or bool(self._resumed)

    def consume(self, event: Event) -> None:
        """Take note of an event; those of other things are passed over."""
        with self._lock:
            self._consume(event)

    def _consume(self, event: Event) -> None:
        match event:
            case NodeJoined():
                known = self.nodes.get(event.node)
                fresh = known or NodeUsed(event.node, event.slots)
                self.nodes[event.node] = replace(fresh, slots=event.slots, left="", excluded=False)
                self._present[event.node] = self._clock()
            case NodeLeft():
                self._count_until_now(event.node)
                self._present.pop(event.node, None)
                self._change(event.node, left=event.reason, excluded=event.excluded)
            case UnitStarted():
                self._begin()
                self.underway[event.unit] = event.node
            case UnitLost():
                self.underway.pop(event.unit, None)
                self.lost[event.unit] += 1
                self._change(event.node, lost=self._of(event.node).lost + 1)
            case UnitDone():
                self.underway.pop(event.unit, None)
                self._last = self._clock()
                self._bytes += event.bytes
                was = self._of(event.node)
                self._change(
                    event.node,
                    units=was.units + 1,
                    cases=was.cases + event.cases,
                    seconds=was.seconds + event.seconds,
                )
            case UnitResumed():
                self._resumed += 1

    def _begin(self) -> None:
        """Count time from the first unit on: a cluster that waits for its driver is not slow."""
        if self._first is None:
            self._first = self._last = self._clock()
            self._present = dict.fromkeys(self._present, self._first)

    def _of(self, node: str) -> NodeUsed:
        return self.nodes.get(node) or NodeUsed(node, 0)

    def _change(self, node: str, **fields: object) -> None:
        self.nodes[node] = replace(self._of(node), **fields)  # type: ignore[arg-type]

    def _count_until_now(self, node: str) -> None:
        since = self._present.get(node)
        if since is not None and self._first is not None:
            self._slot_seconds += self._of(node).slots * (self._clock() - since)

    def summary(self) -> ClusterUsed:
        """What it came to, up to the last unit that was done."""
        with self._lock:
            return self._summary()

    def _summary(self) -> ClusterUsed:
        seconds = self._last - self._first if self._first is not None else 0.0
        slots = self._slot_seconds + sum(
            self._of(node).slots * max(0.0, self._last - since)
            for node, since in self._present.items()
        )
        busy = sum(one.seconds for one in self.nodes.values())
        return ClusterUsed(
            seconds=round(seconds, 3),
            efficiency=round(min(1.0, busy / slots), 4) if slots else 0.0,
            units=sum(one.units for one in self.nodes.values()),
            bytes=self._bytes,
            resumed=self._resumed,
            nodes=[replace(one, seconds=round(one.seconds, 3)) for one in self.nodes.values()],
            retried=dict(sorted(self.lost.items())),
        )
