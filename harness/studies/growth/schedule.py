"""Which cell of growth is measured next, and how long its calls may take.

Every implementation has a turn whenever it has taken less time than the others, so that a slow one
is measured on fewer families and takes nothing from the rest. A cell is begun only where the time
that is left is expected to decide it.

The user's own candidates come before all others: each family once, with few rounds, then what the
rounds left open, those first that look faster than linear. The others share what is left, each of
their cells measured until it is decided.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from statistics import mean
from typing import TYPE_CHECKING

from corpora.families.catalog import FAMILIES
from harness.core.machine_load import crowding
from harness.studies.growth.cell import FIRST_LOOK, LAST_LOOK
from harness.verdict.exponents import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.studies.growth.cell import Cell

PLANNED_ROUNDS = 6
"""The time is planned for so many rounds of each cell: most are decided at the first look, memory
and the cached figure take as much as two, and the rest is for those that are not decided."""

DOUBLINGS_A_ROUND = 2
"""A round up to a size costs about twice the call at that size, as the sizes are geometric."""

WAITING = 2.0
"""Seconds that pass for each one measured, at the least: making inputs, pipes, neighbours. As many
as wait for a core, where there are more of them."""

TELLING_SECONDS = 0.1
"""Seconds to be measured before the time that passes beside them tells anything."""

LEAST_CALL, MOST_CALL = 0.001, 2.0
"""Bounds of the seconds that a call may take before its cell stops growing: below a millisecond
there is nothing to compare, and two seconds stay well within the limit of a request."""

CONTROLS = 8
"""A call on the control may take so many times the share of the others, so that one family goes up
to the sizes at which costs show that begin late."""

SWEEP_SHARE = 0.6
"""The share of the time in which own candidates are to be looked at on all families. The rest is
kept for what that leaves open."""

MARGIN = 2.0
"""A cell may take so many times the mean of the cells before it, as they differ by family."""


@dataclass(slots=True)
class Turns:
    """The undecided cells of one implementation, in the order of the families.

    own: it is the user's own candidate. spent: seconds that passed for all of its cells. past:
    seconds of each that is decided or put aside.
    """

    own: bool
    cells: list[Cell] = field(default_factory=list)
    spent: float = 0.0
    past: list[float] = field(default_factory=list)

    @property
    def first_rounds(self) -> int:
        """Rounds of a cell before it is put aside."""
        return FIRST_LOOK if self.own else LAST_LOOK

    @property
    def ahead(self) -> list[Cell]:
        """The cells in their first rounds: the one that is being measured, and those to come."""
        some = [cell for cell in self.cells if cell.rounds < self.first_rounds]
        return sorted(some, key=lambda cell: cell.rounds == 0)

    @property
    def aside(self) -> list[Cell]:
        """Those that the first rounds did not decide."""
        return [cell for cell in self.cells if cell.rounds >= self.first_rounds]

    @property
    def expected(self) -> float:
        """Seconds that its next cell is expected to take, 0 where nothing is known of it."""
        return MARGIN * mean(self.past) if self.past else 0.0


class Schedule:
    """The order in which cells are measured. Each cell that it gives is to be taken back.

    cells: those of the most telling family first. seconds: that there are. longest_call: bound of
    :meth:`limit`.
    """

    def __init__(self, cells: Iterable[Cell], seconds: float, longest_call: float) -> None:
        self._seconds, self._longest_call = seconds, longest_call
        self._start = time.monotonic()
        self._measured = 0.0
        self._waiting = max(WAITING, crowding())
        self._turns: dict[str, Turns] = {}
        for cell in cells:
            self._turns.setdefault(cell.name, Turns(cell.own)).cells.append(cell)

    @property
    def left(self) -> float:
        """Seconds until the time is up; negative afterwards."""
        return self._start + self._seconds - time.monotonic()

    def next(self) -> Cell | None:
        """The cell to measure a round of; None where nothing is left to do, or no time for it."""
        if self.left <= 0:
            return None
        for own in (True, False):
            some = self._alike(own)
            for turns in sorted(some, key=lambda turns: turns.spent):
                ahead = turns.ahead
                if ahead and (ahead[0].rounds or self._time_for(turns)):
                    return ahead[0]
            # Only what has taken little so far is likely to be decided while there is time.
            aside = [cell for turns in some for cell in turns.aside]
            if aside:
                return min(aside, key=urgency)
        return None

    def take_back(self, cell: Cell, seconds: float, measured: float = 0.0) -> None:
        """Note that a round of it took so long, of which so much was measured."""
        self._measured += measured
        turns = self._turns[cell.name]
        cell.seconds += seconds
        cell.round_seconds = seconds
        turns.spent += seconds
        first = cell.rounds <= turns.first_rounds
        if first and (cell.decided or cell.rounds == turns.first_rounds):
            turns.past += [] if cell.refused or cell.given_up else [cell.seconds]
        if cell.decided:
            turns.cells.remove(cell)

    def limit(self, cell: Cell) -> float:
        """The seconds that a call of the cell may take, if all are to be done in time.

        By how much more time than was measured has passed so far: with busy neighbours that may be
        several times as much.
        """
        turns, alike = self._turns[cell.name], self._alike(cell.own)
        cells: float = sum(len(one.aside) for one in alike)
        if cell.rounds < turns.first_rounds:
            cells = self._busy(cell.own) * len(turns.ahead)
            cells /= SWEEP_SHARE if cell.own else 1
            cells /= CONTROLS if cell.family is FAMILIES[0] else 1
        waiting = self._waiting
        if self._measured > TELLING_SECONDS:
            waiting = max(waiting, (time.monotonic() - self._start) / self._measured)
        calls = PLANNED_ROUNDS * DOUBLINGS_A_ROUND * waiting * max(1, cells)
        return min(max(self.left / calls, LEAST_CALL), self._longest_call)

    def too_slow(self, cell: Cell) -> bool:
        """Whether what a cell looks like cannot be said in time if its rounds stay as long.

        Time is planned for fewer rounds than a superlinear cell needs, and by what passes beside
        the first calls: a machine that has become busier since makes each round longer.
        """
        due = cell.rounds_due * cell.round_seconds
        return due > 0 and due > self.left / max(1, self._busy(cell.own))

    def _alike(self, own: bool) -> list[Turns]:
        return [turns for turns in self._turns.values() if turns.own == own]

    def _busy(self, own: bool) -> int:
        """How many implementations have cells in their first rounds."""
        return sum(bool(turns.ahead) for turns in self._alike(own))

    def _time_for(self, turns: Turns) -> bool:
        """Whether the next cell of an implementation is expected to be decided in time.

        Beside those that others are at, and after what is kept for what looks too fast.
        """
        fast = any(cell.estimate > THRESHOLD for cell in turns.aside)
        begun = [one for one in self._alike(turns.own) if any(cell.rounds for cell in one.ahead)]
        expected = turns.expected + sum(one.expected for one in begun)
        return self.left > max((1 - SWEEP_SHARE) * self._seconds * fast, expected)


def urgency(cell: Cell) -> tuple[int, float]:
    """What is followed first, by the least: of an own candidate, what will soon be proved.

    Then what looks faster than linear, one after the other, and of all others the quickest. Were
    all followed in turn, none would be decided by the end.
    """
    if cell.own and cell.rounds_due:
        return 0, cell.rounds_due * cell.round_seconds
    if cell.own and cell.estimate > THRESHOLD:
        return 1, -cell.rounds
    return 2, cell.seconds
