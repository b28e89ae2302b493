"""Worker processes as the harness sees them: limits, capture of deaths, restarts.

A :class:`Worker` owns one implementation in one process, and one thread of this process that
talks to it. Requests are answered in order. A request that kills the process is asked again
around the input that was at work (input by input where that is not known) in a fresh process, so
that the death is pinned to the input that caused it and its neighbours still get their answers.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NoReturn

import psutil

from harness.messages import (
    CELL_BYTES,
    Decode,
    Encode,
    Load,
    Loaded,
    Measure,
    Progress,
    Request,
    Serve,
)
from harness.outcomes import Failed, Inputs, Outcome, Results, Status, Unsupported
from impls.external import IN_WORKER, OUT_OF_MEMORY_SIGNS, log_file, log_tail, signal_name, trim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary

POLL_SECONDS = 0.1
"""How often a waiting harness looks at the clock and at the worker's memory."""

SLOW_DEATHS = frozenset({Status.TIMED_OUT, Status.OUT_OF_MEMORY})
"""One of them costs a batch enough."""

MUCH = 0.2
"""Share of the allowed memory that no single request should need besides."""

STOPPED = "stopped"
"""Why a worker is withdrawn that the harness has ended."""

ENOUGH = "not asked: it died too often in this batch"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take.

    seconds: for a request, besides ``seconds_per_megabyte`` for each MB of input; generous, as it
        is for hangs and not for slowness. memory: bytes, of the worker and its children.
    load_seconds: for building the library's object from a vocabulary.
    deaths: after so many deaths on one vocabulary an implementation is withdrawn from it;
        hangs: likewise for timeouts, which cost more. A new process takes a second or two.
    batch_deaths: after so many deaths the rest of a batch is not asked any more, so that one
        batch does not use them all up.
    """

    seconds: float = 8.0
    seconds_per_megabyte: float = 10.0
    load_seconds: float = 120.0
    memory: int = 4 << 30
    deaths: int = 16
    hangs: int = 3
    batch_deaths: int = 2

    def for_bytes(self, count: int) -> float:
        """Seconds for a request of ``count`` bytes."""
        return self.seconds + self.seconds_per_megabyte * count / 1e6


class WorkerDied(Exception):
    """The process is gone. ``outcome`` says how, ``index`` is the input at work (or -1)."""

    def __init__(self, outcome: Failed, index: int) -> None:
        self.outcome = outcome
        self.index = index
        super().__init__(outcome.message)


class Process:
    """One worker process: started, asked, killed. Not thread-safe."""

    def __init__(
        self, limits: Limits, environment: Mapping[str, str], wrapper: Sequence[str] = ()
    ) -> None:
        self._limits = limits
        self._log = log_file()
        cell = os.memfd_create("tokgate-progress")
        os.ftruncate(cell, CELL_BYTES)
        child_inlet, self_outlet = os.pipe()
        self_inlet, child_outlet = os.pipe()
        inherited = (child_inlet, child_outlet, cell)
        # Its temporary files go when it goes, however it ends.
        self._scratch = tempfile.TemporaryDirectory(
            prefix="tokgate-worker-", ignore_cleanup_errors=True
        )
        self._popen = subprocess.Popen(
            [
                *(*wrapper, sys.executable, "-m", "harness.worker"),
                *(str(descriptor) for descriptor in inherited),
                str(limits.memory),
            ],
            stdin=subprocess.DEVNULL,
            stderr=self._log,
            pass_fds=inherited,
            start_new_session=True,
            env={**os.environ, **environment, "TMPDIR": self._scratch.name, IN_WORKER: "1"},
        )
        self._progress = Progress(cell)
        for descriptor in inherited:
            os.close(descriptor)
        self._outlet = Connection(self_outlet, readable=False)
        self._inlet = Connection(self_inlet, writable=False)
        self._observed = psutil.Process(self._popen.pid)
        self._at_rest = 0

    def ask(self, request: Request, seconds: float) -> Loaded | Results:
        """The response, or WorkerDied. A response that takes too long or too much kills it."""
        trim(self._log)
        deadline = time.monotonic() + seconds
        try:
            self._outlet.send(request)
            while not self._inlet.poll(POLL_SECONDS):
                if time.monotonic() > deadline:
                    self._die(self._too_late(seconds, self._memory() - self._at_rest))
                if self._memory() > self._limits.memory:
                    self._die(Failed(Status.OUT_OF_MEMORY, self._memory_message()))
            response = self._inlet.recv()
        except (EOFError, OSError):
            self._die(None)
        if not isinstance(response, Loaded | Results):
            self._die(Failed(Status.PROTOCOL, "the worker's answer was garbled"))
        if isinstance(response, Loaded):
            self._at_rest = self._memory()
        return response

    def _too_late(self, seconds: float, taken: int) -> Failed:
        """A time-out; of one who has taken much memory since it was loaded, rather that."""
        late = f"no answer within {seconds:.1f} s"
        if taken < self._limits.memory * MUCH:
            return Failed(Status.TIMED_OUT, late)
        taking = f"took {taken / 2**30:.1f} GiB of memory and was still at it"
        return Failed(Status.OUT_OF_MEMORY, f"{taking}; {late}")

    def _memory(self) -> int:
        """Resident bytes of the worker and of the programs it runs."""
        total = 0
        with contextlib.suppress(psutil.Error):
            total = self._observed.memory_info().rss
            for child in self._observed.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    total += child.memory_info().rss
        return total

    def _memory_message(self) -> str:
        return f"took more than {self._limits.memory / 2**30:.1f} GiB of memory"

    def _die(self, failure: Failed | None) -> NoReturn:
        """Kill what is left and raise; without a failure, the exit status and log tell it."""
        index = self._progress.get()
        if failure is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(timeout=2.0)
        self.kill()
        raise WorkerDied(failure or self._cause_of_death(), index)

    def _cause_of_death(self) -> Failed:
        code = self._popen.returncode
        log = log_tail(self._log)
        if any(sign in log for sign in OUT_OF_MEMORY_SIGNS):
            return Failed(Status.OUT_OF_MEMORY, f"{self._memory_message()}\n{log}".rstrip())
        if code is not None and code < 0:
            how = f"killed by {signal_name(-code)}"
        else:
            how = f"exited with status {code}"
        return Failed(Status.CRASHED, f"{how}\n{log}".rstrip())

    def kill(self) -> None:
        """Kill the worker and every program in its session."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()

    def close(self) -> None:
        """Kill and let go of all descriptors."""
        self.kill()
        self._outlet.close()
        self._inlet.close()
        self._progress.close()
        self._log.close()
        self._scratch.cleanup()


class Worker:
    """One implementation under test, restarted as often as its limits allow.

    environment: variables of its process, besides those of this one. wrapper: a program with its
    arguments that runs the process.
    All methods but ``close`` and ``kill`` return futures, answered in the order of the calls.
    """

    def __init__(
        self,
        name: str,
        spec: str,
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        wrapper: Sequence[str] = (),
    ) -> None:
        self.name = name
        self._spec = spec
        self._limits = limits
        self._environment = environment or {}
        self._wrapper = wrapper
        self._process: Process | None = None
        self._vocabulary: Vocabulary | None = None
        self._deaths = 0
        self._hangs = 0
        self._withdrawn: str | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"worker-{name}")

    @property
    def withdrawn(self) -> str | None:
        """Why this implementation is no longer asked on this vocabulary, or None."""
        return self._withdrawn

    @property
    def losses(self) -> tuple[int, int]:
        """How often it died and how often it hung on this vocabulary so far."""
        return self._deaths, self._hangs

    def charge(self, losses: tuple[int, int]) -> None:
        """Count these losses, and no others, while no request is at work; see ``Limits.deaths``."""
        if self._withdrawn == STOPPED:
            return
        self._deaths, self._hangs = losses
        self._withdrawn = self._exhausted()

    def load(self, vocabulary: Vocabulary) -> Future[Loaded]:
        """Start if need be and load; an error is one line."""
        return self._thread.submit(self._load, vocabulary)

    def encode(
        self,
        request: Encode,
    ) -> Future[Results]:
        """Encode a batch; every input gets an outcome, whatever happens."""
        return self._thread.submit(self._encode, request)

    def decode(self, request: Decode) -> Future[Results]:
        """Decode a batch of id sequences."""
        return self._thread.submit(self._once, request, request.ids.nbytes)

    def serve(self, request: Serve) -> Future[Results]:
        """Ask a service about each input of a batch."""
        return self._thread.submit(self._once, request, len(request.inputs.data))

    def measure(self, request: Measure) -> Future[Results]:
        """Measure; one outcome for all inputs of the request."""
        return self._thread.submit(self._once, request, len(request.inputs.data))

    def kill(self) -> None:
        """End the process at once, from any thread; a waiting request ends as unsupported."""
        self._withdrawn = STOPPED
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Kill the process, end the thread."""
        self.kill()
        self._thread.submit(self._discard)
        self._thread.shutdown(wait=True, cancel_futures=False)

    # What follows runs in this worker's thread.

    def _load(self, vocabulary: Vocabulary) -> Loaded:
        self._vocabulary = vocabulary
        self._deaths = self._hangs = 0
        if self._withdrawn != STOPPED:
            self._withdrawn = None
        try:
            loaded = self._ensure_loaded(fresh=True)
        except WorkerDied as death:
            self._discard()
            label = death.outcome.status.label
            loaded = Loaded(f"{label}: {first_line(death.outcome.message)}", label)
        if loaded.error is not None:
            self._withdrawn = self._withdrawn or loaded.error
        return loaded

    def _ensure_loaded(self, *, fresh: bool = False) -> Loaded:
        """A process that has the vocabulary; ``fresh`` loads even into a running one."""
        if self._process is not None and not fresh:
            return Loaded()
        if self._vocabulary is None:
            return Loaded("no vocabulary", "internal")
        if self._process is None:
            self._process = Process(self._limits, self._environment, self._wrapper)
        loading = Load(self._spec, self._vocabulary)
        response = self._process.ask(loading, self._limits.load_seconds)
        if isinstance(response, Loaded):
            return response
        return Loaded("the worker's answer was garbled", Status.PROTOCOL.label)

    def _ask(self, request: Encode | Decode | Serve | Measure, size: int) -> Results:
        """One request to a living worker; WorkerDied after counting the death."""
        try:
            error = self._ensure_loaded().error
            if error is not None or self._process is None:
                self._withdrawn = f"could not be started again: {error}"
                raise WorkerDied(Failed(Status.CRASHED, self._withdrawn), -1)
            response = self._process.ask(request, self._limits.for_bytes(size))
        except WorkerDied as death:
            self._discard()
            if self._withdrawn == STOPPED:  # the harness killed it
                return self._refused(len(request))
            self._count(death.outcome)
            raise
        if isinstance(response, Results):
            return response
        raise WorkerDied(Failed(Status.PROTOCOL, response.error or "no results"), -1)

    def _count(self, outcome: Failed) -> None:
        if outcome.status is Status.TIMED_OUT:
            self._hangs += 1
        else:
            self._deaths += 1
        self._withdrawn = self._withdrawn or self._exhausted()

    def _exhausted(self) -> str | None:
        """Why it has died or hung too often to be asked on, if it has."""
        if self._hangs >= self._limits.hangs:
            return f"withdrawn after {self._hangs} time-outs"
        if self._deaths >= self._limits.deaths:
            return f"withdrawn after {self._deaths} deaths"
        return None

    def _encode(self, request: Encode) -> Results:
        inputs = request.inputs
        if self._withdrawn is not None:
            return self._refused(len(inputs))
        try:
            return self._ask(request, len(inputs.data))
        except WorkerDied as death:
            if len(inputs) == 1:
                return Results.of([death.outcome])
            if death.index < 0 or request.threads:
                return self._singly(request, death)
            return self._around(request, death)

    def _around(self, request: Encode, death: WorkerDied) -> Results:
        """Ask again what stood before and after the inputs that were at work at each death."""
        rest = list(request.inputs)
        outcomes: list[Outcome] = []
        for deaths in range(1, len(rest) + 1):
            outcomes += self._some(request, rest[: death.index])
            outcomes.append(death.outcome)
            rest = rest[death.index + 1 :]
            enough = deaths == self._limits.batch_deaths or death.outcome.status in SLOW_DEATHS
            if self._withdrawn or enough or not rest:
                outcomes += [Unsupported(self._withdrawn or ENOUGH)] * len(rest)
                break
            part, size = self._part(request, rest)
            try:
                outcomes += rows(self._ask(part, size))
                break
            except WorkerDied as another:
                if another.index < 0:
                    outcomes += rows(self._singly(part, another))
                    break
                death = another
        return Results.of(outcomes)

    def _some(self, request: Encode, inputs: list[bytes]) -> list[Outcome]:
        """The outcomes of some of the inputs, which may be none."""
        if not inputs or self._withdrawn is not None:
            return [Unsupported(self._withdrawn or "")] * len(inputs)
        part, size = self._part(request, inputs)
        try:
            return rows(self._ask(part, size))
        except WorkerDied as death:
            return rows(self._singly(part, death))

    @staticmethod
    def _part(request: Encode, inputs: list[bytes]) -> tuple[Encode, int]:
        """The same request for some of its inputs, and how many bytes they are."""
        some = Inputs.of(inputs)
        return replace(request, inputs=some), len(some.data)

    def _singly(self, request: Encode, first: WorkerDied) -> Results:
        """Ask again input by input after a death, to find whose it was."""
        outcomes: list[Outcome] = []
        deaths = 0
        for data in request.inputs:
            if self._withdrawn is not None or deaths >= self._limits.batch_deaths:
                outcomes.append(Unsupported(self._withdrawn or ENOUGH))
                continue
            single = replace(request, inputs=Inputs.of([data]), threads=False)
            try:
                outcomes.append(self._ask(single, len(data)).outcome(0))
            except WorkerDied as death:
                slow = death.outcome.status in SLOW_DEATHS
                deaths += self._limits.batch_deaths if slow else 1
                outcomes.append(death.outcome)
        if not any(isinstance(o, Failed) and o.status == first.outcome.status for o in outcomes):
            # It does not come back by itself: pin it to the input that was at work.
            note = f"{first.outcome.message}\n(once, in a batch; not when asked again alone)"
            outcomes[max(first.index, 0)] = Failed(first.outcome.status, note)
        return Results.of(outcomes)

    def _once(self, request: Decode | Serve | Measure, size: int) -> Results:
        """A further question of a check: after a death, the rest of the batch is not asked."""
        count = len(request)
        if self._withdrawn is not None:
            return self._refused(count)
        try:
            return self._ask(request, size)
        except WorkerDied as death:
            outcomes: list[Outcome] = [Unsupported("not asked again after a death")] * count
            if count:
                outcomes[max(death.index, 0)] = death.outcome
            return Results.of(outcomes)

    def _refused(self, count: int) -> Results:
        return Results.of([Unsupported(self._withdrawn or "")] * count)

    def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()


def rows(results: Results) -> list[Outcome]:
    """All outcomes of a batch."""
    return [results.outcome(index) for index in range(len(results))]


def first_line(message: str) -> str:
    """The first line of a message, for one-line errors."""
    return message.split("\n", 1)[0]
