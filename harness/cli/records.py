"""From a run's folder to its record, and from the record to its reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.writing import writing
from harness.engine.selection import SelectionError
from harness.events import read_events
from reports import write_all
from reports.histories import FindingHistory
from reports.record import RunRecord
from reports.trends import Trend

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def reported(folder: Path, ledger: str | None = None) -> RunRecord:
    """Write all reports of a run into its folder, and return its record.

    Raises SelectionError, LedgerError, OutputError.
    """
    record = recorded(folder)
    with writing(folder):
        write_all(record, folder, trend_series(ledger), known_findings(ledger))
    return record


def trend_series(ledger: str | None) -> list[Trend]:
    """What a ledger knows of all runs, for the report's trends. Raises LedgerError."""
    if ledger is None:
        return []
    from harness.ledger.engine import open_database  # noqa: PLC0415 (SQLAlchemy is slow)

    return list(trends(open_database(ledger)))


def trends(engine: Engine) -> Iterator[Trend]:
    """Series over all runs of a ledger."""
    from harness.ledger import queries  # noqa: PLC0415 (likewise)

    for one in [*queries.findings(engine), *queries.worst(engine)]:
        yield Trend(one.name, one.unit, [(p.when, p.version, p.value) for p in one.points])


def known_findings(ledger: str | None) -> dict[str, FindingHistory]:
    """Since when a ledger knows each finding, by its id. Raises LedgerError."""
    if ledger is None:
        return {}
    from harness.ledger import queries  # noqa: PLC0415 (likewise)
    from harness.ledger.engine import open_database  # noqa: PLC0415 (likewise)

    known = queries.seen_between(open_database(ledger))
    return {identity: FindingHistory(*seen) for identity, seen in known.items()}
