"""What compilers do inside a worker, told to the harness, which does not count it as the worker's.

Numba compiles on first use. Our own encoders warm up when they are loaded; a plug-in that has
Numba functions of its own may compile inside a request.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import compilers
from harness.core.messages import Compiling

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.core.messages import Progress

COMPILE = "numba:compile"
"""The kind of Numba's event that lasts while a function is compiled."""

_WATCHED: list[object] = []
"""The listener that is registered with Numba, if any."""


def watch(progress: Progress) -> None:
    """Tell from now on what Numba compiles, or from when it is imported on; once is enough."""
    if _WATCHED:
        return
    if "numba" not in sys.modules:
        compilers.AT_IMPORT[:] = [lambda: watch(progress)]
        return
    from numba.core import event  # noqa: PLC0415 (only where it is there already)

    from corpora.vocabularies.jit import WAITING, uncompiled  # noqa: PLC0415 (imports Numba)

    if _WATCHED:  # by that import
        return

    class Listener(event.Listener):  # type: ignore[misc]
        """Writes the function at work into the cell, and knows how deep the compiler is."""

        def __init__(self) -> None:
            self._depth = self._done = 0

        def on_start(self, event: Any) -> None:
            """Tell which function is compiled, or waited for, now."""
            self._depth += 1
            function = event.data["dispatcher"].py_func
            if told(function):
                name = f"{function.__module__}.{function.__qualname__}"
                progress.compile(Compiling(name, self._done, uncompiled()))

        def on_end(self, event: Any) -> None:
            """Count a function that was compiled, and tell where no other is at work."""
            self._depth -= 1
            self._done += event.kind == COMPILE and told(event.data["dispatcher"].py_func)
            if self._depth == 0:
                progress.compile(None, self._done)

    listener = Listener()
    event.register(COMPILE, listener)
    event.register(WAITING, listener)
    _WATCHED.append(listener)


def told(function: Callable[..., object]) -> bool:
    """Whether a function is worth a word: Numba's own, and lambdas, are parts of others."""
    return not function.__module__.startswith("numba.") and "<lambda>" not in function.__qualname__
