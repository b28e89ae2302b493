"""The process of one implementation, started again as often as its limits allow.

A :class:`Restarted` owns the process and the thread of the harness that talks to it. It loads the
vocabulary into each new process, counts deaths and hangs, and withdraws the implementation after
too many. Where the machine has no room for a process, that is tried once more; then the
implementation is withdrawn from the vocabulary, and no crash is counted.
"""

from __future__ import annotations

import contextlib
import errno
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from harness.confinement.plan import OF_PROGRAMS
from harness.core.excused import Excused
from harness.core.messages import Load, Loaded, packed
from harness.core.outcomes import Failed, Results, Status, Unsupported
from harness.workers.process import Process, WorkerDied
from harness.workers.reasons import ABANDONED, NOT_STARTED, STOPPED, TIME_OUTS
from harness.workers.requests import (
    FAULT,
    Asking,
    doubtful,
    faulty,
    first_line,
    load_in_doubt,
    size_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from corpora.vocabularies.model import Vocabulary
    from harness.core.messages import Compiling, Way
    from harness.workers.forking import ForkServer
    from harness.workers.limits import Limits
    from impls.interface import Mode

T = TypeVar("T")

PATIENCE = 2.0
"""An input that is asked again alone after a time-out has so many times its usual time."""

PAUSE_SECONDS = 0.5
"""The pause before it is tried once more to start a process where the machine had no room for
one."""

SCARCE = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""The errors that the system gives where there is no room for a process now."""


class Restarted:
    """One implementation in its process, restarted as often as its limits allow.

    environment: variables of its process, besides those of this one. wrapper: a program with its
    arguments that runs the process. turn: held while a vocabulary is loaded, so that not all that
    share it load at once. needs: what its process may do though it is confined
    (:mod:`impls.needs`). server: of which its process may be a copy.
    All methods but ``close`` and ``kill`` return futures, answered in the order of the calls.
    """

    def __init__(
        self,
        name: str,
        spec: str,
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        wrapper: Sequence[str] = (),
        turn: AbstractContextManager[object] | None = None,
        needs: Sequence[str] = (),
        server: ForkServer | None = None,
    ) -> None:
        self.name = name
        self._server = server
        programs = spec.startswith(("cmd:", "pip:", "npm:"))
        self._needs = (*needs, OF_PROGRAMS) if programs else needs
        self._confined = ""
        self._turn = turn or contextlib.nullcontext()
        self._spec = spec
        self._limits = limits
        self._environment = environment or {}
        self._wrapper = wrapper
        self._process: Process | None = None
        self._vocabulary: bytes | None = None
        self._deaths = 0
        self._hangs = 0
        self._withdrawn: str | None = None
        self._modes: tuple[Mode, ...] = ()
        self._excused: list[Excused] = []
        self._left: list[str] = []
        self._owed: list[Future[Any]] = []
        self._asking = threading.Lock()
        self._most_bytes: int | None = None
        self._leaks = 0
        self._hanging: set[tuple[Mode, Way | None, bytes]] = set()
        """What took too long twice, the second time alone and with more time: when it does so once
        more, that is no longer in doubt."""
        self._abandoned = self._doubting = self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"worker-{name}")

    @property
    def withdrawn(self) -> str | None:
        """Why this implementation is no longer asked on this vocabulary, or None."""
        return self._withdrawn

    @property
    def losses(self) -> tuple[int, int]:
        """How often it died and how often it hung on this vocabulary so far."""
        return self._deaths, self._hangs

    @property
    def confined(self) -> str:
        """What confines its process, as that says itself; empty before it has loaded anything."""
        return self._confined

    @property
    def compiling(self) -> Compiling | None:
        """What a compiler in its process is at just now, or None."""
        process = self._process
        return process.compiling if process is not None else None

    @property
    def at_work(self) -> float:
        """Seconds that count against the limit of the input that it is at.

        Infinite while a failure is in doubt: whether it comes back is being found out.
        """
        if self._doubting:
            return float("inf")
        process = self._process
        return process.at_work if process is not None else 0.0

    def excused(self) -> list[Excused]:
        """Return the failures that did not come back, and forget them."""
        found, self._excused = self._excused, []
        return found

    def left(self) -> list[str]:
        """Return what its processes left behind, a line for each that did, and forget it.

        All of it is known after :meth:`close`. It has been killed by then.
        """
        found, self._left = self._left, []
        return found

    def charge(self, losses: tuple[int, int]) -> None:
        """Count these losses, and no others, while no request is at work; see ``Limits.deaths``."""
        if self._withdrawn == STOPPED:
            return
        self._deaths, self._hangs = losses
        self._withdrawn = self._exhausted()

    def load(self, vocabulary: Vocabulary | bytes, modes: Sequence[Mode] = ()) -> Future[Loaded]:
        """Start if need be and load, warming up for these modes.

        vocabulary: may be packed by :func:`harness.core.messages.packed`, once for many workers.
        """
        content = vocabulary if isinstance(vocabulary, bytes) else packed(vocabulary)
        return self._submit(self._load, content, tuple(modes))

    def kill(self) -> None:
        """End the process at once, from any thread; a waiting request ends as unsupported."""
        self._withdrawn = STOPPED
        process = self._process
        if process is not None:
            process.kill()

    def abandon(self) -> None:
        """End the process though it owes an answer, from any thread, and count that as nothing.

        The answer that is waited for ends as unsupported; the next vocabulary starts it again, and
        so does :meth:`resume`.
        """
        self._abandoned = True
        process = self._process
        if process is not None:
            process.kill()

    def resume(self) -> Future[None]:
        """Answer again, if it was abandoned: the next request loads the vocabulary once more."""
        return self._submit(self._resume)

    def stop(self) -> None:
        """Ask nothing more; a process that still owes an answer is killed at once."""
        with self._asking:  # what is asked from now on is refused
            self._withdrawn = STOPPED
            owing = not all(future.done() for future in self._owed)
        if owing:
            self.kill()

    def close(self, *, wait: bool = True) -> None:
        """End the process, and the thread. One that still owes an answer is killed at once.

        wait: until both are gone; else they are, once it is closed again.
        """
        self.stop()
        if not self._closed:
            self._closed = True
            self._thread.submit(self._discard)
        self._thread.shutdown(wait=wait, cancel_futures=False)

    def _submit(self, call: Callable[..., T], *given: object) -> Future[T]:
        with self._asking:
            future = self._thread.submit(call, *given)
            self._owed = [*(one for one in self._owed if not one.done()), future]
        return future

    # What follows runs in this worker's thread.

    def _resume(self) -> None:
        if self._abandoned:
            self._discard()  # it may have answered just before it was ended
        self._abandoned = False

    def _load(self, vocabulary: bytes, modes: tuple[Mode, ...]) -> Loaded:
        self._vocabulary, self._modes = vocabulary, modes
        self._resume()
        self._deaths = self._hangs = self._leaks = 0
        self._hanging.clear()
        self._most_bytes = None
        if self._withdrawn != STOPPED:
            self._withdrawn = None
        loaded = Loaded(self._withdrawn, STOPPED)
        for patience in (1.0, PATIENCE):
            try:
                with self._turn:
                    if self._withdrawn == STOPPED:  # while it waited for its turn
                        return Loaded(STOPPED, STOPPED)
                    loaded = self._ensure_loaded(fresh=True, patience=patience)
                if self._withdrawn == STOPPED or not load_in_doubt(loaded):
                    break
                self._discard()
            except WorkerDied as death:
                self._discard()
                label = death.outcome.status.label
                loaded = Loaded(f"{label}: {death.outcome.message}", label)
                if faulty(death.outcome):
                    loaded = Loaded(death.outcome.message, "internal")
                    time.sleep(PAUSE_SECONDS)  # the machine may have more room by then
                if self._withdrawn == STOPPED or not doubtful(death.outcome):
                    break
        if loaded.error is not None:
            self._withdrawn = self._withdrawn or first_line(loaded.error)
        return loaded

    def _ensure_loaded(self, *, fresh: bool = False, patience: float = 1.0) -> Loaded:
        """A process that has the vocabulary; ``fresh`` loads even into a running one."""
        if self._process is not None and not fresh:
            return Loaded()
        if self._vocabulary is None:
            return Loaded("no vocabulary", "internal")
        if self._process is None:
            self._process = self._new_process()
            if self._let_go:  # while the process was being started
                self._process.kill()
        loading = Load(self._spec, self._vocabulary, self._modes)
        seconds = patience * self._limits.load_seconds
        response = self._process.ask(loading, seconds, loading=True)
        assert isinstance(response, Loaded)
        self._confined = response.confined
        return response

    def _new_process(self) -> Process:
        """Start a process. Raises WorkerDied where the machine has no room for one."""
        try:
            return Process(
                self._limits,
                self._environment,
                self._wrapper,
                self._needs,
                self._spec,
                self._server,
            )
        except OSError as error:
            if error.errno not in SCARCE:
                raise
            reason: Exception = error
        except psutil.Error as error:
            reason = error
        raise WorkerDied(Failed(Status.CRASHED, f"{FAULT}: {reason}"), -1)

    def _started(self) -> str | None:
        """See to it that there is a process with the vocabulary; why there is none.

        It is tried twice where the failure is in doubt. Raises WorkerDied for other deaths.
        """
        error: str | None = None
        for patience in (1.0, PATIENCE):
            if error is not None:
                time.sleep(PAUSE_SECONDS)  # the machine may have more room by then
            try:
                loaded = self._ensure_loaded(patience=patience)
            except WorkerDied as death:
                if self._let_go or not faulty(death.outcome):
                    raise
                error = death.outcome.message
            else:
                if loaded.error is None:
                    return None
                error = loaded.error
                if not load_in_doubt(loaded):
                    break
            self._discard()
        return error

    def _asked(self, request: Asking, seconds: float | None = None) -> Results:
        """One request to a living worker. Raises WorkerDied; a death that is sure is counted.

        seconds: for each input; as the limits have it by default.
        """
        if self._let_go:
            return self._refused(len(request))
        if seconds is None:
            seconds = self._limits.for_bytes(size_of(request))
        try:
            error = self._started()
            if error is not None or self._process is None:
                line = first_line(error or "")
                self._withdrawn = self._withdrawn or f"{NOT_STARTED}: {line}"
                if line.startswith(FAULT):
                    # The machine is at fault, so that nothing can be said of any input.
                    return self._refused(len(request))
                raise WorkerDied(Failed(Status.CRASHED, self._withdrawn), -1)
            response = self._process.ask(request, seconds)
        except WorkerDied as death:
            self._doubting = doubtful(death.outcome)  # before there is no process to look at
            self._discard()
            if self._let_go:
                return self._refused(len(request))
            if not self._doubting:
                self._count(death.outcome)
            raise
        assert isinstance(response, Results)
        return response

    @property
    def _let_go(self) -> bool:
        """Whether the harness has ended it, so that it starts no new process either."""
        return self._withdrawn == STOPPED or self._abandoned

    def _count(self, outcome: Failed) -> None:
        if outcome.status is Status.TIMED_OUT:
            self._hangs += 1
        else:
            self._deaths += 1
        self._withdrawn = self._withdrawn or self._exhausted()

    def _exhausted(self) -> str | None:
        """Why it has died or hung too often to be asked on, if it has."""
        if self._hangs >= self._limits.hangs:
            return f"withdrawn after {self._hangs} {TIME_OUTS}"
        if self._deaths >= self._limits.deaths:
            return f"withdrawn after {self._deaths} deaths"
        return None

    def _excuse(self, failure: Failed, data: bytes) -> None:
        line = first_line(failure.message)
        self._excused.append(Excused(self.name, failure.status, line, data))

    def _refused(self, count: int) -> Results:
        reason = self._withdrawn or ABANDONED
        return Results.of([Unsupported(reason)] * count)

    def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()
            if process.left is not None:
                self._left.append(process.left)
