"""The pool: the workers of a run, loaded with one vocabulary, answering batches together."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from harness.checks.base import Check, Judgement, Observation, Probe
from harness.core.messages import Encode, Meter, packed
from harness.core.outcomes import Inputs, Outcome, Results, Unsupported
from harness.workers import Limits, Worker
from harness.workers.claims import Claims
from harness.workers.costly import CostlyBatches
from harness.workers.reasons import TOO_LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.excused import Excused
    from harness.core.messages import Loaded
    from harness.core.participants import Participant
    from harness.workers.requests import Asking
    from impls.interface import Mode


class Stopped(Exception):
    """The pool was killed from another thread: what its workers say now means nothing."""


class OutOfTime(Exception):
    """The time of the run was up before an answer came, of which nothing is known therefore.

    It is not a failure of the implementation: the harness has ended its process.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """A batch on its way: who was asked what."""

    contract: Contract
    inputs: Inputs
    futures: dict[str, Asked]
    stopped: threading.Event

    def without(self, names: Container[str]) -> Pending:
        """The same batch with the others alone."""
        futures = {name: asked for name, asked in self.futures.items() if name not in names}
        return replace(self, contract=self.contract.among(futures), futures=futures)

    def wait(self) -> Observation:
        """The answers of all. Raises Stopped."""
        results = {name: asked.wait(self.stopped) for name, asked in self.futures.items()}
        return Observation(self.contract, self.inputs, results)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A future, and the inputs that were held back as too long (indices), if any."""

    future: Future[Results] | None
    held_back: list[int]
    size: int
    reason: str = ""
    times: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Note when the answer comes."""
        if self.future is not None:
            self.future.add_done_callback(lambda _: self.times.append(time.monotonic()))

    @property
    def done(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.future is None or bool(self.times)

    @property
    def finished(self) -> float:
        """When the answer came, in monotonic seconds; 0 where nothing was asked."""
        return self.times[0] if self.times else 0.0

    def within(self, seconds: float) -> bool:
        """Wait for the answer, so many seconds at the most; whether it is there."""
        if self.future is not None:
            wait([self.future], None if math.isinf(seconds) else max(0.0, seconds))
        return self.future is None or self.future.done()

    def dropped(self) -> bool:
        """Withdraw the question; whether no worker is at it, as it is answered or never begun."""
        return self.future is None or self.future.cancel() or self.future.done()

    def wait(self, stopped: threading.Event) -> Results:
        """The results, with the inputs held back as unsupported. Raises Stopped."""
        results = self.future.result() if self.future is not None else None
        if stopped.is_set():
            raise Stopped
        if not self.held_back:
            assert results is not None
            return results
        outcomes: list[Outcome] = []
        row = 0
        held_back = set(self.held_back)
        for index in range(self.size):
            if index in held_back or results is None:
                outcomes.append(Unsupported(self.reason))
            else:
                outcomes.append(results.outcome(row))
                row += 1
        return Results.of(outcomes)


class WorkerPool:
    """Workers for the participants of a run. Not thread-safe; each thread of a run has its own."""

    def __init__(
        self,
        participants: Sequence[Participant],
        limits: Limits,
        environment: Mapping[str, str] | None = None,
        watched: Collection[str] = (),
    ) -> None:
        """Start no worker yet.

        watched: participants of which the costly batches are kept (:meth:`costly`).
        """
        self._participants = {participant.name: participant for participant in participants}
        # Whoever comes first loads first; all at once would make all of them late.
        turn = threading.Semaphore((os.cpu_count() or 1) + 2)
        self._workers = {
            c.name: Worker(c.name, c.spec, limits, environment, turn, c.about.needs)
            for c in participants
        }
        self.turn = threading.Lock()
        """Held by whoever asks about one finding after another, which one at a time does."""
        self.claims = Claims()
        self._costly = {name: CostlyBatches() for name in watched}
        self._loading: dict[str, Future[Loaded]] = {}
        self._loaded: list[str] = []
        self._load_spent: dict[str, int] = {}
        self._stopped = threading.Event()
        self._limit: Callable[[], float] = lambda: math.inf
        self._own = threading.local()

    def limit_by(self, left: Callable[[], float]) -> None:
        """End further questions with the time of a run; left: the seconds until then.

        It holds for all methods that wait for answers themselves, which raise OutOfTime, and not
        for :meth:`ask`: how long the answers to a batch are waited for, whoever sent it decides.
        Who was abandoned under the former limit answers again.
        """
        self._limit = left
        self.resume()

    @contextlib.contextmanager
    def lasting(self, left: Callable[[float], float]) -> Iterator[None]:
        """End the further questions of this thread, within the block, with a time of their own.

        left: the seconds until then, given those that are left for the questions of others.
        """
        former = getattr(self._own, "left", None)
        self._own.left = left
        try:
            yield
        finally:
            self._own.left = former

    def _left(self) -> float:
        own: Callable[[float], float] | None = getattr(self._own, "left", None)
        return self._limit() if own is None else own(self._limit())

    @property
    def out_of_time(self) -> bool:
        """Whether no further question is asked."""
        return self._left() <= 0

    def load(
        self, vocabulary: Vocabulary, names: Sequence[str], modes: Sequence[Mode] = ()
    ) -> dict[str, Loaded]:
        """Load a vocabulary into these participants; what those say that have not loaded it.

        Raises OutOfTime.
        """
        self.begin_loading(vocabulary, names, modes)
        failed: dict[str, Loaded] = {}
        while self._loading:
            if self.out_of_time:
                raise OutOfTime
            left = self._left()
            seconds = None if math.isinf(left) else left
            wait(self._loading.values(), seconds, return_when=FIRST_COMPLETED)
            failed.update(self.settle())
        return failed

    def begin_loading(
        self, vocabulary: Vocabulary, names: Sequence[str], modes: Sequence[Mode] = ()
    ) -> None:
        """Have these participants load a vocabulary, and do not wait for it.

        Whatever is asked of one of them meanwhile is answered once it has loaded.
        """
        self._loaded = []
        content = packed(vocabulary)
        self._loading = {name: self._workers[name].load(content, modes) for name in names}

    def settle(self) -> dict[str, Loaded]:
        """Take note of who has loaded by now; what those say that could not."""
        failed: dict[str, Loaded] = {}
        for name, future in list(self._loading.items()):
            if future.done():
                del self._loading[name]
                self._loaded.append(name)
                self._load_spent[name] = future.result().spent
                if future.result().error is not None:
                    self._loaded.remove(name)
                    failed[name] = future.result()
        return failed

    def loading(self) -> Sequence[str]:
        """Who has not loaded yet."""
        return list(self._loading)

    @property
    def stopped(self) -> bool:
        """Whether it was killed."""
        return self._stopped.is_set()

    def loaded(self) -> Sequence[str]:
        """Who has loaded the vocabulary."""
        return list(self._loaded)

    def load_spent(self, name: str) -> int:
        """Nanoseconds of CPU time that one took to load the vocabulary; 0 where nobody knows."""
        return self._load_spent.get(name, 0)

    def costly(self, name: str) -> tuple[float, list[tuple[Encode, Results]]]:
        """What :meth:`harness.workers.costly.CostlyBatches.taken` says of one that is watched."""
        return self._costly[name].taken()

    def excused(self) -> list[Excused]:
        """The failures that did not come back when asked again, since this was asked last."""
        return [one for worker in self._workers.values() for one in worker.excused()]

    def left(self) -> dict[str, str]:
        """What workers left behind when they ended, a line each, since this was asked last."""
        left = {name: worker.left() for name, worker in self._workers.items()}
        return {name: lines[0] for name, lines in left.items() if lines}

    def at_work(self, name: str) -> float:
        """Seconds that count against the limit of the input that one is at."""
        return self._workers[name].at_work

    def abandon(self, names: Sequence[str]) -> None:
        """End the processes of these, which owe answers that nobody waits for any more.

        They start again with the next vocabulary, when they are resumed, and with the next limit.
        """
        for name in names:
            self._workers[name].abandon()

    def resume(self) -> None:
        """Have those that were abandoned answer again; they load the vocabulary when asked."""
        for name in self._loaded:
            self._workers[name].resume()

    def withdrawn(self) -> dict[str, str]:
        """Participants that are no longer asked on this vocabulary, and why."""
        reasons = {name: self._workers[name].withdrawn for name in self._loaded}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def losses(self) -> dict[str, tuple[int, int]]:
        """How often each participant died and hung on this vocabulary, of those that did."""
        counted = {name: self._workers[name].losses for name in self._loaded}
        return {name: losses for name, losses in counted.items() if any(losses)}

    def charge(self, losses: Mapping[str, tuple[int, int]]) -> None:
        """Count these losses and no others: a campaign goes on as it was left, or forgives."""
        for name in self._loaded:
            self._workers[name].charge(losses.get(name, (0, 0)))

    def ask(
        self, contract: Contract, inputs: Inputs, names: Sequence[str] | None = None
    ) -> Pending:
        """Send a batch to all participants of a contract, or to those of these names."""
        futures = {
            name: self._ask(name, Encode(inputs, contract.mode))
            for name in (contract.names if names is None else names)
        }
        return Pending(contract, inputs, futures, self._stopped)

    def again(self, contract: Contract, inputs: Inputs) -> Observation:
        """The answers of a contract to further inputs. Raises Stopped and OutOfTime."""
        names = contract.names
        answers = self._in_time([(name, Encode(inputs, contract.mode)) for name in names])
        return Observation(contract, inputs, dict(zip(names, answers, strict=True)))

    def _in_time(self, questions: Sequence[tuple[str, Asking]]) -> list[Results]:
        """The answers to further questions. Raises Stopped; OutOfTime where one comes too late.

        A question that its worker has not begun is dropped then: it may be at another one, whose
        answer is still waited for. Only a process that is at the late question itself is ended.
        """
        if questions and self.out_of_time:
            raise OutOfTime
        every = [(name, self._ask(name, request)) for name, request in questions]
        for name, asked in every:
            if not asked.within(self._left()):
                if not asked.dropped():
                    self.abandon([name])
                for _, one in every:
                    one.dropped()
                raise OutOfTime
        return [asked.wait(self._stopped) for _, asked in every]

    def _ask(self, name: str, request: Asking) -> Asked:
        worker = self._workers[name]
        if not isinstance(request, Encode):
            return Asked(worker.ask(request), [], len(request))
        limit = self._participants[name].about.max_input
        size, held_back = len(request.inputs), list[int]()
        if limit is not None and len(request.inputs.data) > limit:
            lengths = np.diff(request.inputs.ends, prepend=0)
            held_back = np.flatnonzero(lengths > limit).tolist()
        if held_back:
            kept = set(range(size)).difference(held_back)
            request = replace(request, inputs=Inputs.of([request.inputs[i] for i in sorted(kept)]))
        if held_back and not len(request.inputs):
            return Asked(None, held_back, size, f"{TOO_LONG} of {limit} bytes")
        future = worker.ask(request)
        if name in self._costly and request.meter in (None, Meter.HELD):
            self._costly[name].watch(request, future)
        return Asked(future, held_back, size, f"{TOO_LONG} of {limit} bytes" if held_back else "")

    def judge(self, check: Check, seen: Observation) -> Judgement:
        """Put a check's further questions and let it judge. Raises Stopped and OutOfTime."""
        return check.judge(seen, self._answers)

    def _answers(self, probes: Sequence[Probe]) -> list[Results]:
        answers = self._in_time([(one.implementation, one.request) for one in probes])
        gone = self.withdrawn()
        for probe, answer in zip(probes, answers, strict=True):
            if probe.implementation not in gone:
                self.claims.note(probe.implementation, probe.request, answer)
        return answers

    def examine(self, contract: Contract, check: Check, inputs: Sequence[bytes]) -> Judgement:
        """One check on these inputs, from the encoding up. Raises Stopped and OutOfTime."""
        return self.judge(check, self.again(contract, Inputs.of(inputs)))

    def gauge(
        self, name: str, contract: Contract, inputs: Sequence[bytes], meter: Meter
    ) -> Results:
        """Encode input by input with what each cost, in ``costs``. Raises Stopped, OutOfTime."""
        return self.answer(name, Encode(Inputs.of(inputs), contract.mode, meter=meter))

    def answer(self, name: str, request: Asking) -> Results:
        """The answer of one implementation to one request. Raises Stopped and OutOfTime.

        To one that measures: its one outcome, and the times in ``timed``.
        """
        return self._in_time([(name, request)])[0]

    def kill(self) -> None:
        """Ask nothing more, from any thread; who waits for answers gets Stopped.

        Processes that owe an answer are ended at once, and the others by :meth:`close`: these can
        be blamed for what they leave behind, since nobody has interrupted them.
        """
        self._stopped.set()
        for worker in self._workers.values():
            worker.stop()

    def close(self) -> None:
        """End all processes and threads."""
        # Who waits for another's turn to load would not end before that one has loaded.
        for worker in self._workers.values():
            worker.stop()
        for worker in self._workers.values():
            worker.close(wait=False)  # all at once: each has its own thread
        for worker in self._workers.values():
            worker.close()
