"""A consumer of a benchmark's events that keeps its speeds in the ledger."""

from __future__ import annotations

import uuid
from statistics import median
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from harness.events import Benched, BenchStarted, Finished
from harness.ledger.models import MeasuredSpeed
from harness.ledger.recorder import in_utc, plain, unwritable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Engine

    from harness.events import Event


class SpeedRecorder:
    """Writes a whole measurement at its end, in one transaction.

    One that was interrupted is not there: the same command goes on with it, and then it is.
    """

    def __init__(self, engine: Engine) -> None:
        self.id = uuid.uuid4().hex
        self._engine = engine
        self._started: BenchStarted | None = None
        self._cells: list[Benched] = []

    def consume(self, event: Event) -> None:
        """Take note of an event. Raises LedgerError where the database cannot be written."""
        match event:
            case BenchStarted():
                self._started = event
            case Benched():
                self._cells.append(event)
            case Finished() if event.complete and self._started is not None:
                self._write(self._started)

    def _write(self, began: BenchStarted) -> None:
        rows = [row for cell in self._cells for row in self._rows(began, cell)]
        try:
            with Session(self._engine) as session, session.begin():
                session.add_all(rows)
        except SQLAlchemyError as error:
            raise unwritable(error) from error

    def _rows(self, began: BenchStarted, cell: Benched) -> Iterator[MeasuredSpeed]:
        """A row for each kind of timing."""
        for kind in dict.fromkeys(timing["kind"] for timing in cell.timings):
            found = cell.speeds(kind).values()
            yield MeasuredSpeed(
                id=self.id,
                row=cell.row,
                vocabulary=cell.vocabulary,
                mode=cell.mode,
                text=plain(cell.text),
                size=cell.size,
                kind=kind,
                started=in_utc(began.time),
                cpu=began.cpu,
                implementation=cell.implementation,
                version=began.versions.get(cell.implementation, ""),
                answer=cell.answer,
                rounds=len(found),
                best=max(found),
                median=median(found),
                slowest=min(found),
            )
