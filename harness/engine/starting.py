"""When the time of a run begins, where the user named implementations that it has to judge."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable

LOOK_SECONDS = 0.02
"""Seconds between two looks at whether the time may begin."""


class Start:
    """Holds the countdown of several pools until each named implementation has loaded once.

    A pool that is soon ready would else use up the time while another one still loads the only
    vocabulary that a named implementation can run. Who can run none of the first vocabularies of
    all pools is not waited for. named: implementations. pools: how many there are.
    """

    def __init__(self, named: Collection[str], pools: int) -> None:
        self._unready = set(named)
        self._pools = pools
        self._came: set[Hashable] = set()
        self._lock = threading.Lock()

    def come(self, pool: Hashable, loaded: Collection[str] = ()) -> None:
        """Take note of a pool that has loaded a vocabulary into these, or that has ended."""
        with self._lock:
            self._came.add(pool)
            self._unready -= set(loaded)

    def wait(self, pool: Hashable, loaded: Collection[str], stopped: Callable[[], bool]) -> None:
        """Likewise, and wait until the time may begin, or ``stopped`` turns true."""
        self.come(pool, loaded)
        while not self.due and not stopped():
            time.sleep(LOOK_SECONDS)

    @property
    def due(self) -> bool:
        """Whether the time may begin."""
        with self._lock:
            return not self._unready or len(self._came) >= self._pools
