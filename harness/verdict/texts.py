"""What a run says of the user's texts: reasons why it is no pass, and what was left open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.events.texts import TextsCompared, TextsGiven, TextsRead

if TYPE_CHECKING:
    from harness.events import Event


@dataclass(slots=True)
class TextsSeen:
    """What a run's events say of its texts, as far as the verdict asks."""

    given: TextsGiven | None = None
    read: dict[str, TextsRead] = field(default_factory=dict)
    compared: int = 0

    def consume(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case TextsGiven():
                self.given = event
            case TextsRead():
                self.read[event.vocabulary] = event
            case TextsCompared():
                answered = [one.documents for one in event.counts.values()]
                alone = event.documents if event.alone else 0  # for a comparison of two runs
                self.compared += max(answered, default=alone)

    def unread(self) -> list[str]:
        """A line where records of the texts could not be read, which is a mistake of the user's."""
        worst = max(self.read.values(), key=lambda one: one.unreadable, default=None)
        if worst is None or not worst.unreadable:
            return []
        several = "1 record" if worst.unreadable == 1 else f"{worst.unreadable:,} records"
        first = worst.faults[0] if worst.faults else ""
        return [f"{several} of your texts could not be read, and took no part: {first}"]

    def unexamined(self) -> list[str]:
        """A line where texts were given and none of them was compared."""
        if self.given is None or self.compared:
            return []
        return [
            "no document of your texts was compared; give texts that are not empty, and two "
            "implementations that run the vocabulary (tokgate list impls)"
        ]

    def notes(self) -> list[str]:
        """A line where the texts were not read to their end."""
        left = [one.vocabulary for one in self.read.values() if not one.whole]
        if not left:
            return []
        return [
            f"your texts were not read to their end on {', '.join(left)}; give a larger --budget, "
            "or --only-input without one"
        ]
