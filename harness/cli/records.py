"""From a run's folder to its record, and from the record to its reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.output import writing
from harness.engine.selection import SelectionError
from harness.events import read_events
from harness.ledger import trends
from reports import write_all
from reports.record import RunRecord

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.engine import Engine


def recorded(folder: Path) -> RunRecord:
    """The record in a run's folder. Raises SelectionError with one line."""
    path = folder / "run.jsonl"
    if not path.is_file():
        raise SelectionError(f"{path}: no such record; name the --out folder of a run")
    try:
        return RunRecord.from_events(read_events(path))
    except (ValueError, TypeError, KeyError) as error:
        raise SelectionError(f"{path}: damaged ({error}); run again") from error


def reported(folder: Path, ledger: str | None = None, *, keep: bool = False) -> RunRecord:
    """Write all reports of a run into its folder, and return its record.

    keep: the run itself is first written into the ledger, if there is one. Raises SelectionError,
    LedgerError, OutputError.
    """
    record = recorded(folder)
    database = opened(ledger) if keep else None
    if database is not None:
        from harness.ledger.store import keep_run  # noqa: PLC0415 (SQLAlchemy is slow)

        keep_run(database, record.coverage, folder)
    with writing(folder):
        write_all(record, folder, *known(ledger))
    return record


def opened(ledger: str | None) -> Engine | None:
    """The database of a ledger, if there is one, with all its tables. Raises LedgerError."""
    if ledger is None:
        return None
    from harness.ledger.engine import open_database  # noqa: PLC0415 (SQLAlchemy is slow)

    return open_database(ledger)


def known(ledger: str | None) -> tuple[list[trends.Trend], dict[str, trends.Seen]]:
    """What a ledger knows of all runs: trends, and since when each finding is there, by its id.

    Raises LedgerError.
    """
    database = opened(ledger)
    if database is None:
        return [], {}
    from harness.ledger.store import history  # noqa: PLC0415 (likewise)

    found = history(database)
    return trends.series(found), trends.seen(found)
