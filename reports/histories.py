"""Since when findings are known, where a ledger says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.blocks.units import plural

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class FindingHistory:
    """When a finding was seen first and last, and in how many runs of the ledger."""

    first: datetime.datetime
    last: datetime.datetime
    runs: int


def history_of(ids: Iterable[str], known: Mapping[str, FindingHistory]) -> str:
    """A line on the findings of one cause; nothing where the ledger has none of them."""
    seen = [known[one] for one in ids if one in known]
    if not seen:
        return ""
    first = min(one.first for one in seen).date()
    last = max(one.last for one in seen).date()
    runs = max(one.runs for one in seen)
    if runs == 1:
        return f"seen in one run of the ledger, on {first.isoformat()}"
    since = f"first seen {first.isoformat()}, last seen {last.isoformat()}"
    return f"{since}, in {plural(runs, 'run')} of the ledger"
