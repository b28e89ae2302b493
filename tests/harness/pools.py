"""Stand-ins for a pool of workers: one whose workers take time, and one that a test answers for."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from corpora.vocabularies import sources
from harness.checks.base import Observation
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Inputs, Results
from harness.core.participants import Participant
from harness.engine.feed import Feed
from harness.engine.streams import Batch
from harness.workers.pool import Asked, Pending
from impls.interface import About, Mode

RAW = Mode(pretokenize=False)


def contract(*names: str, references: frozenset[str] = frozenset()) -> Contract:
    """These implementations on a toy, none of which can be run."""
    members = tuple(
        Participant(name, name, About(name, "1"), implementation=None)  # type: ignore[arg-type]
        for name in names
    )
    vocabulary = sources.resolve("toy_bytes")
    return Contract(vocabulary, RAW, members, references, {}, proper=True)


@dataclass
class Workers:
    """A pool whose workers answer after as many seconds a kilobyte as they are told."""

    pace: dict[str, float]
    given_up: set[str] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.turns = {name: threading.Lock() for name in self.pace}

    def ask(self, contract: Contract, inputs: Inputs) -> Pending:
        futures = {name: Asked(self._begin(name, inputs)) for name in contract.names}
        return Pending(contract, inputs, futures, threading.Event())

    def _begin(self, name: str, inputs: Inputs) -> Future[Results]:
        future: Future[Results] = Future()
        self.asked[name] += len(inputs)

        def answer() -> None:
            with self.turns[name]:
                time.sleep(self.pace[name] * len(inputs.data) / 1000)
            future.set_result(Results.of([Encoded(())] * len(inputs)))

        threading.Thread(target=answer, daemon=True).start()
        return future

    def abandon(self, names: Sequence[str]) -> None:
        """Nobody of this pool minds."""

    def withdrawn(self) -> dict[str, str]:
        return dict.fromkeys(self.given_up, "it hung")


class ByHand:
    """A pool whose answers come when the test says so; abandoned: is set when anybody is."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, Future[Results]]] = []
        self.abandoned = threading.Event()
        self.names: list[str] = []

    def ask(self, contract: Contract, inputs: Inputs) -> Pending:
        futures: dict[str, Asked] = {}
        for name in contract.names:
            future: Future[Results] = Future()
            self.asked.append((name, len(inputs), future))
            futures[name] = Asked(future)
        return Pending(contract, inputs, futures, threading.Event())

    def answer(self, *names: str) -> None:
        for name, count, future in self.asked:
            if name in names and not future.done():
                future.set_result(Results.of([Encoded(())] * count))

    def abandon(self, names: Sequence[str]) -> None:
        self.names += names
        if names:
            self.abandoned.set()

    def withdrawn(self) -> dict[str, str]:
        return {}


class Fed:
    """A feed of one contract.

    judged: what was, as generator, names and number of inputs. judging: called with each
    observation besides.
    """

    def __init__(
        self,
        pool: Workers | ByHand,
        *names: str,
        references: frozenset[str] = frozenset(),
        judging: Callable[[Observation], object] = bool,
    ) -> None:
        self.judged: list[tuple[str, list[str], int]] = []
        self._lock, self._judging = threading.Lock(), judging  # several judges are at work at once
        self.contract = contract(*names, references=references)
        given: Any = pool
        self.feed = Feed(given, [self.contract], lambda one, batch: True, self._judge)

    def _judge(self, seen: Observation, batch: Batch) -> int:
        assert seen.contract.names == list(seen.results)
        self._judging(seen)
        with self._lock:
            self.judged.append((batch.generator, list(seen.results), len(seen.inputs)))
        return 0

    def run(self, batches: Iterator[Batch], seconds: float = float("inf")) -> None:
        """Feed batches for so long."""
        end = time.monotonic() + seconds
        self.feed.run(batches, lambda: time.monotonic() > end)

    def end(self, waiting: Callable[[str, float], bool] = lambda name, waited: False) -> list[str]:
        """Finish, and have all judged; who owed an answer. waiting: for whom, and how long."""
        owing = self.feed.finish(waiting)
        self.feed.judged(owing)
        return owing

    def cases(self) -> Counter[str]:
        """How many cases of each were judged."""
        return Counter(
            {
                name: sum(count for _, names, count in self.judged if name in names)
                for name in self.contract.names
            }
        )
