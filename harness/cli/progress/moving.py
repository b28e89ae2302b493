"""The part of the display that moves on a terminal, which all commands share."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

BAR_WIDTH = 30
"""The width of a bar in columns, so that there is room for words beside it on 80 columns."""


class MovingPart:
    """What is drawn again and again on a terminal, and nothing where there is none.

    render: makes what is drawn. a_second: how often it is drawn.
    """

    def __init__(
        self, console: Console, render: Callable[[], RenderableType], a_second: int = 4
    ) -> None:
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(
                get_renderable=render, console=console, refresh_per_second=a_second, transient=True
            )
            self._live.start()

    @property
    def shown(self) -> bool:
        """Whether it is on a terminal now; in a log, lines now and then take its place."""
        return self._live is not None

    def stop(self) -> None:
        """Take it off the terminal; again, it does nothing."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class Seldom:
    """Says whether it is time for another line of a log. seconds: between two lines."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._said = time.monotonic()

    def due(self) -> bool:
        """Whether so many seconds have passed since this was last true."""
        now = time.monotonic()
        if now - self._said <= self._seconds:
            return False
        self._said = now
        return True


def barred(done: float, total: float, *beside: str | Text) -> Table:
    """A bar with words beside it, on one line."""
    grid = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=total, completed=min(done, total), width=BAR_WIDTH)
    grid.add_row(bar, *beside)
    return grid
