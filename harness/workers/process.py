"""One process of the harness's own: started, asked, watched, killed.

The exchange, step by step, and the failure that belongs to each step:

1. The process is started with two pipes, a cell of shared memory for its progress, and a log. It
   confines itself before it does anything else (:mod:`harness.confinement`).
2. A request is written. A process that does not read it is overdue like one that does not answer.
3. The answer is read as it comes, while the process's time and memory are looked at: it may time
   out, run out of memory, or end. Reading and writing never wait.
4. The answer is looked at by :mod:`harness.workers.wire`: what is garbled is a breach of the
   protocol.

Whatever fails, the process and all that it has started are killed, and :class:`WorkerDied` says
how it went and which input was at work. Workers, walks of grammars (:mod:`harness.studies.forced`)
and what makes inputs (:mod:`harness.studies.fuzz`) are all such processes; what runs in them is
:func:`harness.workers.inside.serve`.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from corpora.vocabularies import scratch
from harness.confinement import probe
from harness.core.outcomes import Failed, Status
from harness.workers import wire
from harness.workers.cell import Cell
from harness.workers.clock import Stopwatch, control, usage_of
from harness.workers.kept import Kept
from harness.workers.requests import FAULT, KILLED_WITH_KEEPER
from harness.workers.tracebacks import without_own
from impls.external import OUT_OF_MEMORY_SIGNS, signal_name
from impls.standard_error import log_file, log_tail, trim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.workers.clock import Usage

T = TypeVar("T")

LOOK_SECONDS = 0.1
"""Seconds between two looks at the time and the memory of a process that has not answered."""

CHUNK = 1 << 20
"""Bytes that are read or written at once."""

ENDING_SECONDS = 5.0
"""A process that has closed its descriptors has so many seconds to end, and its keeper to say how
it did."""


class WorkerDied(Exception):
    """The process is gone. ``outcome`` says how, ``index`` is the input at work (or -1).

    over: whether the memory that it is allowed was exceeded, as far as that can be seen.
    """

    def __init__(self, outcome: Failed, index: int = -1, *, over: bool = False) -> None:
        self.outcome = outcome
        self.index = index
        self.over = over
        super().__init__(outcome.message)


class Process:
    """One process. Not thread-safe, but for :meth:`kill` and :attr:`at_work`."""

    def __init__(
        self,
        module: str,
        memory: int,
        environment: Mapping[str, str] | None = None,
        *,
        others: str | None = None,
        needs: Sequence[str] = (),
    ) -> None:
        """Start. module: has a ``main``, as :mod:`harness.confinement.start` says. memory: bytes.

        others: names what code runs in it that is not ours, needs: what that declares; see
        :func:`harness.confinement.probe.launch`. Raises OSError where the machine has no room for
        a process.
        """
        self._memory = memory
        # What fails here leaves nothing open: the harness goes on.
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            self._log = ours.enter_context(log_file())
            self._cell = ours.enter_context(contextlib.closing(Cell()))
            requests, outlet = os.pipe()
            theirs.callback(os.close, requests)
            self._requests = ours.enter_context(os.fdopen(outlet, "wb", 0))
            self._inlet, answers = os.pipe()
            ours.callback(os.close, self._inlet)
            theirs.callback(os.close, answers)
            # Its temporary files go when it goes, however it ends; if the harness is killed, the
            # next one removes them.
            folder = scratch.temporary("worker-")
            ours.callback(folder.cleanup)
            command, variables = probe.launch(
                module, folder.name, others=others, needs=needs, environment=environment
            )
            self._kept = Kept(
                [*command, str(memory)],
                descriptors=(requests, answers, self._cell.descriptor),
                environment=variables,
                log=self._log.fileno(),
                ours=others is None,
            )
            ours.callback(self._kept.end)
            os.set_blocking(outlet, False)
            os.set_blocking(self._inlet, False)
            self._open = ours.pop_all()
        self._sequence = self._count = self._largest = 0
        self._seconds = self._look_at = 0.0
        self._moved = False
        self._unsent = memoryview(b"")
        self._held = bytearray()
        self._watch: Stopwatch | None = None

    def ask(self, request: Any, seconds: float, kind: type[T], count: int = 0) -> T:
        """Return the answer to a request, of a type; see :meth:`send`. Raises WorkerDied."""
        self.send(request, seconds, count)
        while (answer := self.answer(kind)) is None:
            self.listen(LOOK_SECONDS)
            self.look()
        return answer

    def send(self, request: Any, seconds: float, count: int = 0) -> None:
        """Begin a request with ``count`` inputs, each of which may take so many seconds.

        It is written as far as it is read, now and by :meth:`listen`.
        """
        self._sequence += 1
        self._seconds, self._count, self._watch = seconds, count, None
        self._look_at = time.monotonic() + LOOK_SECONDS
        trim(self._log)
        asked = wire.packed_request(self._sequence, request)
        self._largest = wire.largest(len(asked))
        self._unsent = memoryview(asked)
        self._flush()

    def listen(self, seconds: float) -> None:
        """Wait so long until it says something.

        Meanwhile the request is written, as far as it is read; what goes on so is no silence.
        """
        poller = select.poll()
        poller.register(self._inlet, select.POLLIN)
        if self._unsent:
            poller.register(self._requests, select.POLLOUT)
        poller.poll(seconds * 1000)
        self._flush()

    def _flush(self) -> None:
        """Write what goes without waiting. Where nobody reads, that shows when it is read from."""
        try:
            while self._unsent and (written := self._requests.write(self._unsent[:CHUNK])):
                self._unsent, self._moved = self._unsent[written:], True
        except (BrokenPipeError, ConnectionResetError):
            self._unsent = memoryview(b"")

    def answer(self, kind: type[T]) -> T | None:
        """The answer to the request, of a type; None where it is not there yet.

        Raises WorkerDied where the process has ended, or answers with garbage; it and all its
        children are dead then.
        """
        try:
            if (message := self._message()) is None:
                return None
            answer = wire.answer_of(message, self._sequence, kind, self._count)
        except wire.Garbled as error:
            self.die(Failed(Status.PROTOCOL, f"{error}\n{self.printed}".rstrip()))
        except (EOFError, ConnectionResetError):
            self.die(None)
        except (MemoryError, OverflowError) as error:
            self.die(Failed(Status.PROTOCOL, f"its answer cannot be held: {error}"))
        self._watch = None  # it is at nothing any more; one that died may be, until it is told
        return answer

    def _message(self) -> tuple[int, wire.Body] | None:
        """The next message, None where it is not there yet. Raises EOFError, Garbled.

        It is held once, and memory is taken for what has come, not for what was claimed.
        """
        while True:
            wanted = wire.PREFIX.size
            if len(self._held) >= wanted:
                wanted += wire.length_of(self._held, self._largest)
                if len(self._held) == wanted:
                    message, self._held = self._held, bytearray()
                    return wire.unpacked(message)
            try:
                part = os.read(self._inlet, min(wanted - len(self._held), CHUNK))
            except BlockingIOError:
                return None
            if not part:
                raise EOFError
            self._held += part
            self._moved = True

    def look(self) -> None:
        """Take note of time and memory, now and then. Raises WorkerDied for what is over its limit.

        Also while an answer comes, which may come for ever; but who waits meanwhile may wait for
        the harness. The watch begins with the first look: most answers are there before.
        """
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at, usage = now + LOOK_SECONDS, self.usage()
        trim(self._log)
        if self._watch is None:
            self._watch = Stopwatch(self._seconds, now, usage.cpu, self._count)
            return
        usage, self._moved = replace(usage, awake=usage.awake or self._moved), False
        place, compiling = self._cell.said
        self._watch.look(now, usage, place=place, compiling=compiling)
        if usage.memory > self._memory:
            self.die(Failed(Status.OUT_OF_MEMORY, self._memory_message()), over=True)
        late = self._watch.overdue(control().slowness)
        if late is not None:
            self.die(Failed(Status.TIMED_OUT, late))

    @property
    def at_work(self) -> float:
        """Seconds that count against the limit of the input at work; 0 where nothing is asked."""
        watch = self._watch
        return max(watch.spent, watch.waited) if watch is not None else 0.0

    def usage(self) -> Usage:
        """Return what the process and the programs that it runs have spent."""
        return usage_of(self._kept.pid, keeper=True)

    @property
    def printed(self) -> str:
        """The last that it printed."""
        return log_tail(self._log)

    def _memory_message(self) -> str:
        return f"took more than {self._memory / 2**30:.1f} GiB of memory"

    def die(self, failure: Failed | None, *, over: bool = False) -> NoReturn:
        """Kill what is left and raise WorkerDied; without a failure, its end tells it."""
        # What an earlier request left there says nothing of this one.
        index = self._cell.said[0]
        if failure is None:
            self._kept.wait(ENDING_SECONDS)
        # Who is killed in the midst of a call cannot end what it has started: that is not told.
        self._kept.end(gently=failure is None)
        if failure is None:
            failure = self._cause_of_death()
            over = failure.status is Status.OUT_OF_MEMORY  # an allocation was refused
        raise WorkerDied(failure, index if index < self._count else -1, over=over)

    def _cause_of_death(self) -> Failed:
        report, status, log = self._kept.report, Status.CRASHED, without_own(self.printed)
        if report is not None and report.error:
            how = f"{FAULT}: {report.error}"
        elif any(sign in log for sign in OUT_OF_MEMORY_SIGNS):
            how, status = self._memory_message(), Status.OUT_OF_MEMORY
        elif report is None:
            how = KILLED_WITH_KEEPER
        else:
            code = report.exit_code
            how = f"killed by {signal_name(-code)}" if code < 0 else f"exited with status {code}"
        return Failed(status, f"{how}\n{log}".rstrip())

    def kill(self) -> None:
        """Kill the process and all that it has started, at once, from any thread."""
        self._kept.end()

    def close(self) -> str | None:
        """Kill and let go of all descriptors. Return what it left behind, on one line, if any."""
        # It ends by itself where it only waits for a request; that is not waited for, unless it
        # has started something that has left its session.
        self._requests.close()
        self._kept.end(gently=True)
        self._open.close()
        report = self._kept.report
        return None if report is None else report.line
