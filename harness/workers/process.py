"""One worker process: started, asked, killed.

The exchange, step by step, and the failure that belongs to each step:

1. The process is started with two pipes, a cell of shared memory for its progress, and a log. It
   confines itself before it does anything else (:mod:`harness.confinement`).
2. A request is written. A worker that does not read it is overdue like one that does not answer.
3. The answer is read as it comes, while the worker's time and memory are looked at: it may time
   out, run out of memory, or end. Reading and writing never wait for longer than one look.
4. The answer is looked at by :mod:`harness.workers.wire`: what is garbled is a breach of the
   protocol.

Whatever fails, the process and all that it has started are killed, and :class:`WorkerDied` says
how it went and which input was at work.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import psutil

from corpora.vocabularies import scratch
from harness.confinement import probing
from harness.core.messages import Request
from harness.core.outcomes import Failed, Results, Status
from harness.workers import logs, wire
from harness.workers.cell import Cell
from harness.workers.clock import Stopwatch, control, usage_of
from harness.workers.keeping import Kept, pipe
from harness.workers.requests import FAULT, KILLED_WITH_KEEPER
from harness.workers.tracebacks import without_own
from impls import registry
from impls.external import OUT_OF_MEMORY_SIGNS, signal_name
from impls.standard_error import log_file, log_tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.core.messages import Compiling, Loaded
    from harness.workers.clock import Usage
    from harness.workers.forking import ForkServer
    from harness.workers.limits import Limits

LOOK_SECONDS = 0.1
"""Seconds between two looks at the time and the memory of a worker that has not answered."""

LINES_SHOWN = 20
PRINTED = "The last that it printed:"
"""A failure to load is told with this line and what follows it, besides its traceback."""

CHUNK = 1 << 20
"""Bytes that are read or written at once."""

ENDING_SECONDS = 5.0
"""A worker that has closed its descriptors has so many seconds to end, and its keeper to say how it
did."""

MUCH = 0.2
"""Share of the allowed memory that no single request should need besides."""


class WorkerDied(Exception):
    """The process is gone. ``outcome`` says how, ``index`` is the input at work (or -1).

    over: whether the memory that it is allowed was exceeded, as far as that can be seen.
    """

    def __init__(self, outcome: Failed, index: int, *, over: bool = False) -> None:
        self.outcome = outcome
        self.index = index
        self.over = over
        super().__init__(outcome.message)


class Process:
    """One worker process. Not thread-safe, but for :meth:`kill` and :attr:`compiling`."""

    def __init__(
        self,
        limits: Limits,
        environment: Mapping[str, str],
        wrapper: Sequence[str] = (),
        needs: Sequence[str] = (),
        spec: str = "",
        server: ForkServer | None = None,
    ) -> None:
        """Start. spec: of the implementation, which decides where its caches are.

        server: of which the process may be a copy.
        Raises OSError and psutil.Error where the machine has no room for a process.
        """
        self._limits = limits
        # What fails here leaves nothing open: the harness goes on.
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            self._log = ours.enter_context(log_file())
            self._progress = Cell()
            ours.callback(self._progress.close)
            child_inlet, self._outlet = pipe(theirs, ours)
            self._inlet, child_outlet = pipe(ours, theirs)
            inherited = (child_inlet, child_outlet, self._progress.descriptor)
            # Its temporary files go when it goes, however it ends; if the harness is killed, the
            # next one removes them.
            self._scratch = scratch.temporary("worker-")
            ours.callback(self._scratch.cleanup)
            launch = probing.launch(
                "harness.workers.server",
                self._scratch.name,
                others=None if registry.our_own(spec) else spec,
                needs=needs,
                environment=environment,
                wrapper=wrapper,
            )
            self._kept = Kept(
                [*launch.command, *map(str, inherited), str(limits.memory)],
                descriptors=inherited,
                environment=launch.environment,
                errors=self._log,
                memory=limits.memory,
                server=None if wrapper else server,
            )
            ours.callback(self._kept.end)
            os.set_blocking(self._outlet, False)
            os.set_blocking(self._inlet, False)
            self._observed = psutil.Process(self._kept.pid)
            ours.pop_all()
        logs.watch(self._log)
        self._at_rest = 0
        self._sequence = self._count = 0
        self._watch: Stopwatch | None = None

    @property
    def compiling(self) -> Compiling | None:
        """What a compiler in the worker is at, or None."""
        return self._progress.compiling

    def ask(self, request: Request, seconds: float, *, loading: bool = False) -> Loaded | Results:
        """Return the response to a request that may take ``seconds`` for each of its inputs.

        Raises WorkerDied where it takes too long or too much, ends, or answers with garbage; the
        process and all its children are dead then.
        """
        self._sequence += 1
        count = 0 if loading else len(request)  # type: ignore[arg-type]
        self._count = count
        self._watch = None
        exchange = _Exchange(self, seconds)
        try:
            asked = wire.packed_request(self._sequence, request)
            exchange.write(asked)
            largest = wire.largest_body(len(asked))
            head, body, checksum = wire.lengths_of(exchange.read(wire.PREFIX.size), largest)
            header = exchange.read(head)
            message = wire.unpacked(header, exchange.read(body), checksum)
            response = wire.response_of(message, self._sequence, count)
        except wire.Garbled as error:
            log = log_tail(self._log)
            self._die(Failed(Status.PROTOCOL, f"{error}\n{log}".rstrip()))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            self._die(None)
        except (MemoryError, OverflowError) as error:
            self._die(Failed(Status.PROTOCOL, f"its answer cannot be held: {error}"))
        if loading != (not isinstance(response, Results)):
            self._die(Failed(Status.PROTOCOL, "its answer is to another kind of request"))
        if not isinstance(response, Results):
            self._at_rest = self.usage().memory
            response = self._with_log(response)
        self._watch = None  # it is at nothing any more; one that died may be, until it is told
        return response

    def _with_log(self, loaded: Loaded) -> Loaded:
        """A failure to load with the last lines that were printed: they may say why."""
        lines = log_tail(self._log).splitlines()[-LINES_SHOWN:]
        if loaded.error is None or loaded.unsupported or not lines:
            return loaded
        return replace(loaded, error="\n".join((loaded.error, PRINTED, *lines)))

    def look(self, seconds: float) -> None:
        """Take note of time and memory. Raises WorkerDied for what is over its limit.

        The watch begins with the first look that finds no answer: most answers come before.
        """
        usage = self.usage()
        if self._watch is None:
            self._watch = Stopwatch.start(seconds, time.monotonic(), usage, self._count)
            return
        watch = self._watch
        compiling = self._progress.compiling is not None
        watch.look(time.monotonic(), usage, place=self._progress.index, compiling=compiling)
        if usage.memory > self._limits.memory:
            self._die(Failed(Status.OUT_OF_MEMORY, self._memory_message()), over=True)
        late = watch.overdue(control().slowness)
        if late is not None:
            self._die(self._too_late(late, usage.memory - self._at_rest))

    @property
    def at_work(self) -> float:
        """Seconds that count against the limit of the input at work; 0 where nothing is asked."""
        watch = self._watch
        return max(watch.spent, watch.sitting) if watch is not None else 0.0

    def usage(self) -> Usage:
        """Return what the worker and the programs that it runs have spent."""
        return usage_of(self._observed, keeper=True)

    def wait(self, descriptor: int, event: int) -> bool:
        """Wait for one look at the most; whether the descriptor is ready."""
        poller = select.poll()
        poller.register(descriptor, event)
        return bool(poller.poll(LOOK_SECONDS * 1000))

    @property
    def inlet(self) -> int:
        """The descriptor that answers are read from."""
        return self._inlet

    @property
    def outlet(self) -> int:
        """The descriptor that requests are written to."""
        return self._outlet

    def _too_late(self, late: str, taken: int) -> Failed:
        """A time-out; of one who has taken much memory since it was loaded, rather that."""
        if taken < self._limits.memory * MUCH:
            return Failed(Status.TIMED_OUT, late)
        taking = f"took {taken / 2**30:.1f} GiB of memory and was still at it"
        return Failed(Status.OUT_OF_MEMORY, f"{taking}; {late}")

    def _memory_message(self) -> str:
        return f"took more than {self._limits.memory / 2**30:.1f} GiB of memory"

    def _die(self, failure: Failed | None, *, over: bool = False) -> NoReturn:
        """Kill what is left and raise; without a failure, the exit status and log tell it."""
        # What an earlier request left there says nothing of this one.
        index = self._progress.index if self._progress.index < self._count else -1
        if failure is None:
            self._kept.wait(ENDING_SECONDS)
        # Who is killed in the midst of a call cannot end what it has started: that is not told.
        self._kept.end(gently=failure is None)
        if failure is None:
            failure = self._cause_of_death()
            over = failure.status is Status.OUT_OF_MEMORY  # an allocation was refused
        raise WorkerDied(failure, index, over=over)

    def _cause_of_death(self) -> Failed:
        code = self._kept.exit_code
        log = without_own(log_tail(self._log))
        fault = self._kept.fault
        if fault is not None:
            return Failed(Status.CRASHED, f"{FAULT}: {fault}\n{log}".rstrip())
        if self._kept.over or any(sign in log for sign in OUT_OF_MEMORY_SIGNS):
            return Failed(Status.OUT_OF_MEMORY, f"{self._memory_message()}\n{log}".rstrip())
        if code is None:
            how = KILLED_WITH_KEEPER
        elif code < 0:
            how = f"killed by {signal_name(-code)}"
        else:
            how = f"exited with status {code}"
        return Failed(Status.CRASHED, f"{how}\n{log}".rstrip())

    def kill(self) -> None:
        """Kill the worker and all that it has started, at once."""
        self._kept.end()

    def close(self) -> None:
        """Kill and let go of all descriptors."""
        # It ends by itself where it only waits for a request; that is not waited for, unless it
        # has started something that has left its session.
        os.close(self._outlet)
        self._kept.end(gently=True)
        os.close(self._inlet)
        self._progress.close()
        logs.forget(self._log)
        self._log.close()
        self._scratch.cleanup()

    @property
    def left(self) -> str | None:
        """What it left behind that would not end by itself, on one line; known when it is gone."""
        return self._kept.left


class _Exchange:
    """One request and its answer, under one watch."""

    def __init__(self, process: Process, seconds: float) -> None:
        self._process = process
        self._seconds = seconds

    def write(self, data: bytes) -> None:
        """Write all of ``data``. Raises BrokenPipeError, WorkerDied."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._process.outlet, view[:CHUNK]) :]
            except BlockingIOError:
                self._wait(self._process.outlet, select.POLLOUT)

    def read(self, size: int) -> bytearray:
        """Return ``size`` bytes. Raises EOFError, WorkerDied.

        They are held once, and memory is taken for what has come, not for what was claimed.
        """
        held = bytearray()
        while len(held) < size:
            try:
                part = os.read(self._process.inlet, min(size - len(held), CHUNK))
            except BlockingIOError:
                self._wait(self._process.inlet, select.POLLIN)
                continue
            if not part:
                raise EOFError
            held += part
        return held

    def _wait(self, descriptor: int, event: int) -> None:
        """Wait for the descriptor, looking at the worker now and then."""
        if not self._process.wait(descriptor, event):
            self._process.look(self._seconds)
