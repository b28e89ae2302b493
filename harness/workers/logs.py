"""The logs of all workers, kept short by one thread of the harness whatever the workers are at.

A worker prints to a file, which a thread in it may fill while it only waits for a request. Who cuts
it is the harness and not the keeper, because two processes that cut one file would have to wait for
each other, and the worker could hold up both.
"""

from __future__ import annotations

import contextlib
import threading
import time
from typing import IO

from impls.standard_error import TRIM_SECONDS, trim

_lock = threading.Lock()
_logs: list[IO[bytes]] = []
_thread: threading.Thread | None = None


def watch(log: IO[bytes]) -> None:
    """Leave the tail alone of a log, whenever it has grown long, until it is forgotten."""
    global _thread  # noqa: PLW0603 (there is one such thread in a process)
    with _lock:
        _logs.append(log)
        if _thread is None or not _thread.is_alive():  # a process that was forked has none
            _thread = threading.Thread(target=_trim_all, name="logs", daemon=True)
            _thread.start()


def forget(log: IO[bytes]) -> None:
    """Let a log be. It may be closed from now on: its descriptor is not used any more."""
    with _lock:
        _logs[:] = [one for one in _logs if one is not log]


def _trim_all() -> None:
    """Cut logs until there are none."""
    global _thread  # noqa: PLW0603
    while True:
        time.sleep(TRIM_SECONDS)
        with _lock:
            if not _logs:
                _thread = None
                return
            for log in _logs:
                with contextlib.suppress(OSError):
                    trim(log)
