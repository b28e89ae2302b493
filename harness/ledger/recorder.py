"""A consumer of a run's events that keeps the run in the ledger."""

from __future__ import annotations

import base64
import datetime
import uuid
import zlib
from collections import defaultdict
from dataclasses import asdict
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from harness.events import (
    BatchDone,
    ContractOpened,
    Counted,
    Finished,
    Found,
    Measured,
    Started,
    VocabularyLoaded,
)
from harness.ledger.counting import Counting
from harness.ledger.engine import LedgerError
from harness.ledger.models import (
    FindingDetail,
    Run,
    RunFinding,
    RunGrowth,
    RunTally,
    RunVersion,
    RunVocabulary,
)

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy.engine import Engine

    from harness.events import Event

COSTS_OF_TEXT = frozenset({"time", "steps", "instructions"})
"""Measures that are kept: those of memory and of a program's word are in the run's own record."""

MAX_REPRODUCER = 64 << 10
"""Bytes of a reproducer that is kept; the few longer ones carry a whole vocabulary."""


class Recorder:
    """Writes one run, at its end and in one transaction: it is in the ledger whole, or not at all.

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
        self._started: Started | None = None
        self._findings: dict[str, Found] = {}
        self._counts: dict[str, int] = {}
        self._growth: dict[tuple[str, str, str], Measured] = {}
        self._vocabularies: dict[str, VocabularyLoaded] = {}
        self._counting = Counting()

    def consume(self, event: Event) -> None:
        """Take note of an event. Raises LedgerError where the database cannot be written."""
        match event:
            case Started():
                self._started = event
            case VocabularyLoaded():
                self._vocabularies[event.id] = event
            case ContractOpened():
                self._counting.opened(event)
            case BatchDone():
                self._counting.done(event)
            case Found():
                if event.replaces is not None:
                    self._findings.pop(event.replaces, None)
                self._findings[event.id] = event
            case Counted():
                self._counts[event.bucket] = event.count
            case Measured() if event.axis == "bytes" and event.measure in COSTS_OF_TEXT:
                self._growth[event.implementation, event.vocabulary, event.family] = event
            case Finished():
                self._finish(event)

    def _finish(self, event: Finished) -> None:
        began = self._started
        if began is None:
            message = "a run ends that has not begun"
            raise ValueError(message)
        run = Run(
            id=self.run,
            started=in_utc(began.time),
            command=began.command,
            suite=began.suite,
            budget=began.budget,
            seed=began.seed,
            machine=began.machine,
            campaign=self._campaign,
            verdict=event.verdict,
            complete=event.complete,
            exit_status=event.exit_status,
            reasons=list(event.reasons),
            seconds=event.seconds,
            cases=event.cases,
            comparisons=event.comparisons,
        )
        rows = [
            *(
                RunVersion(run=self.run, name=name, version=version)
                for name, version in began.versions.items()
            ),
            *(self._finding(found) for found in self._findings.values()),
            *(self._grown(measured) for measured in self._growth.values()),
            *(self._vocabulary(loaded) for loaded in self._vocabularies.values()),
            *(RunTally(run=self.run, **asdict(one)) for one in self._counting.tallied()),
        ]
        try:
            with Session(self._engine) as session, session.begin():
                session.add(run)
                session.flush()  # the others refer to it
                session.add_all(rows)
                session.add_all(self._news(session, began.versions))
        except SQLAlchemyError as error:
            raise unwritable(error) from error

    def _finding(self, found: Found) -> RunFinding:
        return RunFinding(
            run=self.run,
            id=found.id,
            bucket=found.bucket,
            vocabulary=found.vocabulary,
            culprits=list(found.culprits),
            data=base64.b64decode(found.input_b64),
            expected=found.expected is not None,
            count=self._counts.get(found.bucket, 1),
        )

    def _news(self, session: Session, versions: dict[str, str]) -> list[FindingDetail]:
        """What the ledger does not have in full yet: under these versions, or as small."""
        known: dict[tuple[str, str], int] = defaultdict(lambda: 1 << 62)
        kept = sa.select(FindingDetail.id, FindingDetail.versions, FindingDetail.size)
        for identity, under, size in session.execute(kept):
            known[identity, under] = min(size, known[identity, under])
        made = []
        for found in self._findings.values():
            under = "; ".join(f"{name} {versions.get(name, '')}" for name in found.culprits)
            size = len(base64.b64decode(found.input_b64))
            if size < known[found.id, under]:
                encoded = found.to_json().encode("ascii")
                made.append(
                    FindingDetail(
                        id=found.id,
                        run=self.run,
                        versions=under,
                        size=size,
                        event=zlib.compress(encoded, 9),
                        reproducer=self._reproducer(found),
                    )
                )
        return made

    def _reproducer(self, found: Found) -> str | None:
        if self._folder is None or found.reproducer is None:
            return None
        try:
            text = (self._folder / found.reproducer).read_text(encoding="utf-8")
        except (OSError, ValueError):  # the finding is worth keeping without it
            return None
        # PostgreSQL takes no NUL in a text; a script has none.
        return None if "\0" in text or len(text) > MAX_REPRODUCER else text

    def _vocabulary(self, loaded: VocabularyLoaded) -> RunVocabulary:
        return RunVocabulary(
            run=self.run,
            vocabulary=loaded.id,
            source=plain(loaded.source),
            format=loaded.format,
            algorithm=loaded.algorithm,
            tokens=loaded.tokens,
            fingerprint=loaded.fingerprint,
        )

    def _grown(self, measured: Measured) -> RunGrowth:
        size, seconds = measured.points[-1][:2] if measured.points else (None, None)
        return RunGrowth(
            run=self.run,
            implementation=measured.implementation,
            vocabulary=measured.vocabulary,
            family=measured.family,
            verdict=measured.verdict,
            exponent=measured.exponent,
            low=measured.low,
            high=measured.high,
            bytes=None if size is None else int(size),
            seconds=seconds,
            points=measured.points,
        )


def in_utc(time: str) -> str:
    """An ISO 8601 time in UTC, to the second: as a string it sorts as it does as a time."""
    moment = datetime.datetime.fromisoformat(time)
    return moment.astimezone(datetime.UTC).isoformat(timespec="seconds")


def plain(text: str) -> str:
    """A text as every database takes it: a path may have lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def unwritable(error: SQLAlchemyError) -> LedgerError:
    """The line for a database that cannot be written."""
    line = str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]
    return LedgerError(f"--ledger: cannot be written ({line}); make room there, or name another")
