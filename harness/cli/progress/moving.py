"""What a person sees while any command works: a moving part on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.cli.progress.news import news
from harness.cluster.usage import Usage
from harness.events import Phase, UnitDone
from reports.blocks.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

    from harness.events import Event

BAR_WIDTH = 30
"""The width of a bar in columns, so that there is room for words beside it on 80 columns."""

NODES_SHOWN = 8
"""Nodes with a row of their own, those with most lost units first."""


class Progress:
    """The display of a command: what is worth a line is printed, and below that moves how it goes.

    On a terminal the moving part is a bar with what is being done; where there is none, such as in
    the log of CI, a line tells it now and then. A command that counts something of its own adds it
    to :meth:`consume` and :meth:`rows`. Called from several threads. each_unit: whether each unit
    that a cluster performed is worth a line.
    """

    every = 10.0
    """Seconds between two lines of a log that say how it goes."""

    def __init__(self, console: Console, *, each_unit: bool = True) -> None:
        self._console = console
        self._each_unit = each_unit
        self._lock = threading.RLock()
        self._began = self._logged = time.monotonic()
        self._first_case: float | None = None
        self._share: float | None = None
        self._what, self._detail = "starting", ""
        self._said: set[object] = set()
        self._usage = Usage()
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(
                get_renderable=self._drawn, console=console, refresh_per_second=5, transient=True
            )
            self._live.start()

    def watch(self, share: float, what: str = "", detail: str = "") -> None:
        """Take note of how much is done, from 0 to 1, and what is being done.

        what: empty where it is the same as before. detail: a line of its own, such as the worst
        input so far.
        """
        self._share, self._what, self._detail = (
            max(share, self._share or 0),
            what or self._what,
            detail,
        )
        self.log("  ".join(filter(None, (f"{self._share:4.0%}", detail, self._what))))

    def prepared(self, seconds: float) -> None:
        """All is loaded, which took so long, and the budget begins to run."""
        self._first_case = time.monotonic()
        self.say(f"prepared in {seconds:.0f} s")

    def consume(self, event: Event) -> None:
        """Take note of an event; print what is worth a line."""
        with self._lock:
            self._usage.consume(event)
            if isinstance(event, Phase):
                self._what = event.text
                if self._live is None:
                    self.say(event.text)
            if self._each_unit or not isinstance(event, UnitDone):
                for line in news(event):
                    self.say(line.text, line.style, line.once)

    def say(self, line: str, style: str = "dim", once: object = None) -> None:
        """Print a line above the moving part. once: of lines with the same, only the first is."""
        with self._lock:
            if once is None or once not in self._said:
                self._said.add(once)
                self._console.print(line, style=style)

    def log(self, line: str) -> None:
        """Print how it goes, where nothing moves and the last such line is long past."""
        now = time.monotonic()
        if self._live is None and now - self._logged > self.every:
            self._logged = now
            self.say(line)

    def rows(self) -> Iterator[RenderableType]:
        """What moves: a bar, what is being done, and the nodes of a cluster."""
        seconds = f"{time.monotonic() - self._began:.0f} s"
        yield barred(self._share, seconds, self._what)
        if self._detail:
            yield Text(self._detail, no_wrap=True, overflow="ellipsis")
        yield from nodes(self._usage)

    def _drawn(self) -> RenderableType:
        with self._lock:
            return Group(*self.rows())

    def stop(self) -> None:
        """Take the moving part off the terminal; again, it does nothing."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def barred(share: float | None, *beside: str) -> Table:
    """A bar with words beside it, on one line; no bar where nobody knows how much is done."""
    grid = Table.grid(padding=(0, 2))
    if share is None:
        grid.add_row(*beside)
    else:
        grid.add_row(ProgressBar(1.0, min(share, 1.0), BAR_WIDTH), f"{share:4.0%}", *beside)
    return grid


def nodes(usage: Usage) -> Iterator[RenderableType]:
    """What is at work on a cluster: a line for all, and a row for each of the first nodes."""
    if not usage.used:
        return
    present = [one for one in usage.nodes.values() if not one.left]
    slots = sum(one.slots for one in present)
    done = sum(one.units for one in usage.nodes.values())
    yield Text(
        f"{plural(len(present), 'node')}   {len(usage.underway)} of {plural(slots, 'slot')} busy"
        f"   {plural(done, 'unit')} done   {usage.lost.total()} repeated"
    )
    busy = Counter(usage.underway.values())
    table = Table.grid(padding=(0, 2))
    for one in sorted(present, key=lambda one: (-one.lost, one.node))[:NODES_SHOWN]:
        table.add_row(
            Text(one.node, "dim"),
            f"{busy[one.node]} of {one.slots}",
            f"{usage.rate(one.node):,.0f} cases/s",
            plural(one.units, "unit"),
            f"{one.lost} lost" if one.lost else "",
        )
    yield table
    if len(present) > NODES_SHOWN:
        yield Text(f"and {plural(len(present) - NODES_SHOWN, 'node')} more", "dim")
