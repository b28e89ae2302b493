"""A campaign in a database: opened or gone on with, committed round by round."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import hashlib
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from harness.core import stored
from harness.core.writing import writing
from harness.engine.selection import SelectionError
from harness.ledger.engine import LedgerError, open_database
from harness.studies.fuzz.behaviour import Map
from harness.studies.fuzz.models import CampaignRow, PartRow, ReportedRow
from harness.studies.fuzz.state import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from harness.studies.fuzz.state import Round

RELEASE_SECONDS = 5.0
"""The lock of a process that was killed may outlive it by so many seconds."""


class CampaignStore:
    """One campaign in a database."""

    def __init__(self, where: str, name: str) -> None:
        """Open the database. Raises LedgerError."""
        self.engine = open_database(where)
        self.name = name
        self._shown = self.engine.url.render_as_string(hide_password=True)
        self._id = 0

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the campaign, so that no other process goes on with it at the same time.

        The hold ends with the process, however that ends: at once in a file, and with PostgreSQL
        when the server notices that the process is gone, for which it is given a moment. Raises
        SelectionError if it stays taken.
        """
        taken = SelectionError(
            f"--ledger {self._shown}: another process is at the campaign {self.name!r}; "
            "wait for it, or give another --name"
        )
        if self.engine.dialect.name == "sqlite":
            path = Path(f"{self.engine.url.database}.{_digest(self.name)[:8]}.lock")
            with writing(path):
                opened = path.open("w")
            with opened as lock:

                def locked() -> bool:
                    try:
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        return False
                    except OSError as error:  # not all file systems have locks
                        raise SelectionError(
                            f"--ledger {self._shown}: {path} cannot be locked "
                            f"({error.strerror or error}); put the ledger on a local disk"
                        ) from error
                    return True

                if not _soon(locked):
                    raise taken
                yield
            return
        key = int(_digest(self.name)[:15], 16)
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            if not _soon(
                lambda: bool(connection.scalar(sa.select(sa.func.pg_try_advisory_lock(key))))
            ):
                raise taken
            try:
                yield
            finally:
                connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))

    def stored_identity(self) -> dict[str, Any] | None:
        """The identity of the campaign that would go on, None if there is none."""
        with self._session() as session:
            row = self._latest(session)
            return None if row is None else self._identity(row)

    def _identity(self, row: CampaignRow) -> dict[str, Any]:
        try:
            return stored.typed(row.identity, dict[str, Any], "identity")
        except ValueError as error:
            raise self._unreadable(str(error)) from error

    def begin(self, identity: Mapping[str, Any], *, anew: bool) -> bool:
        """Go on with the campaign of this name and identity, or begin it; whether it goes on.

        anew: begin another, whatever there is. Raises SelectionError if the identity is another.
        """
        with self._session() as session:
            row = None if anew else self._latest(session)
            resumed = row is not None
            if row is None:
                row = CampaignRow(
                    name=self.name, identity=dict(identity), started=now(), sessions=0, seconds=0.0
                )
                session.add(row)
            elif self._identity(row) != dict(identity):
                raise SelectionError(
                    f"--ledger {self._shown}: the campaign {self.name!r} was started with "
                    f"{difference(row.identity, identity)}; give the same options to continue, or "
                    "--anew to start again (what was found stays known)"
                )
            row.sessions += 1
            session.flush()
            self._id = row.id
        return resumed

    @property
    def started(self) -> str:
        """When the campaign began, as ISO 8601."""
        return self._row().started

    @property
    def mark(self) -> str:
        """What tells this campaign from others that a folder may be of."""
        return f"{self.name} {self._id} {self.started}"

    @property
    def seconds(self) -> float:
        """What was spent on committed rounds, over all sessions and targets."""
        return self._row().seconds

    def _row(self) -> CampaignRow:
        with self._session() as session:
            return session.get_one(CampaignRow, self._id)

    def known(self) -> set[str]:
        """The ids of the findings that campaigns in this database have told.

        What was committed by a session that was killed before its end was told by nobody: it is new
        to the session that goes on.
        """
        with self._session() as session:
            return set(session.scalars(sa.select(ReportedRow.id)))

    def tell(self, findings: Sequence[str]) -> None:
        """Note that these were told. Raises LedgerError."""
        if not findings:
            return
        with self._session() as session:
            for name in findings:
                session.merge(ReportedRow(id=name))

    def target(self, name: str) -> Kept | None:
        """A target as it was committed last. Raises LedgerError for one that cannot be read."""
        with self._session() as session:
            rows = session.execute(
                sa.select(PartRow.name, PartRow.value).where(
                    PartRow.campaign == self._id, PartRow.target == name
                )
            )
            parts = {row.name: row.value for row in rows}
            if not parts:
                return None
            try:
                kept = Kept.of(parts)
                Map(kept.state.map)
            except ValueError as error:
                raise self._unreadable(f"the state of {name}: {error}") from error
            return kept

    def targets(self, names: Iterable[str]) -> dict[str, Kept]:
        """Those of these targets that were ever committed. Raises LedgerError."""
        return {name: kept for name in names if (kept := self.target(name)) is not None}

    def _unreadable(self, why: str) -> LedgerError:
        return LedgerError(
            f"--ledger {self._shown}: the campaign {self.name!r} cannot be read ({why}); "
            "give --anew to begin another"
        )

    def commit(self, rounds: Sequence[Round], forgotten: Iterable[str] = ()) -> None:
        """Write rounds, one of each target: all of them, or nothing. Raises LedgerError.

        forgotten: ids of findings that were told, and are new where they are found again.
        """
        with self._session() as session:
            for done in rounds:
                self._commit(session, done)
            session.execute(sa.delete(ReportedRow).where(ReportedRow.id.in_(list(forgotten))))

    def _commit(self, session: Session, done: Round) -> None:
        of = {"campaign": self._id, "target": done.target}
        session.execute(
            sa.delete(PartRow).where(
                PartRow.campaign == self._id,
                PartRow.target == done.target,
                PartRow.name.in_(list(done.parts)),
            )
        )
        parts = [{**of, "name": name, "value": part} for name, part in done.parts.items() if part]
        if parts:
            session.execute(sa.insert(PartRow), parts)
        session.get_one(CampaignRow, self._id).seconds += done.seconds

    def _latest(self, session: Session) -> CampaignRow | None:
        return session.scalar(
            sa.select(CampaignRow)
            .where(CampaignRow.name == self.name)
            .order_by(CampaignRow.id.desc())
            .limit(1)
        )

    @contextlib.contextmanager
    def _session(self) -> Iterator[Session]:
        """A transaction. Raises LedgerError where the database fails."""
        try:
            with Session(self.engine, expire_on_commit=False) as session, session.begin():
                yield session
        except SQLAlchemyError as error:
            line = str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]
            raise LedgerError(
                f"--ledger {self._shown}: {line}; make room there, or mend the connection, "
                "and run again: what was committed is there"
            ) from error
        except json.JSONDecodeError as error:  # a column of JSON that is none
            raise self._unreadable(f"a field is not JSON: {error}") from error


def difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The first thing in which two identities differ, in words: ``seed 0, not 1``."""
    for name in dict.fromkeys([*one, *other]):
        ours, theirs = one.get(name), other.get(name)
        if ours == theirs:
            continue
        if isinstance(ours, dict) and isinstance(theirs, dict):
            return difference(
                {f"{name} {key}": value for key, value in ours.items()},
                {f"{name} {key}": value for key, value in theirs.items()},
            )
        if ours is None or theirs is None:
            return f"{name} {ours}" if theirs is None else f"no {name} {theirs}"
        return f"{name} {_short(ours)}, not {_short(theirs)}"
    return "the same options"


def _soon(taken: Callable[[], bool]) -> bool:
    """Whether something can be taken within a moment."""
    deadline = time.monotonic() + RELEASE_SECONDS
    while not taken():
        if time.monotonic() > deadline:
            return False
        time.sleep(RELEASE_SECONDS / 50)
    return True


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
