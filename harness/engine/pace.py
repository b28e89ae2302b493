"""Each implementation at its own pace: nobody waits for a slow one, and it is not left out.

A batch goes to all who keep pace. Who has not answered for a while is *behind*: the others go on
without it, and the batch is judged when all its answers are there. As soon as it is through, it
joins again, on the first inputs of a batch, as many as it can answer soon, of a generator that
has found more than others.

This is for runs that are limited by time. Where the budget is a number of cases, all are asked
all of them, so that equal runs have equal results.
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.core.outcomes import Inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set

    from harness.checks.base import Observation
    from harness.core.comparisons import Contract
    from harness.engine.streams import Batch
    from harness.workers.pool import Pending, WorkerPool

AHEAD = 3
"""Batches that are on their way at the most, besides those that wait for somebody behind."""

PATIENCE = 0.4
"""Seconds for which all wait for an answer before who owes it is behind."""

SOON = 0.25
"""Seconds within which a slow implementation should answer what it is asked: so many inputs it
gets."""

SLOWER = 4
"""Who takes so many times as long as is usual for a byte is slow, if all had to wait for it."""

TELLING = 1 << 10
"""Bytes of a batch that tells how long an implementation takes for a byte."""

BEST = 4
"""A slow implementation takes part in the batches of the best one in so many generators."""

JUDGES = 4
"""Batches that are judged at once: while one waits for the answers to a check's further questions,
others are judged, and asked."""

CERTAIN_SECONDS = 1.5
"""A slow implementation is asked inputs that everybody is to be asked if it will have answered the
first within so many seconds, as far as its pace tells."""

COMPANIONS = 2
"""Who was behind when everybody was asked is asked later together with so many others."""

BLINK = 0.02
"""Seconds between two looks at who has answered."""


@dataclass(slots=True)
class Flight:
    """A batch under one contract, on its way since ``began``."""

    pending: Pending
    batch: Batch
    began: float

    def owing(self) -> list[str]:
        """Return who has not answered yet."""
        return [name for name, asked in self.pending.futures.items() if not asked.done]

    def late(self, now: float) -> bool:
        """Whether somebody keeps it waiting for longer than all have patience."""
        return now - self.began > PATIENCE


@dataclass(slots=True)
class Yields:
    """What each generator has found so far, by which a slow implementation is given its sample."""

    found: Counter[str] = field(default_factory=Counter)
    cases: Counter[str] = field(default_factory=Counter)

    def add(self, generator: str, cases: int, found: int) -> None:
        """Take note of a batch that was judged: its cases, and how many were at fault."""
        self.found[generator] += found
        self.cases[generator] += cases

    def worthy(self, generator: str, asked: Counter[str]) -> bool:
        """Whether a batch is worth the time of one who was ``asked`` so many of each generator.

        A generator is the better the more it found for its cases, and the less it was asked.
        """

        def worth(name: str) -> float:
            return (1 + self.found[name]) / (1 + self.cases[name] / 1000) / (1 + asked[name])

        known = sorted(self.cases, key=lambda name: (-worth(name), name))
        if generator not in known:
            return True
        return known.index(generator) < max(1, len(known) // BEST)


@dataclass(slots=True)
class Pacer:
    """Sends batches of one vocabulary, and hands on what was answered.

    pool: with the vocabulary loaded. contracts: those of the vocabulary.
    wanted: whether a contract takes a batch. judge: called with each observation, from several
    threads, as checks have questions of their own; gives how many of its cases were at fault.
    unanswered: after :meth:`finish`, the batches that were held back, or that somebody owed then.
    """

    pool: WorkerPool
    contracts: Sequence[Contract]
    wanted: Callable[[Contract, Batch], bool]
    judge: Callable[[Observation, Batch], int]
    clock: Callable[[], float] = time.monotonic
    unanswered: list[tuple[Contract, Batch]] = field(default_factory=list)
    _flights: list[Flight] = field(default_factory=list)
    _held: list[tuple[Contract, Batch]] = field(default_factory=list)
    _missed: list[tuple[Contract, Batch, list[str]]] = field(default_factory=list)
    _yields: Yields = field(default_factory=Yields)
    _rates: dict[str, float] = field(default_factory=dict)
    _asked: dict[str, Counter[str]] = field(default_factory=dict)
    _judging: dict[Future[int], Batch] = field(default_factory=dict)
    _judges: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(JUDGES, thread_name_prefix="judge")
    )

    def run(
        self,
        batches: Iterator[Batch],
        over: Callable[[], bool],
    ) -> None:
        """Send batch after batch until ``over``, or there is none; judge what is answered."""
        while self._wait_for_room(over) and (batch := next(batches, None)) is not None:
            self._send(batch)
            self._judge_answered()
        while self._held and not over():
            if self._room():
                self._send_held()
            if not self._judge_answered():
                time.sleep(BLINK)

    def _wait_for_room(self, over: Callable[[], bool]) -> bool:
        """Wait until another batch may be sent; whether it may, and it is not ``over`` yet.

        No batch is taken before that: it would be lost.
        """
        while not over():
            if self._room():
                return True
            if not self._judge_answered():
                time.sleep(BLINK)
        return False

    def finish(self, worth_waiting: Callable[[str, float], bool]) -> list[str]:
        """Hand on all that is answered by the end, and let go of the rest; who owed an answer then.

        Judges may be waiting for those, too, and still be at work: :meth:`judged` sees to it.
        worth_waiting: whether to wait on for one who has owed an answer for so many seconds.
        """
        owing: list[str] = []
        while self._flights:
            if self._judge_answered():
                continue
            now = self.clock()
            patient = any(
                worth_waiting(name, now - flight.began)
                for flight in self._flights
                for name in flight.owing()
            )
            if not patient:
                break
            time.sleep(BLINK)
        for flight in self._flights:
            late = flight.owing()  # read once: somebody may answer at any moment
            owing += late
            if late:
                self.unanswered.append((flight.pending.contract, flight.batch))
            trusted = self._trusted(flight.pending.contract)
            answered = flight.pending.without(set(late))
            if answered.futures and (not trusted or trusted & answered.futures.keys()):
                flight.pending = answered
                self._judge(flight)
        self._flights.clear()
        self.unanswered += self._held
        return list(dict.fromkeys(owing))

    def judged(self, owing: Sequence[str]) -> None:
        """Abandon those who owe answers, and wait until all that was handed on is judged."""
        self.pool.abandon(owing)
        self._judges.shutdown(wait=True)
        for judged in self._judging:
            judged.result()

    def close(self) -> None:
        """Wait for the judges that are at work, and have none begin; after :meth:`judged`, nothing.

        Where the pool was killed, nobody waits for long.
        """
        self._judges.shutdown(wait=True, cancel_futures=True)

    def behind(self) -> set[str]:
        """Return who owes an answer for longer than all have patience."""
        now = self.clock()
        late = (flight.owing() for flight in self._flights if flight.late(now))
        return set[str]().union(*late)

    def _room(self) -> bool:
        """Whether another batch may be sent: enough of those who are not behind have time."""
        now = self.clock()
        on_their_way = sum(not flight.late(now) for flight in self._flights)
        if on_their_way >= AHEAD or len(self._judging) >= JUDGES + AHEAD:
            return False
        behind = self.behind()
        if not behind:
            return True
        free = [len(self._present(contract, behind)) for contract in self.contracts]
        # One alone compares with nobody; where there is only one to be had, it goes on alone.
        return any(count > 1 for count in free) or (
            any(free) and all(len(contract.participants) == 1 for contract in self.contracts)
        )

    def _present(self, contract: Contract, behind: Container[str]) -> list[str]:
        """Who is there to be asked now; nobody where all whom the others are held to are behind.

        Known differences between two others are told by the reference. Without it they would pass
        for new ones.
        """
        present = [name for name in contract.names if name not in behind]
        trusted = self._trusted(contract)
        return present if not trusted or trusted & set(present) else []

    def _trusted(self, contract: Contract) -> set[str]:
        """The references of a contract that answer."""
        given_up = self.pool.withdrawn()
        return {n for n in contract.names if n in contract.references and n not in given_up}

    def _send(self, batch: Batch) -> None:
        """Send a batch under each contract that wants it, after what was held back before."""
        self._send_held()
        for contract in self.contracts:
            if self.wanted(contract, batch):
                self._send_under(contract, batch)

    def _send_held(self) -> None:
        held, self._held = self._held, []
        for contract, batch in held:
            self._send_under(contract, batch)
        if self._missed:
            self._send_missed()

    def _send_missed(self) -> None:
        """Ask those about certain batches who were behind at the time, and are not any more.

        One batch of each contract at a time, with companions to compare with.
        """
        missed, self._missed = self._missed, []
        behind = self.behind()
        sent: set[str] = set()
        for contract, batch, names in missed:
            free = {n for n in contract.names if n in self._rates and n not in behind}
            ready = [name for name in names if name in free] if contract.id not in sent else []
            others = [name for name in contract.names if name in free and name not in names]
            fit = [name for name in ready if self._in_time(name, len(batch.inputs[0]))]
            trusted = self._trusted(contract)
            others.sort(key=lambda name: name not in trusted)
            asked = [*others[:COMPANIONS], *fit]
            alone = len(asked) < min(2, len(contract.participants))
            if fit and (alone or (trusted and not trusted & set(asked))):
                ready = []  # nobody to be compared with as yet
            elif fit:
                sent.add(contract.id)
                self._launch(contract, batch, asked)
            left = [name for name in names if name not in ready]
            if left:
                self._missed.append((contract, batch, left))

    def _in_time(self, name: str, size: int) -> bool:
        """Whether an input is short enough for an implementation, as far as its pace tells."""
        return self._rates.get(name, 0.0) * CERTAIN_SECONDS >= size

    def _send_under(self, contract: Contract, batch: Batch) -> None:
        """Send a batch: its first inputs to all, the rest to those who are not slow.

        Whoever has not shown its pace gets enough to show it and no more. Where too few have, the
        rest is held back until somebody has answered.
        """
        behind = self.behind()
        present = self._present(contract, behind)
        if not present and len(contract.names) > len(behind & set(contract.names)):
            self._held.append((contract, batch))
            return
        trusted = self._trusted(contract) & set(present)
        slow = slow_ones(self._rates, present, sum(map(len, batch.inputs)), trusted)
        unknown = [name for name in present if name not in self._rates]
        fast = [name for name in present if name not in slow and name not in unknown]
        seconds = SOON
        if batch.certain:
            first, seconds = len(batch.inputs[0]), CERTAIN_SECONDS
            joining = [name for name in slow if self._in_time(name, first)]
            # Nobody's pace is tried with an input of a million bytes.
            unready = [] if first <= TELLING else unknown
            later = [name for name in contract.names if name in behind or name in unready]
            if later:
                self._missed.append((contract, batch, later))
            unknown = [name for name in unknown if name not in unready]
        else:
            joining = [
                name
                for name in slow
                if self._yields.worthy(batch.generator, self._asked.get(name, Counter()))
            ]

        def fit(names: Sequence[str]) -> bool:
            """Whether answers of these alone can be judged."""
            enough = len(names) >= min(2, len(contract.participants))
            return enough and (not trusted or not trusted.isdisjoint(names))

        heads = [first_bytes(batch.inputs, self._rates[name] * seconds) for name in joining]
        if unknown:
            heads.append(telling_inputs(batch.inputs))
        head = min(heads, default=0)
        some = fast + joining + unknown
        if head and fit(some):
            for name in joining:
                self._asked.setdefault(name, Counter())[batch.generator] += 1
            self._launch(contract, replace(batch, inputs=batch.inputs[:head]), some)
        else:
            head = 0
        rest = replace(batch, start=batch.start + head, inputs=batch.inputs[head:])
        if rest.inputs and fit(fast):
            self._launch(contract, rest, fast)
        elif rest.inputs and head and unknown:
            self._held.append((contract, rest))

    def _launch(self, contract: Contract, batch: Batch, names: Sequence[str]) -> None:
        # Whatever is asked about these answers later, is asked of the same.
        pending = self.pool.ask(contract.among(set(names)), Inputs.of(batch.inputs))
        self._flights.append(Flight(pending, batch, self.clock()))

    def _judge_answered(self) -> bool:
        """Judge the batches that all have answered; whether there was any."""
        any_judged = False
        for judged, batch in list(self._judging.items()):
            if judged.done():
                del self._judging[judged]
                self._yields.add(batch.generator, len(batch.inputs), judged.result())
        for flight in list(self._flights):
            if not flight.owing():
                self._flights.remove(flight)
                self._judge(flight)
                any_judged = True
        return any_judged

    def _judge(self, flight: Flight) -> None:
        size = len(flight.pending.inputs.data)
        for name, asked in flight.pending.futures.items():
            seconds = max(asked.finished - flight.began, 1e-4)
            if size >= TELLING or seconds > PATIENCE:
                self._rates[name] = size / seconds
        seen = flight.pending.wait()
        self._judging[self._judges.submit(self.judge, seen, flight.batch)] = flight.batch


def slow_ones(
    rates: Mapping[str, float], names: Sequence[str], size: int, trusted: Set[str]
) -> dict[str, float]:
    """Those who would keep all waiting with ``size`` bytes, and how many bytes they answer soon.

    rates: bytes a second of those who have answered. Slow is who needs many times as long as is
    usual among these names, and more time than all have patience. trusted: the references among the
    names, to the fastest of which everybody is held, however slow that is.
    """
    known = sorted(rates[name] for name in names if name in rates)
    if not known:
        return {}
    usual = known[len(known) // 2]
    slow = {
        name: rates[name] * SOON
        for name in names
        if name in rates and rates[name] * SLOWER < usual and rates[name] * PATIENCE < size
    }
    if trusted and trusted <= slow.keys():
        del slow[max(sorted(trusted), key=lambda name: rates[name])]
    return slow


def telling_inputs(inputs: Sequence[bytes]) -> int:
    """How many of the first inputs tell how fast an implementation is; all where they are few."""
    size = 0
    for count, data in enumerate(inputs, 1):
        size += len(data)
        if size >= TELLING:
            return count
    return len(inputs)


def first_bytes(inputs: Sequence[bytes], most: float) -> int:
    """How many of the first inputs have at most so many bytes together; one at the least."""
    size = 0
    for count, data in enumerate(inputs):
        size += len(data)
        if size > most:
            return max(1, count)
    return len(inputs)
