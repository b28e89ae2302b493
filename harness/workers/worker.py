"""One implementation under test: its process, started again as often as its limits allow.

A :class:`Worker` owns one implementation in one process, and one thread of this process that
talks to it. Requests are answered in order. A request that kills the process is asked again around
the input that was at work (input by input where that is not known) in a fresh process, so that the
death is pinned to the input that caused it and its neighbours still get their answers.

A time-out, a lack of memory and a kill from outside may be the machine's doing. So whatever failed
so (an input, a measurement, a load) is asked again once, alone, in a fresh process with more time,
before the failure counts: where it is answered then, the answer stands, and an :class:`Excused` is
kept for a note. Such a failure is no outcome, takes no part in any check, and does not count
towards withdrawal. Where the machine has no room for a process even then, the implementation is
withdrawn from the vocabulary, and no crash is counted.
"""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from harness.confinement.plan import OF_PROGRAMS
from harness.core.excused import LEAKING, TOGETHER, Excused
from harness.core.messages import Encode, Load, Loaded, packed
from harness.core.outcomes import Failed, Inputs, Outcome, Results, Status, Unsupported
from harness.workers.limits import Limits, Losses
from harness.workers.process import Process, WorkerDied
from harness.workers.reasons import (
    ABANDONED,
    ENOUGH,
    NOT_STARTED,
    STOPPED,
    TOO_LONG,
)
from harness.workers.requests import (
    FAULT,
    SLOW_DEATHS,
    Asking,
    doubtful,
    failed_at,
    failures_in_doubt,
    first_line,
    load_in_doubt,
    row_of,
    rows,
    size_of,
    whole,
)
from harness.workers.wire import MESSAGE_LIMIT
from impls import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from corpora.vocabularies.model import Vocabulary
    from harness.workers.costly import CostlyBatches
    from impls.interface import Mode

T = TypeVar("T")

PATIENCE = 2.0
"""What is asked again after a failure in doubt has so many times its usual time."""

PATIENCE_FOR_BATCHES = 4.0
"""A batch that is asked again has so many times the time that its inputs took one by one."""

PAUSE_SECONDS = 0.5
"""The pause before it is tried once more to start a process where the machine had no room for
one."""

LEAKS = 2
"""An implementation leaks that has run out of memory so often on inputs that it answers alone."""

FULL = 0.5
"""Share of the allowed memory that a process still has which was refused more, if it leaks."""

LINES_SHOWN = 20
PRINTED = "Its last output:"
"""A failure to load is told with this line and what follows it, besides its traceback."""

PROGRAMS = ("cmd:", "pip:", "npm:")
"""Implementations that begin so run a program."""


class Worker:
    """One implementation in its process.

    environment: variables of its process, besides those of this one. turn: held while a vocabulary
    is loaded, so that not all that share it load at once. needs: what its process may do though it
    is confined (:mod:`impls.needs`). longest: bytes of the longest input that it is to be asked.
    :meth:`load`, :meth:`ask` and :meth:`resume` return futures, answered in the order of the calls.
    """

    def __init__(
        self,
        name: str,
        spec: str,
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        turn: AbstractContextManager[object] | None = None,
        needs: Sequence[str] = (),
        longest: int | None = None,
    ) -> None:
        self.name = name
        self.withdrawn: str | None = None
        """Why it is no longer asked on this vocabulary, or None."""
        self._spec, self._limits, self._longest = spec, limits, longest
        self._needs = (*needs, OF_PROGRAMS) if spec.startswith(PROGRAMS) else needs
        self._environment = environment
        self._turn = turn or contextlib.nullcontext()
        self._process: Process | None = None
        self._loading: Load | None = None
        self._lost = Losses()
        self._left_of_batch = 0
        self.costly: CostlyBatches | None = None
        """Takes note of batches that take long, if they are to be known."""
        self.excused: list[Excused] = []
        """The failures that did not come back."""
        self.left: list[str] = []
        """What its processes left behind, a line for each that did, which has been killed. All of
        it is known after :meth:`close`."""
        self._owed: list[Future[Any]] = []
        self._asking = threading.Lock()
        self._abandoned = self._doubting = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"worker-{name}")

    @property
    def losses(self) -> tuple[int, int]:
        """How often it died and how often it hung on this vocabulary so far."""
        return self._lost.deaths, self._lost.hangs

    @property
    def at_work(self) -> float:
        """Seconds that count against the limit of the input that it is at.

        Infinite while a failure is in doubt: whether it comes back is being found out.
        """
        process = self._process
        if self._doubting:
            return float("inf")
        return process.at_work if process is not None else 0.0

    def charge(self, losses: tuple[int, int]) -> None:
        """Count these losses, and no others, while no request is at work; see ``Limits.deaths``."""
        if self.withdrawn != STOPPED:
            self._lost.deaths, self._lost.hangs = losses
            self.withdrawn = self._lost.too_many(self._limits)

    def load(self, vocabulary: Vocabulary | bytes, modes: Sequence[Mode] = ()) -> Future[Loaded]:
        """Start if need be and load, warming up for these modes.

        vocabulary: may be packed by :func:`harness.core.messages.packed`, once for many workers.
        """
        content = vocabulary if isinstance(vocabulary, bytes) else packed(vocabulary)
        return self._submit(self._load, Load(self._spec, content, tuple(modes)))

    def ask(self, request: Asking) -> Future[Results]:
        """Have a request answered; each of its inputs gets an outcome, whatever happens."""
        return self._submit(self._answer, request)

    def abandon(self) -> None:
        """End the process though it owes an answer, from any thread, and count that as nothing.

        The answer that is waited for ends as unsupported; the next vocabulary starts it again, and
        so does :meth:`resume`.
        """
        self._abandoned = True
        self._kill()

    def _kill(self) -> None:
        process = self._process
        if process is not None:
            process.kill()

    def resume(self) -> Future[None]:
        """Answer again, if it was abandoned: the next request loads the vocabulary once more."""
        return self._submit(self._resume)

    def stop(self) -> None:
        """Ask nothing more, from any thread; a process that still owes an answer is killed at once.

        A waiting request ends as unsupported.
        """
        with self._asking:  # what is asked from now on is refused
            self.withdrawn = STOPPED
            owing = not all(future.done() for future in self._owed)
        if owing:
            self._kill()

    def close(self, *, wait: bool = True) -> None:
        """End the process, and the thread. One that still owes an answer is killed at once.

        wait: until both are gone; else they are, once it is closed again.
        """
        self.stop()
        with contextlib.suppress(RuntimeError):  # it was closed before
            self._thread.submit(self._discard)
        self._thread.shutdown(wait=wait)

    def _submit(self, call: Callable[..., T], *given: object) -> Future[T]:
        with self._asking:
            future = self._thread.submit(call, *given)
            self._owed = [*(one for one in self._owed if not one.done()), future]
        return future

    # What follows runs in this worker's thread.

    @property
    def _let_go(self) -> bool:
        """Whether the harness has ended it, so that it starts no new process either."""
        return self.withdrawn == STOPPED or self._abandoned

    @property
    def _silent(self) -> bool:
        """Whether nothing is asked of it."""
        return self.withdrawn is not None or self._abandoned

    def _resume(self) -> None:
        if self._abandoned:
            self._discard()  # it may have answered just before it was ended
        self._abandoned = False

    def _load(self, loading: Load) -> Loaded:
        self._loading, self._lost = loading, Losses()
        self._resume()
        with self._asking:
            if self.withdrawn != STOPPED:
                self.withdrawn = None
        with self._turn:
            if self.withdrawn == STOPPED:  # while it waited for its turn, too
                return Loaded(STOPPED, STOPPED)
            loaded = self._ready(fresh=True)
        if loaded.error is not None:
            self.withdrawn = self.withdrawn or first_line(loaded.error)
        return loaded

    def _ready(self, *, fresh: bool = False) -> Loaded:
        """Have a process with the vocabulary, in two attempts where a failure is in doubt.

        fresh: load even into one that runs.
        """
        if self._process is not None and not fresh:
            return Loaded()
        loaded = Loaded("no vocabulary", "internal")
        for patience in (1.0, PATIENCE):
            try:
                loaded = self._loaded(patience)
                doubt = load_in_doubt(loaded)
            except WorkerDied as death:
                label, message = death.outcome.status.label, death.outcome.message
                doubt, loaded = doubtful(death.outcome), Loaded(f"{label}: {message}", label)
                if message.startswith(FAULT):
                    loaded = Loaded(message, "internal")
                    time.sleep(PAUSE_SECONDS)  # the machine may have more room by then
                self._discard()
            if self._let_go or not doubt:
                break
            self._discard()
        return loaded

    def _loaded(self, patience: float) -> Loaded:
        """Start a process if there is none, and load. Raises WorkerDied."""
        if self._process is None:
            others = None if registry.our_own(self._spec) else self._spec
            try:
                self._process = Process(
                    "harness.workers.server",
                    self._limits.memory,
                    self._environment,
                    others=others,
                    needs=self._needs,
                )
            except OSError as error:
                raise WorkerDied(Failed(Status.CRASHED, f"{FAULT}: {error}")) from error
            if self._let_go:  # while the process was being started
                self._process.kill()
        loaded = self._process.ask(self._loading, patience * self._limits.load_seconds, Loaded)
        if loaded.error is None:
            return loaded
        lines = self._process.printed.splitlines()[-LINES_SHOWN:]
        said = [PRINTED, *lines] if lines and not loaded.unsupported else []  # they may say why
        return replace(loaded, error="\n".join((loaded.error[:MESSAGE_LIMIT], *said)))

    def _asked(self, request: Asking, seconds: float = 0.0) -> Results:
        """One request to a living process. Raises WorkerDied; a death that is sure is counted.

        seconds: for each input, at the least; as the limits have it by default.
        """
        if self._silent:
            return self._refused(len(request))
        try:
            loaded = self._ready()
            if loaded.error is None and self._process is not None:
                seconds = max(seconds, self._limits.for_bytes(size_of(request)))
                return self._process.ask(request, seconds, Results, len(request))
            line = first_line(loaded.error or "")
            self.withdrawn = self.withdrawn or f"{NOT_STARTED}: {line}"
            if self._let_go or line.startswith(FAULT):
                # The machine is at fault, so that nothing can be said of any input.
                return self._refused(len(request))
            raise WorkerDied(Failed(Status.CRASHED, self.withdrawn))
        except WorkerDied as death:
            self._doubting = doubtful(death.outcome)  # before there is no process to look at
            self._discard()
            if self._let_go:
                return self._refused(len(request))
            if not self._doubting:
                self._count(death.outcome)
            raise

    def _again(self, request: Asking, seconds: float = 0.0) -> Results:
        """The same request once more, with more time.

        A failure that comes back is sure, and counted. Raises WorkerDied.
        """
        patient = PATIENCE * self._limits.for_bytes(size_of(request))
        try:
            return self._asked(request, max(seconds, patient))
        except WorkerDied as death:
            if doubtful(death.outcome):
                self._count(death.outcome)
            raise

    def _answer(self, request: Asking) -> Results:
        """Answer a request; failures in doubt on the way are settled by then."""
        self._left_of_batch = self._limits.batch_deaths
        began = time.monotonic()
        try:
            if isinstance(request, Encode) and self._longest is not None:
                lengths = np.diff(request.inputs.ends, prepend=0)
                if lengths.max(initial=0) > self._longest:
                    return self._without_long(request, lengths <= self._longest)
            answer = self._measured(request) if whole(request) else self._rows(request)
        finally:
            self._doubting = False
        if self.costly is not None and isinstance(request, Encode):
            self.costly.note(request, answer, time.monotonic() - began)
        return answer

    def _without_long(self, request: Encode, fits: np.ndarray[Any, np.dtype[np.bool_]]) -> Results:
        """The answer to a batch of which some inputs are too long to be asked."""
        outcomes: list[Outcome] = [Unsupported(f"{TOO_LONG} of {self._longest} bytes")] * len(fits)
        places: list[int] = np.flatnonzero(fits).tolist()
        if places:
            kept = replace(request, inputs=Inputs.of([request.inputs[i] for i in places]))
            for place, outcome in zip(places, rows(self._answer(kept)), strict=True):
                outcomes[place] = outcome
        return Results.of(outcomes)

    def _measured(self, request: Asking) -> Results:
        """What has to be measured whole, and so is asked again whole after a failure in doubt."""
        try:
            try:
                return self._asked(request)
            except WorkerDied as first:
                if not doubtful(first.outcome):
                    raise
                answer = self._again(request)
                if not self._silent:  # else it was not asked
                    self._excuse(first.outcome)
                return answer
        except WorkerDied as death:
            return failed_at(death.index, death.outcome, len(request))

    def _rows(self, request: Asking) -> Results:
        """The outcome of each input: asked together, and after a failure around who was at work."""
        count = len(request)
        try:
            answer = self._asked(request, self._lost.batch_seconds if count > 1 else 0.0)
        except WorkerDied as death:
            began, known = time.monotonic(), death.index >= 0 or count == 1
            deaths = {max(death.index, 0): death} if known else {}
            outcomes = self._resolved(request, [None] * count, deaths)
            if not known and not self._let_go:
                return self._of_all(request, death, outcomes, time.monotonic() - began)
            return self._refused(count) if self._let_go else Results.of(outcomes)
        failures = failures_in_doubt(answer)
        if not failures:
            return answer
        # A program that the implementation runs may be killed, and an allocation refused, as the
        # machine is short of memory, and yet the worker lives to say so.
        self._doubting = True
        process = self._process
        full = process is not None and process.usage().memory > self._limits.memory * FULL
        deaths = {
            row: WorkerDied(one, over=full and one.status is Status.OUT_OF_MEMORY)
            for row, one in failures.items()
        }
        outcomes = self._resolved(request, rows(answer), deaths)
        return self._refused(count) if self._let_go else Results.of(outcomes)

    def _resolved(
        self, request: Asking, known: Sequence[Outcome | None], deaths: Mapping[int, WorkerDied]
    ) -> list[Outcome]:
        """The outcomes of a batch, of which those that are not known are asked one by one.

        deaths: the failures of some of them, which are settled. Too many in a batch have the rest
        go unanswered.
        """
        outcomes: list[Outcome] = []
        for row, outcome in enumerate(known):
            if outcome is None or row in deaths:
                alone = row_of(request, row)
                if self._left_of_batch <= 0:
                    outcome = Unsupported(self.withdrawn or ENOUGH)
                elif row in deaths:
                    outcome = self._settled(alone, deaths[row])
                else:
                    outcome = self._rows(alone).outcome(0)
            outcomes.append(outcome)
        return outcomes

    def _settled(self, alone: Asking, death: WorkerDied) -> Outcome:
        """The outcome of one input that failed: sure, or after asking again alone.

        alone: the request for this input and no other. Counts the death, unless it is excused.
        """
        failure = death.outcome
        outcome: Outcome = failure
        data, question = b"", None
        if isinstance(alone, Encode):
            data = alone.inputs.data
            question = alone.mode, alone.way, data
        self._left_of_batch -= 1
        if failure.status is Status.TIMED_OUT and question in self._lost.hanging:
            self._count(failure)
        elif doubtful(failure):
            self._discard()  # it may keep the memory of other inputs
            try:
                answer = self._again(alone)
                outcome = answer.outcome(0)
                # Else it was not asked, or has failed again, which its process has survived.
                if not (self._silent or failures_in_doubt(answer)):
                    self._lost.leaks += death.over
                    if death.over and self._lost.leaks >= LEAKS:
                        outcome = Failed(failure.status, f"{failure.message}\n{LEAKING}")
                        self._count(outcome)
                    else:
                        self._excuse(failure, data)
            except WorkerDied as again:
                outcome = again.outcome
                if question and failure.status is outcome.status is Status.TIMED_OUT:
                    self._lost.hanging.add(question)
        if outcome.status in SLOW_DEATHS:
            self._left_of_batch = 0
        return outcome

    def _of_all(
        self, request: Asking, death: WorkerDied, outcomes: list[Outcome], seconds: float
    ) -> Results:
        """The outcomes of a batch that brought a death, nobody knows at which input.

        outcomes: of the inputs one by one, which took so many seconds. A death that does not come
        back with one of them is the batch's, or the machine's.
        """
        failure, over = death.outcome, death.over
        if any(isinstance(one, Failed) and one.status == failure.status for one in outcomes):
            return Results.of(outcomes)
        if doubtful(failure):
            if self.withdrawn is not None or self._left_of_batch < self._limits.batch_deaths:
                self._excuse(failure)
                return Results.of(outcomes)
            seconds *= PATIENCE_FOR_BATCHES
            try:
                answer = self._again(request, seconds)
                if not self._silent:  # else it was not asked
                    self._excuse(failure)
                # What is slow alone is slow in a batch: the next ones have as much time.
                self._lost.batch_seconds = seconds
                return answer
            except WorkerDied as again:
                failure, over = again.outcome, again.over
        note = LEAKING if over and failure.status is Status.OUT_OF_MEMORY else TOGETHER
        outcomes[0] = Failed(failure.status, f"{failure.message}\n{note}")
        return Results.of(outcomes)

    def _count(self, failure: Failed) -> None:
        self._lost.add(failure)
        self.withdrawn = self.withdrawn or self._lost.too_many(self._limits)

    def _excuse(self, failure: Failed, data: bytes = b"") -> None:
        self.excused.append(Excused(self.name, failure.status, first_line(failure.message), data))

    def _refused(self, count: int) -> Results:
        return Results.of([Unsupported(self.withdrawn or ABANDONED)] * count)

    def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None and (left := process.close()) is not None:
            self.left.append(left)
