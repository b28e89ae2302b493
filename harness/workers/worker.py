"""One implementation under test: its process, started again as often as its limits allow.

A :class:`Worker` owns one implementation in one process, and one thread of this process that
talks to it. Requests are answered in order. A request that kills the process is asked again
around the input that was at work (input by input where that is not known) in a fresh process, so
that the death is pinned to the input that caused it and its neighbours still get their answers.

A time-out, a lack of memory and a kill from outside may be the machine's doing. So the input is
asked again alone, in a fresh process with more time, before the failure counts: where it answers
then, its answer stands, and an :class:`Excused` is kept for a note. Such a failure is no outcome,
takes no part in any check, and does not count towards withdrawal.
"""

from __future__ import annotations

import contextlib
import errno
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import psutil

from harness.confinement.plan import OF_PROGRAMS
from harness.messages import Decode, Encode, Load, Loaded, Measure, Serve, packed
from harness.outcomes import Failed, Inputs, Outcome, Results, Status, Unsupported
from harness.workers.excused import LEAKING, TOGETHER, Excused
from harness.workers.process import Process, WorkerDied
from harness.workers.reasons import ABANDONED, AFTER_DEATH, ENOUGH, LATE, STOPPED
from harness.workers.requests import (
    FAULT,
    SLOW_DEATHS,
    Asking,
    data_of,
    doubtful,
    failed_at,
    faulty,
    first_line,
    load_in_doubt,
    parts,
    row_of,
    rows,
    rows_in_doubt,
    size_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from corpora.vocabularies.model import Vocabulary
    from harness.messages import Compiling
    from harness.workers.limits import Limits
    from impls.interface import Mode

T = TypeVar("T")

PATIENCE = 2.0
"""How many times its usual time an input has that is asked again, alone, after a time-out."""

PATIENCE_FOR_BATCHES = 4.0
"""How many times the time that its inputs took one by one a batch has that is asked again."""

LEAKS = 2
"""After running out of memory so often on inputs that it answers alone, an implementation leaks."""

FULL = 0.5
"""Share of the allowed memory that a process still has which was refused more, if it leaks."""

PAUSE_SECONDS = 0.5
"""Before it is tried once more to start a process where the machine had no room for one."""

SCARCE = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})
"""What the system says where there is no room for a process now."""

LEAST_PART = 1 << 10
"""Bytes of the smallest part into which batches are cut for an implementation that is slow."""

PARTS = 8
"""A batch that took too long, though none of its inputs does, is cut into so many from then on."""


class Worker:
    """One implementation under test, restarted as often as its limits allow.

    environment: variables of its process, besides those of this one. wrapper: a program with its
    arguments that runs the process. turn: held while a vocabulary is loaded, so that not all that
    share it load at once. needs: what its process may do though it is confined
    (:mod:`impls.needs`).
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
    ) -> None:
        self.name = name
        programs = spec.startswith(("cmd:", "pip:"))
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
        self._last: Future[Any] | None = None
        self._most_bytes: int | None = None
        self._leaks = 0
        self._abandoned = self._doubting = False
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

        vocabulary: may be packed by :func:`harness.messages.packed`, once for many workers.
        """
        content = vocabulary if isinstance(vocabulary, bytes) else packed(vocabulary)
        return self._submit(self._load, content, tuple(modes))

    def encode(self, request: Encode) -> Future[Results]:
        """Encode a batch; every input gets an outcome, whatever happens."""
        return self._submit(self._until_sure, self._encode, request)

    def decode(self, request: Decode) -> Future[Results]:
        """Decode a batch of id sequences."""
        return self._submit(self._until_sure, self._once, request)

    def serve(self, request: Serve) -> Future[Results]:
        """Ask a service about each input of a batch."""
        return self._submit(self._until_sure, self._once, request)

    def measure(self, request: Measure) -> Future[Results]:
        """Measure; one outcome for all inputs of the request."""
        return self._submit(self._until_sure, self._once, request)

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
        self._withdrawn = STOPPED
        if self._last is not None and not self._last.done():
            self.kill()

    def close(self) -> None:
        """End the process, and the thread. One that still owes an answer is killed at once."""
        self.stop()
        self._thread.submit(self._discard)
        self._thread.shutdown(wait=True, cancel_futures=False)

    def _submit(self, call: Callable[..., T], *given: object) -> Future[T]:
        future = self._thread.submit(call, *given)
        self._last = future
        return future

    # What follows runs in this worker's thread.

    def _until_sure(self, answer: Callable[[Any], Results], request: Asking) -> Results:
        """Answer a request; failures in doubt on the way are settled by then."""
        try:
            return answer(request)
        finally:
            self._doubting = False

    def _resume(self) -> None:
        if self._abandoned:
            self._discard()  # it may have answered just before it was ended
        self._abandoned = False

    def _load(self, vocabulary: bytes, modes: tuple[Mode, ...]) -> Loaded:
        self._vocabulary, self._modes = vocabulary, modes
        self._resume()
        self._deaths = self._hangs = self._leaks = 0
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
            return Process(self._limits, self._environment, self._wrapper, self._needs, self._spec)
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

    def _ask(
        self, request: Asking, seconds: float | None = None, *, again: bool = False
    ) -> Results:
        """One request to a living worker. Raises WorkerDied; a death that is sure is counted.

        seconds: for each input; as the limits have it by default. again: whether it is asked again
        after a failure in doubt, so that what fails now is no longer in doubt.
        """
        if self._let_go:
            return self._refused(len(request))
        if seconds is None:
            seconds = self._limits.for_bytes(size_of(request))
        try:
            error = self._started()
            if error is not None or self._process is None:
                line = first_line(error or "")
                self._withdrawn = self._withdrawn or f"could not be started again: {line}"
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
        return response if again else self._rows_settled(request, response)

    def _rows_settled(self, request: Asking, results: Results) -> Results:
        """An answer with its failures in doubt asked again, each alone and in a new process.

        A program that the implementation runs may be killed, and an allocation refused, as
        the machine is short of memory, and yet the worker lives to say so. Where one comes back,
        it is not the machine's doing, and the others of this answer are not asked again.
        """
        places = rows_in_doubt(results)
        if not places or isinstance(request, Measure) or results.costs is not None:
            return results
        self._doubting = True
        process = self._process
        full = process is not None and process.usage().memory > self._limits.memory * FULL
        outcomes = rows(results)
        self._discard()  # it may keep the memory of the inputs before
        for place in places:
            failure = outcomes[place]
            assert isinstance(failure, Failed)
            alone = row_of(request, place)
            if isinstance(alone, Encode):
                alone = replace(alone, threads=False)
            try:
                answer = self._ask(alone, self._unhurried(alone), again=True)
            except WorkerDied as death:
                if doubtful(death.outcome):
                    self._count(death.outcome)
                outcomes[place] = death.outcome
                break
            outcomes[place] = answer.outcome(0)
            if self._let_go or self._withdrawn is not None:
                break
            if rows_in_doubt(answer):
                break
            if full and failure.status is Status.OUT_OF_MEMORY and self._leaking():
                self._count(failure)
                outcomes[place] = Failed(failure.status, f"{failure.message}\n{LEAKING}")
                break
            self._excuse(failure, data_of(alone))
        if self._let_go:
            return self._refused(len(outcomes))
        for rest in places[places.index(place) + 1 :]:
            outcomes[rest] = Unsupported(self._withdrawn or ENOUGH)
        return Results.of(outcomes)

    def _leaking(self) -> bool:
        """Count a lack of memory on an input that is answered alone; whether it is a leak now."""
        self._leaks += 1
        return self._leaks >= LEAKS

    @property
    def _let_go(self) -> bool:
        """Whether the harness has ended it, so that it starts no new process either."""
        return self._withdrawn == STOPPED or self._abandoned

    def _unhurried(self, request: Asking) -> float:
        """The seconds that each input of a request may take when it is asked again."""
        return PATIENCE * self._limits.for_bytes(size_of(request))

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
        if self._withdrawn is not None or self._abandoned:
            return self._refused(len(inputs))
        if request.meter is None and len(inputs) > 1 and self._most_bytes is not None:
            return self._in_parts(request, self._most_bytes)
        try:
            return self._ask(request)
        except WorkerDied as death:
            if request.meter is not None and doubtful(death.outcome):
                return self._measured_again(request, death)
            if len(inputs) == 1:
                return Results.of([self._settled(request, death)])
            if death.index < 0 or request.threads:
                return self._singly(request, death)
            return self._around(request, death)

    def _in_parts(self, request: Encode, most: int) -> Results:
        """A batch in parts of at most so many bytes, for an implementation that is slow."""
        outcomes: list[Outcome] = []
        for part in parts(list(request.inputs), most):
            some = replace(request, inputs=Inputs.of(part))
            try:
                gone = self._withdrawn is not None
                outcomes += rows(self._refused(len(some)) if gone else self._ask(some))
            except WorkerDied as death:
                alone = len(part) == 1
                settled = [self._settled(some, death)] if alone else rows(self._singly(some, death))
                outcomes += settled
        return Results.of(outcomes)

    def _measured_again(self, request: Encode, death: WorkerDied) -> Results:
        """The costs of a batch that has to be measured whole, after a failure in doubt."""
        alone = replace(request, meter=None)
        if len(request) > 1 and death.index >= 0:
            alone = replace(alone, inputs=Inputs.of([request.inputs[death.index]]))
        outcome = self._settled(alone, death)
        if isinstance(outcome, Failed):
            return failed_at(death.index, outcome, len(request))
        try:
            return self._ask(request, self._unhurried(request), again=True)
        except WorkerDied as again:
            if not doubtful(again.outcome):  # it is counted, and a failure of its own
                return failed_at(again.index, again.outcome, len(request))
            if again.index >= 0 and again.index == death.index:
                # It has taken more than twice its time on this input by now.
                self._count(again.outcome)
                return failed_at(again.index, again.outcome, len(request))
            self._excuse(again.outcome, b"")
            return Results.of([Unsupported(LATE)] * len(request))

    def _settled(self, alone: Asking, death: WorkerDied) -> Outcome:
        """The outcome of one input on which the worker died: sure, or after asking again alone.

        alone: the request for this input and no other. Counts the death, unless it is excused.
        """
        failure = death.outcome
        if not doubtful(failure):
            return failure
        # In a new process: this one may have answered the inputs before it, and keep their memory.
        self._discard()
        try:
            answer = self._ask(alone, self._unhurried(alone), again=True)
        except WorkerDied as again:
            if doubtful(again.outcome):
                self._count(again.outcome)
            return again.outcome
        if self._withdrawn is not None or self._let_go or rows_in_doubt(answer):
            return answer.outcome(0)  # it was not asked, or has failed again
        if death.over and self._leaking():
            self._count(failure)
            return Failed(Status.OUT_OF_MEMORY, f"{failure.message}\n{LEAKING}")
        self._excuse(failure, data_of(alone))
        return answer.outcome(0)

    def _excuse(self, failure: Failed, data: bytes) -> None:
        line = first_line(failure.message)
        self._excused.append(Excused(self.name, failure.status, line, data))

    def _around(self, request: Encode, death: WorkerDied) -> Results:
        """Ask again what stood before and after the inputs that were at work at each death."""
        rest = list(request.inputs)
        outcomes: list[Outcome] = []
        for deaths in range(1, len(rest) + 1):
            outcomes += self._some(request, rest[: death.index])
            alone = replace(request, inputs=Inputs.of([rest[death.index]]))
            settled = self._settled(alone, death)
            outcomes.append(settled)
            rest = rest[death.index + 1 :]
            slow = isinstance(settled, Failed) and settled.status in SLOW_DEATHS
            if self._withdrawn or slow or deaths == self._limits.batch_deaths or not rest:
                outcomes += [Unsupported(self._withdrawn or ENOUGH)] * len(rest)
                break
            part = replace(request, inputs=Inputs.of(rest))
            try:
                outcomes += rows(self._ask(part))
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
        part = replace(request, inputs=Inputs.of(inputs))
        try:
            return rows(self._ask(part))
        except WorkerDied as death:
            return rows(self._singly(part, death))

    def _singly(self, request: Encode, first: WorkerDied) -> Results:
        """Ask again input by input after a death, to find whose it was."""
        outcomes: list[Outcome] = []
        deaths = 0
        began = time.monotonic()
        for data in request.inputs:
            if self._withdrawn is not None or deaths >= self._limits.batch_deaths:
                outcomes.append(Unsupported(self._withdrawn or ENOUGH))
                continue
            single = replace(request, inputs=Inputs.of([data]), threads=False)
            try:
                outcomes.append(self._ask(single).outcome(0))
            except WorkerDied as death:
                settled = self._settled(single, death)
                outcomes.append(settled)
                slow = isinstance(settled, Failed) and settled.status in SLOW_DEATHS
                deaths += self._limits.batch_deaths if slow else 1
        failure, over = first.outcome, first.over
        if self._let_go:  # not all of them were asked
            return self._refused(len(outcomes))
        if any(isinstance(o, Failed) and o.status == failure.status for o in outcomes):
            return Results.of(outcomes)
        # It does not come back by itself: it is the batch's, or the machine's.
        if doubtful(failure) and deaths == 0 and self._withdrawn is None:
            seconds = PATIENCE_FOR_BATCHES * (time.monotonic() - began)
            usual = self._unhurried(request)
            try:
                again = self._ask(request, max(seconds, usual), again=True)
            except WorkerDied as death:
                failure, over = death.outcome, death.over
                if doubtful(failure):
                    self._count(failure)
            else:
                if self._withdrawn is not None or self._let_go:
                    return again  # it was not asked
                self._excuse(first.outcome, b"")
                # What is slow alone is slow in a batch: from now on it gets smaller ones.
                self._most_bytes = max(LEAST_PART, len(request.inputs.data) // PARTS)
                return again
        elif doubtful(failure):
            self._excuse(failure, b"")
            return Results.of(outcomes)
        note = LEAKING if over and failure.status is Status.OUT_OF_MEMORY else TOGETHER
        outcomes[max(first.index, 0)] = Failed(failure.status, f"{failure.message}\n{note}")
        return Results.of(outcomes)

    def _once(self, request: Decode | Serve | Measure) -> Results:
        """A further question of a check: after a death, the rest of the batch is not asked."""
        count = len(request)
        if self._withdrawn is not None or self._abandoned:
            return self._refused(count)
        try:
            return self._ask(request)
        except WorkerDied as death:
            outcomes: list[Outcome] = [Unsupported(AFTER_DEATH)] * count
            whole = death.index < 0 or isinstance(request, Measure)
            if count and whole and doubtful(death.outcome):
                # Nobody knows whose the time was: the whole of it again, or nothing is said.
                try:
                    answer = self._ask(request, self._unhurried(request), again=True)
                except WorkerDied as again:
                    if doubtful(again.outcome):
                        self._count(again.outcome)
                    outcomes[0] = again.outcome
                    return Results.of(outcomes)
                if self._withdrawn is None and not self._let_go:
                    self._excuse(death.outcome, b"")
                return answer
            if count:
                place = max(death.index, 0)
                outcomes[place] = self._settled(row_of(request, place), death)
            return Results.of(outcomes)

    def _refused(self, count: int) -> Results:
        reason = self._withdrawn or (ABANDONED if self._abandoned else "")
        return Results.of([Unsupported(reason)] * count)

    def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()
            if process.left is not None:
                self._left.append(process.left)
