"""Compilers inside a worker: the harness does not count their time as the worker's.

Numba compiles on first use. Our own encoders warm up when they are loaded; a plug-in that has
Numba functions of its own may compile inside a request.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from impls.compiled import compilers

if TYPE_CHECKING:
    from harness.workers.cell import Progress

COMPILE = "numba:compile"
"""The kind of Numba's event that lasts while a function is compiled."""

_WATCHED: list[object] = []
"""The listener that is registered with Numba, if any."""


def watch(progress: Progress) -> None:
    """Tell from now on when Numba compiles, or from when it is imported on; once is enough."""
    if _WATCHED:
        return
    if "numba" not in sys.modules:
        compilers.AT_IMPORT[:] = [lambda: watch(progress)]
        return
    from numba.core import event  # noqa: PLC0415 (only where it is there already)

    from impls.compiled.jit import WAITING  # noqa: PLC0415 (imports Numba)

    if _WATCHED:  # by that import
        return

    class Listener(event.Listener):  # type: ignore[misc]
        """Knows how deep the compiler is."""

        def __init__(self) -> None:
            self._depth = 0

        def on_start(self, event: object) -> None:
            """Tell that a function is compiled, or waited for."""
            self._depth += 1
            progress.compile(True)

        def on_end(self, event: object) -> None:
            """Tell where no function is at work any more."""
            self._depth -= 1
            progress.compile(self._depth > 0)

    listener = Listener()
    event.register(COMPILE, listener)
    event.register(WAITING, listener)
    _WATCHED.append(listener)
