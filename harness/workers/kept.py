"""A process of the harness's own that is kept: whatever it starts is gone when it is.

:class:`Nursery` is the process that begins it, :class:`Kept` the kept process with its keeper, as
the harness sees them. What the keeper cannot see to is seen to here: where it was killed itself,
its orphans are no longer anybody's. They are found by a word in their environment that no other
process has.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import pickle
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import psutil

from harness.confinement.probe import START, caches_of
from harness.workers.keeper import Report
from impls.external import IN_WORKER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.workers.nursery import Order

MODULES = (
    "harness.workers.server",
    "numba.np.arrayobj",
    "numba.cpython.listobj",
    "impls.bpe.backtracking",
    "impls.pretokenize.pieces",
    "impls.pretokenize.scanners",
    "impls.pretokenize.special_tokens",
    "impls.spm.encoder",
    "impls.spm.merging",
    "impls.unigram.encoder",
    "impls.unigram.viterbi",
    "impls.wordpiece.encoder",
)
"""What our own workers run is imported beforehand; the rest is imported where it is needed."""

OF_WORKERS = frozenset({"TMPDIR", "PYTHONDONTWRITEBYTECODE", IN_WORKER})
"""Variables that each worker has for itself; the others have to be those of a nursery whose copy
it is."""

PATIENCE_SECONDS = 30.0
"""The keeper has so many seconds to kill what there is, which takes a moment. Its own limits end
before that."""

GENTLE_SECONDS = 90.0
"""The keeper has so many seconds where processes may end by themselves first, which is its limits
and some time more."""

REPORT_BYTES = 1 << 16
"""A report may have so many bytes: it has the first lines of what was left."""

KILLING_PAUSES = (0.0, 0.02, 0.2)
"""Seconds before each look for what a keeper has left, which is rare."""


class Nursery:
    """A process of which keepers are copies, begun when it is first needed. Thread-safe.

    Copies of this process that are made later share it. One that has ended is begun again.
    """

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str] = {}
        atexit.register(self.close)

    def start(self) -> None:
        """Begin it, if that was not done yet. Raises OSError."""
        with self._lock:
            if self._socket is None:
                self._start()

    def _start(self) -> None:
        self._end()
        self._environment = {**os.environ, **caches_of(None, os.environ)}
        mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, contextlib.ExitStack() as failing:
            failing.callback(mine.close)
            module = "harness.workers.nursery"
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-m", module, str(theirs.fileno()), *self._modules],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=self._environment,
            )
            failing.pop_all()
        self._socket = mine

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Whether a worker of this environment would import what the process has imported."""
        self.start()
        other = {name for name, _ in self._environment.items() ^ environment.items()}
        return other <= OF_WORKERS

    def begin(self, descriptors: Sequence[int]) -> None:
        """Begin a keeper, which has these; see :mod:`harness.workers.nursery`. Raises OSError."""
        self.start()
        with self._lock:
            try:
                self._send(descriptors)
            except OSError:  # it has ended
                self._start()
                self._send(descriptors)

    def _send(self, descriptors: Sequence[int]) -> None:
        assert self._socket is not None
        socket.send_fds(self._socket, [b"."], descriptors)

    def _end(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._popen is not None:
            self._popen.kill()
            self._popen.wait()
            self._popen = None

    def close(self) -> None:
        """End the process. Workers that still run are those of their keepers."""
        with self._lock:
            self._end()


ANEW, OURS = Nursery(), Nursery(*MODULES)
"""The nursery of what is started anew, and that of our own workers, which are copies."""


class Kept:
    """A running process with its keeper. Thread-safe.

    pid: of the keeper, from which all the rest descends. report: what that said at the end; None
    before it, or where it was killed itself, as an implementation may do.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        descriptors: Sequence[int],
        environment: Mapping[str, str],
        log: int,
        ours: bool = False,
    ) -> None:
        """Start. Raises OSError where the machine has no room for a process.

        descriptors: those that the process gets, whose numbers are added to its command.
        environment: all of its variables. log: a descriptor that gets all that it prints. ours:
        whether it runs our own code alone, by the command of :mod:`harness.confinement.start`, so
        that it may be a copy.
        """
        self._word = secrets.token_hex(8)
        self._lock = threading.Lock()
        self.report: Report | None = None
        variables = {**environment, IN_WORKER: self._word}
        copy = ours and OURS.fits(variables)
        order: Order = [*command[len(START) * copy :]], copy, variables, str(Path.cwd())
        self._keeper, theirs = socket.socketpair()
        with contextlib.ExitStack() as failing:
            failing.callback(self._keeper.close)
            with theirs:
                (OURS if copy else ANEW).begin([theirs.fileno(), log, *descriptors])
            try:
                self._keeper.sendall(pickle.dumps(order))
                self.pid = int.from_bytes(self._keeper.recv(4), "little")
            except OSError:
                self.pid = 0
            if not self.pid:
                raise BlockingIOError(errno.EAGAIN, "no process can be started")
            failing.pop_all()

    def wait(self, seconds: float) -> bool:
        """Wait for the process to end by itself, as long as that; whether it has."""
        with contextlib.suppress(OSError, ValueError):  # it was ended by another thread
            poller = select.poll()
            poller.register(self._keeper, select.POLLIN)
            return bool(poller.poll(seconds * 1000))
        return True

    def end(self, *, gently: bool = False) -> None:
        """Kill the process and all that it has started.

        gently: what has left its session may end by itself first, and is reported if it does not.
        """
        with self._lock:
            if self._keeper.fileno() < 0:
                return
            with contextlib.suppress(OSError):
                self._keeper.send(b"c" if gently else b"k")
            # An implementation may have stopped its keeper. While that has not told anything, its
            # number is its own.
            for number in (signal.SIGCONT, signal.SIGKILL):
                if not self.wait(0):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.pid, number)
                    self.wait(GENTLE_SECONDS if gently else PATIENCE_SECONDS)
            with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
                if self.wait(0):
                    said = self._keeper.recv(REPORT_BYTES)
                    self.report = msgspec.json.decode(said, type=Report)
            if self.report is None or not self.report.all:
                kill_marked(self._word)
            self._keeper.close()


def kill_marked(word: str) -> None:
    """Kill every process in whose environment a worker's word is: none but its descendants.

    Several times, as one that is just being started has no environment that can be read.
    """
    for pause in KILLING_PAUSES:
        time.sleep(pause)
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(IN_WORKER) == word:
                    process.kill()
