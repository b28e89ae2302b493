"""Judgement of growth: from times at sizes to an exponent, its interval and a verdict. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

THRESHOLD = 1.3
"""Exponents above are faster growth than linear.

Over the sixteenfold range that is fitted, ``n log n`` reads as 1.15 from 256 bytes on and as 1.10
from 4 KiB on; a rate that drops by half between the caches, evenly over the range, adds 0.25 to
1. ``n^1.5`` reads as 1.5. Chosen on simulated cells (noise of 3, 8 and 15 %, disturbances, steps
at caches; 400 cells of each kind) against 1.25 and with three other intervals. With this interval
no linear cell was called superlinear, and no quadratic one linear, at either threshold; under 15 %
of noise ``n log n`` across two steps was called superlinear in 9 cells with 1.25, in 2 with 1.3.
``tests/harness/test_growth_exponent.py`` holds the choice to its promises up to 10 %.
"""

RANGE = 16
"""Largest size over smallest in a fit: wide enough that 10 % of noise moves the exponent by 0.05,
narrow enough that a quadratic term which shows late is not averaged away by small sizes."""

LEAST_POINTS = 4
"""Fewer sizes (a range of less than 8) decide nothing."""

TAIL = 0.05
"""Weight of slopes left out at either end of the interval: one wrong pair of neighbours."""


class Verdict(StrEnum):
    """What is said of growth; the values stand in records and reports."""

    LINEAR = "linear"
    SUPERLINEAR = "superlinear"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Growth:
    """The exponent of growth with its interval; None where there were too few points."""

    exponent: float | None
    low: float | None
    high: float | None
    verdict: Verdict


UNKNOWN = Growth(None, None, None, Verdict.INCONCLUSIVE)


def judge(times: Mapping[int, float], overhead: float) -> Growth:
    """The growth of a cost.

    Parameters
    ----------
    times
        Size in bytes to the smallest time measured there, in any unit: noise only ever adds to
        the time of a computation, but for caches that happen to be warm.
    overhead
        What a call costs whatever the size, in the same unit.

    Notes
    -----
    The exponent is the weighted median of the slopes between all pairs of points in log-log
    (Theil, 1950; Sen, JASA 63, 1968), each weighted by its distance, since the error of a slope
    falls with it (Sievers, JASA 73, 1978; Scholz, Annals of Statistics 6, 1978). The interval runs
    from the ``TAIL`` quantile of the weighted slopes to its opposite. It is no confidence
    interval of a model of noise, as it must hold for what is no noise, too: a step where the data
    outgrow a cache spreads the slopes (1 on either side of it, more across it), so that it reads
    as inconclusive, whereas a quadratic cost has slopes near 2 everywhere.
    """
    sizes = fitted(times, overhead)
    if len(sizes) < LEAST_POINTS:
        return UNKNOWN
    x = np.log2(np.array(sizes, dtype=np.float64))
    y = np.log2(np.array([times[size] - overhead for size in sizes]))
    pairs = list(combinations(range(len(sizes)), 2))
    distances = np.array([x[j] - x[i] for i, j in pairs])
    slopes = np.array([(y[j] - y[i]) for i, j in pairs]) / distances
    order = np.argsort(slopes)
    ranked, weights = slopes[order], distances[order]
    # The weight up to the middle of each slope, from 0 to 1.
    places = (np.cumsum(weights) - weights / 2) / weights.sum()
    low, exponent, high = (float(v) for v in np.interp((TAIL, 0.5, 1 - TAIL), places, ranked))
    return Growth(exponent, low, high, verdict(low, high))


def fitted(times: Mapping[int, float], overhead: float) -> list[int]:
    """The sizes whose times are fitted: the largest, down to a ``RANGE``-th of it.

    Those where the overhead is half of the time and more say nothing of the rest, and a small
    error in it would decide.
    """
    told = sorted(size for size, time in times.items() if time > 2 * overhead and time > 0)
    return [size for size in told if size * RANGE >= told[-1]]


def verdict(low: float, high: float) -> Verdict:
    """The verdict of an interval of exponents."""
    if high <= THRESHOLD:
        return Verdict.LINEAR
    return Verdict.SUPERLINEAR if low > THRESHOLD else Verdict.INCONCLUSIVE
