"""What the ledger says of all finished runs: series over time, and when findings were seen."""

from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from harness.ledger.models import Run, RunFinding, RunGrowth, RunVersion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy.engine import Engine

TIME = datetime.datetime.fromisoformat


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity over time, the oldest point first.

    unit: of the values, for an axis. points: when a run was, the version there (of the
    implementation, or of tokgate for counts), and the value.
    """

    name: str
    unit: str
    points: list[tuple[datetime.datetime, str, float]]


def worst(engine: Engine) -> list[Series]:
    """For each implementation and vocabulary, the greatest cost a byte over all families.

    The cost of a family is that at the largest size that all its runs have measured, so that they
    can be compared; runs without that size are left out.
    """
    name, source, family = RunGrowth.implementation, RunGrowth.vocabulary, RunGrowth.family
    grown = sa.orm.join(Run, RunGrowth, RunGrowth.run == Run.id)
    asked = _by_version(grown, name, name, source, family, RunGrowth.points)
    cells: dict[tuple[str, str, str], list[tuple[Any, dict[int, float]]]] = defaultdict(list)
    with Session(engine) as session:
        for *run, who, on, kind, points in session.execute(asked):
            costs = {int(size): seconds for size, seconds in points}
            cells[who, on, kind].append((tuple(run), costs))
    greatest: dict[str, dict[Any, float]] = defaultdict(dict)
    for (who, on, _), runs in sorted(cells.items()):
        size = _common([costs for _, costs in runs if costs])
        series = greatest[f"{who} on {on}"]
        for run, costs in runs:
            if size in costs:
                series[run] = max(series.get(run, 0.0), costs[size] / size * 1e9)
    return [_series(title, "ns/byte", found) for title, found in greatest.items() if found]


def _common(runs: Sequence[Mapping[int, float]]) -> int:
    """The largest size that all have measured; that of the latest where they share none."""
    sizes = [set(costs) for costs in runs]
    return max(set.intersection(*sizes) or sizes[-1]) if sizes else 0


def findings(engine: Engine) -> list[Series]:
    """Two series: how many unexpected findings each run has, and how many expected ones."""
    with Session(engine) as session:
        runs = [tuple(row) for row in session.execute(_by_version(Run, "tokgate"))]
        every = session.execute(sa.select(RunFinding.run, RunFinding.expected))
        counts = Counter(map(tuple, every))
    return [
        _series(name, "findings", {run: counts[run[1], kind] for run in runs})
        for name, kind in (("unexpected findings", False), ("expected findings", True))
        if runs
    ]


def _by_version(source: Any, name: Any, *columns: Any) -> sa.Select[Any]:
    """Of finished runs by time: when, which, what version ``name`` had, and columns."""
    versions = sa.and_(RunVersion.run == Run.id, RunVersion.name == name)
    return (
        sa.select(Run.started, Run.id, sa.func.coalesce(RunVersion.version, ""), *columns)
        .select_from(source)
        .outerjoin(RunVersion, versions)
        .where(Run.seconds.is_not(None))
        .order_by(Run.started, Run.id)
    )


def _series(name: str, unit: str, values: Mapping[Any, float]) -> Series:
    ordered = sorted(values.items())
    return Series(name, unit, [(TIME(when), version, v) for (when, _, version), v in ordered])


def seen(engine: Engine) -> dict[str, tuple[datetime.datetime, datetime.datetime, int]]:
    """Of each finding, by its id, when it was seen first and last, and in how many runs."""
    first, last = sa.func.min(Run.started), sa.func.max(Run.started)
    grouped = (
        sa.select(RunFinding.id, first, last, sa.func.count(sa.distinct(Run.id)))
        .join(Run, Run.id == RunFinding.run)
        .where(Run.seconds.is_not(None))
        .group_by(RunFinding.id)
    )
    with Session(engine) as session:
        return {
            identity: (TIME(first), TIME(last), runs)
            for identity, first, last, runs in session.execute(grouped)
        }
