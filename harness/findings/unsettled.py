"""Violations of which nobody knows what they are, kept until what is known of others is settled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.events import Unsettled

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.findings.entries import Entry

NOT_ASKED_AGAIN = "there was no time left to ask again"

NOT_LOOKED_INTO = "no time was left to look into them"

NO_SECOND_ANSWER = "it gave no answer when it was asked again"


@dataclass(slots=True)
class Open:
    """Violations that could not be looked into, each with the reason."""

    waiting: list[tuple[Entry, str]] = field(default_factory=list)

    def settle(self, known: Callable[[Entry], object]) -> list[Unsettled]:
        """Let go of all; gives what is to be told of those of which nothing is known by now."""
        waiting, self.waiting = self.waiting, []
        counts = Counter(
            (entry.contract.id, entry.violation.check, tuple(entry.violation.culprits), reason)
            for entry, reason in waiting
            if known(entry) is None
        )
        return [
            Unsettled(contract, check, list(culprits), reason, count)
            for (contract, check, culprits, reason), count in counts.items()
        ]
