"""Questions to the ledger: series over time, for trends."""

from __future__ import annotations

import datetime
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import sqlalchemy as sa

from harness.ledger.models import Run, RunFinding, RunGrowth, RunVersion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Engine

Measure = Literal["seconds", "nanoseconds-a-byte", "exponent"]


@dataclass(frozen=True, slots=True)
class Point:
    """A value of one run. version: of the implementation, or of tokgate for counts."""

    when: datetime.datetime
    version: str
    value: float
    run: str


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity over time, the oldest point first. unit: of the values, for an axis."""

    name: str
    unit: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """When and how often a bucket was seen on a vocabulary: in ``runs`` of all complete runs."""

    bucket: str
    vocabulary: str
    first: datetime.datetime
    last: datetime.datetime
    runs: int


def growth(
    engine: Engine,
    measure: Measure = "seconds",
    *,
    implementation: str | None = None,
    vocabulary: str | None = None,
    family: str | None = None,
) -> list[Series]:
    """A series for each implementation, vocabulary and family: ``tiktoken on spaces of tekken``.

    ``seconds`` and ``nanoseconds-a-byte`` are those of the largest size that all runs of the
    series have measured, so that they can be compared; runs without that size are left out.
    """
    return [
        Series(f"{name} on {kind} of {source}", _unit(measure), points)
        for (name, source, kind), points in _cells(
            engine, measure, implementation, vocabulary, family
        )
    ]


def _cells(
    engine: Engine,
    measure: Measure,
    implementation: str | None = None,
    vocabulary: str | None = None,
    family: str | None = None,
) -> list[tuple[tuple[str, str, str], tuple[Point, ...]]]:
    """The points of each implementation, vocabulary and family."""
    chosen = (
        sa.select(RunGrowth, Run.started, RunVersion.version)
        .join(Run, Run.id == RunGrowth.run)
        .outerjoin(
            RunVersion,
            sa.and_(RunVersion.run == Run.id, RunVersion.name == RunGrowth.implementation),
        )
        .where(Run.seconds.is_not(None))
        .order_by(Run.started, Run.id)
    )
    for column, wanted in (
        (RunGrowth.implementation, implementation),
        (RunGrowth.vocabulary, vocabulary),
        (RunGrowth.family, family),
    ):
        if wanted is not None:
            chosen = chosen.where(column == wanted)
    cells: dict[tuple[str, str, str], list[tuple[RunGrowth, str, str]]] = defaultdict(list)
    with sa.orm.Session(engine) as session:
        for row, started, version in session.execute(chosen):
            key = (row.implementation, row.vocabulary, row.family)
            cells[key].append((row, started, version or ""))
        return [
            (key, points)
            for key, rows in sorted(cells.items())
            if (points := _points(rows, measure))
        ]


def worst(engine: Engine, *, implementation: str | None = None) -> list[Series]:
    """For each implementation and vocabulary, the greatest cost a byte over all families."""
    greatest: dict[str, dict[str, Point]] = defaultdict(dict)
    for (name, source, _), points in _cells(engine, "nanoseconds-a-byte", implementation):
        series = greatest[f"{name} on {source}"]
        for point in points:
            known = series.get(point.run)
            if known is None or point.value > known.value:
                series[point.run] = point
    return [
        Series(name, _unit("nanoseconds-a-byte"), _in_order(found.values()))
        for name, found in sorted(greatest.items())
    ]


def findings(engine: Engine) -> list[Series]:
    """Two series over all finished runs: how many unexpected findings, how many expected ones."""
    counted = (
        sa.select(RunFinding.run, RunFinding.expected, sa.func.count())
        .group_by(RunFinding.run, RunFinding.expected)
        .subquery()
    )
    run, expected, number = counted.c
    series = []
    with sa.orm.Session(engine) as session:
        for name, kind in (("unexpected findings", False), ("expected findings", True)):
            rows = session.execute(
                sa.select(Run.id, Run.started, RunVersion.version, sa.func.coalesce(number, 0))
                .outerjoin(
                    RunVersion,
                    sa.and_(RunVersion.run == Run.id, RunVersion.name == "tokgate"),
                )
                .outerjoin(counted, sa.and_(run == Run.id, expected == kind))
                .where(Run.seconds.is_not(None))
                .order_by(Run.started, Run.id)
            )
            points = tuple(
                Point(datetime.datetime.fromisoformat(when), version or "", float(value), id_)
                for id_, when, version, value in rows
            )
            if points:
                series.append(Series(name, "findings", points))
    return series


def seen(engine: Engine) -> list[Seen]:
    """All buckets with the first and the last time that they were seen."""
    grouped = (
        sa.select(
            RunFinding.bucket,
            RunFinding.vocabulary,
            sa.func.min(Run.started),
            sa.func.max(Run.started),
            sa.func.count(sa.distinct(Run.id)),
        )
        .join(Run, Run.id == RunFinding.run)
        .group_by(RunFinding.bucket, RunFinding.vocabulary)
        .order_by(RunFinding.bucket, RunFinding.vocabulary)
    )
    read = datetime.datetime.fromisoformat
    with sa.orm.Session(engine) as session:
        return [
            Seen(bucket, vocabulary, read(first), read(last), runs)
            for bucket, vocabulary, first, last, runs in session.execute(grouped)
        ]


def seen_between(engine: Engine) -> dict[str, tuple[datetime.datetime, datetime.datetime, int]]:
    """Of each finding, by its id, when it was seen first and last, and in how many runs."""
    grouped = (
        sa.select(
            RunFinding.id,
            sa.func.min(Run.started),
            sa.func.max(Run.started),
            sa.func.count(sa.distinct(Run.id)),
        )
        .join(Run, Run.id == RunFinding.run)
        .where(Run.seconds.is_not(None))
        .group_by(RunFinding.id)
    )
    read = datetime.datetime.fromisoformat
    with sa.orm.Session(engine) as session:
        return {
            identity: (read(first), read(last), runs)
            for identity, first, last, runs in session.execute(grouped)
        }


def _unit(measure: Measure) -> str:
    return {"seconds": "s", "nanoseconds-a-byte": "ns/byte", "exponent": "exponent"}[measure]


def _points(rows: list[tuple[RunGrowth, str, str]], measure: Measure) -> tuple[Point, ...]:
    sizes = [{int(point[0]) for point in row.points} for row, _, _ in rows if row.points]
    shared = set.intersection(*sizes) if sizes else set()
    # Runs of another suite may share no size with the rest: then the latest run's is the measure.
    at = max(shared or (sizes[-1] if sizes else {0}))
    points = []
    for row, started, version in rows:
        if measure == "exponent":
            value = row.exponent
        else:
            value = next((float(p[1]) for p in row.points if int(p[0]) == at), None)
            if value is not None and measure == "nanoseconds-a-byte":
                value = value / at * 1e9 if at else None
        if value is not None:
            when = datetime.datetime.fromisoformat(started)
            points.append(Point(when, version, value, row.run))
    return tuple(points)


def _in_order(points: Iterable[Point]) -> tuple[Point, ...]:
    return tuple(sorted(points, key=lambda point: (point.when, point.run)))
