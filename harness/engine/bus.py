"""The way of an event from whoever tells it to all that consume it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.events import Event


class Bus:
    """Hands each event to every consumer, one event at a time, whatever thread tells it."""

    def __init__(self, consumers: Sequence[Callable[[Event], None]]) -> None:
        self._consumers = consumers
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        """Hand on an event."""
        with self._lock:
            for consume in self._consumers:
                consume(event)
