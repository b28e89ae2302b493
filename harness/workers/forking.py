"""Our own workers are begun as copies of one process, seen here from the harness.

To import what a worker runs takes longer than all else that it does before its first answer.
:class:`ForkServer` has a process (:mod:`harness.workers.fork_server`) that has imported it, and is
copied. Whoever runs code that is not ours is started anew, so that a library finds what it would
find in any process. Whoever asks is told None where a worker cannot be begun so, and starts it
anew.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from corpora.vocabularies.caches import COMPILED
from harness.confinement.probing import START, caches_of
from harness.workers.fork_server import ANSWER, LONGEST, NO_WORD, Begin
from impls import registry
from impls.external import IN_WORKER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.core.participants import Participant

COMMAND = (sys.executable, "-m", "harness.workers.fork_server")

MODULES = (
    "harness.workers.server",
    "numba.np.arrayobj",
    "numba.cpython.listobj",
    "impls.bpe.algorithms.backtracking",
    "impls.bpe.definition.heap_kernel",
    "impls.bpe.encoder",
    "impls.bpe.fast.kept_block",
    "impls.pretokenize.pieces",
    "impls.pretokenize.scanners",
    "impls.pretokenize.special_tokens",
    "impls.spm.encoder",
    "impls.spm.fast.over_bytes",
    "impls.unigram.fast.remembering",
    "impls.unigram.viterbi",
    "impls.wordpiece.encoder",
    "impls.wordpiece.fast.remembering",
)
"""What is imported beforehand; the rest is imported where it is needed."""

WORTH = 3
"""With fewer workers, to start them takes no longer than the process of which they are copies."""

OF_WORKERS = frozenset({"TMPDIR", "PYTHONDONTWRITEBYTECODE", IN_WORKER})
"""Variables that each worker has for itself; the others have to be those of the process."""

PATIENCE_SECONDS = 120.0
"""An answer takes a moment, and the first one waits for the imports; this is for hangs."""


class Copy:
    """A keeper that is a child of the fork server: what ``Popen`` is of an own child.

    Thread-safe. Its descriptor is open as long as anybody may use it, or another file would have
    its number. returncode: as if it was killed, when it has ended: its report says more.
    """

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)

    def wait(self, timeout: float | None = None) -> int | None:
        """As of ``subprocess.Popen``. Raises subprocess.TimeoutExpired."""
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        if not poller.poll(None if timeout is None else timeout * 1000):
            raise subprocess.TimeoutExpired("a worker's keeper", timeout or 0.0)
        self.returncode = -signal.SIGKILL
        return self.returncode

    def send_signal(self, sig: int) -> None:
        """As of ``subprocess.Popen``."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, sig)


class ForkServer:
    """The process of which workers are copies; to be closed. Thread-safe.

    processes: that ask it: copies of this one, each of which calls :meth:`speak_as` first.
    """

    def __init__(self, processes: int = 1) -> None:
        """Start it, where the machine has what it needs: then it imports, while others work."""
        self._lock = threading.Lock()
        self._environment = {**os.environ, **caches_of(None, os.environ)}
        self._popen: subprocess.Popen[bytes] | None = None
        self._sockets: list[socket.socket] = []
        self._socket: socket.socket | None = None
        if not hasattr(signal, "pidfd_send_signal"):
            return
        with contextlib.ExitStack() as theirs:
            passed = []
            for _ in range(processes):
                mine, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                mine.settimeout(PATIENCE_SECONDS)
                self._sockets.append(mine)
                passed.append(theirs.enter_context(other).fileno())
            try:
                os.close(os.pidfd_open(os.getpid()))
                self._popen = subprocess.Popen(
                    [*COMMAND, ",".join(map(str, passed)), *MODULES],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=passed,
                    start_new_session=True,
                    env={**self._environment, IN_WORKER: NO_WORD},
                )
            except OSError:
                self._end()
                return
        self._socket = self._sockets[0]

    def speak_as(self, place: int) -> None:
        """Ask on a connection of one's own, in a process that is a copy of the one that began."""
        self._socket = self._sockets[place] if self._sockets else None

    def begin(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        pipes: tuple[int, int],
        log: int,
        inherited: Sequence[int],
    ) -> Copy | None:
        """Begin the worker of a command; None where it has to be started anew.

        pipes: of its keeper, for control and report. inherited: the descriptors that the command
        names. Raises OSError where the machine has no room for a process.
        """
        if tuple(command[: len(START)]) != START or not self._fits(environment):
            return None
        arguments = list(command[len(START) :])
        request = Begin(arguments, dict(environment), str(Path.cwd()), list(inherited))
        try:
            message = msgspec.json.encode(request)
        except UnicodeEncodeError:  # a variable or a folder that is no UTF-8
            return None
        with self._lock:
            if self._socket is None or len(message) > LONGEST:
                return None
            try:
                socket.send_fds(self._socket, [message], [*pipes, log, *inherited])
            except OSError:  # it has ended
                self._end()
                return None
            try:
                answer, descriptors, _, _ = socket.recv_fds(self._socket, LONGEST, 1)
                (number,) = ANSWER.unpack(answer)
            except (OSError, struct.error) as error:
                # Nobody knows whether there is a keeper now: it ends with these pipes.
                self._end()
                raise OSError(errno.EAGAIN, "the fork server has ended") from error
        if number < 0:
            raise OSError(-number, os.strerror(-number))
        return Copy(number, descriptors[0])

    def _fits(self, environment: Mapping[str, str]) -> bool:
        """Whether a worker of this environment would import what this process has imported."""
        ours, theirs = (
            {name: value for name, value in one.items() if name not in OF_WORKERS}
            for one in (self._environment, environment)
        )
        return ours == theirs and COMPILED in environment

    def _end(self) -> None:
        """Let go of the process: what is not begun yet is started anew."""
        for one in self._sockets:
            one.close()
        self._sockets, self._socket = [], None

    def close(self) -> None:
        """End the process. Workers that still run are those of their keepers."""
        with self._lock:
            self._end()
            if self._popen is not None:
                self._popen.kill()
                self._popen.wait()
                self._popen = None


@contextlib.contextmanager
def shared_server(
    participants: Sequence[Participant], processes: int = 1
) -> Iterator[ForkServer | None]:
    """A fork server for all pools of these participants; None where too few of them are ours.

    processes: that have pools, each a copy of this one.

    What it imports takes seconds of processor time, which several pools need not spend each.
    """
    if sum(registry.our_own(one.spec) for one in participants) < WORTH:
        yield None
        return
    with contextlib.closing(ForkServer(processes)) as server:
        yield server
