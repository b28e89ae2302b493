"""What a person sees of a study that is made of steps: a bar, what is being done, and news."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from harness.cli.progress.moving import MovingPart, Seldom, barred
from harness.events import ImplementationFailed, Phase

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

    from harness.events import Event

EVERY_SECONDS = 10.0
"""Seconds between two lines where there is no terminal: a log is to show that it goes on."""


class StepProgress:
    """A bar with the time so far on a terminal; now and then a line where there is none.

    news: makes a line of an event that is worth one, and None of any other.
    """

    def __init__(
        self, console: Console, news: Callable[[Event], Text | None] = lambda event: None
    ) -> None:
        self._console = console
        self._news = news
        self._start = time.monotonic()
        self._done = 0.0
        self._what = "starting"
        self._detail = ""
        self._log = Seldom(EVERY_SECONDS)
        self._moving = MovingPart(console, self._render)

    def watch(self, done: float, what: str = "", detail: str = "") -> None:
        """Take note of how much is done, from 0 to 1, and what is being done.

        what: empty where it is the same as before. detail: a line of its own, such as the worst
        input so far.
        """
        self._done, self._what, self._detail = max(done, self._done), what or self._what, detail
        if not self._moving.shown and self._log.due():
            self.say("  ".join(filter(None, (f"{self._done:4.0%}", detail, self._what))))

    def consume(self, event: Event) -> None:
        """Show what is worth a line."""
        line = self._news(event)
        if line is not None:
            self._console.print(line, soft_wrap=True)
        elif isinstance(event, ImplementationFailed):
            self.say(
                f"{event.implementation} cannot run {event.vocabulary}: {event.message}", "red"
            )
        elif isinstance(event, Phase):
            self._what = event.text
            if not self._moving.shown:
                self.say(event.text)

    def say(self, line: str, style: str = "dim") -> None:
        """Print a line above the moving part."""
        self._console.print(Text(line, style=style), soft_wrap=True)

    def _render(self) -> RenderableType:
        spent = time.monotonic() - self._start
        bar = barred(self._done, 1.0, f"{self._done:.0%}, {spent:.0f} s", Text(self._what))
        if not self._detail:
            return bar
        whole = Table.grid()
        whole.add_row(bar)
        whole.add_row(Text(self._detail, no_wrap=True, overflow="ellipsis"))
        return whole

    def stop(self) -> None:
        """Take the moving part off the terminal."""
        self._moving.stop()
