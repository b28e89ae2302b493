"""What the ledger keeps of a run, or of a measurement of speed: rows, made of what it has come to.

They are written at its end and in one transaction: it is in the ledger whole, or not at all.
"""

from __future__ import annotations

import datetime
import math
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session

from harness.events import Benched, BenchStarted, Event, Finished, Found, Started
from harness.ledger.engine import Base, transaction
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

Row = TypeVar("Row", bound=Base)

COSTS_OF_TEXT = frozenset({"time", "steps", "instructions"})
"""Measures that are kept: those of memory and of a program's word are in the run's own record."""

MAX_REPRODUCER = 64 << 10
"""Bytes of a reproducer that is kept; the few longer ones carry a whole vocabulary."""


CANNOT_WRITE = "cannot be written ({}); make room there, or name another"
"""Said where the database fails."""


def keep_run(
    engine: Engine, coverage: Coverage, folder: Path | None = None, campaign: str | None = None
) -> str:
    """Keep a run, and return its id in the ledger. Raises LedgerError.

    Of a run without an end nothing is kept: its folder has what it found until then. folder: that
    of the run, from which the reproducers are taken. campaign: the name of its campaign.
    """
    run = uuid.uuid4().hex
    began, ended = coverage.started, coverage.finished
    if began is not None and ended is not None:
        with transaction(engine, CANNOT_WRITE) as session:
            time = in_utc(began.time)
            session.add(row(Run, ended, began, id=run, started=time, campaign=campaign))
            session.flush()  # the others refer to it
            session.add_all(rows_of(run, began, coverage))
            session.add_all(details(session, run, began, coverage.findings.values(), folder))
    return run


def details(
    session: Session, run: str, began: Started, findings: Iterable[Found], folder: Path | None
) -> Iterator[FindingDetail]:
    """The findings in full that the ledger does not have under these versions, or not as small."""
    under, size = FindingDetail.versions, sa.func.min(FindingDetail.size)
    kept = sa.select(FindingDetail.id, under, size).group_by(FindingDetail.id, under)
    known = {(name, versions): least for name, versions, least in session.execute(kept)}
    for found in findings:
        blamed = "; ".join(f"{name} {began.versions.get(name, '')}" for name in found.culprits)
        length = len(found.input)
        if length < known.get((found.id, blamed), math.inf):
            yield FindingDetail(
                id=found.id,
                run=run,
                versions=blamed,
                size=length,
                event=zlib.compress(found.to_json().encode("ascii"), 9),
                reproducer=script(found, folder),
            )


def script(found: Found, folder: Path | None) -> str | None:
    """The reproducer of a finding; None where it cannot be read, or is not worth keeping."""
    if folder is None or found.reproducer is None:
        return None
    try:
        text = (folder / found.reproducer).read_text(encoding="utf-8")
    except (OSError, ValueError):  # the finding is worth keeping without it
        return None
    # PostgreSQL takes no NUL in a text; a script has none.
    return None if "\0" in text or len(text) > MAX_REPRODUCER else text


def keep_speeds(engine: Engine, events: Sequence[Event]) -> None:
    """Keep a whole measurement of speed. Raises LedgerError.

    One that was interrupted is not kept: the same command goes on with it, and then it is.
    """
    measurement = uuid.uuid4().hex
    began = next((one for one in events if isinstance(one, BenchStarted)), None)
    if began is not None and any(isinstance(e, Finished) and e.complete for e in events):
        with transaction(engine, CANNOT_WRITE) as session:
            for cell in events:
                if isinstance(cell, Benched):
                    session.add_all(speeds_of(measurement, began, cell))


def row(table: type[Row], *events: Event, **more: Any) -> Row:
    """A row of a table: what is not given in ``more``, the first of the events has that has it."""
    return table(
        **{
            name: next(getattr(one, name) for one in events if hasattr(one, name))
            for name in {*sa.inspect(table).columns.keys()}.difference(more)
        },
        **more,
    )


def rows_of(run: str, began: Started, coverage: Coverage) -> Iterator[Base]:
    """The rows of a run, but for its own and those of findings in full."""
    for name, version in began.versions.items():
        yield RunVersion(run=run, name=name, version=version)
    for found in coverage.findings.values():
        yield row(
            RunFinding,
            found,
            run=run,
            data=found.input,
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
    made: dict[tuple[str, str], RunTally] = {}
    judged, at_fault = coverage.judged, coverage.at_fault
    for (where, name), ways in coverage.judged_of.items():
        contract = coverage.contracts.get(where)
        if contract is None:
            continue
        checks, generators = map(set, zip(*ways, strict=True))
        place = name, contract.vocabulary
        row = made.get(place) or RunTally(
            run=run, implementation=name, vocabulary=contract.vocabulary, cases=0, compared=0,
            wrong=0, deaths=0, trusted=False, checks=[], generators=[],
        )  # fmt: skip
        made[place] = row
        compared = judged[where, EQUIVALENCE, name]
        row.cases += max(judged[where, check, name] for check in checks)
        row.compared += compared
        row.wrong += min(at_fault[where, EQUIVALENCE, name], compared)
        row.deaths += at_fault[where, SURVIVAL, name]
        row.trusted |= name in contract.references
        row.checks = sorted(checks.union(row.checks))
        row.generators = sorted(generators.union(row.generators))
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
