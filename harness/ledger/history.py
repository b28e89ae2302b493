"""All that the ledger knows of all runs, for a site that shows it."""

from __future__ import annotations

import contextlib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from harness.events import Event, Found
from harness.ledger.engine import LedgerError, fault, open_database, parse
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.engine import Engine

Row = TypeVar("Row", RunVersion, RunVocabulary, RunTally, RunFinding, RunGrowth, FindingDetail)


@dataclass(frozen=True, slots=True)
class RecordedFinding:
    """A finding in full, as the run ``run`` has told it."""

    run: str
    found: Found
    reproducer: str | None


@dataclass(frozen=True, slots=True, eq=False)
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
    speeds = sa.select(MeasuredSpeed).order_by(MeasuredSpeed.started, MeasuredSpeed.id)
    try:
        with Session(engine, expire_on_commit=False) as session, session.begin():
            rows = History(
                runs=session.scalars(sa.select(Run).order_by(Run.started, Run.id)).all(),
                versions=_of_runs(session, RunVersion),
                vocabularies=_of_runs(session, RunVocabulary),
                tallies=_of_runs(session, RunTally),
                findings=_of_runs(session, RunFinding),
                growth=_of_runs(session, RunGrowth),
                details=_latest(_of_runs(session, FindingDetail)),
                speeds=session.scalars(speeds).all(),
            )
            session.expunge_all()
    except SQLAlchemyError as error:
        raise LedgerError(f"--ledger: cannot be read ({fault(error)}); name another") from error
    return rows


def _of_runs(session: Session, table: type[Row]) -> Sequence[Row]:
    """The rows of all runs, by time."""
    chosen = sa.select(table).join(Run, Run.id == table.run).order_by(Run.started, Run.id)
    return session.scalars(chosen).all()


def _latest(rows: Iterable[FindingDetail]) -> list[RecordedFinding]:
    """Of each finding the last row that this version can read."""
    latest: dict[str, RecordedFinding] = {}
    for row in rows:
        with contextlib.suppress(zlib.error, ValueError):
            found = Event.from_json(zlib.decompress(row.event).decode())
            if isinstance(found, Found):
                latest[row.id] = RecordedFinding(row.run, found, row.reproducer)
    return list(latest.values())
