"""Measurement of growth: every implementation on every family, within a time.

The implementations have their turns by the time that each has taken
(:mod:`harness.studies.growth.schedule`); what is asked of a cell, one implementation on one family,
is in :mod:`harness.studies.growth.prober`.
"""

from __future__ import annotations

import contextlib
import math
import time
from functools import partial
from typing import TYPE_CHECKING

from corpora.families.catalog import FAMILIES, TELLING
from harness.core.machine_load import crowding, stretched
from harness.studies.growth.cell import Cell
from harness.studies.growth.prober import Prober
from harness.studies.growth.schedule import MOST_CALL, WAITING, Schedule
from harness.verdict.exponents import THRESHOLD, Verdict
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from corpora.families.base import Family
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from harness.events import Measured
    from harness.workers.pool import WorkerPool

CELL_SECONDS = 0.06
"""Seconds of a cell below which measuring it says little: so many families are taken."""

FIRST_LOOK_CALL = 0.02
"""Seconds that a call may take at the first look at an implementation for which no time is left:
sizes up to that tell a quadratic cost, and all its rounds are done in a second."""

GOING_ON_SECONDS = 8.0
"""Seconds after the time in which the user's own candidates are still looked at, on the telling
families first, and what these looks leave open is followed, for all cells of a vocabulary together.
On a busy machine they are more, so that it does not decide what is examined."""

PROVING_SECONDS, PROVING_ROUNDS = 60.0, 16
"""Seconds and rounds after all of these for the cell of each own candidate that looks most like
growth, where nothing is proved of it: on inputs of which a call takes seconds the growth shows that
is hidden where a call takes a tenth of one. They are no more on a busy machine: what caches do to
a large vocabulary looks like growth there, and would be followed for minutes."""

OWN_STEPS_SECONDS = 6.0
"""Seconds after the time in which steps are counted of own candidates that are written in Python,
where their time leaves open what looks faster than linear: steps are exact. On a busy machine they
are more."""

AT_LEAST_BESIDES = 2
"""Families besides the telling ones that even the shortest run takes, others for another seed."""


class Measurement:
    """The growth measurements on one vocabulary, whose workers are loaded with it.

    largest: bytes of the largest input. longest_call: seconds after which a cell grows no more,
    however much time there is.
    own: names of the user's own candidates, which come first. besides: families that these alone
    are measured on.
    left_out: families that the time was not enough for. missed: those that each own candidate was
    not looked at on, of those that fit. went_on: own candidates were measured after the time.
    """

    def __init__(
        self,
        pool: WorkerPool,
        contracts: Sequence[Contract],
        families: Sequence[Family],
        largest: int,
        *,
        longest_call: float = MOST_CALL,
        own: Collection[str] = (),
        besides: Sequence[Family] = (),
    ) -> None:
        self._pool, self._longest_call = pool, longest_call
        self._prober = Prober(pool, largest)
        self.left_out: list[str] = []
        self.missed: dict[str, list[str]] = {}
        self.went_on = False
        cells = [
            Cell(participant, contract, family, own=participant.name in own)
            for family in (*families, *besides)
            for participant, contract in taking_part(contracts)
            if family.suits(contract.vocabulary)
            and (participant.name in own or family not in besides)
        ]
        gone = pool.withdrawn()  # who died too often before is no longer asked
        self._cells = [cell for cell in cells if cell.name not in gone]
        self._unasked = [cell for cell in cells if cell.name in gone]

    def run(
        self,
        seconds: float,
        emit: Callable[[Measured], None],
        stopped: Callable[[], bool] = lambda: False,
        owed: Collection[str] = (),
    ) -> None:
        """Measure at most for ``seconds``, and say the verdict of every cell that was begun.

        owed: implementations that get a first look, at one family, even where no time is left.
        What is open of own candidates then is followed for :data:`GOING_ON_SECONDS`.

        Warming up is a part of the time. A cell is begun only where it is expected to be decided in
        time; of the families that nobody came to nothing is said. A cell is said when it is
        decided, or at the end, when the steps of those that time left open are counted. A call that
        is on when the time of the whole run is up is cut off, and its cell is inconclusive. Where
        ``stopped`` turns true, nothing more is said.
        """
        self._emit, self._stopped = emit, stopped
        end = time.monotonic() + seconds
        for part in (self._measure, self._go_on):
            with contextlib.suppress(OutOfTime):
                part(end)
        self._prove()
        self._look_once(owed)
        # Who refused all so far would refuse the rest, of which there is nothing to say either.
        begun = [cell for cell in self._cells if cell.rounds or cell.cut_off]
        taking = {cell.name for cell in begun if not cell.refused}
        self._say(cell for cell in begun if not cell.said and cell.name in taking)
        reached = {cell.family.name for cell in begun}
        every = dict.fromkeys(cell.family.name for cell in self._cells)
        self.left_out = [name for name in every if name not in reached]
        for cell in (*self._unasked, *self._cells):
            if cell.own and not cell.looked:
                self.missed.setdefault(cell.name, []).append(cell.family.name)
        with contextlib.suppress(OutOfTime):
            self._count_all(end)

    def _measure(self, end: float) -> None:
        """Measure cell by cell, as long as there is time. Raises OutOfTime where one is cut off."""
        for first in self._firsts(self._cells):
            if self._stopped() or time.monotonic() > end:
                return
            self._prober.warm_up(first)
        # What the clock says of time that passes beside calls, warming up has no part in.
        self._follow(self._cells, end)

    def _follow(self, cells: Sequence[Cell], end: float) -> None:
        """Measure as a schedule of these cells says, until it has no more."""
        schedule = Schedule(cells, end - time.monotonic(), self._longest_call)
        for one in cells:
            one.cut_off = False
        while not self._stopped() and (cell := schedule.next()) is not None:
            started, before = time.monotonic(), self._prober.spent
            while schedule.too_slow(cell) and cell.shed():
                pass
            try:
                beside = self._reference(cell) if cell.own and cell.looked else None
                self._prober.round(cell, schedule.limit(cell), beside)
            except OutOfTime:
                cell.cut_off = not cell.decided
                raise
            taken = time.monotonic() - started
            schedule.take_back(cell, taken, self._prober.spent - before)
            if cell.decided and not (cell.own and cell.open):
                self._say([cell])

    def _go_on(self, end: float) -> None:
        """Look at own candidates and follow them after the time, for a little.

        Who is known to grow too fast on this vocabulary is followed no further.
        """
        mine = [cell for cell in self._open() if not cell.decided]
        telling = {family.name for family in TELLING}
        first = [c for c in mine if c.looked or c.family.name in telling]
        then = [c for c in mine if c not in first]
        if self._stopped() or not mine:
            return
        self.went_on = True
        end = time.monotonic() + stretched(GOING_ON_SECONDS)
        self._pool.limit_by(partial(remaining, end))
        for cell in self._firsts(mine):
            self._prober.warm_up(cell)
        for owed in (first, then):
            self._follow(owed, end)

    def _open(self) -> list[Cell]:
        """The cells of own candidates that are open, where none is known to be bad."""
        own = [cell for cell in self._cells if cell.own]
        bad = (Verdict.SUPERLINEAR, Verdict.FAILED)
        proved = {cell.name for cell in own if cell.settled and cell.verdict in bad}
        return [cell for cell in own if cell.open and cell.name not in proved]

    def _prove(self) -> None:
        """Follow the cell of each own candidate that looks most like growth to larger inputs."""
        fast = sorted(self._open(), key=lambda cell: cell.estimate)
        for cell in {one.name: one for one in fast if one.estimate > THRESHOLD}.values():
            end = time.monotonic() + PROVING_SECONDS
            self._pool.limit_by(partial(remaining, end))
            with contextlib.suppress(OutOfTime):
                for _ in range(PROVING_ROUNDS):
                    if self._stopped() or not cell.open:
                        break
                    self._prober.round(cell, self._longest_call, self._reference(cell))

    def _reference(self, cell: Cell) -> str | None:
        """The trusted implementation that is asked the same as a cell, to tell the machine."""
        gone = self._pool.withdrawn()
        for one in cell.contract.participants:
            most = one.about.max_input or math.inf
            fits = most >= max(cell.sizes, default=0)
            if one.name in cell.contract.references and one.name not in gone and fits:
                return one.name
        return None

    def _look_once(self, owed: Collection[str]) -> None:
        """Give the first cell of these its first look, where none of their cells has had one.

        And an own candidate's that was cut off in the midst of it: it would seem to be undecided.
        """
        unseen = set(owed) - {cell.name for cell in self._cells if cell.looked}
        first = [cell for cell in self._firsts(self._cells) if cell.name in unseen]
        cut_off = [cell for cell in self._cells if cell.own and cell.cut_off and not cell.looked]
        for cell in dict.fromkeys((*first, *cut_off)):
            self._pool.limit_by(lambda: math.inf)
            self._prober.warm_up(cell)
            while not (self._stopped() or cell.looked):
                self._prober.round(cell, FIRST_LOOK_CALL)
            cell.cut_off = False

    def _firsts(self, cells: Sequence[Cell]) -> Iterable[Cell]:
        """The first cell of each implementation."""
        first: dict[str, Cell] = {}
        for cell in cells:
            first.setdefault(cell.name, cell)
        return first.values()

    def _say(self, cells: Iterable[Cell]) -> None:
        """Say these cells, but for those of which there is nothing to say."""
        for cell in cells:
            cell.said = True
            # A worker that was ended meanwhile gives no answer, which is not its fault.
            if not cell.refused and not self._stopped():
                self._emit(cell.event())

    def _count_all(self, end: float) -> None:
        """Steps of own candidates that time left open, and that look faster than linear."""
        own = [cell for cell in self._cells if cell.own and in_python(cell.participant)]
        said = [cell for cell in own if cell.said and not cell.ended and not cell.settled]
        fast = [cell for cell in said if cell.estimate > THRESHOLD]
        last = max(end, time.monotonic() + stretched(OWN_STEPS_SECONDS))
        if fast and not self._stopped():
            self._pool.limit_by(partial(remaining, last))
        for cell in sorted(fast, key=lambda cell: cell.seconds):
            left = last - time.monotonic()
            if left > 0 and not self._stopped():
                self._prober.count_steps(cell, left)
                if cell.steps and not self._stopped():
                    self._emit(cell.steps_event())


def remaining(end: float) -> float:
    """Seconds until a time of the monotonic clock."""
    return end - time.monotonic()


def taking_part(contracts: Sequence[Contract]) -> list[tuple[Participant, Contract]]:
    """Each implementation once, in the first contract that it is party to.

    The first mode of a vocabulary is its own pipeline, which is what its users run.
    """
    first: dict[str, tuple[Participant, Contract]] = {}
    for contract in contracts:
        for participant in contract.participants:
            first.setdefault(participant.name, (participant, contract))
    return list(first.values())


def in_python(participant: Participant) -> bool:
    """Whether it is a plug-in in Python, whose own lines can be counted."""
    module = type(participant.implementation).__module__
    return participant.about.language == "python" and not module.startswith("impls.")


def chosen(
    families: Mapping[str, Family], participants: int, seconds: float, seed: int
) -> list[Family]:
    """As many families as the time is enough for: the telling and the user's own, then the rest.

    The rest begins elsewhere for another seed, so that short runs come by all of them in time.
    """
    listed = {family.name for family in FAMILIES[len(TELLING) :]}
    fixed = [family for name, family in families.items() if name not in listed]
    rest = [family for name, family in families.items() if name in listed]
    each = CELL_SECONDS * max(1.0, crowding() / WAITING)
    room = int(seconds / (each * max(1, participants))) - len(fixed)
    taken = min(len(rest), max(room, AT_LEAST_BESIDES))
    begin = seed * taken % len(rest) if rest else 0
    return fixed + (rest[begin:] + rest[:begin])[:taken]
