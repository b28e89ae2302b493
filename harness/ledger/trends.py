"""What a ledger says of all finished runs: series over time, and when findings were seen."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.ledger.history import History  # SQLAlchemy is slow

TIME = datetime.datetime.fromisoformat

Seen = tuple[datetime.datetime, datetime.datetime, int]
"""When a finding was seen first and last, and in how many runs."""


@dataclass(frozen=True)
class Trend:
    """One quantity over time, the oldest point first.

    unit: ``s`` for seconds, else what stands behind a number (``ns/byte``, ``findings``). points:
    when a run was, the version there (of the implementation, or of tokgate for counts), and the
    value.
    """

    name: str
    unit: str
    points: Sequence[tuple[datetime.datetime, str, float]]


def series(known: History) -> list[Trend]:
    """Series over all runs of a ledger."""
    return [*findings(known), *worst(known)]


def worst(known: History) -> list[Trend]:
    """For each implementation and vocabulary, the greatest cost a byte over all families.

    The cost of a family is that at the largest size that all its runs have measured (of the latest
    where they share none), so that they can be compared; runs without that size are left out.
    """
    cells: dict[tuple[str, str, str], dict[str, dict[int, float]]] = defaultdict(dict)
    for row in known.growth:
        if row.points:
            costs = {int(size): cost for size, cost in row.points}
            cells[row.implementation, row.vocabulary, row.family][row.run] = costs
    greatest: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for (who, on, _), runs in sorted(cells.items()):
        sizes = [set(costs) for costs in runs.values()]
        size = max(set.intersection(*sizes) or sizes[-1])
        values = greatest[who, on]
        for run, costs in runs.items():
            if size in costs:
                values[run] = max(values.get(run, 0.0), costs[size] / size * 1e9)
    return [
        _series(known, f"{who} on {on}", "ns/byte", who, values)
        for (who, on), values in greatest.items()
    ]


def findings(known: History) -> list[Trend]:
    """Two series: how many unexpected findings each run has, and how many expected ones."""
    counts = Counter((row.run, row.expected) for row in known.findings)
    return [
        _series(known, name, "findings", "tokgate", {r.id: counts[r.id, kind] for r in known.runs})
        for name, kind in (("unexpected findings", False), ("expected findings", True))
        if known.runs
    ]


def _series(known: History, name: str, unit: str, who: str, values: Mapping[str, float]) -> Trend:
    """The values of runs, with the version that ``who`` had there."""
    versions = {row.run: row.version for row in known.versions if row.name == who}
    return Trend(
        name,
        unit,
        [
            (TIME(run.started), versions.get(run.id, ""), values[run.id])
            for run in known.runs
            if run.id in values
        ],
    )


def seen(known: History) -> dict[str, Seen]:
    """Of each finding, by its id, when it was seen first and last, and in how many runs."""
    started = {run.id: TIME(run.started) for run in known.runs}
    times: dict[str, list[datetime.datetime]] = defaultdict(list)
    for row in known.findings:
        times[row.id].append(started[row.run])
    return {name: (when[0], when[-1], len(when)) for name, when in times.items()}
