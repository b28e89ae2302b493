"""Workers that are begun as copies of one process, seen from the harness.

To import what a worker runs takes longer than all else that it does before its first answer.
:class:`ForkServer` has a process (:mod:`harness.workers.fork_server`) that has imported it, and is
copied: one for our own workers, and one for those of the libraries that we have adapters for. The
latter has imported what every worker does, and nothing else, so that a library finds in a copy what
it would find in a process that was started anew. Whoever runs code of the user's own, or of
programs, is started anew.

Whoever asks is told None where a worker cannot be begun so, and starts it anew.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from corpora.vocabularies.caches import COMPILED, OURS, TABLES
from harness.confinement.probing import START, caches_of
from harness.workers.fork_server import (
    LONGEST,
    NO_WORD,
    Begin,
    Begun,
    Ended,
    Refused,
    Status,
)
from impls import registry
from impls.external import IN_WORKER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.core.participants import Participant

COMMAND = (sys.executable, "-m", "harness.workers.fork_server")

OF_ALL = ("harness.workers.server",)
"""What is imported beforehand where a library is to be loaded: what every worker imports."""

OF_OURS = (
    *OF_ALL,
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
"""Likewise for our own, with all that it needs; the rest is imported where it is needed."""

WORTH = 3
"""With fewer workers, to start them takes no longer than the process of which they are copies."""

OF_WORKERS = frozenset({"TMPDIR", "PYTHONDONTWRITEBYTECODE", IN_WORKER})
"""Variables that each worker has for itself; the others have to be those of the process."""

OF_LIBRARIES = OF_WORKERS | {COMPILED, TABLES, OURS}
"""Likewise where the process has imported nothing that looks for compiled functions or tables."""

PATIENCE_SECONDS = 120.0
"""An answer takes a moment, and the first one waits for the imports; this is for hangs."""


class Child(Protocol):
    """A process that was started, as ``subprocess.Popen`` is one."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None:
        """The exit status, or a negative signal; None while it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int | None:
        """Likewise, when it has ended. Raises subprocess.TimeoutExpired."""
        ...

    def send_signal(self, sig: int) -> None:
        """Send a signal, to this process and no other."""
        ...

    def kill(self) -> None:
        """Kill it."""
        ...


class Copy:
    """A keeper that is a child of the fork server: what ``Popen`` is of an own child.

    Thread-safe. Its descriptor is open as long as anybody may use it, or another file would have
    its number.
    """

    def __init__(self, server: ForkServer, pid: int, descriptor: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._server = server
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._asked = False
        weakref.finalize(self, os.close, descriptor)

    def poll(self) -> int | None:
        """See :class:`Child`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """See :class:`Child`."""
        poller = select.poll()
        poller.register(self._descriptor, select.POLLIN)
        if not poller.poll(None if timeout is None else timeout * 1000):
            raise subprocess.TimeoutExpired("a worker's keeper", timeout or 0.0)
        with self._lock:
            if not self._asked:
                self._asked = True
                self.returncode = self._server.status_of(self.pid)
            return self.returncode

    def send_signal(self, sig: int) -> None:
        """See :class:`Child`."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, sig)

    def kill(self) -> None:
        """See :class:`Child`."""
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """The process of which workers are copies; to be closed. Thread-safe."""

    def __init__(
        self, modules: Sequence[str] = OF_OURS, varying: frozenset[str] = OF_WORKERS
    ) -> None:
        """Start it, where the machine has what it needs: then it imports, while others work.

        varying: the variables that workers may have otherwise than the process.
        """
        self._varying = varying
        self._lock = threading.Lock()
        self._environment = {**os.environ, **caches_of(None, os.environ)}
        self._popen: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        if not hasattr(signal, "pidfd_send_signal"):
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                os.close(os.pidfd_open(os.getpid()))
                self._popen = subprocess.Popen(
                    [*COMMAND, str(theirs.fileno()), *modules],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                    env={**self._environment, IN_WORKER: NO_WORD},
                )
            except OSError:
                ours.close()
                return
        ours.settimeout(PATIENCE_SECONDS)
        self._socket = ours

    def begin(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        group: str,
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
        request = Begin(group, arguments, dict(environment), str(Path.cwd()), list(inherited))
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
                begun = msgspec.json.decode(answer, type=Begun | Refused)
            except (OSError, msgspec.MsgspecError) as error:
                # Nobody knows whether there is a keeper now: it ends with these pipes.
                self._end()
                raise OSError(errno.EAGAIN, "the fork server has ended") from error
        if isinstance(begun, Refused):
            raise OSError(begun.errno, os.strerror(begun.errno))
        return Copy(self, begun.pid, descriptors[0])

    def status_of(self, pid: int) -> int:
        """The exit status of a keeper that has ended; as of one killed where nobody knows."""
        with self._lock:
            if self._socket is None:
                return -signal.SIGKILL
            try:
                self._socket.send(msgspec.json.encode(Ended(pid)))
                answer = msgspec.json.decode(self._socket.recv(LONGEST), type=Status)
            except (OSError, msgspec.MsgspecError):
                self._end()
                return -signal.SIGKILL
        return -signal.SIGKILL if answer.code is None else answer.code

    def _fits(self, environment: Mapping[str, str]) -> bool:
        """Whether a worker of this environment would import what this process has imported."""
        ours, theirs = (
            {name: value for name, value in one.items() if name not in self._varying}
            for one in (self._environment, environment)
        )
        return ours == theirs and COMPILED in environment

    def _end(self) -> None:
        """Let go of the process: what is not begun yet is started anew."""
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


@dataclass(frozen=True, slots=True)
class ForkServers:
    """The fork servers that several pools share; None where they would have too few workers."""

    own: ForkServer | None = None
    libraries: ForkServer | None = None

    def of(self, spec: str) -> ForkServer | None:
        """The one for workers of an implementation, None where they are to be started anew."""
        if registry.our_own(spec):
            return self.own
        return self.libraries if registry.built_in(spec) else None


@contextlib.contextmanager
def shared_servers(participants: Sequence[Participant]) -> Iterator[ForkServers]:
    """Fork servers for all pools of these participants.

    What they import takes seconds of processor time, which several pools need not spend each.
    """
    specs = [one.spec for one in participants]
    own = sum(map(registry.our_own, specs))
    libraries = sum(map(registry.built_in, specs)) - own
    with contextlib.ExitStack() as closing:
        servers = ForkServers(
            ForkServer() if own >= WORTH else None,
            ForkServer(OF_ALL, OF_LIBRARIES) if libraries >= WORTH else None,
        )
        for server in (servers.own, servers.libraries):
            if server is not None:
                closing.callback(server.close)
        yield servers
