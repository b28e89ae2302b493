"""The executor of this machine: units are performed side by side in threads.

What a unit runs of others is a process with limits, as everywhere, so that a unit needs no process
of its own.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from typing import TYPE_CHECKING, Any

from harness.cluster.executor import Done, UnitError
from harness.events import NodeJoined, UnitStarted

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.cluster.executor import Unit
    from harness.events import Event

NODE = "this machine"

JOIN_SECONDS = 0.1
"""Between two looks at what a place has begun to keep meanwhile, when all is to end."""


class LocalExecutor:
    """Performs units in so many threads, each of which is a place."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._tell: Callable[[Event], None] = lambda event: None
        self._done: queue.SimpleQueue[Done | UnitError] = queue.SimpleQueue()
        self._waiting: list[Unit] = []
        self._closed = False
        self._kept: list[dict[str, Any]] = []
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._perform_all, args=(str(place),), daemon=True)
            for place in range(slots)
        ]
        for thread in self._threads:
            thread.start()

    def listen(self, tell: Callable[[Event], None]) -> None:
        """Tell what becomes of units."""
        self._tell = tell
        tell(NodeJoined(NODE, self.slots))

    def share(self, key: str, value: Any) -> Any:
        """Return the value itself."""
        return value

    def submit(self, unit: Unit) -> None:
        """Have a unit performed."""
        with self._changed:
            self._waiting.append(unit)
            self._changed.notify_all()

    def _perform_all(self, place: str) -> None:
        with contextlib.ExitStack() as kept:
            keep: dict[str, Any] = {}
            self._kept.append(keep)
            kept.callback(lambda: [one.close() for one in keep.values()])
            while (unit := self._taken(place)) is not None:
                self._tell(UnitStarted(unit.name, NODE, 1))
                began = time.monotonic()
                try:
                    result = unit.work(keep, *unit.shared, *unit.arguments)
                except Exception as error:
                    self._done.put(failed(unit, error))
                else:
                    seconds = time.monotonic() - began
                    self._done.put(Done(unit.name, result, NODE, place, 1, seconds))

    def _taken(self, place: str) -> Unit | None:
        """Return the next unit for a place, waiting for one; None where there is to be none."""
        with self._changed:
            while not self._closed:
                mine = [one for one in self._waiting if one.prefers in ("", place)]
                if mine:
                    self._waiting.remove(mine[0])
                    return mine[0]
                self._changed.wait()
        return None

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
        """Begin no further unit, end what places keep that can be killed, and wait for the rest."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            while thread.is_alive():
                for one in [one for keep in self._kept for one in list(keep.values())]:
                    if hasattr(one, "kill"):
                        one.kill()
                thread.join(JOIN_SECONDS)


def failed(unit: Unit, error: Exception) -> UnitError:
    """The error to raise for a unit that failed, with what it raised as its cause."""
    line = str(error).split("\n", 1)[0]
    made = UnitError(f"{unit.name}: {type(error).__name__}: {line}")
    made.__cause__ = error
    return made
