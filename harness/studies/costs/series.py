"""A cost along one axis: at which sizes it is measured, and until when. No clock has a part in it.

As the growth of time with the length of a text is: rounds over all sizes, of which the least at
each size counts; linear may be said after the first few, superlinear, which fails the gate, only
after many that all say so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.verdict.exponents import LEAST_POINTS, Growth, Verdict, judge

if TYPE_CHECKING:
    from harness.events import Measured

LINEAR_AFTER, PROVED_AFTER, OPEN_AFTER = 3, 12, 24
"""Rounds after which it may be called linear, superlinear, or stays open."""

LARGER_AFTER = (3, 5)
"""Rounds after which what is open is measured at one size more; it has as many rounds to come as
make what looks superlinear sure."""

AGREEING = 6
"""Rounds in a row that look superlinear before that is said."""

ALLOWANCE = 8
"""A call may take so many times the limit while there are too few sizes to judge: what is quadratic
is soon beyond it, and would not be told otherwise."""

Ask = Callable[[Sequence[int], int], "list[int] | None"]
"""Given sizes and the number of a round, what each costs in nanoseconds; None without an answer."""


@dataclass(slots=True)
class Series:
    """What was measured along an axis. costs: size to the least nanoseconds. rounds: so far."""

    costs: dict[int, int] = field(default_factory=dict)
    rounds: int = 0
    agreeing: int = 0

    def look(self) -> Growth:
        """Judge it after a round."""
        self.rounds += 1
        growth = judge({size: float(cost) for size, cost in self.costs.items()})
        self.agreeing = self.agreeing + 1 if growth.verdict is Verdict.SUPERLINEAR else 0
        return growth

    def decided(self, growth: Growth) -> bool:
        """Whether more rounds would change nothing."""
        if self.rounds >= OPEN_AFTER or len(self.costs) < LEAST_POINTS:
            return True
        if growth.verdict is Verdict.LINEAR:
            return self.rounds >= LINEAR_AFTER
        return self.proved

    def grow(self, ask: Ask, sizes: Sequence[int], limit: int) -> None:
        """Take one size more, if it may take less than ``limit`` even where the cost is a square.

        A cost that begins late shows in no number of repetitions.
        """
        largest = max(self.costs)
        size = next((one for one in sizes if one > largest), None)
        if size is None or self.costs[largest] * (size / largest) ** 2 > limit:
            return
        spent = ask([size], self.rounds)
        if spent is not None:
            self.costs[size] = spent[0]

    @property
    def proved(self) -> bool:
        """Whether it has looked superlinear for long enough to say so."""
        return self.rounds >= PROVED_AFTER and self.agreeing >= AGREEING


def measure_series(
    ask: Ask, sizes: Sequence[int], limit: int, stopped: Callable[[], bool]
) -> tuple[Series, Growth]:
    """With c(k) the cost of k special tokens, texts of a batch, ids or tokens: c(k) = O(k log k).

    Sizes double until a call takes longer than ``limit`` nanoseconds, or eight times that while
    there are less than four. Rounds over all of them, of which the least counts at each size, are
    judged as time by bytes is: linear after three rounds at the earliest, superlinear after twelve,
    of which the last six all say so. What ``ask`` does not answer in the first round has no costs;
    later, that ends the measurement.
    """
    series = Series()
    for size in sizes:
        spent = ask([size], 0)
        if spent is None:
            break
        series.costs[size] = spent[0]
        # Too few sizes decide nothing, so that they may take longer.
        allowed = limit if len(series.costs) >= LEAST_POINTS else ALLOWANCE * limit
        if spent[0] > allowed:
            break
    growth = series.look()
    while not series.decided(growth):
        # What looks superlinear is looked at until that is sure: it has a bounded number of rounds.
        enough = growth.verdict is not Verdict.SUPERLINEAR and series.rounds >= LINEAR_AFTER
        if enough and stopped():
            break
        if growth.verdict is Verdict.INCONCLUSIVE and series.rounds in LARGER_AFTER:
            series.grow(ask, sizes, ALLOWANCE * limit)
        again = ask(sorted(series.costs), series.rounds)
        if again is None:
            break
        for size, cost in zip(sorted(series.costs), again, strict=True):
            series.costs[size] = min(series.costs[size], cost)
        growth = series.look()
    return series, growth


def event(
    name: str, vocabulary: str, axis: str, row: str, found: tuple[Series, Growth]
) -> Measured | None:
    """What there is to say of a series; row: stands in place of a family. None for no answer."""
    series, growth = found
    if not series.costs:
        return None
    verdict, note = growth.verdict, ""
    if verdict is Verdict.SUPERLINEAR and not series.proved:
        verdict, note = Verdict.INCONCLUSIVE, f"out of time after {series.rounds} rounds"
    elif len(series.costs) < LEAST_POINTS:
        note = f"measured at {len(series.costs)} sizes only"
    return replace(growth, verdict=verdict).measured(
        {size: cost / 1e9 for size, cost in series.costs.items()},
        implementation=name,
        vocabulary=vocabulary,
        family=row,
        note=note,
        overhead=growth.overhead / 1e9,
        rounds=series.rounds,
        axis=axis,
    )
