"""What a run says of the user's texts: reasons why it is no pass, and what was left open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.core import exit_statuses
from harness.events.texts import TextsCompared, TextsGiven, TextsRead
from harness.verdict import gate

if TYPE_CHECKING:
    from harness.events import Event


@dataclass(slots=True)
class TextsSeen:
    """What a run's events say of its texts, as far as the verdict asks."""

    given: TextsGiven | None = None
    read: dict[str, TextsRead] = field(default_factory=dict)
    compared: Counter[str] = field(default_factory=Counter)

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
                self.compared[event.contract] += max(answered, default=alone)

    def judged(self, verdict: gate.Verdict) -> gate.Verdict:
        """The verdict with what there is to say of the texts, if any were given."""
        if self.given is None:
            return verdict
        reasons = list(self._reasons())
        notes = (*verdict.notes, *self._notes())
        if not reasons:
            return replace(verdict, notes=notes)
        status = verdict.exit_status if not verdict.passed else exit_statuses.USAGE
        return gate.Verdict(False, (*verdict.reasons, *reasons), status, notes)

    def _reasons(self) -> list[str]:
        worst = max(self.read.values(), key=lambda one: one.unreadable, default=None)
        lines = []
        if worst is not None and worst.unreadable:
            several = "1 record" if worst.unreadable == 1 else f"{worst.unreadable:,} records"
            first = worst.faults[0] if worst.faults else ""
            lines.append(f"{several} of your texts could not be read, and took no part: {first}")
        if self.given is not None and self.given.only and not self.compared.total():
            lines.append(
                "no document of your texts was compared; give texts that are not empty, and two "
                "implementations that run the vocabulary (tokgate list impls)"
            )
        return lines

    def _notes(self) -> list[str]:
        left = [one.vocabulary for one in self.read.values() if not one.whole]
        if not left:
            return []
        return [
            f"your texts were not read to their end on {', '.join(left)}; give a larger --budget, "
            "or --only-input without one"
        ]
