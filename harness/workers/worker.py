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

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.core.excused import LEAKING, TOGETHER
from harness.core.messages import Decode, Encode, Measure, Serve
from harness.core.outcomes import Failed, Inputs, Outcome, Results, Status, Unsupported
from harness.workers.process import WorkerDied
from harness.workers.reasons import AFTER_DEATH, ENOUGH, LATE
from harness.workers.requests import (
    SLOW_DEATHS,
    Asking,
    data_of,
    doubtful,
    failed_at,
    parts,
    row_of,
    rows,
    rows_in_doubt,
    size_of,
)
from harness.workers.restarting import PATIENCE, Restarted

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

PATIENCE_FOR_BATCHES = 4.0
"""A batch that is asked again has so many times the time that its inputs took one by one."""

LEAKS = 2
"""An implementation leaks that has run out of memory so often on inputs that it answers alone."""

FULL = 0.5
"""Share of the allowed memory that a process still has which was refused more, if it leaks."""

LEAST_PART = 1 << 10
"""Bytes of the smallest part into which batches are cut for an implementation that is slow."""

PARTS = 8
"""A batch that took too long, though none of its inputs does, is cut into so many from then on."""


class Worker(Restarted):
    """One implementation under test.

    All methods but ``close`` and ``kill`` return futures, answered in the order of the calls.
    """

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

    # What follows runs in this worker's thread.

    def _until_sure(self, answer: Callable[[Any], Results], request: Asking) -> Results:
        """Answer a request; failures in doubt on the way are settled by then."""
        try:
            return answer(request)
        finally:
            self._doubting = False

    def _ask(
        self, request: Asking, seconds: float | None = None, *, again: bool = False
    ) -> Results:
        """One request to a living worker; failures in its answer that are in doubt are settled.

        again: whether it is asked again after a failure in doubt, so that what fails now is no
        longer in doubt. Raises WorkerDied; a death that is sure is counted.
        """
        response = self._asked(request, seconds)
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

    def _unhurried(self, request: Asking) -> float:
        """The seconds that each input of a request may take when it is asked again."""
        return PATIENCE * self._limits.for_bytes(size_of(request))

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
        question = (alone.mode, alone.way, data_of(alone)) if isinstance(alone, Encode) else None
        if failure.status is Status.TIMED_OUT and question in self._hanging:
            self._count(failure)
            return failure
        # In a new process: this one may have answered the inputs before it, and keep their memory.
        self._discard()
        try:
            answer = self._ask(alone, self._unhurried(alone), again=True)
        except WorkerDied as again:
            if doubtful(again.outcome):
                self._count(again.outcome)
            if question and failure.status is again.outcome.status is Status.TIMED_OUT:
                self._hanging.add(question)
            return again.outcome
        if self._withdrawn is not None or self._let_go or rows_in_doubt(answer):
            return answer.outcome(0)  # it was not asked, or has failed again
        if death.over and self._leaking():
            self._count(failure)
            return Failed(Status.OUT_OF_MEMORY, f"{failure.message}\n{LEAKING}")
        self._excuse(failure, data_of(alone))
        return answer.outcome(0)

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
