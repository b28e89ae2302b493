"""The one prober: it asks a worker what a call costs at which sizes, round by round.

A round encodes one fresh input of a family at each size, so that what is kept from earlier inputs
does not help; of another axis, what that asks. Of all rounds the smallest cost at each size counts.
The sizes of a cell, one implementation along one axis, are settled in its first round: it stops
growing where the next call may take more than its share of the time.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from corpora.families.catalog import FAMILIES
from corpora.families.recipes import VARIANTS
from harness.core.machine_load import crowding
from harness.core.messages import Measure, Meter
from harness.core.outcomes import Inputs, Status
from harness.engine.costs import TINY, WARM_UP
from harness.studies.growth.cell import FIRST_LOOK, SLOW, SMALLEST, Call, Cell
from harness.studies.growth.sizes import next_sizes
from harness.verdict.exponents import Verdict
from harness.verdict.memory import shown
from harness.workers.reasons import NO_ROOM, NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary
    from harness.core.outcomes import Results
    from harness.workers.pool import WorkerPool

LOOK_CALL, UNDECIDED_CALL = 0.1, 0.02
"""Seconds that a call of a candidate may take, even where its share is less, until it has sizes
enough to be judged, and where these leave it open; and where they leave another open: a size or two
more tell what many more rounds of the same sizes do not."""

AT_ONCE, AT_ONCE_OWN = 3, 2
"""Sizes asked in one request, and of a candidate, which is to be decided: what becomes exponential
shows before the second, but in a narrow range."""

BEYOND = 4
"""So many times the largest size of a suite is asked of a candidate that it leaves open."""

LEADING_UP = (3, 4, 5, 6, 8)
"""A size of which so many-th parts are taken off leads up to one where a cost soars."""

STEP_SIZES = tuple(256 << doubling for doubling in range(5))
"""Sizes at which steps are counted, interpreted: exact, so that few bytes tell."""

STEP_SECONDS = 1.0
"""Seconds that counting one size may take before no larger one is counted."""

DEARER = 3.0
"""The next size is expected to take so many times as long to count as this one, which is between
``n`` and ``n^2``, as those that are counted are undecided between the two."""

ALLOWANCE = 8
"""A call may take so many times its share while the cell has too few sizes to be judged: a
quadratic cost is soon beyond its share, and would not be told otherwise."""

DEATHS = 4
"""After so many deaths an implementation is not measured any more: to start it again with a large
vocabulary takes seconds, which the others lack."""

SLACK = 0.1
"""Seconds of a request that are never taken for the call's own: pipes, neighbours on all cores."""

IDLE = 8.0
"""A call that takes so many times as long on the wall as CPU time, for each process that waits for
a core, is idle and not only disturbed: it is its time on the wall that the others lack."""


class Prober:
    """Asks the workers of a pool, which are loaded with one vocabulary, about cells.

    largest: bytes of the largest input. spent: seconds of all calls so far.
    """

    def __init__(self, pool: WorkerPool, largest: int) -> None:
        self._pool = pool
        self._largest = largest
        self.spent = 0.0
        self._deaths: Counter[str] = Counter()
        self._telling: set[str] = set()
        """Names of those that work in another process and say themselves what a call took."""
        self._usual: dict[str, float] = {}
        """Seconds of a call on ordinary text of the smallest size, by name."""
        self._given: dict[str, set[int]] = defaultdict(set)
        """The hashes of the texts that each was asked, by name."""

    def warm_up(self, cell: Cell) -> None:
        """Have its implementation encode something: compilers work at the first call.

        And hear what a small call takes, and whether that is known by its own word only. It is
        prose where the vocabulary can spell it: of another family so much may take very long.
        """
        vocabulary = cell.contract.vocabulary
        family = FAMILIES[0] if FAMILIES[0].suits(vocabulary) else cell.family
        data = family.make(vocabulary, SMALLEST - 1, 0)
        self._given[cell.name].add(hash(data))
        if self._pool.gauge(cell.name, cell.contract, [data], Meter.TIME).status.any():
            return
        spent = self._timed(cell, data).timed
        if spent is not None:
            self._usual[cell.name] = spent.wall / 1e9
            if spent.elsewhere is not None:
                self._telling.add(cell.name)

    def round(self, cell: Cell, limit: float, reference: str | None = None) -> None:
        """One round of a cell.

        limit: the seconds that a call may take. reference: who is asked the same, beside it.
        """
        if self._deaths[cell.name] >= DEATHS:
            cell.stopped = f"not measured further, as {cell.name} died on {DEATHS} families"
            cell.given_up = True
            return
        if not cell.rounds:
            self._grow(cell, limit)
        else:
            sizes = cell.sizes
            self._ask(cell, sizes)
            if reference is not None and not cell.ended and reference not in self._telling:
                self._ask_beside(cell, sizes, reference)
            if cell.rounds >= FIRST_LOOK and cell.verdict is not Verdict.SUPERLINEAR:
                least = LOOK_CALL if cell.own else UNDECIDED_CALL
                self._grow_on(cell, max(limit, least) if cell.axis is None else ALLOWANCE * limit)
        cell.rounds += 1
        cell.look()

    def _grow(self, cell: Cell, limit: float) -> None:
        """The first round: size after size, until the largest or a call that takes too long."""
        sizes = [cell.axis.sizes[0]] if cell.axis is not None else []
        if cell.axis is None:
            self._ask(cell, [])
            if cell.took.get(0, 0.0) > max(SLOW, self._usual.get(cell.name, 0.0)):
                sizes = [TINY + 1, TINY + 2]  # so much for so few bytes: the next may soar
        while not cell.ended:
            short = cell.short
            allowed = max(limit * ALLOWANCE, LOOK_CALL * cell.own) if short else limit
            at_once = (1 if short else AT_ONCE_OWN) if cell.own else AT_ONCE
            sizes = sizes or self._next(cell, allowed, self._most(cell), at_once)
            if not sizes or not self._ask(cell, sizes):
                break
            sizes = []
        last = max(cell.calls, default=0)
        if cell.ended or not last or 2 * last > self._most(cell):
            return
        cell.stop_at(last)
        if cell.axis is None and cell.short:
            leading_up = [last - last // part for part in LEADING_UP]
            self._ask(cell, [size for size in leading_up if size not in cell.calls])

    def _grow_on(self, cell: Cell, limit: float) -> None:
        """One size more for a cell that those so far do not decide, if there is time for it.

        A cost that begins late shows in no number of repetitions. It is asked as often at once as
        the others were at the first look. Where the largest leaves a candidate open, what looks
        like growth there may be a step, such as the end of a cache.
        """
        if cell.ended or not cell.sizes or not (cell.stopped or (cell.own and not cell.decided)):
            return
        beyond = BEYOND if cell.own and not cell.silent_beyond else 1
        for size in self._next(cell, limit, self._most(cell, beyond)):
            if self._ask(cell, [size] * FIRST_LOOK) and size <= self._largest:
                cell.stop_at(size)

    def _next(self, cell: Cell, limit: float, largest: int, at_once: int = 1) -> list[int]:
        costs = {size or TINY: seconds for size, seconds in cell.took.items()}
        return next_sizes(costs, limit, largest, at_once)

    def _most(self, cell: Cell, times: int = 1) -> int:
        """The largest size that a cell may be asked; times: that of the suite."""
        if cell.axis is not None:
            return cell.axis.sizes[1]
        largest = times * self._largest
        return min(largest, cell.participant.about.max_input or largest)

    def _ask(self, cell: Cell, sizes: Sequence[int]) -> bool:
        """Time one input of each size, after one to warm up and a tiny one; whether it answers.

        At the first look the largest comes a second time at the end, which whoever keeps what it
        encoded knows.
        """
        if cell.axis is not None:
            costs = cell.axis.ask(sizes, cell.rounds)
            # What it does not answer in the first round ends its sizes, later its measurement.
            cell.given_up = costs is None and (cell.rounds > 0 or not cell.calls)
            for size, cost in zip(sizes, costs or (), strict=costs is not None):
                cell.add(size, Call(cost))
            return costs is not None
        started = time.monotonic()
        # Where small inputs are slow, one to warm up may be as slow as the largest.
        warm = [WARM_UP] if sizes and sizes[0] > WARM_UP else []
        asked = [(size, *self._text(cell.name, cell, size)) for size in (*warm, TINY, *sizes)]
        again = asked[-1:] if sizes and cell.rounds == FIRST_LOOK - 1 else []
        calls = self._calls(cell, asked + again)
        if calls is None:
            return False
        if again:
            cell.cached[sizes[-1]] = calls.pop().spent
        tiny, *timed = list(zip(calls, asked, strict=True))[len(warm) :]
        cell.add(0, tiny[0])
        for call, (size, _, new) in timed:
            # A text that its process had before does not count, but where there is nothing else.
            if new or size not in cell.calls:
                cell.add(size, call)
                cell.repeated |= not new
        if sizes:
            wall = (time.monotonic() - started - SLACK) * sizes[-1] / sum(sizes)
            if wall > IDLE * max(1.0, crowding()) * max(calls[-1].spent, calls[-1].counted) / 1e9:
                cell.took[sizes[-1]] = wall
        return True

    def _ask_beside(self, cell: Cell, sizes: Sequence[int], reference: str) -> None:
        """What a trusted implementation takes on as long inputs, where it answers them."""
        texts = [self._text(reference, cell, size)[0] for size in (WARM_UP, TINY, *sizes)]
        results = self._pool.gauge(reference, cell.contract, texts, Meter.TIME)
        if results.costs is None or results.status.any():
            return
        _, tiny, *spent = results.costs[:, 0].tolist()
        columns = zip((0, *sizes), (tiny, *spent), (0, *map(len, texts[2:])), strict=True)
        for size, one, length in columns:
            least = Call(one).at(size, length).spent
            cell.beside[size] = min(least, cell.beside.get(size, least))

    def _text(self, name: str, cell: Cell, size: int) -> tuple[bytes, bool]:
        """The next input of a size, and whether it is one that a process has not had from here.

        It is hardly shorter than the longest, as an eighth is what a cost that soars shows by.
        """
        given, vocabulary = self._given[name], cell.contract.vocabulary
        longest = made(cell.family, vocabulary, size, 0)
        least = len(longest) - max(1, size // 8) if size < SMALLEST else 0
        for more in range(VARIANTS):
            text = made(cell.family, vocabulary, size, (cell.rounds + more) % VARIANTS)
            if len(text) >= least and hash(text) not in given:
                given.add(hash(text))
                return text, True
        return longest, False

    def _calls(self, cell: Cell, asked: Sequence[tuple[int, bytes, bool]]) -> list[Call] | None:
        """What a call on each input took; None where one gave no answer, and the cell why."""
        sizes, texts, _ = zip(*asked, strict=True)
        calls = []
        if cell.name in self._telling:
            for size, text in zip(sizes, texts, strict=True):
                results = self._timed(cell, text)
                spent = results.timed
                if spent is None:
                    self._no_answer(cell, results, 0, size)
                    return None
                calls.append(Call(spent.cpu, spent.elsewhere or 0, spent.wall))
        else:
            results = self._pool.gauge(cell.name, cell.contract, texts, Meter.TIME)
            silent = results.status.nonzero()[0].tolist()
            if silent:
                self._no_answer(cell, results, silent[0], sizes[silent[0]])
                return None
            if results.costs is None:
                cell.failure = "gave no costs"
                return None
            calls = [Call(spent) for spent in results.costs[:, 0].tolist()]
        self.spent += sum(max(call.spent, call.counted) for call in calls) / 1e9
        return [
            call.at(size, len(text)) if size > TINY else call
            for call, size, text in zip(calls, sizes, texts, strict=True)
        ]

    def _timed(self, cell: Cell, data: bytes) -> Results:
        """One call alone, by all clocks."""
        return self._pool.answer(cell.name, Measure(Inputs.of([data]), cell.contract.mode))

    def count_steps(self, cell: Cell, seconds: float) -> None:
        """Steps, at small sizes, while the next is expected to be counted within ``seconds``.

        They are keyed by the lengths of the inputs, as they are exact.
        """
        began = time.monotonic()
        for size in STEP_SIZES:
            if size > self._most(cell):
                return
            started, (data, _) = time.monotonic(), self._text(cell.name, cell, size)
            results = self._pool.gauge(cell.name, cell.contract, [data], Meter.STEPS)
            if results.costs is None or results.status.any():
                return
            cell.steps[len(data)] = int(results.costs[0, 0])
            now = time.monotonic()
            last = now - started
            if last > STEP_SECONDS or now - began + DEARER * last > seconds:
                return

    def _no_answer(self, cell: Cell, results: Results, at: int, size: int) -> None:
        """Note why an input of a size has no answer."""
        if size > self._largest:
            # The suite asks nothing so long, and nobody is held to it.
            cell.silent_beyond = True
            return
        status = Status(int(results.status[at]))
        line = results.messages.get(at, "").split("\n", 1)[0]
        withdrawn = self._pool.withdrawn().get(cell.name)
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
                self._deaths[cell.name] += 1


@lru_cache(maxsize=256)  # other implementations will be asked the same
def made(family: Family, vocabulary: Vocabulary, size: int, variant: int) -> bytes:
    """The input of a size, one of its variants."""
    return family.make(vocabulary, size, variant)
