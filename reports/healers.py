"""What healers force of the tokens that anybody might force: a share, which no gate is on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.events import BatchDone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.events import Event


@dataclass(frozen=True, slots=True)
class Healers:
    """The counts of a run, by contract and name, as its batches have them."""

    counts: Mapping[tuple[str, str], Counter[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Healers:
        """What these events tell; those of other things are passed over."""
        found: dict[tuple[str, str], Counter[str]] = {}
        for event in events:
            if isinstance(event, BatchDone):
                for name, counts in event.forced.items():
                    found.setdefault((event.contract, name), Counter()).update(counts)
        return cls(found)

    def share_shown(self, contract: str, name: str) -> str:
        """``(forces 97.1 % of what may be forced)``, or nothing of who heals nothing."""
        counts = self.counts.get((contract, name))
        if not counts or not counts["possible"]:
            return ""
        share = counts["forced"] / counts["possible"]
        return f" (forces {100 * share:.1f} % of what may be forced)"
