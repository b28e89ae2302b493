"""What a person sees while a search goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.cli.progress.steps import EVERY_SECONDS
from harness.studies.worst.candidates import Aim
from harness.studies.worst.run import SEARCHING, Watcher

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from harness.studies.worst.search import Search

SHOWN = 60
"""Characters of an expression beside the figures."""


class WorstProgress(Watcher):
    """A bar with the worst so far on a terminal; now and then a line where there is none."""

    def __init__(self, console: Console, budget: float) -> None:
        self._console = console
        self._budget = budget
        self._start = time.monotonic()
        self._said = self._start
        self._share = 0.0
        self._what = "starting"
        self._worst = ""
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(
                get_renderable=self._render, console=console, refresh_per_second=4, transient=True
            )
            self._live.start()

    def prepared(self, seconds: float) -> None:
        """The bar begins where the budget does."""
        self._start = time.monotonic()
        self._say(f"prepared in {seconds:.0f} s")

    def searching(self, search: Search, seconds: float) -> None:
        """The worst so far."""
        self._share = min(seconds / self._budget, SEARCHING)
        self._what = counted(search)
        self._worst = best(search)
        now = time.monotonic()
        if self._live is None and now - self._said > EVERY_SECONDS:
            self._said = now
            self._say(f"{self._share:4.0%}  {self._worst}; {self._what}")

    def doing(self, what: str) -> None:
        """What follows the search."""
        self._what = what
        self._share = max(self._share, SEARCHING)
        if self._live is None:
            self._say(f"{self._share:4.0%}  {what}")

    def _say(self, line: str) -> None:
        self._console.print(Text(line, style="dim"), soft_wrap=True)

    def _render(self) -> RenderableType:
        grid = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=1.0, completed=self._share, width=30)
        spent = time.monotonic() - self._start
        grid.add_row(bar, f"{spent:.0f} of {self._budget:.0f} s", Text(self._what))
        whole = Table.grid()
        whole.add_row(grid)
        whole.add_row(Text(self._worst, no_wrap=True, overflow="ellipsis"))
        return whole

    def stop(self) -> None:
        """Take the moving part off the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def counted(search: Search) -> str:
    """How much was measured, and who died of it."""
    died = search.deaths.count
    deaths = f", {died} death{'' if died == 1 else 's'}" if died else ""
    return f"{search.progress.readings:,} inputs, {len(search.archive)} kinds{deaths}"


def best(search: Search) -> str:
    """The worst so far: nanoseconds a byte, times the control, exponent, and what it is."""
    leaders = search.leaders(Aim.COST)
    if not leaders:
        return "nothing yet"
    first, scale = leaders[0], search.scale
    cost = scale.score(first, Aim.COST)
    times = f", {cost / scale.control:.1f} x prose" if scale.control else ""
    growth = first.growth(scale.small, scale.large)
    exponent = f", exponent {growth:.2f}" if growth is not None else ""
    said = first.pattern.expression()
    said = said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"
    return f"worst {cost:,.0f} ns/byte{times}{exponent}: {said}"
