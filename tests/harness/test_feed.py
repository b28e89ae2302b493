"""Nobody waits for a slow implementation, and it is not left out."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

import pytest

from corpora.vocabularies import sources
from harness.checks.base import Observation
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Inputs, Results
from harness.core.participants import Participant
from harness.engine.feed import PATIENCE, Feed, first_bytes, slow_ones
from harness.engine.streams import Batch
from harness.workers.pool import Asked, Pending
from impls.interface import About, Mode

RAW = Mode(pretokenize=False)


@dataclass
class Workers:
    """An pool whose workers answer after as many seconds a kilobyte as they are told."""

    pace: dict[str, float]
    given_up: set[str] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)
    abandoned: list[str] = field(default_factory=list)

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
        self.abandoned += names

    def withdrawn(self) -> dict[str, str]:
        return dict.fromkeys(self.given_up, "it hung")


def contract(*names: str, references: frozenset[str] = frozenset()) -> Contract:
    members = tuple(
        Participant(name, name, About(name, "1"), implementation=None)  # type: ignore[arg-type]
        for name in names
    )
    vocabulary = sources.resolve("toy_bytes")
    return Contract(vocabulary, RAW, members, references, {}, proper=True)


def endless(size: int = 1000) -> Iterator[Batch]:
    number = 0
    while True:
        for generator in ("one", "two", "three"):
            yield Batch(generator, 0, number, number * 10, [b"x" * (size // 10)] * 10)
        number += 1


def run(workers: Workers, seconds: float) -> Counter[str]:
    """Run for so long; how many cases of each were judged."""
    judged: Counter[str] = Counter()
    lock = threading.Lock()

    def judge(seen: Observation, batch: Batch) -> int:
        with lock:
            judged.update({name: len(seen.inputs) for name in seen.results})
        assert seen.contract.names == list(seen.results)
        return 0

    feed = Feed(workers, [contract(*workers.pace)], lambda one, batch: True, judge)  # type: ignore[arg-type]
    end = time.monotonic() + seconds
    feed.run(endless(), lambda: time.monotonic() > end)
    feed.finish(lambda name, waited: waited < 5)
    feed.judged([])
    return judged


def test_a_slow_one_does_not_starve_the_others() -> None:
    judged = run(Workers({"a": 0.001, "b": 0.001, "slow": 2.0}), 3.0)
    assert judged["a"] == judged["b"] > 5 * judged["slow"]
    assert judged["slow"] > 0


@pytest.mark.parametrize(
    ("reference", "state"),
    [(0.3, "there"), (0.001, "withdrawn")],
)
def test_nothing_is_compared_without_the_reference_that_is_to_be_had(
    reference: float, state: str
) -> None:
    # Two that are known to differ from the reference in one way each would differ from each other.
    workers = Workers(
        {"a": 0.001, "b": 0.001, "trusted": reference},
        given_up={"trusted"} if state == "withdrawn" else set(),
    )
    seen: list[set[str]] = []

    def judge(one: Observation, batch: Batch) -> int:
        seen.append(set(one.results))
        return 0

    held_to = contract(*workers.pace, references=frozenset({"trusted"}))
    feed = Feed(workers, [held_to], lambda one, batch: True, judge)  # type: ignore[arg-type]
    end = time.monotonic() + 1.2
    feed.run(endless(), lambda: time.monotonic() > end)
    feed.finish(lambda name, waited: waited < 5)
    feed.judged([])
    assert seen
    assert all("trusted" in names for names in seen) or state == "withdrawn"


@pytest.mark.parametrize("references", [frozenset[str](), frozenset({"late"})])
def test_at_the_end_nothing_is_judged_without_the_reference(references: frozenset[str]) -> None:
    workers = Workers({"a": 0.001, "b": 0.001, "late": 1000.0})
    seen: list[set[str]] = []

    def judge(one: Observation, batch: Batch) -> int:
        seen.append(set(one.results))
        return 0

    taking = contract(*workers.pace, references=references)
    feed = Feed(workers, [taking], lambda one, batch: True, judge)  # type: ignore[arg-type]
    feed.run(itertools.islice(endless(), 1), lambda: False)
    owing = feed.finish(lambda name, waited: waited < 0.5)
    feed.judged(owing)
    assert owing == ["late"]
    assert seen == ([] if references else [{"a", "b"}])


def test_everybody_is_held_to_the_fastest_reference_however_slow() -> None:
    rates = {"a": 1e6, "b": 1e6, "c": 1e6, "trusted": 100.0, "slower": 10.0}
    assert set(slow_ones(rates, list(rates), 1000, set())) == {"trusted", "slower"}
    assert set(slow_ones(rates, list(rates), 1000, {"trusted", "slower"})) == {"slower"}
    assert set(slow_ones(rates, list(rates), 1000, {"a", "slower"})) == {"trusted", "slower"}


def test_one_that_never_answers_costs_the_others_its_patience_only() -> None:
    workers = Workers({"a": 0.001, "b": 0.001, "hangs": 1000.0})
    judged: Counter[str] = Counter()
    lock = threading.Lock()  # several judges count at once

    def judge(seen: Observation, batch: Batch) -> int:
        with lock:
            judged.update(dict.fromkeys(seen.results, 1))
        return 0

    feed = Feed(workers, [contract(*workers.pace)], lambda one, batch: True, judge)  # type: ignore[arg-type]
    end = time.monotonic() + 1.0 + PATIENCE
    feed.run(endless(), lambda: time.monotonic() > end)
    assert feed.behind() == {"hangs"}
    waited_for = feed.finish(lambda name, waited: name != "hangs" and waited < 60)
    feed.judged(waited_for)
    assert waited_for == ["hangs"]
    assert judged["a"] == judged["b"] > 1
    assert judged["hangs"] == 0


@pytest.mark.thorough  # it takes seconds
def test_of_two_the_fast_one_waits() -> None:
    # Alone it would compare with nobody.
    judged = run(Workers({"a": 0.001, "slow": 0.5}), 2.0)
    assert judged["a"] <= 2 * judged["slow"] + 60


def test_equals_are_asked_alike() -> None:
    workers = Workers({"a": 0.01, "b": 0.01, "c": 0.01})
    judged = run(workers, 1.0)
    assert judged["a"] == judged["b"] == judged["c"] == workers.asked["a"]


def test_a_judge_that_fails_is_heard() -> None:
    def judge(seen: Observation, batch: Batch) -> int:
        raise ValueError("no")

    workers = Workers({"a": 0.0, "b": 0.0})
    feed = Feed(workers, [contract("a", "b")], lambda one, batch: True, judge)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no"):
        feed.run(endless(), lambda: False)


def test_the_first_bytes() -> None:
    assert first_bytes([b"aa", b"bb", b"cc"], 4) == 2
    assert first_bytes([b"aa", b"bb"], 1) == 1  # one at the least
    assert first_bytes([b"aa", b"bb"], 100) == 2


def test_who_was_behind_is_asked_later_about_what_everybody_is_asked() -> None:
    workers = Workers({"a": 0.001, "b": 0.001, "late": 0.001})
    busy = workers.turns["late"]
    seen_by: dict[str, list[list[str]]] = {"certain": [], "one": []}

    def judge(seen: Observation, batch: Batch) -> int:
        seen_by.setdefault(batch.generator, []).append(list(seen.results))
        return 0

    def stream() -> Iterator[Batch]:
        yield from itertools.islice(endless(2000), 20)
        with busy:
            yield from itertools.islice(endless(2000), 3)
            time.sleep(2 * PATIENCE)
            yield Batch("certain", 0, 0, 0, [b"x" * 1_000], certain=True)
            yield from itertools.islice(endless(2000), 20)
        while not any("late" in names for names in seen_by["certain"]):
            yield from itertools.islice(endless(2000), 3)

    feed = Feed(workers, [contract(*workers.pace)], lambda one, batch: True, judge)  # type: ignore[arg-type]
    feed.run(stream(), lambda: False)
    feed.finish(lambda name, waited: True)
    feed.judged([])
    assert seen_by["certain"] == [["a", "b"], ["a", "b", "late"]]


def test_no_batch_is_taken_that_is_not_sent_and_what_was_not_answered_is_kept() -> None:
    workers = Workers({"a": 0.001, "hangs": 1000.0})
    taken: list[Batch] = []

    def stream() -> Iterator[Batch]:
        for batch in endless():
            taken.append(batch)
            yield batch

    alone = contract(*workers.pace)
    feed = Feed(workers, [alone], lambda one, batch: True, lambda seen, batch: 0)  # type: ignore[arg-type]
    feed.run(stream(), lambda: True)
    assert taken == []
    end = time.monotonic() + 1.0
    feed.run(stream(), lambda: time.monotonic() > end)
    feed.finish(lambda name, waited: False)
    feed.judged([])
    asked = {batch.start for _, batch in feed.unanswered}
    assert {batch.start for batch in taken} <= asked
