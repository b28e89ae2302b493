"""Which cell of growth is measured next, and how long its calls may take.

Every implementation has a turn whenever it has taken less time than the others, so that a slow one
is measured on fewer families and takes nothing from the rest. A cell is begun only where the time
that is left is expected to decide it, together with all that are begun already. What the first
rounds do not decide is put aside, and gets what time is left over, the quickest first.

The user's own candidates come before all others: each family once, with few rounds, then what the
rounds left open, those first that look faster than linear. The others share what is left.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from corpora.families.catalog import FAMILIES
from harness.core.crowding import crowding
from harness.studies.growth.cell import FIRST_LOOK
from harness.verdict.exponents import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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

ASIDE = 8
"""Rounds after which an undecided cell is put aside: what is superlinear needs so many, and most of
what is linear needs three."""

ROUNDS_RESERVED = 12
"""Rounds of each cell put aside for which time is kept before another cell is begun: on simulated
cells, of which an eighth needed nine rounds, these left none open that could be decided, on a
machine three times as slow as planned for; five left 4 in 100."""

SWEEP_SHARE = 0.6
"""The share of the time in which own candidates are to be looked at on all families. The rest is
kept for what that leaves open."""

SOON = 0.2
"""The share of the time left that it may take to prove a cell superlinear, for it to be followed
before further families are looked at: one that is proved is enough to fail a candidate."""

MARGIN = 1.5
"""A cell may take so many times the mean of the cells before it, as they differ by family."""


class Clock:
    """The time of a measurement, and how it passes beside the time that is measured."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self._start = time.monotonic()
        self._end = self._start + seconds
        self._measured = 0.0
        self._waiting = max(WAITING, crowding())

    def count(self, nanoseconds: int) -> None:
        """Take note of time that was measured."""
        self._measured += nanoseconds / 1e9

    @property
    def left(self) -> float:
        """Seconds until the time is up; negative afterwards."""
        return self._end - time.monotonic()

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self.left <= 0

    def limit(self, cells: float, most: float = MOST_CALL) -> float:
        """The seconds, ``most`` at most, that a call may take if ``cells`` are to be done in time.

        By how much more time than was measured has passed so far: with busy neighbours that may be
        several times as much.
        """
        waiting = self._waiting
        if self._measured > TELLING_SECONDS:
            waiting = max(waiting, (time.monotonic() - self._start) / self._measured)
        calls = PLANNED_ROUNDS * DOUBLINGS_A_ROUND * waiting * max(1, cells)
        return min(max(self.left / calls, LEAST_CALL), most)


@dataclass(slots=True)
class Turns:
    """The cells of one implementation.

    waiting: those not begun, in the order of the families. current: the one that is being measured.
    aside: those that the first rounds did not decide. spent: seconds that passed for all of them.
    past: seconds of each that is decided or put aside. own: they are the user's own candidate's.
    proved: one of them is superlinear, or failed.
    """

    waiting: deque[Cell]
    current: Cell | None = None
    aside: list[Cell] = field(default_factory=list)
    spent: float = 0.0
    past: list[float] = field(default_factory=list)
    own: bool = False
    proved: bool = False

    @property
    def suspect(self) -> Cell | None:
        """The cell that will soonest be proved superlinear, while none is: that is all it takes."""
        if not self.own or self.proved:
            return None
        fast = [cell for cell in self.aside if cell.rounds_due]
        return min(fast, key=urgency, default=None)

    @property
    def expected(self) -> float:
        """Seconds that its next cell is expected to take, 0 where nothing is known of it."""
        return MARGIN * sum(self.past) / len(self.past) if self.past else 0.0

    @property
    def reserved(self) -> float:
        """Seconds that its cells begun so far are expected to take from now on."""
        rest = 0.0
        if self.current is not None:
            rest += max(0.0, self.expected - self.current.seconds)
        for cell in self.aside:
            rest += ROUNDS_RESERVED * cell.seconds / max(1, cell.rounds)
        return rest


class Schedule:
    """The order in which cells are measured. Each cell that it gives is to be taken back."""

    def __init__(self, families: Iterable[Sequence[Cell]], clock: Clock, longest_call: float):
        """families: the cells of each family, the most telling family first."""
        self._clock = clock
        self._longest_call = longest_call
        self._turns: dict[str, Turns] = {}
        for cells in families:
            for cell in cells:
                turns = self._turns.setdefault(cell.participant.name, Turns(deque(), own=cell.own))
                if cell.looked:
                    turns.aside.append(cell)
                else:
                    turns.waiting.append(cell)

    def next(self) -> Cell | None:
        """The cell to measure a round of; None where nothing is left to do, or no time for it."""
        if self._clock.over:
            return None
        own = [turns for turns in self._turns.values() if turns.own]
        others = [turns for turns in self._turns.values() if not turns.own]
        return self._next_of(own) or self._next_of(others)

    def _next_of(self, every: list[Turns]) -> Cell | None:
        for turns in sorted(every, key=lambda turns: turns.spent):
            suspect = turns.suspect if turns.current is None else None
            if suspect is not None and urgency(suspect)[1] < SOON * self._clock.left:
                return suspect
            if turns.current is None and turns.waiting and self._time_for(turns):
                turns.current = turns.waiting.popleft()
            if turns.current is not None:
                return turns.current
        aside = [cell for turns in every for cell in turns.aside]
        # Only what has taken little so far is likely to be decided while there is time.
        return min(aside, key=urgency, default=None)

    def take_back(self, cell: Cell, seconds: float) -> None:
        """Note that a round of it took so long, and what is to become of it."""
        turns = self._turns[cell.participant.name]
        cell.seconds += seconds
        cell.round_seconds = seconds
        turns.spent += seconds
        if cell is not turns.current:
            if cell.decided:
                turns.aside.remove(cell)
                turns.proved |= cell.proved
            return
        if not cell.decided and cell.rounds < (FIRST_LOOK if turns.own else ASIDE):
            return
        turns.current = None
        turns.proved |= bool(cell.failure) or cell.proved
        if not cell.refused and not cell.given_up:
            turns.past.append(cell.seconds)
        if not cell.decided:
            turns.aside.append(cell)

    def limit(self, cell: Cell) -> float:
        """The seconds that a call of the cell may take."""
        turns = self._turns[cell.participant.name]
        alike = [one for one in self._turns.values() if one.own == turns.own]
        if cell is not turns.current:
            aside = sum(len(one.aside) for one in alike)
            return self._clock.limit(aside, self._longest_call)
        busy = sum(1 for one in alike if one.waiting or one.current is not None)
        cells: float = busy * (len(turns.waiting) + 1)
        if turns.own:
            cells /= SWEEP_SHARE
        if cell.family.name == FAMILIES[0].name:
            cells /= CONTROLS
        return self._clock.limit(cells, self._longest_call)

    def too_slow(self, cell: Cell) -> bool:
        """Whether what a cell looks like cannot be said in time if its rounds stay as long.

        Time is planned for fewer rounds than a superlinear cell needs, and by what passes beside
        the first calls: a machine that has become busier since makes each round longer.
        """
        if not cell.rounds_due:
            return False
        own = self._turns[cell.participant.name].own
        busy = sum(
            1
            for one in self._turns.values()
            if one.own == own and (one.waiting or one.current is not None)
        )
        due = cell.rounds_due * cell.round_seconds
        return due > self._clock.left / max(1, busy)

    def _time_for(self, turns: Turns) -> bool:
        """Whether the next cell of an implementation is expected to be decided in time."""
        if not turns.past and not turns.aside:
            return True
        if turns.own:
            kept = (1 - SWEEP_SHARE) * self._clock.seconds
            fast = any(cell.estimate > THRESHOLD for cell in turns.aside)
            return self._clock.left > (max(kept, turns.expected) if fast else turns.expected)
        reserved = sum(one.reserved for one in self._turns.values())
        return self._clock.left > reserved + turns.expected


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
