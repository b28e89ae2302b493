"""Measurement of growth: every implementation on every family, in rounds, within a time.

A round encodes one fresh input of a family at each size, so that what is kept from earlier inputs
does not help, and takes the implementations in turn, so that a disturbance falls on all alike.
Of the times of all rounds the smallest at each size counts. The sizes of a cell, one
implementation on one family, are settled in its first round: it stops growing where the next call
may take more than its share of the time.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.events import Measured
from harness.exponent import LEAST_POINTS, UNKNOWN, Growth, Verdict, fitted, judge
from harness.messages import Meter
from harness.outcomes import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from corpora.families.base import Family
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

PLANNED_ROUNDS = 4
"""For how many rounds of each cell the time is planned: most are decided at the first look, the
rest is for those that are not."""

DOUBLINGS_A_ROUND = 2
"""A round up to a size costs about twice the call at that size, as the sizes are geometric."""

WAITING = 2.0
"""Seconds that pass for each one measured, at the least: making inputs, pipes, neighbours."""

TELLING = 0.1
"""Seconds to be measured before the time that passes beside them tells anything."""

AT_FIRST = 3
"""Sizes asked at once of a cell of which nothing is known: up to 1 KiB."""

ALLOWANCE = 8
"""How many times its share a call may take while the cell has too few sizes to be judged: a
quadratic cost is soon beyond its share, and would else be told by none."""

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


class Clock:
    """The time of a measurement, and how it passes beside the time that is measured."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._start = time.monotonic()
        self._end = self._start + seconds
        self._measured = 0.0

    def count(self, nanoseconds: int) -> None:
        """Take note of time that was measured."""
        self._measured += nanoseconds / 1e9

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._end

    def limit(self, cells: int) -> float:
        """The seconds that a call may take if ``cells`` are to be measured in time.

        By how much more time than was measured has passed so far: with busy neighbours that may be
        several times as much.
        """
        now = time.monotonic()
        waiting = WAITING
        if self._measured > TELLING:
            waiting = max(waiting, (now - self._start) / self._measured)
        calls = PLANNED_ROUNDS * DOUBLINGS_A_ROUND * waiting * max(1, cells)
        return min(max((self._end - now) / calls, LEAST_CALL), MOST_CALL)


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
        self._clock = Clock()
        self._inputs = Inputs()
        self._cells = [
            [
                Cell(contestant, contract, family)
                for contestant, contract in taking_part(contracts)
                # Who died too often before is no longer asked; the run says so elsewhere.
                if contestant.name not in arena.withdrawn() and family.suits(contract.vocabulary)
            ]
            for family in families
        ]

    def run(
        self,
        seconds: float,
        emit: Callable[[Measured], None],
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """Measure until every cell is decided, at most for ``seconds``; say each one's verdict.

        Family by family up to the first look (the second of what grows fast), so that what the
        time does not reach is the last families and not the last rounds of all; then all that is
        undecided, round by round.
        A cell is said when it is decided, or at the end. Where ``stopped`` turns true, nothing
        more is said.
        """
        self._warm_up()
        self._clock = Clock(seconds)
        every = [cell for cells in self._cells for cell in cells]
        to_come = len(every)
        for cells in self._cells:
            limit = self._clock.limit(to_come)
            for _ in range(FIRST_LOOK):
                self._pass(cells, limit, emit, stopped)
            fast = [cell for cell in cells if cell.growth.verdict is Verdict.SUPERLINEAR]
            for _ in range(FIRST_LOOK, SECOND_LOOK):
                self._pass(fast, limit, emit, stopped)
            to_come -= len(cells)
        for _ in range(FIRST_LOOK, LAST_LOOK):
            self._pass(every, LEAST_CALL, emit, stopped)
        if not stopped():
            for cell in every:
                if not cell.decided:
                    emit(cell.event(out_of_time=True))

    def _warm_up(self) -> None:
        """Have each implementation encode something: compilers work at the first call."""
        first = {cell.contestant.name: cell for cells in self._cells for cell in reversed(cells)}
        for name, cell in first.items():
            self._arena.gauge(
                name, cell.contract, [self._inputs.of(cell, SMALLEST - 1)], Meter.TIME
            )

    def _pass(
        self,
        cells: Sequence[Cell],
        limit: float,
        emit: Callable[[Measured], None],
        stopped: Callable[[], bool],
    ) -> None:
        """One round of each cell that is not decided, while there is time."""
        for cell in cells:
            if stopped() or self._clock.over:
                return
            if cell.decided:
                continue
            self._round(cell, limit)
            # A worker that was ended meanwhile gives no answer, which is not its fault.
            if cell.decided and not cell.refused and not stopped():
                emit(cell.event(out_of_time=False))

    def _round(self, cell: Cell, limit: float) -> None:
        name = cell.contestant.name
        if self._deaths[name] >= DEATHS:
            cell.stopped = f"not measured further, as {name} died on {DEATHS} families"
            cell.given_up = True
            return
        if cell.grown:
            self._ask(cell, sorted(cell.times))
        else:
            self._grow(cell, limit)
        cell.rounds += 1

    def _grow(self, cell: Cell, limit: float) -> None:
        """The first round: size after size, until the largest or a call that takes too long."""
        most = cell.contestant.about.max_input
        largest = self._largest if most is None else min(self._largest, most)
        sizes = [SMALLEST << i for i in range(largest.bit_length()) if SMALLEST << i <= largest]
        asked = AT_FIRST
        while sizes:
            self._ask(cell, sizes[:asked])
            if cell.refused or cell.failure:
                break
            size, sizes = sizes[asked - 1 : asked], sizes[asked:]
            spent = cell.times[size[0]] / 1e9 if size else 0.0
            few = len(fitted(cell.times, cell.overhead or 0)) < LEAST_POINTS
            asked = ahead(spent, limit * ALLOWANCE if few else limit)
            if few:
                asked = min(asked, 1)
            if sizes and not asked:
                cell.stopped = f"stopped at {shown(size[0])}: {spent * 1e3:.3g} ms a call"
                break
        cell.grown = True

    def _ask(self, cell: Cell, sizes: Sequence[int]) -> None:
        """Time one input of each size, after one to warm up and a tiny one."""
        every = (WARM_UP, TINY, *sizes)
        data = [self._inputs.of(cell, size) for size in every]
        results = self._arena.gauge(cell.contestant.name, cell.contract, data, Meter.TIME)
        at = next((i for i, status in enumerate(results.status) if status), None)
        if at is not None:
            self._no_answer(cell, results, at, every[at])
            return
        if results.costs is None:
            cell.failure = "gave no times"
            return
        spent = results.costs[:, 0].tolist()
        self._clock.count(sum(spent))
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
    """The inputs of a round, made once for all implementations."""

    def __init__(self) -> None:
        self._round = ("", -1)
        self._made: dict[int, bytes] = {}

    def of(self, cell: Cell, size: int) -> bytes:
        """The input of a size for a cell's next round; another round's are forgotten."""
        if self._round != (cell.family.name, cell.rounds):
            self._round = (cell.family.name, cell.rounds)
            self._made = {}
        if size not in self._made:
            made = cell.family.make(cell.contract.vocabulary, size, cell.rounds)
            self._made[size] = made
        return self._made[size]


def ahead(spent: float, limit: float) -> int:
    """How many further sizes may be asked at once after a call of ``spent`` seconds.

    Were the cost quadratic, each would be four times as much as the one before: the last is not to
    take more than twice the limit, and none is asked where the next may.
    """
    return max(0, int(math.log(2 * limit / max(spent, 1e-9), 4)))


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
