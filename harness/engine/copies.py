"""An examiner in a process of its own, which is a copy of this one.

Judging answers takes as much of a processor as giving them, and the threads of one process share
one. A copy has the plan as it is, plug-ins and loaders included, which could not be sent. What it
tells comes back event by event.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import warnings
from typing import TYPE_CHECKING, Any

from corpora.vocabularies import scratch
from harness.engine.parts import Ended
from harness.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

    from harness.engine.examining import Examiner, Left
    from harness.engine.parts import Tell, Turn

STOP = "stop"
"""What ends an examination early."""

GRACE_SECONDS = 60.0
"""A copy that is to end has so many seconds until it is killed: it waits for its workers."""


class CopyEnded(Exception):
    """A copy has ended without a word: it was killed, by whomever."""


class Copy:
    """One of several examiners of a run, as the process sees it that has begun them.

    others: those that were begun before: their connections are not this one's to hold open.
    """

    def __init__(self, make: Callable[[], Examiner], others: Sequence[Copy]) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        held = [one._connection for one in (*others, self)]
        context = multiprocessing.get_context("fork")
        self._process = context.Process(target=_work, args=(make, theirs, held), daemon=True)
        with theirs, warnings.catch_warnings():
            # Other threads of this process only show how far the run is: a copy has no use for
            # what they may hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        self._sending = threading.Lock()

    def examine(self, turn: Turn, tell: Tell) -> Ended:
        """As of an examiner."""
        self._send(turn)
        while True:
            told = self._received()
            if isinstance(told, Ended):
                return told
            tell(told)

    def stop(self) -> None:
        """As of an examiner."""
        with contextlib.suppress(CopyEnded):
            self._send(STOP)
        killing = threading.Timer(GRACE_SECONDS, self._process.kill)
        killing.daemon = True
        killing.start()

    def close(self) -> list[Left]:
        """As of an examiner."""
        left: object = None
        with contextlib.suppress(
            CopyEnded, EOFError, OSError
        ):  # which was told where it was missed
            self._send(None)
            while not isinstance(left, list):  # what was on its way when it was stopped
                left = self._connection.recv()
        self._connection.close()
        self._process.join(GRACE_SECONDS)
        self._process.kill()
        return left if isinstance(left, list) else []

    def _send(self, what: Turn | str | None) -> None:
        try:
            with self._sending:
                self._connection.send(what)
        except OSError as error:
            raise CopyEnded(self._last_words) from error

    def _received(self) -> Any:
        """What it says next. Raises CopyEnded, and what it has raised."""
        try:
            told = self._connection.recv()
        except (EOFError, OSError) as error:
            raise CopyEnded(self._last_words) from error
        if isinstance(told, BaseException):
            raise told
        return told

    @property
    def _last_words(self) -> str:
        self._process.join(1.0)
        return f"a process of the run has ended by itself, with status {self._process.exitcode}"


def _work(make: Callable[[], Examiner], connection: Connection, held: Sequence[Connection]) -> None:
    """Examine what one is told to, until there is no more, or nobody who would tell."""
    for one in held:
        one.close()
    for number in (signal.SIGINT, signal.SIGTERM):  # they are the other one's to hear
        signal.signal(number, lambda *_: None)
    try:
        examiner = make()
    except Exception as error:
        connection.send(_sendable(error))
        return
    turns: queue.SimpleQueue[Turn | None] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, turns, examiner), daemon=True).start()
    sending = threading.Lock()

    def send(what: Event | Ended | BaseException | list[Left]) -> None:
        with sending:
            connection.send(what)

    try:
        while (turn := turns.get()) is not None:
            try:
                send(examiner.examine(turn, send))
            except Exception as error:
                send(_sendable(error))
        send(examiner.close())
    except BrokenPipeError:
        examiner.close()
    finally:
        scratch.leave()


def _listen(
    connection: Connection, turns: queue.SimpleQueue[Turn | None], examiner: Examiner
) -> None:
    """Pass on what is to be examined; stop where that is said, or where nobody is left to say."""
    try:
        while (told := connection.recv()) is not None:
            if told == STOP:
                examiner.stop()
            else:
                turns.put(told)
    except (EOFError, OSError):
        examiner.stop()
        os.kill(os.getpid(), signal.SIGKILL)  # workers end with their connections
    turns.put(None)


def _sendable(error: Exception) -> Exception:
    """An error that can be sent: itself, or another one with its kind and its words."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
