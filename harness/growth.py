"""Measurement of growth: every implementation on every family, in rounds, within a time.

A round encodes one fresh input of a family at each size, so that what is kept from earlier inputs
does not help, and takes the implementations in turn, so that a disturbance falls on all alike.
Of the times of all rounds the smallest at each size counts. The sizes of a cell, one
implementation on one family, are settled in its first round: it stops growing where a call
takes more than its share of the time.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.events import Measured
from harness.exponent import LEAST_POINTS, UNKNOWN, Growth, Verdict, judge
from harness.outcomes import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary
    from harness.arena import Arena
    from harness.contracts import Contestant, Contract
    from harness.outcomes import Results

SMALLEST = 256
"""Bytes of the smallest input: below, a call's own cost is all there is to see."""

TINY = 16
"""Bytes of the input whose time is taken for a call's own cost."""

WARM_UP = 192
"""Bytes of an input encoded before the timed ones, and none of them, as its pieces may be kept."""

FIRST_LOOK, SECOND_LOOK, LAST_LOOK = 3, 6, 24
"""Rounds after which a cell is judged: ``linear`` may be said at the first look, ``superlinear``,
which fails the gate, from the second on only; after the last, what is inconclusive stays so."""

DOUBLINGS_A_ROUND = 2
"""A round up to a size costs about twice the call at that size, as the sizes are geometric."""

WAITING = 2
"""Time that passes for each second of CPU: making the inputs, pipes, busy neighbours."""

DEATHS = 2
"""After so many deaths an implementation is measured no further: to start it again with a large
vocabulary takes seconds, which the others lack."""

LEAST_CALL, MOST_CALL = 0.001, 2.0
"""Bounds of the seconds that a call may take before its cell stops growing: below a millisecond
there is nothing to compare, and two seconds stay well within the limit of a request."""


@dataclass(slots=True)
class Cell:
    """One implementation on one family. times: size to the least nanoseconds so far.

    overhead: likewise for the tiny input. grown: its largest size is settled.
    refused: it rejects these inputs, or does not support them, so that there is nothing to say.
    given_up: it died on others too often. failure: how it failed on this one.
    """

    contestant: Contestant
    contract: Contract
    family: Family
    times: dict[int, int] = field(default_factory=dict)
    overhead: int | None = None
    rounds: int = 0
    grown: bool = False
    refused: bool = False
    given_up: bool = False
    failure: str = ""
    stopped: str = ""

    @property
    def growth(self) -> Growth:
        """The judgement of what was measured so far."""
        found = judge(self.times, self.overhead or 0)
        if self.failure:
            return Growth(found.exponent, found.low, found.high, Verdict.FAILED)
        return found if self.rounds >= FIRST_LOOK else UNKNOWN

    @property
    def decided(self) -> bool:
        """Whether more rounds would change nothing."""
        if self.refused or self.given_up or self.failure or self.rounds >= LAST_LOOK:
            return True
        if self.grown and len(self.times) < LEAST_POINTS:
            return True
        verdict = self.growth.verdict
        return verdict is Verdict.LINEAR or (
            verdict is Verdict.SUPERLINEAR and self.rounds >= SECOND_LOOK
        )

    def event(self, out_of_time: bool) -> Measured:
        """What there is to say."""
        growth, reason = self.growth, self.failure
        if growth.verdict is Verdict.SUPERLINEAR and self.rounds < SECOND_LOOK:
            growth = Growth(growth.exponent, growth.low, growth.high, Verdict.INCONCLUSIVE)
        if growth.verdict is Verdict.INCONCLUSIVE and not self.given_up:
            rounds = f"{self.rounds} round{'' if self.rounds == 1 else 's'}"
            reason = f"out of time after {rounds}" if out_of_time else f"after {rounds}"
        return Measured(
            implementation=self.contestant.name,
            vocabulary=self.contract.vocabulary.id,
            family=self.family.name,
            exponent=growth.exponent,
            low=growth.low,
            high=growth.high,
            verdict=growth.verdict.value,
            points=[[size, spent / 1e9] for size, spent in sorted(self.times.items())],
            note="; ".join(part for part in (reason, self.stopped) if part),
        )


class Measurement:
    """The growth measurements on one vocabulary, whose workers are loaded with it."""

    def __init__(
        self,
        arena: Arena,
        contracts: Sequence[Contract],
        families: Iterable[Family],
        largest: int,
    ) -> None:
        self._arena = arena
        self._largest = largest
        self._deaths: Counter[str] = Counter()
        self._cells = [
            Cell(contestant, contract, family)
            for family in families
            for contestant, contract in taking_part(contracts)
            # Who died too often before is no longer asked; the run says so elsewhere.
            if contestant.name not in arena.withdrawn()
            if family.suits(contract.vocabulary)
        ]

    def run(
        self,
        seconds: float,
        emit: Callable[[Measured], None],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Measure until every cell is decided, at most for ``seconds``; say each one's verdict.

        A cell is said when it is decided, or at the end. Where ``stopped`` turns true, nothing
        more is said.
        """
        deadline = time.monotonic() + seconds
        calls = FIRST_LOOK * DOUBLINGS_A_ROUND * WAITING * max(1, len(self._cells))
        limit = min(max(seconds / calls, LEAST_CALL), MOST_CALL)
        waiting = list(self._cells)
        for number in range(LAST_LOOK):
            inputs = Inputs(number)
            for cell in waiting:
                if stopped():
                    return
                if time.monotonic() > deadline:
                    break
                self._round(cell, inputs, limit)
                if cell.decided and not cell.refused:
                    emit(cell.event(out_of_time=False))
            waiting = [cell for cell in waiting if not cell.decided]
            if not waiting or time.monotonic() > deadline:
                break
        for cell in waiting:
            emit(cell.event(out_of_time=True))

    def _round(self, cell: Cell, inputs: Inputs, limit: float) -> None:
        name = cell.contestant.name
        if self._deaths[name] >= DEATHS:
            cell.stopped = f"not measured further, as {name} died on {DEATHS} families"
            cell.given_up = True
            return
        if cell.grown:
            self._ask(cell, inputs, sorted(cell.times))
        else:
            self._grow(cell, inputs, limit)
        cell.rounds += 1

    def _grow(self, cell: Cell, inputs: Inputs, limit: float) -> None:
        """The first round: size after size, until the largest or a call that takes too long."""
        most = cell.contestant.about.max_input
        size, spent = SMALLEST, 0.0
        while size <= self._largest and (most is None or size <= most):
            # A quadratic cost would be four times as much at the next size: never more than twice
            # the limit is asked.
            if spent > limit / 2:
                cell.stopped = f"stopped at {shown(size // 2)}: {spent * 1e3:.3g} ms a call"
                break
            self._ask(cell, inputs, [size])
            if cell.refused or cell.failure:
                break
            spent = cell.times[size] / 1e9
            size *= 2
        cell.grown = True

    def _ask(self, cell: Cell, inputs: Inputs, sizes: Sequence[int]) -> None:
        """Time one input of each size, after one to warm up and a tiny one."""
        every = (WARM_UP, TINY, *sizes)
        data = [inputs.of(cell.family, cell.contract.vocabulary, size) for size in every]
        results = self._arena.time(cell.contestant.name, cell.contract, data)
        at = next((i for i, status in enumerate(results.status) if status), None)
        if at is not None:
            self._no_answer(cell, results, at, every[at])
            return
        if results.nanoseconds is None:
            cell.failure = "gave no times"
            return
        spent = results.nanoseconds.tolist()
        cell.overhead = least(cell.overhead, spent[1])
        for size, one in zip(sizes, spent[2:], strict=True):
            cell.times[size] = least(cell.times.get(size), one)

    def _no_answer(self, cell: Cell, results: Results, at: int, size: int) -> None:
        status = Status(int(results.status[at]))
        line = results.messages.get(at, "").split("\n", 1)[0]
        withdrawn = self._arena.withdrawn().get(cell.contestant.name)
        if withdrawn is not None and status is Status.UNSUPPORTED:
            cell.failure = withdrawn
        elif status in (Status.REJECTED, Status.UNSUPPORTED):
            cell.refused = True
        else:
            cell.failure = f"{status.label} at {shown(size)}: {line}"
            if status is not Status.ERRORED:  # an exception leaves the worker alive
                self._deaths[cell.contestant.name] += 1


class Inputs:
    """The inputs of one round, made once for all implementations."""

    def __init__(self, variant: int) -> None:
        self._variant = variant
        self._family = ""
        self._made: dict[int, bytes] = {}

    def of(self, family: Family, vocabulary: Vocabulary, size: int) -> bytes:
        """The input of a size; those of the family before are forgotten."""
        if family.name != self._family:
            self._family = family.name
            self._made = {}
        if size not in self._made:
            self._made[size] = family.make(vocabulary, size, self._variant)
        return self._made[size]


def taking_part(contracts: Sequence[Contract]) -> list[tuple[Contestant, Contract]]:
    """Each implementation once, in the first contract that it is party to.

    The first mode of a vocabulary is its own pipeline, which is what its users run.
    """
    first: dict[str, tuple[Contestant, Contract]] = {}
    for contract in contracts:
        for contestant in contract.contestants:
            first.setdefault(contestant.name, (contestant, contract))
    return list(first.values())


def least(before: int | None, now: int) -> int:
    """The smaller of what is known and what is new."""
    return now if before is None else min(before, now)


def shown(size: int) -> str:
    """A size as in notes: ``256 bytes``, ``64 KiB``."""
    return f"{size} bytes" if size < 1024 else f"{size >> 10} KiB"
