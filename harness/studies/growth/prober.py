"""The questions of one cell of growth to its worker: times and steps at which sizes.

A round encodes one fresh input of a family at each size, so that what is kept from earlier inputs
does not help. Of the times of all rounds the smallest at each size counts. The sizes of a cell, one
implementation on one family, are settled in its first round: it stops growing where the next call
may take more than its share of the time.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, defaultdict
from typing import TYPE_CHECKING

from corpora.families.catalog import FAMILIES
from corpora.families.recipes import VARIANTS
from harness.core.crowding import crowding
from harness.core.messages import Measure, Meter
from harness.core.outcomes import Inputs, Status
from harness.engine.costs import TINY, WARM_UP, least
from harness.studies.growth.cell import FIRST_LOOK, Call, Cell
from harness.studies.growth.sizes import ahead, next_sizes
from harness.verdict.exponents import Verdict
from harness.verdict.memory import shown
from harness.workers.reasons import NO_ROOM, NOT_ASKED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.core.outcomes import Results, Spent
    from harness.workers.pool import WorkerPool

SMALLEST = 256
"""Bytes of the smallest input: below, a call's own cost is all there is to see."""

SMALLER = (32, 64, 128)
"""Sizes that are asked as well where the cost soars so that few larger ones can be had."""

LEADING_UP = (3, 4, 5, 6, 8)
"""A size of which so many-th parts are taken off leads up to one where a cost soars."""

LOOK_CALL = 0.1
"""Seconds that a call of a candidate may take, even where its share is less, until it has sizes
enough to be judged, and where these leave it open."""

SLOW = 1e-4
"""Seconds of a call on the largest of :data:`SMALLER` from which on these sizes are kept: of a call
that takes less, its own cost and its linear part hide the growth there."""

AT_ONCE = 2
"""Sizes asked in one request of a candidate that is to be decided: what becomes exponential shows
before the second, but in a narrow range."""

BEYOND = 4
"""So many times the largest size of a suite is asked of a candidate that it leaves open."""

STEP_SIZES = tuple(256 << doubling for doubling in range(5))
"""Sizes at which steps are counted, interpreted: exact, so that few bytes tell."""

STEP_SECONDS = 1.0
"""Seconds that counting one size may take before no larger one is counted."""

DEARER = 3.0
"""The next size is expected to take so many times as long to count as this one, which is between
``n`` and ``n^2``, as those that are counted are undecided between the two."""

FIRST_SIZES = (SMALLEST, 2 * SMALLEST, 4 * SMALLEST)
"""Sizes asked at once of a cell of which nothing is known."""

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
        self._tiny: dict[str, int] = {}
        """The least nanoseconds of a call on a few bytes, by name."""
        self._given: dict[str, set[int]] = defaultdict(set)
        """The hashes of the texts that each was asked, by name."""
        self._silent_beyond: set[tuple[str, str]] = set()
        """By name and family, who gave no answer beyond the largest size of the suite."""
        self._stale: dict[str, set[tuple[str, int]]] = defaultdict(set)
        """Families and sizes of which each was asked an old text at the last."""

    def warm_up(self, cell: Cell) -> None:
        """Have its implementation encode something: compilers work at the first call.

        And hear what a small call takes, and whether that is known by its own word only. It is
        prose where the vocabulary can spell it: of another family so much may take very long.
        """
        name, vocabulary = cell.participant.name, cell.contract.vocabulary
        family = FAMILIES[0] if FAMILIES[0].suits(vocabulary) else cell.family
        data = family.make(vocabulary, SMALLEST - 1, 0)
        self._given[name].add(hash(data))
        first = self._pool.gauge(name, cell.contract, [data], Meter.TIME)
        if first.status.any():
            return
        spent = self._time(cell, data)
        if spent is not None:
            self._slow[name] = spent.wall / 1e9
            if spent.elsewhere is not None:
                self._telling.add(name)

    def round(self, cell: Cell, limit: float, reference: str | None = None) -> None:
        """One round of a cell.

        limit: the seconds that a call may take. reference: who is asked the same, beside it.
        """
        name = cell.participant.name
        if self._deaths[name] >= DEATHS:
            cell.stopped = f"not measured further, as {name} died on {DEATHS} families"
            cell.given_up = True
            return
        if cell.grown:
            last = cell.rounds == FIRST_LOOK - 1
            sizes = sorted(cell.times)
            self._ask(cell, sizes, again=last)
            if reference is not None and not cell.failure:
                self._ask_beside(cell, sizes, reference)
            if cell.rounds >= FIRST_LOOK and cell.verdict is not Verdict.SUPERLINEAR:
                self._grow_on(cell, max(limit, LOOK_CALL if cell.own else UNDECIDED_CALL))
        else:
            self._grow(cell, limit)
        cell.rounds += 1
        cell.look()

    def _ask_beside(self, cell: Cell, sizes: Sequence[int], reference: str) -> None:
        """What a trusted implementation takes on as long inputs, where it answers them."""
        if reference in self._telling:
            return
        texts = [self._text(reference, cell, size)[0] for size in (WARM_UP, TINY, *sizes)]
        results = self._pool.gauge(reference, cell.contract, texts, Meter.TIME)
        if results.costs is None or results.status.any():
            return
        _, tiny, *spent = results.costs[:, 0].tolist()
        scaled = [
            Call(one).at(size, len(text)).spent
            for one, size, text in zip(spent, sizes, texts[2:], strict=True)
        ]
        cell.add_beside(sizes, tiny, scaled)

    def _grow(self, cell: Cell, limit: float) -> None:
        """The first round: size after size, until the largest or a call that takes too long."""
        largest = self._most(cell)
        slow = self._slow.get(cell.participant.name, 0.0)
        at_once = AT_ONCE if cell.own else len(FIRST_SIZES)
        sizes = self._first_sizes(cell, limit) if cell.own else list(FIRST_SIZES)
        if sizes == list(FIRST_SIZES) and ahead(slow, limit * ALLOWANCE) < len(FIRST_SIZES):
            sizes = sizes[:1]
        sizes = [size for size in sizes if size <= largest]
        while sizes:
            seconds = self._ask(cell, sizes)
            if cell.refused or cell.failure or cell.given_up:
                break
            size = sizes[-1]
            allowed = self._allowed(cell, limit) if cell.short else limit
            count = min(ahead(seconds, allowed), 1 if cell.short else at_once)
            sizes = next_sizes(cell.seconds_a_call, allowed, largest, count)
            if not sizes and 2 * size <= largest:
                cell.stop_at(size, seconds)
        cell.grown = True
        silent = cell.refused or cell.given_up
        if not silent and cell.short and (cell.failure or cell.stopped):
            self._look_below(cell)

    def _first_sizes(self, cell: Cell, limit: float) -> list[int]:
        """The first sizes above the small ones, which are asked one by one, as they may be steep.

        The small ones are kept where they are slow, as the large ones are not to be had then.
        """
        self._ask(cell, ())
        costs = {TINY: (cell.tiny or 0) / 1e9}
        usual = self._slow.get(cell.participant.name, 0.0)
        if costs[TINY] > max(SLOW, usual):
            # So much for so few bytes: the next one may be twice as dear.
            return [TINY + 1, TINY + 2]
        size = TINY
        while size < SMALLER[-1]:
            sizes = next_sizes(costs, self._allowed(cell, limit), self._most(cell))
            if cell.refused or cell.failure or cell.given_up:
                return []
            if not sizes:
                cell.stop_at(size, costs[size])
                return []
            (size,) = sizes
            costs[size] = self._ask(cell, sizes)
        if costs[size] > SLOW:
            return next_sizes(costs, self._allowed(cell, limit), self._most(cell))
        cell.times.clear()
        cell.calls.clear()
        cell.counted.clear()
        cell.round_trips.clear()
        return list(FIRST_SIZES)

    def _allowed(self, cell: Cell, limit: float) -> float:
        """Seconds that a call may take while the cell has too few sizes to be judged."""
        return max(limit * ALLOWANCE, LOOK_CALL if cell.own else 0.0)

    def _grow_on(self, cell: Cell, limit: float) -> None:
        """One size more for a cell that those so far do not decide, if there is time for it.

        A cost that begins late shows in no number of repetitions. The size counts once it was
        asked as often as the others were at the first look. Where the largest leaves a candidate
        open, what looks like growth there may be a step, such as the end of a cache.
        """
        if not cell.times or cell.failure or cell.refused or cell.given_up:
            return
        if not cell.stopped and not (cell.own and cell.open):
            return
        place = cell.participant.name, cell.family.name
        beyond = BEYOND if cell.own and place not in self._silent_beyond else 1
        sizes = next_sizes(cell.seconds_a_call, limit, self._most(cell, beyond))
        if not sizes:
            return
        # A candidate's is to be decided soon: it is asked as often at once.
        calls = self._calls(cell, sizes * (FIRST_LOOK if cell.own else 1))
        if calls is None:
            return
        cell.young += calls
        if len(cell.young) >= FIRST_LOOK:
            for call in cell.young:
                cell.add(sizes[0], call)
            cell.young.clear()
            if sizes[0] <= self._largest:
                cell.stop_at(sizes[0], (cell.counted or cell.times)[sizes[0]] / 1e9)

    def _most(self, cell: Cell, times: int = 1) -> int:
        """Bytes of the largest input that a cell may be asked; times: that of the suite."""
        most, largest = cell.participant.about.max_input, times * self._largest
        return largest if most is None else min(largest, most)

    def _look_below(self, cell: Cell) -> None:
        """The smaller sizes of a cell that has too few; that it dies there, too, says no more.

        Where it stopped below them as its cost soars, they are those that lead up to where it did.
        """
        failure = cell.failure
        most = max(cell.times, default=SMALLEST)
        below = [most - most // part for part in LEADING_UP]
        self._ask(cell, SMALLER if most > SMALLER[-1] else [one for one in below if one > TINY])
        cell.refused = False
        cell.failure = failure

    def _ask(self, cell: Cell, sizes: Sequence[int], *, again: bool = False) -> float:
        """Time one input of each size, after one to warm up and a tiny one.

        again: the largest a second time at the end, which whoever keeps what it encoded knows.
        Gives the seconds that the call on the largest size took, 0 where there was no answer.
        """
        started = time.monotonic()
        # Where small inputs are slow, one to warm up may be as slow as the largest.
        warm = (WARM_UP,) if sizes and sizes[0] > WARM_UP else ()
        calls = self._calls(cell, (*warm, TINY, *sizes), again=again)
        if calls is None:
            return 0.0
        tiny, *spent = calls[len(warm) :]
        name = cell.participant.name
        self._tiny[name] = least(self._tiny.get(name), tiny.spent)
        cell.add_tiny(tiny)
        cell.tiny = least(cell.tiny, self._tiny[name])
        for size, call in zip(sizes, spent, strict=False):
            if self._fresh(cell, size):
                cell.add(size, call)
        if not sizes:
            return tiny.spent / 1e9
        if again:
            cell.cached[sizes[-1]] = spent[-1].spent
        last = spent[len(sizes) - 1]
        seconds = (last.spent if last.counted is None else max(last.spent, last.counted)) / 1e9
        share = (time.monotonic() - started - SLACK) * sizes[-1] / sum(sizes)
        return share if share > IDLE * max(1.0, crowding()) * seconds else seconds

    def _fresh(self, cell: Cell, size: int) -> bool:
        """Whether what was asked last of a size counts.

        A text that its process had before does not, but where there is nothing else.
        """
        if (cell.family.name, size) not in self._stale[cell.participant.name]:
            return True
        if size in cell.times:
            return False
        cell.repeated = True
        return True

    def _text(self, name: str, cell: Cell, size: int) -> tuple[bytes, bool]:
        """The next input of a size, one that a process has not had from here, if there is any.

        It is hardly shorter than the longest, as an eighth is what a cost that soars shows by.
        """
        given = self._given[name]
        least_length = 0
        if size < SMALLEST:
            least_length = len(self._inputs.of(cell, size, 0)) - max(1, size // 8)
        for more in range(VARIANTS):
            text = self._inputs.of(cell, size, (cell.rounds + more) % VARIANTS)
            if len(text) >= least_length and hash(text) not in given:
                given.add(hash(text))
                return text, True
        return self._inputs.of(cell, size, 0), False

    def _texts(self, cell: Cell, sizes: Sequence[int]) -> list[bytes]:
        """The next inputs of these sizes; which of them are none but old ones is noted."""
        name = cell.participant.name
        texts = []
        for size in sizes:
            text, fresh = self._text(name, cell, size)
            place = cell.family.name, size
            (self._stale[name].discard if fresh else self._stale[name].add)(place)
            texts.append(text)
        return texts

    def _calls(self, cell: Cell, sizes: Sequence[int], *, again: bool = False) -> list[Call] | None:
        """What a call on one input of each size took; None where one gave no answer.

        again: the last input a second time at the end.
        """
        texts = self._texts(cell, sizes)
        asked = [*sizes, *(sizes[-1:] if again else ())]
        texts += texts[-1:] if again else []
        if cell.participant.name in self._telling:
            return self._told_calls(cell, asked, texts)
        results = self._gauge(cell, asked, texts, Meter.TIME)
        if results is None or results.costs is None:
            return None
        calls = [Call(spent) for spent in results.costs[:, 0].tolist()]
        for call in calls:
            self._measured(call.spent)
        return scaled(calls, asked, texts)

    def _told_calls(
        self, cell: Cell, sizes: Sequence[int], texts: Sequence[bytes]
    ) -> list[Call] | None:
        """Likewise of one that says itself what a call took: with what the clock says."""
        calls = []
        for size, text in zip(sizes, texts, strict=True):
            spent = self._time(cell, text, size)
            if spent is None:
                return None
            self._measured(max(spent.cpu, spent.elsewhere or 0))
            calls.append(Call(spent.cpu, spent.elsewhere, spent.wall))
        return scaled(calls, sizes, texts)

    def _time(self, cell: Cell, data: bytes, size: int | None = None) -> Spent | None:
        """One call alone, by all clocks; where it has no answer, and ``size`` is given, the cell
        notes why."""
        request = Measure(Inputs.of([data]), cell.contract.mode)
        results = self._pool.answer(cell.participant.name, request)
        if results.timed is None and size is not None:
            self._no_answer(cell, results, 0, size)
        return results.timed

    def _gauge(
        self, cell: Cell, sizes: Sequence[int], data: Sequence[bytes], meter: Meter
    ) -> Results | None:
        """The costs of one input of each size; None where there was no answer, and the cell why."""
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
        began = time.monotonic()
        for size in STEP_SIZES:
            if most is not None and size > most:
                return
            (data,) = self._texts(cell, (size,))
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
        """Note why an input of a size has no answer."""
        if size > self._largest:
            # The suite asks nothing so long, and nobody is held to it.
            self._silent_beyond.add((cell.participant.name, cell.family.name))
            return
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

    def of(self, cell: Cell, size: int, variant: int) -> bytes:
        """The input of a size, one of its variants."""
        key = cell.family.name, size, variant
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        made = self._made[key] = cell.family.make(cell.contract.vocabulary, size, variant)
        self._held += len(made)
        while self._held > HELD and len(self._made) > 1:
            self._held -= len(self._made.popitem(last=False)[1])
        return made


def scaled(calls: Sequence[Call], sizes: Sequence[int], texts: Sequence[bytes]) -> list[Call]:
    """What the calls took for each byte, for inputs of the full sizes; few bytes as they are."""
    return [
        call.at(size, len(text)) if size > TINY else call
        for call, size, text in zip(calls, sizes, texts, strict=True)
    ]
