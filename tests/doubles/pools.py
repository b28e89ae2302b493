"""Stand-ins for a pool of workers: one whose workers take time, and one that a test answers for."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, field

from corpora.vocabularies import sources
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Results
from harness.core.participants import Participant
from harness.engine.feed import Feed
from harness.workers.pool import Asked, Pending
from impls.interface import About, Mode

RAW = Mode(pretokenize=False)


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.at = 0.0

    def __call__(self):
        return self.at


def contract(*names, references=frozenset()):
    """These implementations on a toy, none of which can be run."""
    members = tuple(
        Participant(name, name, About(name, "1"), implementation=None) for name in names
    )
    vocabulary = sources.resolve("toy_bytes")
    return Contract(vocabulary, RAW, members, references, {}, proper=True)


@dataclass
class Workers:
    """A pool whose workers answer after as many seconds a kilobyte as they are told."""

    pace: dict[str, float]
    given_up: set[str] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)

    def __post_init__(self):
        self.turns = {name: threading.Lock() for name in self.pace}

    def ask(self, contract, inputs):
        futures = {name: Asked(self._begin(name, inputs)) for name in contract.names}
        return Pending(contract, inputs, futures, threading.Event())

    def _begin(self, name, inputs):
        future = Future()
        self.asked[name] += len(inputs)

        def answer():
            with self.turns[name]:
                time.sleep(self.pace[name] * len(inputs.data) / 1000)
            future.set_result(Results.of([Encoded(())] * len(inputs)))

        threading.Thread(target=answer, daemon=True).start()
        return future

    def abandon(self, names):
        """Nobody of this pool minds."""

    def withdrawn(self):
        return dict.fromkeys(self.given_up, "it hung")


class ByHand:
    """A pool whose answers come when the test says so; abandoned: is set when anybody is."""

    def __init__(self):
        self.asked = []
        self.abandoned = threading.Event()
        self.names = []

    def ask(self, contract, inputs):
        futures = {}
        for name in contract.names:
            future = Future()
            self.asked.append((name, len(inputs), future))
            futures[name] = Asked(future)
        return Pending(contract, inputs, futures, threading.Event())

    def answer(self, *names):
        for name, count, future in self.asked:
            if name in names and not future.done():
                future.set_result(Results.of([Encoded(())] * count))

    def abandon(self, names):
        self.names += names
        if names:
            self.abandoned.set()

    def withdrawn(self):
        return {}


class Fed:
    """A feed of one contract.

    judged: what was, as generator, names and number of inputs. judging: called with each
    observation besides.
    """

    def __init__(
        self,
        pool,
        *names,
        references=frozenset(),
        judging=bool,
    ):
        self.judged = []
        self._lock, self._judging = threading.Lock(), judging  # several judges are at work at once
        self.contract = contract(*names, references=references)
        given = pool
        self.feed = Feed(given, [self.contract], lambda one, batch: True, self._judge)

    def _judge(self, seen, batch):
        assert seen.contract.names == list(seen.results)
        self._judging(seen)
        with self._lock:
            self.judged.append((batch.generator, list(seen.results), len(seen.inputs)))
        return 0

    def run(self, batches, seconds=float("inf")):
        """Feed batches for so long."""
        end = time.monotonic() + seconds
        self.feed.run(batches, lambda: time.monotonic() > end)

    def end(self, waiting=lambda name, waited: False):
        """Finish, and have all judged; who owed an answer. waiting: for whom, and how long."""
        owing = self.feed.finish(waiting)
        self.feed.judged(owing)
        return owing

    def cases(self):
        """How many cases of each were judged."""
        return Counter(
            {
                name: sum(count for _, names, count in self.judged if name in names)
                for name in self.contract.names
            }
        )
