"""All that the ledger knows of all runs, for a site that shows it."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from harness.events import Event, Found
from harness.ledger.engine import LedgerError, open_database, parse, transaction
from harness.ledger.models import (
    FindingDetail,
    MeasuredSpeed,
    Run,
    RunFinding,
    RunGrowth,
    RunTally,
    RunVersion,
    RunVocabulary,
)

OF_RUNS: dict[str, Any] = {
    "versions": RunVersion,
    "vocabularies": RunVocabulary,
    "tallies": RunTally,
    "findings": RunFinding,
    "growth": RunGrowth,
    "details": FindingDetail,
}
"""The tables whose rows belong to runs, by what a history calls them."""


@dataclass(frozen=True)
class RecordedFinding:
    """A finding in full, as the run ``run`` has told it."""

    run: str
    found: Found
    reproducer: str | None


@dataclass(frozen=True, eq=False)
class History:
    """The rows of all runs, in the order of time; details: of a finding, the last ones.

    speeds: of all measurements, which are no runs.
    """

    runs: Sequence[Run]
    versions: Sequence[RunVersion]
    vocabularies: Sequence[RunVocabulary]
    tallies: Sequence[RunTally]
    findings: Sequence[RunFinding]
    growth: Sequence[RunGrowth]
    details: Sequence[RecordedFinding]
    speeds: Sequence[MeasuredSpeed]


def open_existing(where: str) -> Engine:
    """The engine of a ledger that is there: a reader makes none. Raises LedgerError."""
    url = parse(where)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise LedgerError(f"--ledger {where}: no such file; name the ledger that runs were kept in")
    return open_database(where)


def history(engine: Engine) -> History:
    """Everything, read in one transaction. Raises LedgerError."""
    in_time = Run.started, Run.id
    queries: dict[str, Any] = {
        name: sa.select(table).join(Run, Run.id == table.run).order_by(*in_time)
        for name, table in OF_RUNS.items()
    }
    queries["runs"] = sa.select(Run).order_by(*in_time)
    queries["speeds"] = sa.select(MeasuredSpeed).order_by(MeasuredSpeed.started, MeasuredSpeed.id)
    with transaction(engine, "cannot be read ({}); name another") as session:
        rows: dict[str, Any] = {
            name: session.scalars(query).all() for name, query in queries.items()
        }
        session.expunge_all()
    return History(**rows | {"details": _latest(rows["details"])})


def _latest(rows: Iterable[FindingDetail]) -> list[RecordedFinding]:
    """Of each finding the last row that this version can read."""
    latest: dict[str, RecordedFinding] = {}
    for row in rows:
        with contextlib.suppress(zlib.error, ValueError):
            found = Event.from_json(zlib.decompress(row.event).decode())
            if isinstance(found, Found):
                latest[row.id] = RecordedFinding(row.run, found, row.reproducer)
    return list(latest.values())
