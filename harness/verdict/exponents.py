"""Judgement of growth: from costs at sizes to an exponent, its interval and a verdict. Pure.

Three judgements were compared on simulated cells, 60 of each of 128 kinds: laws from ``n`` to the
exponential, a square that shows late, rates that drop by steps or steadily up to threefold; noise
of 5 and 15 % with heavy tails, spells of slowness, and neighbours that slow every other call. Of
7,680

============================================  =====  =====  =========
judgement                                     right  wrong  undecided
============================================  =====  =====  =========
this one                                      7,677      0          3
the exponent of the largest sizes alone       5,740      0      1,940
selection of one law for all sizes            6,591    195        894
============================================  =====  =====  =========

What this one leaves undecided are rates that drop threefold within four doublings. The
selection calls that superlinear, and cannot see a square that begins late; the largest sizes alone
say nothing of a single step between caches. ``python -m tests.doubles.growth_cells`` simulates the
cells again and prints the counts of this one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.events import Measured

Floats = NDArray[np.float64]


Costs = Mapping[int, float]
"""Size to what it costs beyond the overhead of a call, the smallest first."""

THRESHOLD = 1.3
"""Exponents above are faster growth than linear.

Over a sixteenfold range ``n log n`` reads as 1.15 from 256 bytes on and as 1.10 from 4 KiB on; a
rate that drops by half between the caches, evenly over the range, adds 0.25 to 1. ``n^1.5`` reads
as 1.5.
"""

HIERARCHY = 3.0
"""A byte may get so many times dearer between the first cache and the memory without any reason in
the algorithm. What gets no dearer than this, beyond ``n log n``, may be called linear."""

ACCUSED = 4.5
"""A byte has to get so many times dearer than under ``n log n`` before growth is called
superlinear: :data:`HIERARCHY`, and half of it for noise. ``n^2`` gets there over a range of 8,
``n^1.5`` over one of 128, which is eight sizes; over fewer they cannot be told from caches."""

ACCUSED_EXACTLY = 1.5
"""The same of a cost that is counted, such as steps, of which no cache and no neighbour is a part:
``n^1.5`` gets there over a range of 8. It is the least that is told from ``n log n`` by more than
the sums that every algorithm adds to its leading one."""

MOST_NOISE = 3.0
"""The most that a machine is taken to make a byte dearer, between short calls and long ones: the
smallest of several times in the processor, beside neighbours on all cores, is never so far off.
What looks like more is the growth of the other implementation."""

RANGE = 16
"""Largest size over smallest in the fit of the largest sizes: wide enough that 10 % of noise moves
the exponent by 0.05, narrow enough that a square which shows late is not averaged away."""

WIDE = 128
"""Ranges so wide are looked at besides, as only they show ``n^1.5`` (:data:`ACCUSED`)."""

STEADY = 1.25
"""The exponent over each two doublings of such a range is above this: of what is fast from there
on. Steps between caches are flat before them and after."""

LEAST_POINTS = 4
"""Fewer sizes (a range of less than 8) decide nothing."""

TAIL = 0.05
"""Weight of slopes left out at either end of the interval: one wrong pair of neighbours."""

STILL = 1.5
"""The most that the exponent over the two largest doublings may be of what is linear but for a step
between caches: a step of 1.6 within reads as 1.34 there, a square that has just set in as 1.6."""

SOARING = 8.0
"""A byte gets so many times dearer than under ``n log n`` over all sizes where no single exponent
fits, as of an exponential cost: the largest drop ever seen between caches, twice over and more."""

APART = 1.0
"""How much steeper than all later ones the first doubling is, where the first size is of another
kind: noise and caches make less of a difference."""

SMALL = 1 << 10
"""Sizes up to here tell what a call costs by itself."""


class Verdict(StrEnum):
    """What is said of growth; the values stand in records and reports."""

    LINEAR = "linear"
    SUPERLINEAR = "superlinear"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"


@dataclass(frozen=True)
class Estimate:
    """A number with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Growth:
    """How a cost grows; None where there were too few points.

    exponent: with its interval, from low to high. law: the best of :data:`LAWS`; laws: those that
    are not ruled out. constant: units for a byte more. overhead: what a call costs by itself.
    strength: how many times as much dearer a byte gets as the caches explain, more than 1 of what
    is superlinear. lately: the exponent over the largest sizes.
    """

    exponent: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    law: str = ""
    laws: tuple[str, ...] = ()
    constant: Estimate | None = None
    overhead: float = 0.0
    strength: float = 0.0
    lately: float = 0.0

    def measured(self, costs: Costs, **about: Any) -> Measured:
        """The event of this growth. costs: size to cost. about: the other fields of the event."""
        same = {name: getattr(self, name) for name in ("exponent", "low", "high", "law")}
        constant = asdict(self.constant) if self.constant else {}
        return Measured(
            **same,
            **about,
            verdict=self.verdict.value,
            points=points_of(costs),
            laws=list(self.laws),
            constant=constant.get("value"),
            constant_low=constant.get("low"),
            constant_high=constant.get("high"),
        )


def points_of(costs: Costs) -> list[list[float]]:
    """Sizes and their costs as they stand in events."""
    return [[size, cost] for size, cost in sorted(costs.items())]


UNKNOWN = Growth(None, None, None, Verdict.INCONCLUSIVE)


def judge(
    costs: Costs,
    tiny: float = 0.0,
    *,
    named: bool = True,
    noise: float = 1.0,
    exact: bool = False,
) -> Growth:
    """The growth of a cost.

    Parameters
    ----------
    costs
        Size in bytes to the smallest cost measured there, in any unit: noise only ever adds to
        the time of a computation, but for caches that happen to be warm.
    tiny
        What a call on a few bytes costs, in the same unit.
    named
        With the law and the constant, which take longer than the verdict.
    noise
        How many times dearer the machine made a byte over these sizes, as another implementation
        showed beside this one (:func:`shown_noise`): so much more it takes to accuse.
    exact
        The cost is counted and not timed, so that less of a rise tells.

    Notes
    -----
    The exponent is the weighted median of the slopes between all pairs of points in log-log
    (Theil, 1950; Sen, JASA 63, 1968), each weighted by its distance, since the error of a slope
    falls with it (Sievers, JASA 73, 1978; Scholz, Annals of Statistics 6, 1978). The interval runs
    from the ``TAIL`` quantile of the weighted slopes to its opposite. It is no confidence
    interval of a model of noise, as it must hold for what is no noise, too.

    Several ranges are looked at that end at the largest size: the largest sizes (a ``RANGE``), all,
    and those between that are ``WIDE``, as what is cheap at first hides the growth of what follows.
    A cost is superlinear if in one of them the whole interval of the exponent is above the
    threshold and a byte gets dearer by more than ``n log n`` and the caches together explain; or if
    it grows faster and faster up to the end, which no single exponent describes. It is linear
    (``n log n`` included) if the whole interval in the largest sizes is below the threshold; or if
    over all sizes, where they are many, it shows no more than ``n log n`` and steps as between
    caches.
    """
    overhead, spent = beyond_overhead(costs, tiny)
    if len(spent) < LEAST_POINTS:
        return replace(UNKNOWN, overhead=overhead)
    spent = settled(spent)
    largest = largest_of(spent)
    ranges = ranges_of(spent, largest)
    exponents = [exponent_of(one) for one in ranges]
    tail, whole = exponents[:2]
    verdict, chosen = Verdict.INCONCLUSIVE, tail
    allowed = noise * (ACCUSED_EXACTLY if exact else ACCUSED)
    excesses = [excess(*pair) / allowed for pair in zip(ranges, exponents, strict=True)]
    dearest = max(excesses)
    strength = max(dearest, soaring(spent) / noise)
    if strength > 1:
        verdict = Verdict.SUPERLINEAR
        steepest = exponents[excesses.index(dearest)]
        chosen = steepest if dearest > 1 else exponent_of(dict([*spent.items()][-3:]))
    elif tail.high <= THRESHOLD:
        verdict = Verdict.LINEAR
    elif whole.value <= THRESHOLD and steps_only(spent, largest):
        verdict, chosen = Verdict.LINEAR, whole
    law, laws = selected(spent) if named else ("", ())
    return Growth(
        chosen.value,
        chosen.low,
        chosen.high,
        verdict,
        law,
        laws,
        median_slope(*columns(largest)) if named else None,
        overhead,
        strength,
        tail.value,
    )


def beyond_overhead(costs: Costs, tiny: float) -> tuple[float, Costs]:
    """What a call costs by itself, and what each size that tells something costs beyond it."""
    overhead = intercept(costs, tiny)
    return overhead, {size: costs[size] - overhead for size in fitted_costs(costs, overhead)}


def largest_of(spent: Costs) -> Costs:
    """The largest sizes, a :data:`RANGE`."""
    return {size: cost for size, cost in spent.items() if size * RANGE >= max(spent)}


def ranges_of(spent: Costs, largest: Costs) -> list[Costs]:
    """The ranges that may show a cost to be superlinear, each of which ends at the largest size.

    The largest sizes, all, and those between that are wide and rise throughout.
    """
    sizes = [*spent]
    ranges = [largest, spent]
    for begin in range(len(sizes) - 3, 0, -1):
        if slope(spent, sizes[begin], sizes[begin + 2]) <= STEADY:
            break
        if sizes[begin] * WIDE <= sizes[-1]:
            ranges.append({size: spent[size] for size in sizes[begin:]})
    return ranges


def settled(spent: Costs) -> Costs:
    """The costs without the first ones, where these are much cheaper than the rest of the line.

    Short inputs may be one token, or known from before. A cost that grows faster and faster is
    never like that: its first doubling is its cheapest.
    """
    slopes = [slope(spent, *pair) for pair in pairwise(spent)]
    while len(slopes) >= LEAST_POINTS and slopes[0] > max(slopes[1:]) + APART:
        del slopes[0]
    return dict([*spent.items()][-len(slopes) - 1 :])


def excess(spent: Costs, exponent: Estimate) -> float:
    """How many times dearer a byte gets than under ``n log n``, by what is sure of it.

    0 where the interval of the exponent is not above the threshold. Both the exponent over the
    whole range and the two costs at its ends have to say so: steps close to one another make the
    exponent too large, and a single disturbed cost does so with the ends.
    """
    if exponent.low <= THRESHOLD:
        return 0.0
    small, large = min(spent), max(spent)
    fitted: float = (large / small) ** (exponent.value - 1) / logarithms(small, large)
    return min(fitted, dearer(spent))


def soaring(spent: Costs) -> float:
    """How many times as much dearer a byte gets as :data:`SOARING`, at the end of a long rise.

    0 unless the last two doublings both cost more than caches do.
    """
    *_, before, middle, last = spent
    rising = min(slope(spent, before, middle), slope(spent, middle, last)) > STILL
    return dearer(spent) / SOARING if rising else 0.0


def shown_noise(costs: Costs, tiny: float = 0.0) -> float:
    """How many times dearer the machine makes a byte, as a trusted implementation shows.

    Parameters
    ----------
    costs, tiny
        As of :func:`judge`: what the other took on the same sizes in the same rounds.

    Returns
    -------
    From 1 to :data:`MOST_NOISE`; 1 where it has too few sizes to tell.
    """
    _, spent = beyond_overhead(costs, tiny)
    if len(spent) < LEAST_POINTS:
        return 1.0
    rates = {size: cost / size for size, cost in spent.items()}
    last = rates[max(spent)]
    return min(max(1.0, last / rates[min(spent)], last / rates[min(largest_of(spent))]), MOST_NOISE)


def steps_only(spent: Costs, largest: Costs) -> bool:
    """Whether the rates only have steps, as between caches, and the last one is over.

    Over all sizes, which are to be many, and over the largest, no byte is dearer by more than that.
    """
    *_, before, _, last = spent
    steepest = max(slope(spent, before, last), slope(spent, min(largest), last))
    return (
        last >= RANGE * LEAST_POINTS * min(spent)
        and max(dearer(spent), dearer(largest)) <= HIERARCHY
        and steepest <= STILL
    )


def dearer(spent: Costs) -> float:
    """How many times as much a byte costs at the largest size as it would under ``n log n``."""
    small, large = min(spent), max(spent)
    return spent[large] / large / (spent[small] / small) / logarithms(small, large)


def logarithms(small: int, large: int) -> float:
    """How many times as much a byte costs at the larger size under ``n log n``."""
    return math.log(large) / math.log(small)


def slope(spent: Costs, small: int, large: int) -> float:
    """The exponent between two sizes."""
    return math.log(spent[large] / spent[small]) / math.log(large / small)


def columns(spent: Costs) -> tuple[Floats, Floats]:
    """The sizes, and their costs."""
    return np.array([*spent], dtype=np.float64), np.array([*spent.values()])


def exponent_of(spent: Costs) -> Estimate:
    """The weighted median of slopes in log-log, with its interval."""
    return median_slope(*map(np.log2, columns(spent)))


def median_slope(x: Floats, y: Floats) -> Estimate:
    """The median of the slopes between all pairs, weighted by distance, with its interval."""
    first, second = np.triu_indices(len(x), 1)
    distances = x[second] - x[first]
    slopes = (y[second] - y[first]) / distances
    order = np.argsort(slopes)
    ranked, weights = slopes[order], distances[order]
    # The weight up to the middle of each slope, from 0 to 1.
    places = (np.cumsum(weights) - weights / 2) / weights.sum()
    low, value, high = map(float, np.interp((TAIL, 0.5, 1 - TAIL), places, ranked))
    return Estimate(value, low, high)


def intercept(costs: Costs, tiny: float) -> float:
    """What a call costs by itself: where the line through the smallest sizes begins.

    By relative least squares, with the tiny input as its first point; never more than that one's
    cost, which is all there is to know where the line is none.
    """
    small = [size for size in sorted(costs) if size <= SMALL]
    if tiny <= 0 or len(small) < 2:
        return max(tiny, 0.0)
    x = np.array([16, *small], dtype=np.float64)
    y = np.array([tiny, *(costs[size] for size in small)])
    weights = 1 / np.maximum(y, 1e-300)
    start = np.linalg.lstsq(np.stack([weights, x * weights], axis=1), y * weights, rcond=None)[0][0]
    return min(max(float(start), 0.0), tiny)


def fitted_costs(costs: Costs, overhead: float) -> list[int]:
    """The sizes whose costs tell something, in order.

    Those where the overhead is half of the cost and more say nothing of the rest, and a small
    error in it would decide.
    """
    return sorted(size for size, cost in costs.items() if cost > 2 * overhead and cost > 0)


LAWS: dict[str, Callable[[Floats], Floats]] = {
    "1": np.ones_like,
    "log n": np.log,
    "n": lambda n: n,
    "n log n": lambda n: n * np.log(n),
    "n^1.5": lambda n: n**1.5,
    "n^2": lambda n: n**2,
    "n^3": lambda n: n**3,
}
"""The laws by which growth is named, the slowest first; ``exponential`` is one besides, as its base
is fitted, too."""

EXPONENTIAL = "exponential"

STEEPEST_POWER = 3.0
"""The exponent between the two largest sizes above which a cost may be called exponential."""

AGREEING = 0.06
"""Mean relative misfit that noise explains, of minima on a busy machine."""

RIVALS = 2.0
"""A law is ruled out whose misfit is so many times that of the best."""


def selected(spent: Costs) -> tuple[str, tuple[str, ...]]:
    """The law that describes the costs best, and all that are not ruled out.

    By the mean distance in logarithms, over all sizes, once the constant is the median of the
    ratios. Only a name for readers: the verdict is the exponent's, as a law for all sizes is
    wrong of costs that change their law, or their rate between caches.
    """
    n, costs = columns(spent)
    y = np.log(costs)
    residues = {name: y - np.log(law(n)) for name, law in LAWS.items()}
    # The cost grows by a factor for each byte more: a line against n itself. A square that is
    # setting in looks like it for a while, but is never as steep.
    base = median_slope(n, y).value
    if base > 0 and (y[-1] - y[-2]) / math.log(n[-1] / n[-2]) > STEEPEST_POWER:
        residues[EXPONENTIAL] = y - base * n
    misfits = {name: float(np.mean(np.abs(one - np.median(one)))) for name, one in residues.items()}
    best = min(misfits, key=misfits.__getitem__)
    bar = RIVALS * max(misfits[best], AGREEING)
    return best, tuple(name for name, value in misfits.items() if value <= bar)
