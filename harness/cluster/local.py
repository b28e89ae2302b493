"""The executor of this machine: units are performed side by side in threads.

What a unit runs of others is a process with limits, as everywhere, so that a unit needs no process
of its own.
"""

from __future__ import annotations

import queue
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from harness.cluster.executor import Done, UnitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.cluster.executor import Unit
    from harness.events import Event

NODE = "this machine"


class LocalExecutor:
    """Performs units in so many threads."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="units")
        self._done: queue.SimpleQueue[Done | UnitError] = queue.SimpleQueue()

    def listen(self, tell: Callable[[Event], None]) -> None:
        """Tell nothing: there is no node but this machine."""

    def share(self, key: str, value: Any) -> Any:
        """Return the value itself."""
        return value

    def submit(self, unit: Unit) -> None:
        """Have a unit performed."""
        self._threads.submit(self._perform, unit)

    def _perform(self, unit: Unit) -> None:
        began = time.monotonic()
        try:
            result = unit.work(*unit.shared, *unit.arguments)
        except Exception as error:
            line = str(error).split("\n", 1)[0]
            self._done.put(UnitError(f"{unit.name}: {type(error).__name__}: {line}"))
        else:
            self._done.put(Done(unit.name, result, NODE, 1, time.monotonic() - began))

    def next(self, seconds: float) -> Done | None:
        """Return the next that is done, if there is one in time. Raises UnitError."""
        try:
            done = self._done.get(timeout=seconds)
        except queue.Empty:
            return None
        if isinstance(done, UnitError):
            raise done
        return done

    def close(self) -> None:
        """Begin no further unit."""
        self._threads.shutdown(wait=False, cancel_futures=True)
