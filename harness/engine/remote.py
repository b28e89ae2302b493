"""An executor for several threads, each of which has one unit performed at a time."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from harness.cluster.executor import Done, Unit
from harness.cluster.usage import Usage
from harness.engine.ending import BrokenOff

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.cluster.executor import Executor
    from harness.events import Event

LOOK_SECONDS = 0.1
"""The executor is for one thread; it is waited for so long at a time."""


class Remote:
    """Units performed elsewhere. To be closed. Thread-safe. emit: takes the events of a cluster."""

    def __init__(self, executor: Executor, emit: Callable[[Event], None]) -> None:
        self._executor, self._emit = executor, emit
        self._usage = Usage()
        self._lock = threading.Lock()
        self._waiting: dict[str, Future[Done]] = {}
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        executor.listen(self.tell)
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    @property
    def slots(self) -> int:
        """How many units are performed at a time, by those who are there now."""
        return self._executor.slots

    def share(self, key: str, value: Any) -> Any:
        """As of an executor."""
        with self._lock:
            return self._executor.share(key, value)

    def tell(self, event: Event) -> None:
        """Take note of an event of a cluster, and pass it on."""
        self._usage.consume(event)
        self._emit(event)

    def performed(
        self,
        name: str,
        work: Callable[..., bytes],
        shared: Sequence[Any],
        arguments: Sequence[Any],
    ) -> Done:
        """Have a unit performed, and wait for it.

        Raises UnitError and ClusterError; BrokenOff where all is stopped.
        """
        with self._lock:
            future = self._waiting[name] = Future()
            if self._error is not None:
                raise self._error
            self._executor.submit(Unit(name, work, shared, arguments))
        return future.result()

    def _receive(self) -> None:
        """Hand what is done to whoever waits for it; what ends the executor, to all."""
        error: BaseException = BrokenOff("the run was stopped")
        try:
            while not self._stopped.wait(LOOK_SECONDS / 10):
                with self._lock:
                    done = self._executor.next(LOOK_SECONDS)
                    if done is not None:
                        self._waiting.pop(done.name).set_result(done)
        except BaseException as raised:
            error = raised
        with self._lock:
            self._error = error
            for future in self._waiting.values():
                future.set_exception(error)

    def stop(self) -> None:
        """Let nobody wait any longer, from any thread."""
        self._stopped.set()

    def close(self) -> None:
        """End all work that is still on, and tell what the cluster did."""
        self.stop()
        self._thread.join()
        self._executor.close()
        self._emit(self._usage.summary())
