"""What healers force of the tokens that anybody might force: a share, which no gate is on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from harness.events import BatchDone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.events import Event


def shares(events: Iterable[Event]) -> Mapping[tuple[str, str], float]:
    """By contract and healer, the share of what may be forced that it forced in all batches."""
    forced, possible = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for event in events:
        if isinstance(event, BatchDone):
            for name, counts in event.forced.items():
                forced[event.contract, name] += counts["forced"]
                possible[event.contract, name] += counts["possible"]
    return {place: forced[place] / number for place, number in possible.items() if number}
