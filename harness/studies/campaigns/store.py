"""A campaign in a database: opened or gone on with, committed round by round."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import time
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Mapped, Session, mapped_column

from harness.core import stored
from harness.core.output import writing
from harness.core.provenance import now
from harness.engine.selection import SelectionError
from harness.ledger.engine import Base, LedgerError, fault, open_database
from harness.studies.campaigns.state import Kept, S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from harness.studies.campaigns.state import Round

RELEASE_SECONDS = 5.0
"""The lock of a process that was killed may outlive it by so many seconds."""


class CampaignRow(Base):
    """A campaign. Of several by one name the one with the greatest id goes on.

    identity: the options and versions that decide what it does. seconds: spent, over all sessions.
    """

    __tablename__ = "campaigns"

    id: Mapped[int] = mapped_column(sa.Integer, primary_key=True)
    name: Mapped[str] = mapped_column(index=True)
    identity: Mapped[dict[str, Any]] = mapped_column(sa.JSON)
    started: Mapped[str]
    sessions: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[float] = mapped_column(default=0.0)


class PartRow(Base):
    """A part of the state of a target; see :meth:`harness.studies.campaigns.state.State.parts`."""

    __tablename__ = "campaign_parts"

    campaign: Mapped[int] = mapped_column(
        sa.ForeignKey(CampaignRow.id, ondelete="CASCADE"), primary_key=True
    )
    target: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[bytes]


class ReportedRow(Base):
    """A finding that a session has told: its reports were written."""

    __tablename__ = "campaign_told"

    id: Mapped[str] = mapped_column(primary_key=True)


class CampaignStore:
    """One campaign in a database.

    at: what errors begin with. other, anew: what a user may give where the campaign is taken, and
    where it is damaged. restarts: a campaign of another identity is replaced instead of refused.
    Raises LedgerError.
    """

    def __init__(
        self, where: str, name: str, *, at: str = "", other: str = "another --name",
        anew: str = "give --anew", restarts: bool = False,
    ) -> None:  # fmt: skip
        self.engine = open_database(where)
        self.name, self._other, self._anew, self._restarts = name, other, anew, restarts
        self._at = at or f"--ledger {self.engine.url.render_as_string(hide_password=True)}"
        self._id = 0

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Hold the campaign, so that no other process goes on with it at the same time.

        The hold ends with the process, however that ends: at once in a file, and with PostgreSQL
        when the server notices that the process is gone, for which it is given a moment. Raises
        SelectionError if it stays taken.
        """
        digest = hashlib.sha256(self.name.encode("utf-8", "surrogatepass")).hexdigest()
        local = self.engine.dialect.name == "sqlite"
        with self._file_lock(digest) if local else self._server_lock(digest) as taken:
            deadline = time.monotonic() + RELEASE_SECONDS
            while not taken():
                if time.monotonic() > deadline:
                    raise SelectionError(
                        f"{self._at}: another process is at the campaign {self.name!r}; "
                        f"wait for it, or give {self._other}"
                    )
                time.sleep(RELEASE_SECONDS / 50)
            yield

    @contextlib.contextmanager
    def _file_lock(self, digest: str) -> Iterator[Callable[[], bool]]:
        """What tries to take the lock of a file beside the database."""
        path = Path(f"{self.engine.url.database}.{digest[:8]}.lock")
        with writing(path):
            lock = path.open("w")

        def taken() -> bool:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            except OSError as error:  # not all file systems have locks
                raise SelectionError(
                    f"{self._at}: {path} cannot be locked ({error.strerror or error}); "
                    "put the ledger on a local disk"
                ) from error
            return True

        with lock:
            yield taken

    @contextlib.contextmanager
    def _server_lock(self, digest: str) -> Iterator[Callable[[], bool]]:
        """What tries to take a lock of PostgreSQL, which gives it back with the connection."""
        key = int(digest[:15], 16)
        with self.engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT")
            try:
                yield lambda: bool(connection.scalar(sa.select(sa.func.pg_try_advisory_lock(key))))
            finally:
                connection.execute(sa.select(sa.func.pg_advisory_unlock(key)))

    def begin(self, identity: Mapping[str, Any], *, anew: bool) -> None:
        """Go on with the campaign of this name and identity, or begin it.

        anew: begin another, whatever there is. Raises SelectionError if the identity is another,
        unless the campaign restarts then.
        """
        with self._session() as session:
            row = None if anew else self._latest(session)
            known = stored.typed(row.identity, dict[str, Any]) if row else identity
            if row and self._restarts and known != identity:
                # Nothing goes on from its state, and a database in a cache is to stay small.
                session.execute(sa.delete(PartRow).where(PartRow.campaign == row.id))
                row = None
            if row is None:
                row = CampaignRow(
                    name=self.name, identity=dict(identity), started=now(), sessions=0, seconds=0.0
                )
                session.add(row)
            elif known != identity:
                raise SelectionError(
                    f"{self._at}: the campaign {self.name!r} was started with "
                    f"{difference(known, identity)}; give the same options to continue, or "
                    "--anew or --restart-if-changed to start again (what was found stays known)"
                )
            row.sessions += 1
            session.flush()
            self._id = row.id

    @property
    def row(self) -> CampaignRow:
        """When the campaign began, and what was spent on committed rounds."""
        with self._session() as session:
            return session.get_one(CampaignRow, self._id)

    @property
    def mark(self) -> str:
        """What tells this campaign from others that a folder may be of."""
        return f"{self.name} {self._id} {self.row.started}"

    def known(self) -> set[str]:
        """The ids of the findings that campaigns in this database have told.

        What was committed by a session that was killed before its end was told by nobody: it is new
        to the session that goes on.
        """
        with self._session() as session:
            return set(session.scalars(sa.select(ReportedRow.id)))

    def tell(self, findings: Iterable[str]) -> None:
        """Note that these were told. Raises LedgerError."""
        with self._session() as session:
            for name in findings:
                session.merge(ReportedRow(id=name))

    def parts(self, target: str) -> dict[str, bytes]:
        """A target as it was committed last; nothing where it never was."""
        mine = PartRow.campaign == self._id, PartRow.target == target
        with self._session() as session:
            return {row.name: row.value for row in session.scalars(sa.select(PartRow).where(*mine))}

    def targets(self, names: Iterable[str], kind: type[S]) -> dict[str, Kept[S]]:
        """Those of these targets that were ever committed. kind: of their state.

        Raises LedgerError.
        """
        found = {}
        for name in names:
            try:
                if parts := self.parts(name):
                    found[name] = Kept(kind, parts)
            except ValueError as error:
                raise self._unreadable(f"the state of {name}: {error}") from error
        return found

    def _unreadable(self, why: str) -> LedgerError:
        return LedgerError(
            f"{self._at}: the campaign {self.name!r} cannot be read ({why}); "
            f"{self._anew} to begin another"
        )

    def commit(self, rounds: Iterable[Round], *, forget: bool = False) -> None:
        """Write rounds, one of each target: all of them, or nothing. Raises LedgerError.

        forget: what is gone in them was told, and is new where it is found again.
        """
        with self._session() as session:
            for done in rounds:
                mine = PartRow.campaign == self._id, PartRow.target == done.target
                session.execute(sa.delete(PartRow).where(*mine, PartRow.name.in_(list(done.parts))))
                session.add_all(
                    PartRow(campaign=self._id, target=done.target, name=name, value=part)
                    for name, part in done.parts.items()
                    if part
                )
                session.get_one(CampaignRow, self._id).seconds += done.seconds
                if forget:
                    session.execute(sa.delete(ReportedRow).where(ReportedRow.id.in_(done.gone)))

    def _latest(self, session: Session) -> CampaignRow | None:
        mine = sa.select(CampaignRow).where(CampaignRow.name == self.name)
        return session.scalar(mine.order_by(CampaignRow.id.desc()).limit(1))

    @contextlib.contextmanager
    def _session(self) -> Iterator[Session]:
        """A transaction. Raises LedgerError where the database fails."""
        try:
            with Session(self.engine, expire_on_commit=False) as session, session.begin():
                yield session
        except SQLAlchemyError as error:
            raise LedgerError(
                f"{self._at}: {fault(error)}; make room there, or mend the connection, and run "
                "again: what was committed is there"
            ) from error
        except ValueError as error:  # the only column of JSON
            raise self._unreadable(f"identity: {error}") from error


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
        words = [", ".join(one) if isinstance(one, list) else str(one) for one in (ours, theirs)]
        return f"{name} {shorten(words[0], 100)}, not {shorten(words[1], 100)}"
    return "the same options"
