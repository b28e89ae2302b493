"""An examiner in a process of its own, which is a copy of this one.

Judging answers takes as much of a processor as giving them, and the threads of one process share
one. A copy has the plan as it is, plug-ins and loaders included, which could not be sent. Both
speak in lines of JSON: a vocabulary to examine, and what is told of it event by event.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import threading
import time
import warnings
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.vocabularies import scratch
from harness.core.writing import NO_ROOM, OutputError, cannot_write
from harness.engine.ending import BrokenOff, words_of
from harness.engine.opening import NamedFailed
from harness.engine.parts import Ended, Left, Turn
from harness.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from harness.engine.parts import Examines, Tell

EVENT = b'{"event"'
"""A line that begins so is one of the record; others are of the types below."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)

STOP, CLOSE = b'"stop"', b'"close"'
"""These lines end an examination early, and an examiner."""

GRACE_SECONDS = 60.0
"""A copy that is to end has so many seconds until it is killed: it waits for its workers."""

LOOK_SECONDS = 0.02

LOG = logging.getLogger(__name__)


class NobodyListens(Exception):
    """The process that has begun a copy is gone."""


class Closed(msgspec.Struct, frozen=True, tag=True):
    """The end of a copy, with what its workers left behind."""

    left: list[Left]


class Raised(msgspec.Struct, frozen=True, tag=True):
    """What an examination has raised: the name of the exception, and what it is made of."""

    kind: str
    words: list[str]

    @classmethod
    def of(cls, error: Exception) -> Raised:
        """The form that travels."""
        if isinstance(error, NamedFailed):
            return cls(NamedFailed.__name__, [error.name, error.vocabulary, error.trace])
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            error = cannot_write(error.filename or "a temporary file", error)
        if isinstance(error, OutputError):
            return cls(OutputError.__name__, [str(error)])
        LOG.debug("an examination broke off", exc_info=error)
        return cls(BrokenOff.__name__, [words_of(error)])

    def error(self) -> Exception:
        """The exception here."""
        kinds = {one.__name__: one for one in (NamedFailed, OutputError, BrokenOff)}
        return kinds[self.kind](*self.words)


class ExaminerProcess:
    """One of several examiners of a run, as the process sees it that has begun them.

    others: those that were begun before: their sockets are not this one's to hold open.
    """

    def __init__(self, make: Callable[[], Examines], others: Sequence[ExaminerProcess]) -> None:
        self._socket, theirs = socket.socketpair()
        self._lines = self._socket.makefile("rb")
        self._sending = threading.Lock()
        self._stopped = False
        self._ended: int | None = None
        with warnings.catch_warnings():
            # Other threads of this process only show how far the run is: a copy has no use for
            # what they may hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            # They are this process's to hear: a copy has its own handlers before it hears any.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
            self._pid = os.fork()
        if self._pid == 0:
            _work(make, theirs, [*others, self])
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def examine(self, turn: Turn, tell: Tell) -> Ended:
        """As of an examiner."""
        self._send(line_of(turn))
        while True:
            told = self._told()
            if isinstance(told, Ended):
                return told
            if isinstance(told, Raised):
                raise told.error()
            if isinstance(told, Event):
                tell(told)

    def stop(self) -> None:
        """As of an examiner."""
        self._stopped = True
        with contextlib.suppress(BrokenOff):
            self._send(STOP)
        killing = threading.Timer(GRACE_SECONDS, self._kill)
        killing.daemon = True
        killing.start()

    def close(self) -> list[Left]:
        """As of an examiner."""
        told: object = None
        if self._socket.fileno() < 0:
            return []
        try:
            self._send(CLOSE)
            while not isinstance(told, Closed | Raised):  # what was on its way when it was stopped
                told = self._told()
        except BrokenOff:
            if not self._stopped:  # or it is told already why
                raise
        finally:
            self._lines.close()
            self._socket.close()
            self._wait(GRACE_SECONDS)
            self._kill()
        if isinstance(told, Raised) and not self._stopped:
            raise told.error()
        return told.left if isinstance(told, Closed) else []

    def _send(self, line: bytes) -> None:
        try:
            with self._sending:
                self._socket.sendall(line + b"\n")
        except OSError as error:
            raise self._gone() from error

    def _told(self) -> Event | Ended | Closed | Raised | None:
        """What it tells next. Raises BrokenOff where it has ended."""
        line = b""
        with contextlib.suppress(OSError):
            line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise self._gone()
        if line.startswith(EVENT):
            return Event.from_json(line.decode())
        return msgspec.convert(json.loads(line), type=Ended | Closed | Raised)

    def _gone(self) -> BrokenOff:
        """The error that it has ended without a word."""
        self._wait(GRACE_SECONDS)
        if self._ended is not None and os.WIFSIGNALED(self._ended):
            how = f"was killed by {signal.Signals(os.WTERMSIG(self._ended)).name}"
            return BrokenOff(f"a process of the run {how}; if memory is short, use --jobs 1")
        return BrokenOff("a process of the run has ended by itself")

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self._has_ended() and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)

    def _has_ended(self) -> bool:
        """Whether the process has ended; it is waited for once."""
        with self._sending:
            if self._ended is None:
                pid, status = os.waitpid(self._pid, os.WNOHANG)
                self._ended = status if pid else None
            return self._ended is not None

    def _kill(self) -> None:
        with self._sending:
            if self._ended is None:
                os.kill(self._pid, signal.SIGKILL)
                _, self._ended = os.waitpid(self._pid, 0)


@dataclass(frozen=True, slots=True)
class Failed:
    """In place of an examiner that could not begin: it says so when it is asked."""

    error: Exception

    def examine(self, turn: Turn, tell: Tell) -> Ended:
        """As of an examiner."""
        raise self.error

    def stop(self) -> None:
        """As of an examiner."""

    def close(self) -> list[Left]:
        """As of an examiner."""
        return []


def line_of(what: Turn | Ended | Closed | Raised) -> bytes:
    """A line of ASCII, as names and messages of others may have lone surrogates."""
    return json.dumps(msgspec.to_builtins(what)).encode()


def _work(
    make: Callable[[], Examines], connection: socket.socket, held: Sequence[ExaminerProcess]
) -> NoReturn:
    """Be a copy: examine what one is told to, until there is no more, and end.

    held: whose sockets are the other one's.
    """
    status = 1
    try:
        for one in held:
            one._lines.close()
            one._socket.close()
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        _examine(make, connection)
        status = 0
    except NobodyListens:
        pass
    except BaseException as error:
        LOG.debug("a copy broke off", exc_info=error)
    finally:
        scratch.leave()
        os._exit(status)  # what is not written yet is the other one's to write


def _examine(make: Callable[[], Examines], connection: socket.socket) -> None:
    sending = threading.Lock()

    def send(what: Any) -> None:
        line = what.to_json().encode() if isinstance(what, Event) else line_of(what)
        try:
            with sending:
                connection.sendall(line + b"\n")
        except OSError as error:
            raise NobodyListens from error

    try:
        examiner: Examines = make()
    except Exception as error:
        examiner = Failed(error)
    turns: SimpleQueue[Turn | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(connection, turns, examiner), daemon=True).start()
    while (turn := turns.get()) is not None:
        try:
            ended = examiner.examine(turn, send)
        except NobodyListens:
            raise
        except Exception as error:
            send(Raised.of(error))
        else:
            send(ended)
    try:
        left = examiner.close()
    except Exception as error:
        send(Raised.of(error))
    else:
        send(Closed(left))


def _listen(connection: socket.socket, turns: SimpleQueue[Turn | None], examiner: Examines) -> None:
    """Pass on what is to be examined; stop where that is said, or where nobody is left to say."""
    with contextlib.suppress(OSError):  # the other end is gone, and has not read all
        for line in connection.makefile("rb"):
            if line.startswith(CLOSE):
                turns.put(None)
                return
            if line.startswith(STOP):
                examiner.stop()
            else:
                turns.put(msgspec.convert(json.loads(line), type=Turn))
    # The run was killed: workers end with their connections.
    os.kill(os.getpid(), signal.SIGKILL)
