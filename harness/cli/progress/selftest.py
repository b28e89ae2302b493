"""What a person sees while mistakes are hunted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.live import Live
from rich.text import Text

from harness.events import Phase
from harness.studies.selftest.events import MistakeJudged

if TYPE_CHECKING:
    from rich.console import Console

    from harness.events import Event


class SelftestProgress:
    """A line with the count so far on a terminal; a line a campaign where there is none."""

    def __init__(self, console: Console, mistakes: int) -> None:
        self._console = console
        self._mistakes = mistakes
        self._judged = self._caught = 0
        self._phase = "starting"
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(
                get_renderable=self._render, console=console, refresh_per_second=4, transient=True
            )
            self._live.start()

    def consume(self, event: Event) -> None:
        """Take note of an event; say what escaped at once."""
        if isinstance(event, Phase):
            self._phase = event.text
            if self._live is None:
                self._console.print(Text(event.text, style="dim"), soft_wrap=True)
        elif isinstance(event, MistakeJudged) and event.check:
            self._judged += 1
            self._caught += event.rightly
            if not event.rightly:
                word = "misnamed" if event.caught else "escaped"
                self._console.print(Text(f"{word}: {event.name}", style="yellow"), soft_wrap=True)

    def stop(self) -> None:
        """Take the live display away."""
        if self._live is not None:
            self._live.stop()

    def _render(self) -> Text:
        return Text(
            f"{self._caught} caught, {self._judged} judged of {self._mistakes}; {self._phase}"
        )
