"""What a cluster is doing, and what it has done: one fold over its events."""

from __future__ import annotations

import math
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
        """Since when each node has been there that is there now."""
        self._first = math.inf
        """When the first unit was begun: a cluster that waits for its driver is not slow."""
        self._last = self._slot_seconds = 0.0
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
        now = self._clock()
        with self._lock:
            match event:
                case NodeJoined(node, slots):
                    self._change(node, slots=slots, left="", excluded=False)
                    self._present[node] = now
                case NodeLeft(node, reason, excluded):
                    self._slot_seconds += self._until(node, now)
                    self._present.pop(node, None)
                    self._change(node, left=reason, excluded=excluded)
                case UnitStarted(unit, node):
                    self._first = min(self._first, now)
                    self.underway[unit] = node
                case UnitLost(unit, node):
                    self.underway.pop(unit, None)
                    self.lost[unit] += 1
                    self._change(node, lost=self._of(node).lost + 1)
                case UnitDone(unit, node):
                    self.underway.pop(unit, None)
                    self._last = now
                    self._bytes += event.bytes
                    was = self._of(node)
                    self._change(
                        node,
                        units=was.units + 1,
                        cases=was.cases + event.cases,
                        seconds=was.seconds + event.seconds,
                    )
                case UnitResumed():
                    self._resumed += 1

    def _of(self, node: str) -> NodeUsed:
        return self.nodes.get(node) or NodeUsed(node, 0)

    def _change(self, node: str, **fields: object) -> None:
        self.nodes[node] = replace(self._of(node), **fields)  # type: ignore[arg-type]

    def _until(self, node: str, end: float) -> float:
        """The seconds of all slots of a node that is there, from the first unit on."""
        since = max(self._present.get(node, math.inf), self._first)
        return self._of(node).slots * max(0.0, end - since)

    def summary(self) -> ClusterUsed:
        """What it came to, up to the last unit that was done."""
        with self._lock:
            slots = self._slot_seconds + sum(self._until(one, self._last) for one in self._present)
            busy = sum(one.seconds for one in self.nodes.values())
            return ClusterUsed(
                seconds=round(max(0.0, self._last - self._first), 3),
                efficiency=round(min(1.0, busy / slots), 4) if slots else 0.0,
                units=sum(one.units for one in self.nodes.values()),
                bytes=self._bytes,
                resumed=self._resumed,
                nodes=[replace(one, seconds=round(one.seconds, 3)) for one in self.nodes.values()],
                retried=dict(sorted(self.lost.items())),
            )
