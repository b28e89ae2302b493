"""What a ledger says of all finished runs: series over time, and when findings were seen."""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.ledger.models import History, Run

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


def trend(name: str, unit: str, who: str, values: Iterable[tuple[Run, float]]) -> Trend:
    """The values of runs, with the version that ``who`` had there."""
    points = [
        (TIME(run.began.time), run.began.versions.get(who, ""), value) for run, value in values
    ]
    return Trend(name, unit, points)


def series(known: History) -> list[Trend]:
    """Series over all runs of a ledger."""
    return [*findings(known), *worst(known)]


def worst(known: History) -> list[Trend]:
    """For each implementation and vocabulary, the greatest cost a byte over all families.

    The cost of a family is that at the largest size that all its runs have measured (of the latest
    where they share none), so that they can be compared; runs without that size are left out.
    """
    cells: dict[tuple[str, str, str], dict[Run, dict[int, float]]] = defaultdict(dict)
    for run in known.runs:
        for one in run.coverage.growth.values():
            if one.points and one.measure == "time":
                costs = {int(size): cost for size, cost in one.points}
                cells[one.implementation, one.vocabulary, one.family][run] = costs
    greatest: dict[tuple[str, str], dict[Run, float]] = defaultdict(dict)
    for (who, on, _), runs in sorted(cells.items()):
        sizes = [set(costs) for costs in runs.values()]
        size = max(set.intersection(*sizes) or sizes[-1])
        values = greatest[who, on]
        for run, costs in runs.items():
            if size in costs:
                values[run] = max(values.get(run, 0.0), costs[size] / size * 1e9)
    return [
        trend(f"{who} on {on}", "ns/byte", who, [(r, values[r]) for r in known.runs if r in values])
        for (who, on), values in greatest.items()
    ]


def findings(known: History) -> list[Trend]:
    """Two series: how many unexpected findings each run has, and how many expected ones."""
    made = []
    for name, kind in (("unexpected findings", False), ("expected findings", True)):
        counts = [
            (run, sum((one.expected is not None) is kind for one in run.coverage.findings.values()))
            for run in known.runs
        ]
        made += [trend(name, "findings", "tokgate", counts)] * bool(counts)
    return made


def seen(known: History) -> dict[str, Seen]:
    """Of each finding, by its id, when it was seen first and last, and in how many runs."""
    times: dict[str, list[datetime.datetime]] = defaultdict(list)
    for run in known.runs:
        for name in run.coverage.findings:
            times[name].append(TIME(run.began.time))
    return {name: (when[0], when[-1], len(when)) for name, when in times.items()}
