"""Runs and measurements of speed are kept in a database, and all of them are read from it.

Each is written as one row, whole, or not at all: a run at its end, and a session of a campaign now
and then, too, as of then, so that one that is killed is there.
"""

from __future__ import annotations

import contextlib
import datetime
import uuid
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from harness.events import Benched, BenchStarted, Counted, Event, Finished, Found, Started
from harness.ledger.engine import Kept, LedgerError, open_database, parse, transaction
from harness.ledger.models import History, Run, Script, Tally, tallies
from harness.verdict.coverage import Coverage

COSTS_OF_TEXT = frozenset({"time", "steps", "instructions"})
"""Measures that are kept: those of memory and of a program's word are in the run's own record."""

MAX_REPRODUCER = 64 << 10
"""Bytes of a reproducer that is kept; the few longer ones carry a whole vocabulary."""


def keep_run(
    engine: Engine,
    coverage: Coverage,
    folder: Path | None = None,
    campaign: str | None = None,
    name: str = "",
) -> None:
    """Keep a run. Raises LedgerError.

    Of a run without an end nothing is kept: its folder has what it found until then. folder: that
    of the run, from which the reproducers are taken. campaign: the name of its campaign. name: of
    the run, 32 hex digits; what was kept by that name is replaced.
    """
    if coverage.started is None or coverage.finished is None:
        return
    costs = [
        one
        for one in coverage.growth.values()
        if one.axis == "bytes" and one.measure in COSTS_OF_TEXT
    ]
    events = [
        coverage.finished,
        *coverage.vocabularies.values(),
        *coverage.findings.values(),
        *(Counted(bucket, count) for bucket, count in coverage.counts.items()),
        *costs,
        *tallies(coverage),
        *(_scripts(coverage.findings.values(), folder) if folder else ()),
    ]
    _keep(engine, coverage.started, events, campaign, name)


def keep_speeds(engine: Engine, events: Sequence[Event]) -> None:
    """Keep a whole measurement of speed. Raises LedgerError.

    One that was interrupted is not kept: the same command goes on with it, and then it is.
    """
    began = next((one for one in events if isinstance(one, BenchStarted)), None)
    if began is not None and any(isinstance(e, Finished) and e.complete for e in events):
        _keep(engine, began, [one for one in events if isinstance(one, Benched)])


def _keep(
    engine: Engine,
    began: Started | BenchStarted,
    events: Iterable[Event],
    campaign: str | None = None,
    name: str = "",
) -> None:
    first = replace(began, time=in_utc(began.time))
    lines = "\n".join(one.to_json() for one in (first, *events))
    row = Kept(
        id=name or uuid.uuid4().hex,
        started=first.time,
        campaign=campaign,
        events=zlib.compress(lines.encode("ascii"), 9),
    )
    with transaction(engine, "cannot be written ({}); make room there, or name another") as session:
        session.merge(row)


def _scripts(findings: Iterable[Found], folder: Path) -> Iterator[Script]:
    """The reproducers of findings that can be read, and are worth keeping."""
    for found in findings:
        if found.reproducer is not None:
            # A finding is worth keeping without its script, too.
            with contextlib.suppress(OSError, ValueError):
                text = (folder / found.reproducer).read_text(encoding="utf-8")
                if len(text) <= MAX_REPRODUCER:
                    yield Script(found.id, text)


def in_utc(time: str) -> str:
    """An ISO 8601 time in UTC: as a string it sorts as it does as a time."""
    moment = datetime.datetime.fromisoformat(time)
    return moment.astimezone(datetime.UTC).isoformat()


def open_existing(where: str) -> Engine:
    """The engine of a ledger that is there: a reader makes none. Raises LedgerError."""
    url = parse(where)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise LedgerError(f"--ledger {where}: no such file; name the ledger that runs were kept in")
    return open_database(where)


def history(engine: Engine) -> History:
    """Everything, read in one transaction. Raises LedgerError."""
    with transaction(engine, "cannot be read ({}); name another") as session:
        rows = session.scalars(sa.select(Kept).order_by(Kept.started, Kept.id)).all()
        session.expunge_all()
    runs, measurements = list[Run](), list[Sequence[Event]]()
    for row in rows:
        events = list(_events(row))
        coverage = Coverage.of(events)
        began, ended = coverage.started, coverage.finished
        if began and ended:
            told = [one for one in events if isinstance(one, Tally)]
            scripts = {one.finding: one.text for one in events if isinstance(one, Script)}
            runs.append(Run(row.id, row.campaign, began, ended, coverage, told, scripts))
        else:
            measurements.append(events)
    return History(runs, measurements)


def _events(row: Kept) -> Iterator[Event]:
    """The events of a row that this version of tokgate can read."""
    for line in zlib.decompress(row.events).decode("ascii").splitlines():
        with contextlib.suppress(ValueError):
            if event := Event.from_json(line):
                yield event
