"""What a person sees while planted mistakes are hunted: what escaped at once, and the count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from harness.studies.selftest.events import MistakeJudged

if TYPE_CHECKING:
    from harness.cli.progress.steps import StepProgress
    from harness.events import Event


def escaped(event: Event) -> Text | None:
    """A line on a mistake that nothing caught, or that was caught under another name."""
    if not isinstance(event, MistakeJudged) or not event.check or event.rightly:
        return None
    return Text(f"{'misnamed' if event.caught else 'escaped'}: {event.name}", style="yellow")


class Caught:
    """Counts mistakes for the display as they are judged. mistakes: how many there are."""

    def __init__(self, progress: StepProgress, mistakes: int) -> None:
        self._progress = progress
        self._mistakes = mistakes
        self._judged = self._caught = 0

    def consume(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, MistakeJudged) and event.check:
            self._judged += 1
            self._caught += event.rightly
            said = f"{self._caught} caught, {self._judged} judged of {self._mistakes}"
            self._progress.watch(self._judged / self._mistakes, detail=said)
