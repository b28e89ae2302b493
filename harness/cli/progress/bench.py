"""What a person sees while speed is measured."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.events import ImplementationFailed, Phase

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from harness.events import Event

EVERY_SECONDS = 10.0
"""Between two lines where there is no terminal: a log is to show that it goes on."""


class BenchProgress:
    """A bar with the time so far on a terminal; now and then a line where there is none."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._start = time.monotonic()
        self._done = 0.0
        self._what = "starting"
        self._said = self._start
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(
                get_renderable=self._render, console=console, refresh_per_second=4, transient=True
            )
            self._live.start()

    def watch(self, done: float, what: str) -> None:
        """Take note of how much is done, from 0 to 1, and what is being done."""
        self._done, self._what = max(done, self._done), what
        now = time.monotonic()
        if self._live is None and now - self._said > EVERY_SECONDS:
            self._said = now
            self._console.print(Text(f"{self._done:4.0%}  {what}", style="dim"), soft_wrap=True)

    def consume(self, event: Event) -> None:
        """Show what is worth a line."""
        if isinstance(event, ImplementationFailed):
            line = f"{event.implementation} cannot run {event.vocabulary}: {event.message}"
            self._console.print(Text(line, style="red"), soft_wrap=True)
        elif isinstance(event, Phase):
            self._what = event.text

    def _render(self) -> RenderableType:
        grid = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=self._done, width=30)
        spent = time.monotonic() - self._start
        grid.add_row(bar, f"{self._done:.0%}, {spent:.0f} s", Text(self._what))
        return grid

    def stop(self) -> None:
        """Take the moving part off the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None
