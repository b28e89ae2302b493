"""What healers force of the tokens that anybody might force: a share, which no gate is on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.events import BatchDone


@dataclass(frozen=True, slots=True)
class Healers:
    """The counts of a run, by contract and name, as its batches have them."""

    counts: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)

    def take(self, batch: BatchDone) -> None:
        """Add those of a batch."""
        for name, counts in batch.forced.items():
            self.counts.setdefault((batch.contract, name), Counter()).update(counts)

    def share_shown(self, contract: str, name: str) -> str:
        """``(forces 97.1 % of what may be forced)``, or nothing of who heals nothing."""
        counts = self.counts.get((contract, name))
        if not counts or not counts["possible"]:
            return ""
        share = counts["forced"] / counts["possible"]
        return f" (forces {100 * share:.1f} % of what may be forced)"


NO_HEALERS = Healers()
"""Those of a run in which nobody heals."""
