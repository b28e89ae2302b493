"""Measurement of growth: every implementation on every family, in rounds, within a time.

A round encodes one fresh input of a family at each size, so that what is kept from earlier inputs
does not help, and takes the implementations in turn, so that a disturbance falls on all alike.
Of the times of all rounds the smallest at each size counts. The sizes of a cell, one
implementation on one family, are settled in its first round: it stops growing where the next call
may take more than its share of the time.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TYPE_CHECKING

from corpora.families.catalog import FAMILIES, TELLING
from harness.messages import Meter
from harness.outcomes import Status
from harness.scaling.cell import FIRST_LOOK, LAST_LOOK, SECOND_LOOK, Cell, ahead, shown
from harness.scaling.costs import TINY, WARM_UP, least
from harness.scaling.judgement import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from corpora.families.base import Family
    from harness.arena import Arena
    from harness.contracts import Contestant, Contract
    from harness.events import Measured
    from harness.outcomes import Results

SMALLEST = 256
"""Bytes of the smallest input: below, a call's own cost is all there is to see."""

SMALLER = (32, 64, 128)
"""Sizes that are asked as well where the cost soars so that few larger ones can be had."""

STEP_SIZES = tuple(256 << doubling for doubling in range(5))
"""Sizes at which steps are counted, interpreted: exact, so that few bytes tell."""

STEP_SECONDS = 1.0
"""Seconds that counting one size may take before no larger one is counted."""

STEPS_SHARE = 0.25
"""Of the time, where all steps are to be counted."""

MEMORY_FROM = 4 << 10
"""Bytes from which on memory is measured: pages are as large."""

PLANNED_ROUNDS = 6
"""For how many rounds of each cell the time is planned: most are decided at the first look, memory
and the cached figure take as much as two, the rest is for those that are not decided."""

DOUBLINGS_A_ROUND = 2
"""A round up to a size costs about twice the call at that size, as the sizes are geometric."""

WAITING = 2.0
"""Seconds that pass for each one measured, at the least: making inputs, pipes, neighbours. As many
as wait for a core, where there are more of them."""

TELLING_SECONDS = 0.1
"""Seconds to be measured before the time that passes beside them tells anything."""

AT_FIRST = 3
"""Sizes asked at once of a cell of which nothing is known: up to 1 KiB."""

ALLOWANCE = 8
"""How many times its share a call may take while the cell has too few sizes to be judged: a
quadratic cost is soon beyond its share, and would else be told by none. Likewise on the control,
so that one family goes up to where costs show that begin late."""

DEATHS = 4
"""After so many deaths an implementation is measured no further: to start it again with a large
vocabulary takes seconds, which the others lack."""

LEAST_CALL, MOST_CALL = 0.001, 2.0
"""Bounds of the seconds that a call may take before its cell stops growing: below a millisecond
there is nothing to compare, and two seconds stay well within the limit of a request."""

CELL_SECONDS = 0.06
"""Seconds of a cell below which measuring it says little: so many families are taken."""

AT_LEAST_BESIDES = 2
"""Families besides the telling ones that even the shortest run takes, others for another seed."""


class Clock:
    """The time of a measurement, and how it passes beside the time that is measured."""

    def __init__(self, seconds: float = 0.0) -> None:
        self._start = time.monotonic()
        self._end = self._start + seconds
        self._measured = 0.0
        self._waiting = max(WAITING, crowding())

    def count(self, nanoseconds: int) -> None:
        """Take note of time that was measured."""
        self._measured += nanoseconds / 1e9

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._end

    def limit(self, cells: int, most: float = MOST_CALL) -> float:
        """The seconds, ``most`` at most, that a call may take if ``cells`` are to be done in time.

        By how much more time than was measured has passed so far: with busy neighbours that may be
        several times as much.
        """
        now = time.monotonic()
        waiting = self._waiting
        if self._measured > TELLING_SECONDS:
            waiting = max(waiting, (now - self._start) / self._measured)
        calls = PLANNED_ROUNDS * DOUBLINGS_A_ROUND * waiting * max(1, cells)
        return min(max((self._end - now) / calls, LEAST_CALL), most)


def crowding() -> float:
    """How many processes have been waiting for each core of late, of others for the most part."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


class Measurement:
    """The growth measurements on one vocabulary, whose workers are loaded with it.

    largest: bytes of the largest input. steps: those of our own algorithms are counted for all
    families. longest_call: seconds after which a cell grows no more, however much time there is.
    """

    def __init__(
        self,
        arena: Arena,
        contracts: Sequence[Contract],
        families: Sequence[Family],
        largest: int,
        *,
        steps: bool = False,
        longest_call: float = MOST_CALL,
    ) -> None:
        self._arena = arena
        self._longest_call = longest_call
        self._largest = largest
        self._steps = steps
        self._deaths: Counter[str] = Counter()
        self._clock = Clock()
        self._inputs = Inputs()
        self.left_out: list[str] = []
        """Families that the time was not enough for."""
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
        undecided, round by round, and the steps of what stays so.
        A cell is said when it is decided, or at the end, unless nobody came to its family
        (:attr:`left_out`). Where ``stopped`` turns true, nothing more is said.
        """
        self._warm_up()
        end = time.monotonic() + seconds
        self._clock = Clock(seconds * (1 - STEPS_SHARE) if self._steps else seconds)
        every = [cell for cells in self._cells for cell in cells]
        to_come = len(every)
        for cells in self._cells:
            limit = self._clock.limit(to_come, self._longest_call)
            for _ in range(FIRST_LOOK):
                self._pass(cells, limit, stopped)
            fast = [cell for cell in cells if cell.verdict is Verdict.SUPERLINEAR]
            for _ in range(FIRST_LOOK, SECOND_LOOK):
                self._pass(fast, limit, stopped)
            for cell in cells if not stopped() else ():
                self._weigh(cell)
            self._say([cell for cell in cells if cell.decided], emit, stopped)
            to_come -= len(cells)
        for _ in range(FIRST_LOOK, LAST_LOOK):
            undecided = [cell for cell in every if not cell.decided]
            self._pass(undecided, self._clock.limit(len(undecided), self._longest_call), stopped)
            self._say([cell for cell in undecided if cell.decided], emit, stopped)
        # Who refused all so far would refuse the rest, of which there is nothing to say either.
        taking = {cell.contestant.name for cell in every if cell.rounds and not cell.refused}
        refusing = {cell.contestant.name for cell in every if cell.refused} - taking
        # A family that nobody came to had no part in this run.
        begun = {cell.family.name for cell in every if cell.rounds}
        self._say(
            [
                cell
                for cell in every
                if not cell.said
                and cell.contestant.name not in refusing
                and cell.family.name in begun
            ],
            emit,
            stopped,
        )
        self.left_out = [
            cells[0].family.name
            for cells in self._cells
            if cells and cells[0].family.name not in begun
        ]
        self._count_all(end, emit, stopped)

    def _warm_up(self) -> None:
        """Have each implementation encode something: compilers work at the first call."""
        first = {cell.contestant.name: cell for cells in self._cells for cell in reversed(cells)}
        for name, cell in first.items():
            data = self._inputs.of(cell, SMALLEST - 1)
            self._arena.gauge(name, cell.contract, [data], Meter.TIME)

    def _pass(self, cells: Sequence[Cell], limit: float, stopped: Callable[[], bool]) -> None:
        """One round of each cell that is not decided, while there is time."""
        for cell in cells:
            if stopped() or self._clock.over:
                return
            if not cell.decided:
                self._round(cell, limit)

    def _say(
        self,
        cells: Sequence[Cell],
        emit: Callable[[Measured], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Measure what else there is of these cells, and say them."""
        for cell in cells:
            cell.said = True
            if cell.refused or stopped():
                continue
            self._weigh(cell)
            # A worker that was ended meanwhile gives no answer, which is not its fault.
            if cell.refused or stopped():
                continue
            emit(cell.event())

    def _count_all(
        self,
        end: float,
        emit: Callable[[Measured], None],
        stopped: Callable[[], bool],
    ) -> None:
        """Steps of what time left open, then of all if they are wanted, until ``end``."""
        every = [cell for cells in self._cells for cell in cells if cell.said]
        able = [cell for cell in every if counts_steps(cell.contestant) and not cell.failure]
        unclear = [cell for cell in able if cell.verdict is Verdict.INCONCLUSIVE]
        others = [cell for cell in able if cell not in unclear] if self._steps else []
        for cell in (*unclear, *others):
            if stopped() or time.monotonic() > end:
                return
            if cell.refused or cell.given_up:
                continue
            self._count(cell)
            if cell.steps and not stopped():
                emit(cell.steps_event())

    def _round(self, cell: Cell, limit: float) -> None:
        name = cell.contestant.name
        if self._deaths[name] >= DEATHS:
            cell.stopped = f"not measured further, as {name} died on {DEATHS} families"
            cell.given_up = True
            return
        if cell.grown:
            last = cell.rounds == FIRST_LOOK - 1
            self._ask(cell, sorted(cell.times), again=last)
            if cell.rounds >= FIRST_LOOK:
                self._grow_on(cell, limit)
        else:
            control = cell.family.name == FAMILIES[0].name
            self._grow(cell, limit * ALLOWANCE if control else limit)
        cell.rounds += 1

    def _grow(self, cell: Cell, limit: float) -> None:
        """The first round: size after size, until the largest or a call that takes too long."""
        largest = self._most(cell)
        sizes = [SMALLEST << i for i in range(largest.bit_length()) if SMALLEST << i <= largest]
        asked = AT_FIRST
        while sizes:
            self._ask(cell, sizes[:asked])
            if cell.refused or cell.failure:
                break
            size, sizes = sizes[asked - 1 : asked], sizes[asked:]
            spent = cell.times[size[0]] / 1e9 if size else 0.0
            asked = ahead(spent, limit * ALLOWANCE if cell.short else limit)
            if cell.short:
                asked = min(asked, 1)
            if sizes and not asked:
                cell.stop_at(size[0], spent)
                break
        cell.grown = True
        if not cell.refused and cell.short and (cell.failure or cell.stopped):
            self._look_below(cell)

    def _grow_on(self, cell: Cell, limit: float) -> None:
        """One size more for a cell that those so far do not decide, if there is time for it.

        A cost that begins late shows in no number of repetitions. The size counts once it was
        asked as often as the others were at the first look.
        """
        if not cell.times or not cell.stopped or cell.failure or cell.refused:
            return
        size = 2 * max(cell.times)
        if size > self._most(cell) or not ahead(cell.times[size // 2] / 1e9, limit):
            return
        results = self._gauge(cell, (WARM_UP, size), Meter.TIME)
        if results is None or results.costs is None:
            return
        spent = int(results.costs[1, 0])
        self._clock.count(spent)
        cell.young.append(spent)
        if len(cell.young) >= FIRST_LOOK:
            cell.times[size] = min(cell.young)
            cell.young.clear()
            cell.stop_at(size, spent / 1e9)

    def _most(self, cell: Cell) -> int:
        """Bytes of the largest input that a cell may be asked."""
        most = cell.contestant.about.max_input
        return self._largest if most is None else min(self._largest, most)

    def _look_below(self, cell: Cell) -> None:
        """The smaller sizes of a cell that has too few; that it dies there, too, says no more."""
        failure = cell.failure
        self._ask(cell, SMALLER)
        cell.refused = False
        cell.failure = failure

    def _ask(self, cell: Cell, sizes: Sequence[int], *, again: bool = False) -> None:
        """Time one input of each size, after one to warm up and a tiny one.

        again: the largest a second time at the end, which whoever keeps what it encoded knows.
        """
        every = (WARM_UP, TINY, *sizes, *(sizes[-1:] if again else ()))
        results = self._gauge(cell, every, Meter.TIME)
        if results is None or results.costs is None:
            return
        spent = results.costs[:, 0].tolist()
        self._clock.count(sum(spent))
        cell.tiny = least(cell.tiny, spent[1])
        for size, one in zip(sizes, spent[2:], strict=False):
            cell.times[size] = least(cell.times.get(size), one)
        if again:
            cell.cached[sizes[-1]] = spent[-1]

    def _gauge(self, cell: Cell, sizes: Sequence[int], meter: Meter) -> Results | None:
        """The costs of one input of each size; None where there was no answer, and the cell why."""
        data = [self._inputs.of(cell, size) for size in sizes]
        results = self._arena.gauge(cell.contestant.name, cell.contract, data, meter)
        at = next((i for i, status in enumerate(results.status) if status), None)
        if at is not None:
            self._no_answer(cell, results, at, sizes[at])
            return None
        if results.costs is None:
            cell.failure = "gave no costs"
        return results

    def _weigh(self, cell: Cell) -> None:
        """Memory and stack at the larger sizes, from small to large; nothing if time is up."""
        sizes = [size for size in sorted(cell.times) if size >= MEMORY_FROM]
        if not sizes or cell.memory or cell.failure or cell.given_up or self._clock.over:
            return
        results = self._gauge(cell, (WARM_UP, *sizes), Meter.MEMORY)
        if results is None or results.costs is None:
            return
        for size, (peak, stack) in zip(sizes, results.costs[1:].tolist(), strict=True):
            cell.memory[size], cell.stack[size] = peak, stack

    def _count(self, cell: Cell) -> None:
        """Steps, at small sizes; keyed by the lengths of the inputs, as they are exact."""
        most = cell.contestant.about.max_input
        cell.rounds += 1  # a fresh input
        for size in STEP_SIZES:
            if most is not None and size > most:
                return
            data = self._inputs.of(cell, size)
            started = time.monotonic()
            results = self._arena.gauge(cell.contestant.name, cell.contract, [data], Meter.STEPS)
            if results.costs is None or results.status.any():
                return
            cell.steps[len(data)] = int(results.costs[0, 0])
            if time.monotonic() - started > STEP_SECONDS:
                return

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


def taking_part(contracts: Sequence[Contract]) -> list[tuple[Contestant, Contract]]:
    """Each implementation once, in the first contract that it is party to.

    The first mode of a vocabulary is its own pipeline, which is what its users run.
    """
    first: dict[str, tuple[Contestant, Contract]] = {}
    for contract in contracts:
        for contestant in contract.contestants:
            first.setdefault(contestant.name, (contestant, contract))
    return list(first.values())


def counts_steps(contestant: Contestant) -> bool:
    """Whether counting the lines of its source gives its cost: an algorithm of ours."""
    module = type(contestant.implementation).__module__
    ours = module.startswith("impls.") and not module.startswith(
        ("impls.references", "impls.peers")
    )
    return ours and contestant.about.language == "python"


def chosen(
    families: Mapping[str, Family], contestants: int, seconds: float, seed: int
) -> list[Family]:
    """As many families as the time is enough for: the telling and the user's own, then the rest.

    The rest begins elsewhere for another seed, so that short runs come by all of them in time.
    """
    listed = {family.name for family in FAMILIES} - {family.name for family in TELLING}
    fixed = [family for name, family in families.items() if name not in listed]
    rest = [family for name, family in families.items() if name in listed]
    each = CELL_SECONDS * max(1.0, crowding() / WAITING)
    room = int(seconds / (each * max(1, contestants))) - len(fixed)
    taken = min(len(rest), max(room, AT_LEAST_BESIDES))
    begin = seed * taken % len(rest) if rest else 0
    return fixed + (rest[begin:] + rest[:begin])[:taken]
