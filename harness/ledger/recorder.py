"""Consumers of events that keep a run, or a measurement of speed, in the ledger.

Each writes once, at the end and in one transaction: it is in the ledger whole, or not at all.
"""

from __future__ import annotations

import base64
import datetime
import math
import uuid
import zlib
from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from harness.events import Benched, BenchStarted, Finished, Found, Started
from harness.ledger.engine import Base, LedgerError, fault
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
from harness.verdict.coverage import EQUIVALENCE, SURVIVAL, Coverage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from sqlalchemy.engine import Engine

    from harness.events import Event

Row = TypeVar("Row", bound=Base)

BEGUN = ("command", "suite", "budget", "seed", "machine")
"""What a row of a run has of its beginning, under the same names."""

COSTS_OF_TEXT = frozenset({"time", "steps", "instructions"})
"""Measures that are kept: those of memory and of a program's word are in the run's own record."""

MAX_REPRODUCER = 64 << 10
"""Bytes of a reproducer that is kept; the few longer ones carry a whole vocabulary."""


class Recorder:
    """Writes one run at its end.

    A run that is killed is not there: its folder has what it found until then. folder: that of the
    run, from which the reproducers are taken.
    """

    def __init__(
        self, engine: Engine, campaign: str | None = None, folder: Path | None = None
    ) -> None:
        self.run = uuid.uuid4().hex
        self._engine = engine
        self._campaign = campaign
        self._folder = folder
        self._coverage = Coverage()

    def consume(self, event: Event) -> None:
        """Take note of an event. Raises LedgerError where the database cannot be written."""
        self._coverage.consume(event)
        if isinstance(event, Finished):
            self._write(event)

    def _write(self, ended: Finished) -> None:
        coverage, began = self._coverage, self._coverage.started
        if began is None:
            message = "a run ends that has not begun"
            raise ValueError(message)
        begun = {name: getattr(began, name) for name in BEGUN}
        times = {"started": in_utc(began.time), "campaign": self._campaign}
        run = row(Run, ended, id=self.run, **begun, **times)

        def details(session: Session) -> Iterator[FindingDetail]:
            """Findings that the ledger does not have under these versions, or not as small."""
            under, size = FindingDetail.versions, sa.func.min(FindingDetail.size)
            kept = sa.select(FindingDetail.id, under, size).group_by(FindingDetail.id, under)
            known = {(name, under): size for name, under, size in session.execute(kept)}
            for found in coverage.findings.values():
                blamed = [f"{name} {began.versions.get(name, '')}" for name in found.culprits]
                made = FindingDetail(
                    id=found.id,
                    run=self.run,
                    versions="; ".join(blamed),
                    size=len(base64.b64decode(found.input_b64)),
                    event=zlib.compress(found.to_json().encode("ascii"), 9),
                    reproducer=self._reproducer(found),
                )
                if made.size < known.get((made.id, made.versions), math.inf):
                    yield made

        write(self._engine, lambda _: [run], lambda _: rows_of(self.run, began, coverage), details)

    def _reproducer(self, found: Found) -> str | None:
        if self._folder is None or found.reproducer is None:
            return None
        try:
            text = (self._folder / found.reproducer).read_text(encoding="utf-8")
        except (OSError, ValueError):  # the finding is worth keeping without it
            return None
        # PostgreSQL takes no NUL in a text; a script has none.
        return None if "\0" in text or len(text) > MAX_REPRODUCER else text


class SpeedRecorder:
    """Writes a whole measurement of speed at its end.

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
                began = self._started
                rows = [row for cell in self._cells for row in speeds_of(self.id, began, cell)]
                write(self._engine, lambda _: rows)


def write(engine: Engine, *batches: Callable[[Session], Iterable[Base]]) -> None:
    """Write rows in one transaction, a batch after those that it refers to. Raises LedgerError."""
    try:
        with Session(engine) as session, session.begin():
            for rows in batches:
                session.add_all(rows(session))
                session.flush()
    except SQLAlchemyError as error:
        line = f"cannot be written ({fault(error)}); make room there, or name another"
        raise LedgerError(f"--ledger: {line}") from error


def row(table: type[Row], of: Event, **more: Any) -> Row:
    """A row of a table: what is not given in ``more``, the event has by the same name."""
    names = [column.key for column in sa.inspect(table).columns]
    return table(**{name: getattr(of, name) for name in names if name not in more}, **more)


def rows_of(run: str, began: Started, coverage: Coverage) -> Iterator[Base]:
    """The rows of a run, but for its own and those of findings in full."""
    for name, version in began.versions.items():
        yield RunVersion(run=run, name=name, version=version)
    for found in coverage.findings.values():
        yield row(
            RunFinding,
            found,
            run=run,
            data=base64.b64decode(found.input_b64),
            expected=found.expected is not None,
            count=coverage.counts.get(found.bucket, 1),
        )
    growth = {
        (one.implementation, one.vocabulary, one.family): one
        for one in coverage.growth.values()
        if one.axis == "bytes" and one.measure in COSTS_OF_TEXT
    }
    for one in growth.values():
        size, seconds = one.points[-1] if one.points else (None, None)
        size = None if size is None else int(size)
        yield row(RunGrowth, one, run=run, bytes=size, seconds=seconds)
    for loaded in coverage.vocabularies.values():
        source = plain(loaded.source)
        yield row(RunVocabulary, loaded, run=run, vocabulary=loaded.id, source=source)
    yield from tallies(run, coverage)


def tallies(run: str, coverage: Coverage) -> Iterable[RunTally]:
    """What batches add up to for each implementation on each vocabulary, over all comparisons.

    A case counts once under each comparison, however many checks judged it.
    """
    judged: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (where, check, name), number in coverage.judged.items():
        judged[where, name][check] = number
    made: dict[tuple[str, str], RunTally] = {}
    for (where, name), numbers in judged.items():
        contract = coverage.contracts.get(where)
        if contract is None:
            continue
        place = {"implementation": name, "vocabulary": contract.vocabulary}
        zero = RunTally(
            run=run, **place, cases=0, compared=0, wrong=0, deaths=0, trusted=False, checks=[],
            generators=[],
        )  # fmt: skip
        row = made.setdefault((name, contract.vocabulary), zero)
        compared = numbers.get(EQUIVALENCE, 0)
        row.cases += max(numbers.values())
        row.compared += compared
        row.wrong += min(coverage.at_fault[where, EQUIVALENCE, name], compared)
        row.deaths += coverage.at_fault[where, SURVIVAL, name]
        row.trusted |= name in contract.references
        row.checks = sorted({*row.checks, *(check for check, n in numbers.items() if n)})
        row.generators = sorted({*row.generators, *coverage.judged_of.get((where, name), ())})
    return made.values()


def speeds_of(measurement: str, began: BenchStarted, cell: Benched) -> Iterator[MeasuredSpeed]:
    """A row for each kind of timing of a cell."""
    for kind in dict.fromkeys(timing["kind"] for timing in cell.timings):
        found = cell.speeds(kind).values()
        yield row(
            MeasuredSpeed,
            cell,
            id=measurement,
            text=plain(cell.text),
            kind=kind,
            started=in_utc(began.time),
            cpu=began.cpu,
            version=began.versions.get(cell.implementation, ""),
            rounds=len(found),
            best=max(found),
            median=median(found),
            slowest=min(found),
        )


def in_utc(time: str) -> str:
    """An ISO 8601 time in UTC, to the second: as a string it sorts as it does as a time."""
    moment = datetime.datetime.fromisoformat(time)
    return moment.astimezone(datetime.UTC).isoformat(timespec="seconds")


def plain(text: str) -> str:
    """A text as every database takes it: a path may have lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
