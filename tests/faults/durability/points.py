"""Points of death: each place where this process changes a disk or a database, to be killed at.

Nothing of this is in the product: the functions of ``os`` that change files are wrapped, the
statements and commits of SQLAlchemy are listened to, in a process that was forked to be killed.
So every write is a point, also one that somebody adds tomorrow, and no user can reach one.

A point has a kind, as ``rename run.jsonl, before``, and is counted among those of its kind. A
write of bytes has three: before, after, and ``torn``, where half of it is written.
"""

import os
import re
import signal
import sys
import threading
from collections import Counter
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine.default import DefaultDialect

RANDOM_PARTS = (
    (re.compile(r"f-[0-9a-f]{6,}"), "*"),
    (re.compile(r"tokgate-scratch-\w+"), "scratch"),
    (re.compile(r"^([a-z]+)-[a-z0-9_]{8}$"), r"\1"),
    (re.compile(r"^(?!findings)[a-z0-9_]{8}$"), "try of a folder"),
    (re.compile(r"^\.(.+)\.[a-z0-9_]{8}(\.part)?$"), r"part of \1"),
    (re.compile(r"\.[0-9a-f]{8}\.lock$"), ".lock"),
)
"""What differs from run to run in names of files; it is no part of a kind."""

STATEMENT = re.compile(
    r"\s*(INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|CREATE INDEX)\s+(\S+)", re.I
)


def die():
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("it is dead")


class Points:
    """Counts the points that this process comes to, and dies at one of them.

    folders: points are changes below these. dies_at: a kind and a number, from 1 on. trace: a
    descriptor that gets a line with the kind of each point, or None.
    """

    def __init__(
        self,
        folders,
        dies_at=None,
        trace=None,
    ):
        self._folders = tuple(f"{folder}{os.sep}" for folder in folders)
        self._dies_at, self._trace = dies_at, trace
        self._counts = Counter()
        self._lock = threading.Lock()
        self._write = os.write
        self._changed = {}

    def at(self, kind, last=lambda: None):
        """Come to a point: where it is the one to die at, do ``last`` and die."""
        with self._lock:
            self._counts[kind] += 1
            if self._trace is not None:
                self._write(self._trace, f"{kind}\n".encode())
            if (kind, self._counts[kind]) == self._dies_at:
                last()
                die()

    def install(self):
        """Watch this process from now on; there is no way back."""
        for name in ["mkdir", "unlink", "remove", "rmdir", "chmod", "truncate", "open"]:
            self._wrap(name, 0)
        for name in ["replace", "rename", "link"]:
            self._wrap(name, 1)
        self._wrap_write()
        sys.addaudithook(self._audit)
        self._listen()

    # Files.

    def _wrap(self, name, place):
        real = getattr(os, name)

        def wrapped(*given, **named):
            label = self._label(given[place] if place < len(given) else "", named)
            if label is None or (name == "open" and not given[1] & (os.O_CREAT | os.O_TRUNC)):
                return real(*given, **named)
            self.at(f"{name} {label}, before")
            result = real(*given, **named)
            self.at(f"{name} {label}, after")
            return result

        setattr(os, name, wrapped)

    def _wrap_write(self):
        real = os.write

        def wrapped(descriptor, data):
            label = self._label(self._path_of(descriptor), {})
            if label is None:
                return real(descriptor, data)
            half = memoryview(data)[: len(data) // 2]
            self.at(f"write {label}, before")
            self.at(f"write {label}, torn", lambda: real(descriptor, half))
            result = real(descriptor, data)
            self.at(f"write {label}, after")
            return result

        os.write = wrapped

    def _audit(self, name, given):
        # Files that are opened by ``open``, which calls no function of ``os``.
        if name == "open" and given[1] is not None and set("wax+") & set(given[1]):
            label = self._label(given[0], {})
            if label is not None:
                self.at(f"open {label} unwatched, before")

    @staticmethod
    def _path_of(descriptor):
        try:
            return str(Path(f"/proc/self/fd/{descriptor}").readlink())
        except OSError:
            return ""

    def _label(self, path, named):
        """What a path is called in a kind; None where it is none of ours."""
        if isinstance(path, int):
            path = self._path_of(path)
        whole = os.fsdecode(path)
        inside = named.get("dir_fd")
        if inside is not None:
            whole = f"{self._path_of(inside)}/{whole}"
        home = next((one for one in self._folders if whole.startswith(one)), None)
        if home is None:
            return None
        parts = whole.removeprefix(home).split("/")
        for pattern, replacement in RANDOM_PARTS:
            parts = [pattern.sub(replacement, part) for part in parts]
        return "/".join(parts)

    # Databases.

    def _listen(self):
        def before(_c, cursor, statement, *_):
            named = STATEMENT.match(statement)
            if named:
                self._changed[threading.get_ident()] = named[2].strip('"')
                self.at(f"{named[1].lower()} {named[2]}, before")

        def after(_c, cursor, statement, *_):
            named = STATEMENT.match(statement)
            if named:
                self.at(f"{named[1].lower()} {named[2]}, after")

        sa.event.listen(sa.Engine, "before_cursor_execute", before)
        sa.event.listen(sa.Engine, "after_cursor_execute", after)
        for dialect in {DefaultDialect, *_subclasses(DefaultDialect)}:
            if "do_commit" in vars(dialect):
                self._wrap_commit(dialect)

    def _wrap_commit(self, dialect):
        real = dialect.do_commit

        def wrapped(its, connection):
            changed = self._changed.pop(threading.get_ident(), None)
            if changed is None:  # it has only read
                return real(its, connection)
            self.at(f"commit of {changed}, before")
            real(its, connection)
            self.at(f"commit of {changed}, after")

        dialect.do_commit = wrapped


def _subclasses(cls):
    return {one for sub in cls.__subclasses__() for one in (sub, *_subclasses(sub))}
