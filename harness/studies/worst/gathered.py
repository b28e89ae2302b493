"""What searches for the worst input found elsewhere, and a search of this machine begins with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from corpora.families.pattern import Pattern
from harness.studies.worst.deaths import Death

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class Gathered:
    """What searches elsewhere found. patterns: with their origins, each of them once."""

    patterns: list[tuple[str, Pattern]] = field(default_factory=list)
    deaths: list[Death] = field(default_factory=list)
    readings: int = 0
    generations: int = 0
    seconds: float = 0.0

    def take(self, found: Mapping[str, Any]) -> None:
        """Add what one search found. Raises ValueError where it is none."""
        try:
            for one in found["patterns"]:
                pattern = Pattern.from_dict(one["pattern"])
                if all(pattern != known for _, known in self.patterns):
                    self.patterns.append((str(one["origin"]), pattern))
            self.deaths += [Death.from_dict(one) for one in found["deaths"]]
            self.readings += int(found["readings"])
            self.generations += int(found["generations"])
            self.seconds += float(found["seconds"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"what a search found lacks {error}") from error
