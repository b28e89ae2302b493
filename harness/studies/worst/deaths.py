"""Deaths that a search met: inputs without an answer, one of each kind kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from corpora.families.pattern import Pattern
from harness.core.outcomes import Status
from harness.studies.worst.candidates import niche

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT = 8
"""So many deaths of one status are kept, so that one overflow of the stack does not hide
another."""


@dataclass(frozen=True, slots=True)
class Death:
    """A pattern that got no answer. length: bytes of the input; size: what it was made for."""

    pattern: Pattern
    length: int
    size: int
    status: Status
    message: str

    def to_dict(self) -> dict[str, Any]:
        """For the state on disk."""
        return {
            "pattern": self.pattern.to_dict(),
            "length": self.length,
            "size": self.size,
            "status": self.status.label,
            "message": self.message,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Death:
        """The death of :meth:`to_dict`. Raises KeyError, TypeError, ValueError."""
        return cls(
            Pattern.from_dict(data["pattern"]),
            data["length"],
            data["size"],
            Status.of(data["status"]),
            data["message"],
        )


class Deaths:
    """Deaths by kind: status and niche. The shortest input of each is kept."""

    def __init__(self) -> None:
        self.count = 0
        self._known: dict[tuple[Status, str], Death] = {}
        self._patterns: set[Pattern] = set()

    def add(self, death: Death) -> None:
        """Take note of one."""
        self.count += 1
        self._patterns.add(death.pattern)
        key = (death.status, niche(death.pattern))
        before = self._known.get(key)
        same = sum(status is death.status for status, _ in self._known)
        if before is None and same >= KEPT:
            return
        if before is None or self._rank(death) < self._rank(before):
            self._known[key] = death

    @staticmethod
    def _rank(death: Death) -> tuple[int, int]:
        return death.length, death.pattern.weight

    def fatal(self, pattern: Pattern) -> bool:
        """Whether this pattern is known to kill: to ask again would cost another process."""
        return pattern in self._patterns

    def all(self) -> list[Death]:
        """Those kept, the shortest first."""
        return sorted(self._known.values(), key=self._rank)
