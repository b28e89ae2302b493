"""An examiner in a process of its own, which is a copy of this one.

Judging answers takes as much of a processor as giving them, and the threads of one process share
one. A copy has the plan as it is, plug-ins and loaders included, which could not be sent. Both
speak in lines of JSON: a vocabulary to examine, and what is told of it event by event. What is no
event is a pair: a word that says what it is, and its content.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import threading
import warnings
from dataclasses import asdict
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import msgspec
import psutil

from corpora.vocabularies import scratch
from harness.core.output import NO_ROOM, OutputError, cannot_write
from harness.engine.ending import BrokenOff, words_of
from harness.engine.examiner import Ended, Turn
from harness.engine.state import NamedFailed
from harness.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from harness.engine.examiner import Examiner
    from harness.engine.state import Tell

EVENT = b'{"event"'
"""A line that begins so is one of the record; others are pairs."""

RAISED = {one.__name__: one for one in (NamedFailed, OutputError, BrokenOff)}
"""What an examination may raise here; all else that it raises is told as the last of these."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)

STOP, CLOSE = b'"stop"\n', b'"close"\n'
"""These lines end an examination early, and an examiner."""

GRACE_SECONDS = 60.0
"""A copy that is to end has so many seconds until it is killed: it waits for its workers."""

LOG = logging.getLogger(__name__)


class ExaminerProcess:
    """One of several examiners of a run, as the process sees it that has begun them.

    A later copy holds this process's end of the connection of an earlier one open. When this
    process is killed the last copy hears it, and ends, and so on up to the first.
    """

    def __init__(self, make: Callable[[], Examiner]) -> None:
        self._socket, theirs = socket.socketpair()
        self._lines = self._socket.makefile("rb")
        self._sending, self._waiting = threading.Lock(), threading.Lock()
        self._stopped = False
        with warnings.catch_warnings():
            # Other threads of this process only show how far the run is: a copy has no use for
            # what they may hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            # They are this process's to hear: a copy has its own handlers before it hears any.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
            pid = os.fork()
        if pid == 0:
            self._leave()
            _work(make, theirs)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._process = psutil.Process(pid)
        theirs.close()

    def examine(self, turn: Turn, tell: Tell) -> Ended:
        """As of an examiner."""
        self._send(line_of("Turn", asdict(turn)))
        while not isinstance(told := self._told(), Ended):
            if isinstance(told, Exception):
                raise told
            if isinstance(told, Event):
                tell(told)
        return told

    def stop(self) -> None:
        """As of an examiner."""
        self._stopped = True
        self._send(STOP)
        killing = threading.Timer(GRACE_SECONDS, self._kill)
        killing.daemon = True
        killing.start()

    def close(self) -> dict[str, str]:
        """As of an examiner."""
        if self._lines.closed:
            return {}
        told: object = None
        try:
            self._send(CLOSE)
            while not isinstance(told, dict | Exception):  # what was on its way when it stopped
                told = self._told()
        except BrokenOff as error:
            told = error
        finally:
            self._leave()
            self._ended()
            self._kill()
        if isinstance(told, Exception) and not self._stopped:  # or it is told already why
            raise told
        return told if isinstance(told, dict) else {}

    def _send(self, line: bytes) -> None:
        """Tell it something; whether it has ended shows when it is listened to."""
        with self._sending, contextlib.suppress(OSError):
            self._socket.sendall(line)

    def _told(self) -> Event | Ended | dict[str, str] | Exception | None:
        """What it tells next, an exception or what workers left behind at its end included.

        Raises BrokenOff where it has ended.
        """
        line = b""
        with contextlib.suppress(OSError):
            line = self._lines.readline()
        if not line.endswith(b"\n"):
            how = "ended unexpectedly"
            if (code := self._ended()) < 0:
                name = signal.Signals(-code).name
                how = f"was killed by {name}; if memory is short, use --jobs 1"
            raise BrokenOff(f"a process of the run {how}")
        if line.startswith(EVENT):
            return Event.from_json(line.decode())
        kind, content = json.loads(line)
        if kind in RAISED:
            return RAISED[kind](*content)
        if kind == "Ended":
            return msgspec.convert(content, Ended)
        return msgspec.convert(content, dict[str, str])

    def _leave(self) -> None:
        self._lines.close()
        self._socket.close()

    def _ended(self) -> int:
        """Wait for its end; its exit status, or a negative signal; 0 where it does not end."""
        # One thread at a time: of two that wait, the kernel tells the status to one alone.
        with self._waiting, contextlib.suppress(psutil.TimeoutExpired):
            return int(self._process.wait(GRACE_SECONDS) or 0)
        return 0

    def _kill(self) -> None:
        with contextlib.suppress(psutil.Error):
            self._process.kill()
        self._ended()


def line_of(kind: str, content: Any) -> bytes:
    """A line of ASCII, as names and messages of others may have lone surrogates."""
    return f"{json.dumps([kind, content])}\n".encode()


def _work(make: Callable[[], Examiner], connection: socket.socket) -> NoReturn:
    """Be a copy: examine what one is told to, until there is no more, and end."""
    try:
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        _examine(make, connection)
    except BaseException as error:
        LOG.debug("a copy broke off", exc_info=error)
    finally:
        scratch.leave()
        os._exit(0)  # what is not written yet is the other one's to write


def _examine(make: Callable[[], Examiner], connection: socket.socket) -> None:
    """Answer one turn after another. Raises BrokenPipeError where nobody listens any more."""
    sending = threading.Lock()

    def send(line: bytes) -> None:
        with sending:
            connection.sendall(line)

    def tell(event: Event) -> None:
        send(f"{event.to_json()}\n".encode())

    turns: SimpleQueue[Turn | None] = SimpleQueue()
    try:
        examiner = make()
        threading.Thread(target=_listen, args=(connection, turns, examiner), daemon=True).start()
        while (turn := turns.get()) is not None:
            try:
                send(line_of("Ended", asdict(examiner.examine(turn, tell))))
            except Exception as error:
                send(_raised(error))
        send(line_of("left", examiner.close()))
    except Exception as error:
        send(_raised(error))


def _raised(error: Exception) -> bytes:
    """What an examination has raised, as it travels: its kind, and what it is made of."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        error = cannot_write(error.filename or "a temporary file", error)
    if not isinstance(error, NamedFailed | OutputError):
        LOG.debug("an examination broke off", exc_info=error)
        error = BrokenOff(words_of(error))
    return line_of(type(error).__name__, error.args)


def _listen(connection: socket.socket, turns: SimpleQueue[Turn | None], examiner: Examiner) -> None:
    """Pass on what is to be examined; stop where that is said, or where nobody is left to say."""
    with contextlib.suppress(OSError):  # the other end is gone, and has not read all
        for line in connection.makefile("rb"):
            if line == CLOSE:
                turns.put(None)
                return
            if line == STOP:
                examiner.stop()
            else:
                turns.put(msgspec.convert(json.loads(line)[1], Turn))
    # The run was killed: workers end with their connections.
    os.kill(os.getpid(), signal.SIGKILL)
