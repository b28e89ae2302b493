"""Batches go to whoever is free, and a batch is judged for those who have answered it.

A batch is sent to all who keep up, in one request each. Who is known to be slow is asked no more of
its first inputs than it answers soon, and only when it owes nothing; the rows that the same
implementations are asked are a *part*, which is judged as soon as all of them have answered. Who
lets the others wait for longer than they have patience is *behind*: the others go on without it,
and what it owes is judged when it comes.

This is for runs that are limited by time. Where the budget is a number of cases, all are asked
all of them, so that equal runs have equal results.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from harness.core.comparisons import Observation
from harness.core.outcomes import Inputs
from harness.workers.pool import heard

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set

    from harness.core.comparisons import Contract
    from harness.engine.streams import Batch
    from harness.workers.pool import Pending, WorkerPool

AHEAD = 3
"""Batches that are on their way at the most, besides those that wait for somebody slow."""

PATIENCE = 0.4
"""Seconds for which all wait for an answer before who owes it is behind."""

SOON = 0.25
"""Seconds within which a slow implementation should answer what it is asked: so many inputs it
gets."""

CERTAIN_SECONDS = 1.5
"""Of inputs that everybody is to be asked a slow implementation gets the first ones if it will have
answered one within so many seconds, as far as its pace tells."""

SLOWER = 4
"""Who takes so many times as long as is usual for a byte is slow, if all had to wait for it."""

TELLING = 1 << 10
"""Bytes of a batch that tells how long an implementation takes for a byte."""

JUDGES = 4
"""Parts that are judged at once: while one waits for the answers to a check's further questions,
others are judged, and asked."""

COMPANIONS = 2
"""Who was behind when everybody was asked is asked later together with so many others."""

BLINK = 0.02
"""Seconds between two looks at who has answered."""


@dataclass(slots=True)
class Part:
    """Rows of a batch from ``start`` to before ``stop``, and who was asked them."""

    start: int
    stop: int
    names: list[str]


@dataclass(slots=True)
class Flight:
    """A batch under one contract, on its way since ``began``.

    asked: by implementation, the request with the first inputs of the batch that it got. parts:
    those that are not judged yet; the last one is of those who were asked most.
    """

    contract: Contract
    batch: Batch
    began: float
    asked: dict[str, Pending]
    parts: list[Part]
    held_up: bool = True
    """Whether the others wait for it: until those who were asked most have answered."""

    def owing(self) -> list[str]:
        """Return who has not answered yet."""
        waited_for = {name for part in self.parts for name in part.names}
        return [n for n, one in self.asked.items() if n in waited_for and not one.futures[n].done]

    def late(self, now: float) -> bool:
        """Whether somebody keeps it waiting for longer than all have patience."""
        return now - self.began > PATIENCE

    def rows(self, part: Part) -> Batch:
        """The inputs of a part as a batch of their own."""
        batch = self.batch
        inputs = batch.inputs[part.start : part.stop]
        return replace(batch, start=batch.start + part.start, inputs=inputs)

    def observed(self, part: Part) -> Observation:
        """What those who were asked a part have answered. Raises Stopped."""
        asked = {name: self.asked[name] for name in part.names}
        results = {
            name: heard(one.futures[name].future, one.stopped) for name, one in asked.items()
        }
        inputs = next(iter(asked.values())).inputs
        if part.start or any(len(one) > part.stop for one in results.values()):
            results = {name: one.part(part.start, part.stop) for name, one in results.items()}
            inputs = inputs.part(part.start, part.stop)
        return Observation(self.contract.among(results), inputs, results)


@dataclass(slots=True)
class Feed:
    """Sends batches of one vocabulary, and hands on what was answered.

    pool: with the vocabulary loaded. contracts: those of the vocabulary.
    wanted: whether a contract takes a batch. judge: called with each observation, from several
    threads, as checks have questions of their own.
    unanswered: after :meth:`finish`, the batches that were held back, or that somebody owed then.
    """

    pool: WorkerPool
    contracts: Sequence[Contract]
    wanted: Callable[[Contract, Batch], bool]
    judge: Callable[[Observation, Batch], object]
    clock: Callable[[], float] = time.monotonic
    unanswered: list[tuple[Contract, Batch]] = field(default_factory=list)
    rates: dict[str, float] = field(default_factory=dict)
    """Bytes a second of each implementation that has answered, as of its last telling batch."""
    _flights: list[Flight] = field(default_factory=list)
    _held: list[tuple[Contract, Batch]] = field(default_factory=list)
    _missed: list[tuple[Contract, Batch, str]] = field(default_factory=list)
    _judging: list[Future[object]] = field(default_factory=list)
    _judges: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(JUDGES, thread_name_prefix="judge")
    )

    def run(self, batches: Iterator[Batch], over: Callable[[], bool]) -> None:
        """Send batch after batch until ``over``, or there is none; judge what is answered.

        No batch is taken before there is room for it: it would be lost.
        """
        more = True
        while (more or self._held) and not over():
            if self._room():
                batch = next(batches, None) if more else None
                more = batch is not None
                self.offer(batch)
                self._judge_answered()
            elif not self._judge_answered():
                time.sleep(BLINK)

    def offer(self, batch: Batch | None) -> None:
        """Send what was held back before, and a batch under each contract that wants it."""
        self._send_held()
        if batch is not None:
            for contract in self.contracts:
                if self.wanted(contract, batch):
                    self._send_and_note(contract, batch)

    def finish(self, worth_waiting: Callable[[str, float], bool]) -> list[str]:
        """Hand on all that is answered by the end, and let go of the rest; who owed an answer then.

        Judges may be waiting for those, too, and still be at work: :meth:`judged` sees to it.
        worth_waiting: whether to wait on for one who has owed an answer for so many seconds.
        """
        while self._flights:
            if self._judge_answered():
                continue
            now = self.clock()
            if not any(
                worth_waiting(name, now - flight.began)
                for flight in self._flights
                for name in flight.owing()
            ):
                break
            time.sleep(BLINK)
        owing: list[str] = []
        for flight in self._flights:
            late = flight.owing()  # read once: somebody may answer at any moment
            owing += late
            for part in flight.parts:
                answered = [name for name in part.names if name not in late]
                if len(answered) < len(part.names):
                    self.unanswered.append((flight.contract, flight.rows(part)))
                if answered and not self._without_reference(flight.contract, answered):
                    self._judge(flight, replace(part, names=answered))
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

    def send(self, contract: Contract, batch: Batch) -> Collection[str]:
        """Send a batch to those who are free, each as many of its first inputs as fit; who that is.

        It is held back where all whom the others are held to are behind, and so is the rest of a
        batch of which enough have to show their pace first.
        """
        behind = self.behind()
        present = [name for name in contract.names if name not in behind]
        if self._without_reference(contract, present):
            self._hold(contract, batch)
            return contract.names
        amounts = self._amounts(contract, batch, present)

        def asked(count: int) -> list[str]:
            return [name for name, amount in amounts.items() if amount >= count]

        stops = sorted({n for n in amounts.values() if self._comparable(contract, asked(n))})
        most = stops[-1] if stops else 0
        rest = replace(batch, start=batch.start + most, inputs=batch.inputs[most:])
        if rest.inputs and any(name not in self.rates for name in present):
            self._hold(contract, rest)
        requests: dict[str, Pending] = {}
        parts: list[Part] = []
        for stop in stops:
            parts.append(Part(parts[-1].stop if parts else 0, stop, asked(stop)))
        for count in {min(most, amount) for amount in amounts.values()} if stops else ():
            mine = [name for name, amount in amounts.items() if min(most, amount) == count]
            pending = self.pool.ask(contract.among(mine), Inputs.of(batch.inputs[:count]))
            requests |= dict.fromkeys(mine, pending)
        if parts:
            self._flights.append(Flight(contract, batch, self.clock(), requests, parts))
        return requests

    def _hold(self, contract: Contract, batch: Batch) -> None:
        """Keep a batch for later, unless many are kept, and others will do."""
        waiting = sum(one is contract for one, _ in self._held)
        if batch.certain or waiting < AHEAD:
            self._held.append((contract, batch))

    def _amounts(self, contract: Contract, batch: Batch, present: Sequence[str]) -> dict[str, int]:
        """How many of the first inputs of a batch each of those gets who are there; not 0.

        Whoever has not shown its pace gets enough to show it, but not an input of a million bytes.
        """
        trusted = self._trusted(contract) & set(present)
        slow = slow_ones(self.rates, present, sum(map(len, batch.inputs)), trusted)
        busy = {name for flight in self._flights for name in flight.owing()}
        first = len(batch.inputs[0])
        amounts: dict[str, int] = {}
        for name in present:
            if name not in self.rates:
                if not batch.certain or first <= TELLING:
                    amounts[name] = telling_inputs(batch.inputs)
            elif name not in slow:
                amounts[name] = len(batch.inputs)
            elif batch.certain and self._in_time(name, first):
                amounts[name] = first_bytes(batch.inputs, self.rates[name] * CERTAIN_SECONDS)
            elif not batch.certain and name not in busy:
                amounts[name] = first_bytes(batch.inputs, self.rates[name] * SOON)
        return amounts

    def _comparable(self, contract: Contract, names: Collection[str]) -> bool:
        """Whether the answers of these can be compared.

        One alone is compared with nobody; where there is only one to be had, it goes on alone.
        """
        enough = len(names) >= min(2, len(contract.participants))
        return enough and not self._without_reference(contract, names)

    def _without_reference(self, contract: Contract, names: Collection[str]) -> bool:
        """Whether a contract has references that answer, and none of them is among these names.

        Known differences between two others are told by the reference. Without it they would pass
        for new ones.
        """
        trusted = self._trusted(contract)
        return not names or (bool(trusted) and trusted.isdisjoint(names))

    def _trusted(self, contract: Contract) -> set[str]:
        """The references of a contract that answer."""
        given_up = self.pool.withdrawn()
        return {n for n in contract.names if n in contract.references and n not in given_up}

    def _room(self) -> bool:
        """Whether another batch may be sent: enough of those who are not behind have time."""
        now = self.clock()
        on_their_way = sum(one.held_up and not one.late(now) for one in self._flights)
        if on_their_way >= AHEAD or len(self._judging) >= JUDGES + AHEAD:
            return False
        behind = self.behind()
        return not behind or any(
            self._comparable(one, [name for name in one.names if name not in behind])
            for one in self.contracts
        )

    def _send_and_note(self, contract: Contract, batch: Batch) -> None:
        """Send a batch, and note who has missed one that everybody is to be asked."""
        asked = self.send(contract, batch)
        if batch.certain:
            self._missed += [(contract, batch, n) for n in contract.names if n not in asked]

    def _send_held(self) -> None:
        """Send what was held back before; of what somebody has missed, one batch."""
        held, self._held = self._held, []
        for contract, batch in held:
            self._send_and_note(contract, batch)
        free = self.rates.keys() - self.behind()
        ready = [one for one in self._missed if one[2] in free]
        for contract, batch, name in ready[:1]:
            self._missed.remove((contract, batch, name))
            trusted = self._trusted(contract)
            others = sorted(free & set(contract.names) - {name}, key=lambda n: n not in trusted)
            if self._in_time(name, len(batch.inputs[0])):
                self.send(contract.among({name, *others[:COMPANIONS]}), batch)

    def _in_time(self, name: str, size: int) -> bool:
        """Whether an input is short enough for an implementation, as far as its pace tells."""
        return self.rates.get(name, 0.0) * CERTAIN_SECONDS >= size

    def _judge_answered(self) -> bool:
        """Judge the parts that all have answered; whether there was any. Raises what judges do."""
        any_judged = False
        for judged in [one for one in self._judging if one.done()]:
            self._judging.remove(judged)
            judged.result()
        for flight in list(self._flights):
            owing = set(flight.owing())
            for part in [one for one in flight.parts if owing.isdisjoint(one.names)]:
                self._judge(flight, part)
                any_judged = True
                flight.held_up &= part is not flight.parts[-1]
                flight.parts.remove(part)
            if not flight.parts:
                self._flights.remove(flight)
        return any_judged

    def _judge(self, flight: Flight, part: Part) -> None:
        """Have a part judged, and note the pace of those who have answered it."""
        for name in part.names:
            pending = flight.asked[name]
            size = len(pending.inputs.data)
            seconds = max(pending.futures[name].finished - flight.began, 1e-4)
            if size >= TELLING or seconds > PATIENCE:
                self.rates[name] = size / seconds
        seen, rows = flight.observed(part), flight.rows(part)
        self._judging.append(self._judges.submit(self.judge, seen, rows))


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
    return min(bisect_left(ends_of(inputs), TELLING) + 1, len(inputs))


def first_bytes(inputs: Sequence[bytes], most: float) -> int:
    """How many of the first inputs have at most so many bytes together; one at the least."""
    return max(1, bisect_right(ends_of(inputs), most))


def ends_of(inputs: Sequence[bytes]) -> list[int]:
    """Where each input ends, one behind another."""
    return list(accumulate(map(len, inputs)))
