"""The pool: the workers of a run, loaded with one vocabulary, answering batches together."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.core.comparisons import Observation
from harness.core.messages import Encode, Meter, packed
from harness.core.outcomes import Inputs, Results
from harness.workers import Limits, Worker
from harness.workers.costly import CostlyBatches
from harness.workers.requests import taken

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.excused import Excused
    from harness.core.messages import Loaded
    from harness.core.participants import Participant
    from harness.workers.claims import Claim
    from harness.workers.requests import Asking
    from impls.interface import Mode


Left = Callable[[float], float]
"""The seconds that are left for the questions of a thread, given those that are left for others."""


class Stopped(Exception):
    """The pool was killed from another thread: what its workers say now means nothing."""


class OutOfTime(Exception):
    """The time of the run was up before an answer came, of which nothing is known therefore.

    It is not a failure of the implementation: the harness has ended its process.
    """


class Asked:
    """A question to one participant. finished: when the answer came, in monotonic seconds, or 0."""

    def __init__(self, future: Future[Results]) -> None:
        self.future = future
        self.finished = 0.0
        future.add_done_callback(self._note)

    def _note(self, future: Future[Results]) -> None:
        self.finished = time.monotonic()

    @property
    def done(self) -> bool:
        """Whether there is nothing to wait for."""
        return bool(self.finished)


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """A batch on its way: who was asked what."""

    contract: Contract
    inputs: Inputs
    futures: dict[str, Asked]
    stopped: threading.Event

    def wait(self) -> Observation:
        """The answers of all. Raises Stopped."""
        results = {name: heard(one.future, self.stopped) for name, one in self.futures.items()}
        return Observation(self.contract, self.inputs, results)


def heard(answer: Future[Results], stopped: threading.Event) -> Results:
    """An answer, which is waited for. Raises Stopped."""
    results = answer.result()
    if stopped.is_set():
        raise Stopped
    return results


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

        watched: participants of which the costly batches are kept.
        """
        # Whoever comes first loads first; all at once would make all of them late.
        turn = threading.Semaphore((os.cpu_count() or 1) + 2)
        self.workers = {
            one.name: Worker(
                one.name, one.spec, limits, environment, turn, one.about.needs, one.about.max_input
            )
            for one in participants
        }
        self.costly = {name: CostlyBatches() for name in watched}
        """The costly batches of those who are watched."""
        for name, one in self.costly.items():
            self.workers[name].costly = one
        self.turn = threading.Lock()
        """Held by whoever asks about one finding after another, which one at a time does."""
        self.claims: list[Claim] = []
        """What answers have said of claims, since it was taken last (:func:`taken`)."""
        self.loading: dict[str, Future[Loaded]] = {}
        """Who has not loaded yet."""
        self.loaded: dict[str, int] = {}
        """Who has loaded the vocabulary, with the nanoseconds of CPU time that it took; 0 where
        nobody knows."""
        self.stopped = threading.Event()
        """Set when it is killed."""
        self._limit: Callable[[], float] = lambda: math.inf
        self._own: ContextVar[Left] = ContextVar("own", default=lambda usual: usual)

    def limit_by(self, left: Callable[[], float]) -> None:
        """End further questions with the time of a run; left: the seconds until then.

        It holds for all methods that wait for answers themselves, which raise OutOfTime, and not
        for :meth:`ask`: how long the answers to a batch are waited for, whoever sent it decides.
        Who was abandoned under the former limit answers again.
        """
        self._limit = left
        self.resume()

    @contextlib.contextmanager
    def lasting(self, left: Left) -> Iterator[None]:
        """End the further questions of this thread, within the block, with a time of their own.

        left: the seconds until then, given those that are left for the questions of others.
        """
        former = self._own.set(left)
        try:
            yield
        finally:
            self._own.reset(former)

    def _left(self) -> float:
        return self._own.get()(self._limit())

    def _wait(self, futures: Collection[Future[Any]]) -> None:
        """Wait for the first of these, until the time is up."""
        left = self._left()
        wait(futures, None if math.isinf(left) else max(0.0, left), return_when=FIRST_COMPLETED)

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
        while self.loading:
            if self.out_of_time:
                raise OutOfTime
            self._wait(self.loading.values())
            failed |= self.settle()
        return failed

    def begin_loading(
        self, vocabulary: Vocabulary, names: Sequence[str], modes: Sequence[Mode] = ()
    ) -> None:
        """Have these participants load a vocabulary, and do not wait for it.

        Whatever is asked of one of them meanwhile is answered once it has loaded.
        """
        self.loaded, content = {}, packed(vocabulary)
        self.loading = {name: self.workers[name].load(content, modes) for name in names}

    def settle(self) -> dict[str, Loaded]:
        """Take note of who has loaded by now; what those say that could not."""
        done = {name: one.result() for name, one in self.loading.items() if one.done()}
        # Made anew, as other threads may be going through them.
        self.loading = {name: one for name, one in self.loading.items() if name not in done}
        loaded = {name: one.spent for name, one in done.items() if one.error is None}
        self.loaded = {**self.loaded, **loaded}
        return {name: one for name, one in done.items() if one.error is not None}

    def excused(self) -> list[Excused]:
        """The failures that did not come back when asked again, since this was asked last."""
        return [one for worker in self.workers.values() for one in taken(worker.excused)]

    def left(self) -> dict[str, str]:
        """What workers left behind when they ended, a line each, since this was asked last."""
        left = {name: taken(worker.left) for name, worker in self.workers.items()}
        return {name: lines[0] for name, lines in left.items() if lines}

    def abandon(self, names: Sequence[str]) -> None:
        """End the processes of these, which owe answers that nobody waits for any more.

        They start again with the next vocabulary, when they are resumed, and with the next limit.
        """
        for name in names:
            self.workers[name].abandon()

    def resume(self) -> None:
        """Have those that were abandoned answer again; they load the vocabulary when asked."""
        for name in self.loaded:
            self.workers[name].resume()

    def withdrawn(self) -> dict[str, str]:
        """Participants that are no longer asked on this vocabulary, and why."""
        reasons = ((name, self.workers[name].withdrawn) for name in self.loaded)
        return {name: reason for name, reason in reasons if reason is not None}

    def losses(self) -> dict[str, tuple[int, int]]:
        """How often each participant died and hung on this vocabulary, of those that did."""
        counted = {name: self.workers[name].losses for name in self.loaded}
        return {name: losses for name, losses in counted.items() if any(losses)}

    def charge(self, losses: Mapping[str, tuple[int, int]]) -> None:
        """Count these losses and no others: a campaign goes on as it was left, or forgives."""
        for name in self.loaded:
            self.workers[name].charge(losses.get(name, (0, 0)))

    def ask(
        self, contract: Contract, inputs: Inputs, names: Sequence[str] | None = None
    ) -> Pending:
        """Send a batch to all participants of a contract, or to those of these names."""
        request = Encode(inputs, contract.mode)
        some = contract.names if names is None else names
        futures = {name: Asked(self.workers[name].ask(request)) for name in some}
        return Pending(contract, inputs, futures, self.stopped)

    def again(self, contract: Contract, inputs: Inputs) -> Observation:
        """The answers of a contract to further inputs. Raises Stopped and OutOfTime."""
        names, request = contract.names, Encode(inputs, contract.mode)
        answers = self.answers([(name, request) for name in names])
        return Observation(contract, inputs, dict(zip(names, answers, strict=True)))

    def answers(self, questions: Sequence[tuple[str, Asking]]) -> list[Results]:
        """The answers to further questions. Raises Stopped; OutOfTime where one comes too late.

        A question that its worker has not begun is dropped then: it may be at another one, whose
        answer is still waited for. Only a process that is at the late question itself is ended.
        """
        if questions and self.out_of_time:
            raise OutOfTime
        futures = [self.workers[name].ask(request) for name, request in questions]
        for (name, _), future in zip(questions, futures, strict=True):
            self._wait([future])
            if not future.done():
                if not (future.cancel() or future.done()):
                    self.abandon([name])
                for one in futures:
                    one.cancel()
                raise OutOfTime
        return [heard(future, self.stopped) for future in futures]

    def answer(self, name: str, request: Asking) -> Results:
        """The answer of one implementation to one request. Raises Stopped and OutOfTime.

        To one that measures: its one outcome, and the times in ``timed``.
        """
        return self.answers([(name, request)])[0]

    def gauge(
        self, name: str, contract: Contract, inputs: Sequence[bytes], meter: Meter
    ) -> Results:
        """Encode input by input with what each cost, in ``costs``. Raises Stopped, OutOfTime."""
        return self.answer(name, Encode(Inputs.of(inputs), contract.mode, meter=meter))

    def kill(self) -> None:
        """Ask nothing more, from any thread; who waits for answers gets Stopped.

        Processes that owe an answer are ended at once, and the others by :meth:`close`: these can
        be blamed for what they leave behind, since nobody has interrupted them.
        """
        self.stopped.set()
        for worker in self.workers.values():
            worker.stop()

    def close(self) -> None:
        """End all processes and threads."""
        # Who waits for another's turn to load would not end before that one has loaded.
        for worker in self.workers.values():
            worker.stop()
        for worker in self.workers.values():
            worker.close(wait=False)  # all at once: each has its own thread
        for worker in self.workers.values():
            worker.close()
