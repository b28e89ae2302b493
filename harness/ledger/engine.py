"""Databases: SQLite in a file by default, PostgreSQL by URL, the same code for both."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from harness.core.output import NO_ROOM, OutputError, cannot_write

BUSY_SECONDS = 60.0
"""A writer waits so long for another: a transaction takes milliseconds, a stuck disk longer."""

CHECK = "check the path or URL"

SCHEMA = 2
"""The number of the tables' shape; another one in a database means another version of tokgate."""


class LedgerError(OutputError):
    """The database cannot be used: one line with its URL and the mend."""


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {int: sa.BigInteger, dict[str, Any]: sa.JSON}


class Schema(Base):
    """The one row that says which shape the tables have."""

    __tablename__ = "tokgate_schema"
    number: Mapped[int] = mapped_column(sa.Integer, primary_key=True)


class Kept(Base):
    """A run, or a measurement of speed, that came to its end.

    id: 32 hex digits. started: ISO 8601 in UTC, so that its order is that of time. campaign: the
    name of its campaign, if any. events: lines of JSON, compressed by zlib.
    """

    __tablename__ = "records"
    id: Mapped[str] = mapped_column(sa.String(32), primary_key=True)
    started: Mapped[str] = mapped_column(sa.String(40), index=True)
    campaign: Mapped[str | None]
    events: Mapped[bytes]


def fault(error: SQLAlchemyError) -> str:
    """Return what a database says of an error, in one line."""
    return str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]


@contextlib.contextmanager
def transaction(engine: Engine, failed: str) -> Iterator[sa.orm.Session]:
    """A session that is committed at its end: all that is done within, or nothing.

    failed: what cannot be done where the database fails, and the mend, with ``{}`` for what it
    says. Raises LedgerError.
    """
    try:
        with sa.orm.Session(engine, expire_on_commit=False) as session, session.begin():
            yield session
    except SQLAlchemyError as error:
        raise LedgerError(f"--ledger: {failed.format(fault(error))}") from error


def open_database(where: str) -> Engine:
    """An engine for a path (SQLite) or a URL, with all tables. Raises LedgerError.

    Commits are durable: SQLite writes ahead (WAL) and syncs at each commit, so that neither a
    killed process nor a power cut loses what was committed.
    """
    url = parse(where)
    shown = f"--ledger {url.render_as_string(hide_password=True)}"
    try:
        if url.get_backend_name() == "sqlite":
            engine = _sqlite(url)
        else:
            engine = sa.create_engine(url, pool_pre_ping=True)
        Base.metadata.create_all(engine)
        with sa.orm.Session(engine) as session, session.begin():
            number = session.scalar(sa.select(Schema.number))
            if number is None:
                session.add(Schema(number=SCHEMA))
    except ModuleNotFoundError as error:
        mend = "pip install 'tokgate[postgres]'" if error.name == "psycopg" else "install it"
        raise LedgerError(f"{shown}: needs {error.name}; {mend}") from error
    except NoSuchModuleError as error:
        mend = "write a path, or postgresql://.."
        raise LedgerError(f"{shown}: no such kind of database; {mend}") from error
    except SQLAlchemyError as error:
        line = fault(error)
        mend = "make room there" if "is full" in line or "I/O error" in line else CHECK
        raise LedgerError(f"{shown}: {line}; {mend}") from error
    except OSError as error:
        if error.errno in NO_ROOM:
            raise LedgerError(str(cannot_write(shown, error))) from error
        raise LedgerError(f"{shown}: {error.strerror}; {CHECK}") from error
    if number not in (None, SCHEMA):
        raise LedgerError(
            f"{shown}: made by another version of tokgate (tables {number}, "
            f"not {SCHEMA}); name another"
        )
    return engine


def parse(where: str) -> URL:
    """The URL of a path or URL; psycopg is the driver of PostgreSQL. Raises LedgerError."""
    if "://" not in where:
        return sa.engine.URL.create("sqlite", database=str(Path(where).absolute()))
    try:
        url = sa.engine.make_url(where)
    except SQLAlchemyError as error:
        raise LedgerError(f"--ledger {where}: no URL; write a path, or postgresql://..") from error
    if url.drivername in {"postgres", "postgresql"}:
        url = url.set(drivername="postgresql+psycopg")
    return url


def _sqlite(url: URL) -> Engine:
    if url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(url, connect_args={"timeout": BUSY_SECONDS})

    def connected(connection: sqlite3.Connection, _record: Any) -> None:
        # SQLAlchemy begins transactions itself, below: the driver would begin them too late.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    def begun(connection: sa.Connection) -> None:
        # A transaction that reads first and writes later could find the file taken in between.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    sa.event.listen(engine, "connect", connected)
    sa.event.listen(engine, "begin", begun)
    return engine
