"""The questions of one cell of growth to its worker: times and steps at which sizes.

A round encodes one fresh input of a family at each size, so that what is kept from earlier inputs
does not help. Of the times of all rounds the smallest at each size counts. The sizes of a cell, one
implementation on one family, are settled in its first round: it stops growing where the next call
may take more than its share of the time.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING

from harness.core.messages import Measure, Meter
from harness.core.outcomes import Inputs, Status
from harness.engine.costs import TINY, WARM_UP
from harness.studies.growth.cell import FIRST_LOOK, Call, Cell, ahead, shown
from harness.studies.growth.schedule import crowding
from harness.verdict.exponents import Verdict
from harness.workers.reasons import NO_ROOM, NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.core.outcomes import Results, Spent
    from harness.workers.pool import WorkerPool

SMALLEST = 256
"""Bytes of the smallest input: below, a call's own cost is all there is to see."""

SMALLER = (32, 64, 128)
"""Sizes that are asked as well where the cost soars so that few larger ones can be had."""

STEP_SIZES = tuple(256 << doubling for doubling in range(5))
"""Sizes at which steps are counted, interpreted: exact, so that few bytes tell."""

STEP_SECONDS = 1.0
"""Seconds that counting one size may take before no larger one is counted."""

DEARER = 3.0
"""The next size is expected to take so many times as long to count as this one, which is between
``n`` and ``n^2``, as those that are counted are undecided between the two."""

AT_FIRST = 3
"""Sizes asked at once of a cell of which nothing is known: up to 1 KiB."""

ALLOWANCE = 8
"""A call may take so many times its share while the cell has too few sizes to be judged: a
quadratic cost is soon beyond its share, and would not be told otherwise."""

UNDECIDED_CALL = 0.02
"""Seconds that a call of an undecided cell may take, even where its share is less: a size or two
more tell what many more rounds of the same sizes do not, and few cells are undecided."""

DEATHS = 4
"""After so many deaths an implementation is not measured any more: to start it again with a large
vocabulary takes seconds, which the others lack."""

SLACK = 0.1
"""Seconds of a request that are never taken for the call's own: pipes, neighbours on all cores."""

IDLE = 8.0
"""A call that takes so many times as long on the wall as CPU time, for each process that waits for
a core, is idle and not only disturbed: it is its time on the wall that the others lack."""

HELD = 64 << 20
"""Bytes of inputs that are kept for the next implementation to be asked the same."""


class Prober:
    """Asks the workers of a pool, which are loaded with one vocabulary, about cells.

    largest: bytes of the largest input. measured: called with the nanoseconds of each call.
    """

    def __init__(self, pool: WorkerPool, largest: int, measured: Callable[[int], None]) -> None:
        self._pool = pool
        self._largest = largest
        self._measured = measured
        self._deaths: Counter[str] = Counter()
        self._inputs = Made()
        self._telling: set[str] = set()
        """Names of those that work in another process and say themselves what a call took."""
        self._slow: dict[str, float] = {}
        """Seconds of a call on the smallest input, by name."""

    def warm_up(self, cell: Cell) -> None:
        """Have its implementation encode something: compilers work at the first call.

        And hear what a small call takes, and whether that is known by its own word only.
        """
        data = self._inputs.of(cell, SMALLEST - 1)
        name = cell.participant.name
        first = self._pool.gauge(name, cell.contract, [data], Meter.TIME)
        if first.status.any():
            return
        spent = self._time(cell, data)
        if spent is not None:
            self._slow[name] = spent.wall / 1e9
            if spent.elsewhere is not None:
                self._telling.add(name)

    def round(self, cell: Cell, limit: float) -> None:
        """One round of a cell; limit: the seconds that a call may take."""
        name = cell.participant.name
        if self._deaths[name] >= DEATHS:
            cell.stopped = f"not measured further, as {name} died on {DEATHS} families"
            cell.given_up = True
            return
        if cell.grown:
            last = cell.rounds == FIRST_LOOK - 1
            self._ask(cell, sorted(cell.times), again=last)
            if cell.rounds >= FIRST_LOOK and cell.verdict is not Verdict.SUPERLINEAR:
                self._grow_on(cell, max(limit, UNDECIDED_CALL))
        else:
            self._grow(cell, limit)
        cell.rounds += 1
        cell.look()

    def _grow(self, cell: Cell, limit: float) -> None:
        """The first round: size after size, until the largest or a call that takes too long."""
        largest = self._most(cell)
        sizes = [SMALLEST << i for i in range(largest.bit_length()) if SMALLEST << i <= largest]
        slow = self._slow.get(cell.participant.name, 0.0)
        asked = AT_FIRST if ahead(slow, limit * ALLOWANCE) >= AT_FIRST else 1
        while sizes:
            seconds = self._ask(cell, sizes[:asked])
            if cell.refused or cell.failure or cell.given_up:
                break
            size, sizes = sizes[asked - 1 : asked], sizes[asked:]
            asked = ahead(seconds, limit * ALLOWANCE if cell.short else limit)
            if cell.short:
                asked = min(asked, 1)
            if sizes and not asked:
                cell.stop_at(size[0], seconds)
                break
        cell.grown = True
        silent = cell.refused or cell.given_up
        if not silent and cell.short and (cell.failure or cell.stopped):
            self._look_below(cell)

    def _grow_on(self, cell: Cell, limit: float) -> None:
        """One size more for a cell that those so far do not decide, if there is time for it.

        A cost that begins late shows in no number of repetitions. The size counts once it was
        asked as often as the others were at the first look.
        """
        if not cell.times or not cell.stopped or cell.failure or cell.refused or cell.given_up:
            return
        size = 2 * max(cell.times)
        costs = cell.counted or cell.times
        if size > self._most(cell) or not ahead(costs[size // 2] / 1e9, limit):
            return
        calls = self._calls(cell, (WARM_UP, size))
        if calls is None:
            return
        cell.young.append(calls[-1])
        if len(cell.young) >= FIRST_LOOK:
            for call in cell.young:
                cell.add(size, call)
            cell.young.clear()
            cell.stop_at(size, (cell.counted or cell.times)[size] / 1e9)

    def _most(self, cell: Cell) -> int:
        """Bytes of the largest input that a cell may be asked."""
        most = cell.participant.about.max_input
        return self._largest if most is None else min(self._largest, most)

    def _look_below(self, cell: Cell) -> None:
        """The smaller sizes of a cell that has too few; that it dies there, too, says no more."""
        failure = cell.failure
        self._ask(cell, SMALLER)
        cell.refused = False
        cell.failure = failure

    def _ask(self, cell: Cell, sizes: Sequence[int], *, again: bool = False) -> float:
        """Time one input of each size, after one to warm up and a tiny one.

        again: the largest a second time at the end, which whoever keeps what it encoded knows.
        Gives the seconds that the call on the largest size took, 0 where there was no answer.
        """
        started = time.monotonic()
        calls = self._calls(cell, (WARM_UP, TINY, *sizes, *(sizes[-1:] if again else ())))
        if calls is None:
            return 0.0
        cell.add_tiny(calls[1])
        for size, call in zip(sizes, calls[2:], strict=False):
            cell.add(size, call)
        if again:
            cell.cached[sizes[-1]] = calls[-1].spent
        last = calls[1 + len(sizes)]
        seconds = (last.spent if last.counted is None else max(last.spent, last.counted)) / 1e9
        share = (time.monotonic() - started - SLACK) * sizes[-1] / sum(sizes)
        return share if share > IDLE * max(1.0, crowding()) * seconds else seconds

    def _calls(self, cell: Cell, sizes: Sequence[int]) -> list[Call] | None:
        """What a call on one input of each size took; None where one gave no answer."""
        if cell.participant.name in self._telling:
            return self._told_calls(cell, sizes)
        results = self._gauge(cell, sizes, Meter.TIME)
        if results is None or results.costs is None:
            return None
        calls = [Call(spent) for spent in results.costs[:, 0].tolist()]
        for call in calls:
            self._measured(call.spent)
        return calls

    def _told_calls(self, cell: Cell, sizes: Sequence[int]) -> list[Call] | None:
        """Likewise of one that says itself what a call took: with what the clock says."""
        calls = []
        for size in sizes:
            spent = self._time(cell, self._inputs.of(cell, size), size)
            if spent is None:
                return None
            self._measured(max(spent.cpu, spent.elsewhere or 0))
            calls.append(Call(spent.cpu, spent.elsewhere, spent.wall))
        return calls

    def _time(self, cell: Cell, data: bytes, size: int | None = None) -> Spent | None:
        """One call alone, by all clocks; where it has no answer, and ``size`` is given, the cell
        notes why."""
        request = Measure(Inputs.of([data]), cell.contract.mode)
        results = self._pool.measure(cell.participant.name, request)
        if results.timed is None and size is not None:
            self._no_answer(cell, results, 0, size)
        return results.timed

    def _gauge(self, cell: Cell, sizes: Sequence[int], meter: Meter) -> Results | None:
        """The costs of one input of each size; None where there was no answer, and the cell why."""
        data = [self._inputs.of(cell, size) for size in sizes]
        results = self._pool.gauge(cell.participant.name, cell.contract, data, meter)
        at = next((i for i, status in enumerate(results.status) if status), None)
        if at is not None:
            self._no_answer(cell, results, at, sizes[at])
            return None
        if results.costs is None:
            cell.failure = "gave no costs"
        return results

    def count_steps(self, cell: Cell, seconds: float) -> None:
        """Steps, at small sizes, while the next is expected to be counted within ``seconds``.

        They are keyed by the lengths of the inputs, as they are exact.
        """
        most = cell.participant.about.max_input
        cell.rounds += 1  # a fresh input
        began = time.monotonic()
        for size in STEP_SIZES:
            if most is not None and size > most:
                return
            data = self._inputs.of(cell, size)
            started = time.monotonic()
            results = self._pool.gauge(cell.participant.name, cell.contract, [data], Meter.STEPS)
            if results.costs is None or results.status.any():
                return
            cell.steps[len(data)] = int(results.costs[0, 0])
            now = time.monotonic()
            last = now - started
            if last > STEP_SECONDS or now - began + DEARER * last > seconds:
                return

    def _no_answer(self, cell: Cell, results: Results, at: int, size: int) -> None:
        status = Status(int(results.status[at]))
        line = results.messages.get(at, "").split("\n", 1)[0]
        withdrawn = self._pool.withdrawn().get(cell.participant.name)
        reason = withdrawn or line
        if status is Status.UNSUPPORTED and reason.startswith((NOT_ASKED, NO_ROOM)):
            # The harness did not ask, or the machine had no room for it to: it stays open.
            cell.stopped = f"not measured further: {reason}"
            cell.given_up = True
        elif status is Status.UNSUPPORTED and withdrawn is not None:
            cell.failure = withdrawn
        elif status in (Status.REJECTED, Status.UNSUPPORTED):
            cell.refused = True
        else:
            cell.failure = f"{status.label} at {shown(size)}: {line}"
            if status is not Status.ERRORED:  # an exception leaves the worker alive
                self._deaths[cell.participant.name] += 1


class Made:
    """The inputs made of late, which other implementations will be asked, too."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()
        self._held = 0

    def of(self, cell: Cell, size: int) -> bytes:
        """The input of a size for a cell's next round."""
        key = cell.family.name, size, cell.rounds
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        made = self._made[key] = cell.family.make(cell.contract.vocabulary, size, cell.rounds)
        self._held += len(made)
        while self._held > HELD and len(self._made) > 1:
            self._held -= len(self._made.popitem(last=False)[1])
        return made
