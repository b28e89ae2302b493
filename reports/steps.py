"""Steps in a series: where its level changed, by statistics and not by eye. Pure.

The series is taken as piecewise constant with noise. Of all ways to cut it into stretches the one
is taken whose deviations from the stretches' medians, and a price for each step, are the least
together; it is found exactly, by dynamic programming (Bellman, CACM 4, 1961; with a price: Jackson
et al., "An algorithm for optimal partitioning of data on an interval", IEEE Signal Processing
Letters 12, 2005). Absolute deviations in units of the noise, none of which counts for more than
:data:`MOST`, because timings on shared machines have outliers, and one of them is no step. The
price is that of Schwarz's criterion for Laplacian noise, with a parameter for each level and one
for each place (Yao, Statistics & Probability Letters 6, 1988), times :data:`PENALTY`. The idea of
judging benchmarks so is that of asv.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

SHORTEST = 3
"""Points that a level must last: two bad nights in a row happen on shared machines. A change is
therefore seen with the third point after it."""

LONGEST = 400
"""Points that are looked at, the last ones: more than a year of nights, in half a second."""

PENALTY = 3.0
"""Factor on the price of a step: a report has dozens of series, so false steps must be rare. In 200
series each of 60 points of noise alone (Gaussian, Laplacian, log-normal, Student's with 3 degrees)
Schwarz's own price, 1, finds steps in 14 to 31 %, and 3 in none; where nights hang together
(autocorrelation 0.4), in 5 to 12 %. A level that changes by 3 standard deviations for the last 10
points is found, to the point, in 92 to 97 %, one by 4 for the last 5 in 97 to 100 %."""

MOST = 6.0
"""What a point counts at the most, in units of the noise."""

LEAST = 0.05
"""Smallest change, relative to the level before, that is worth telling of a timing."""


@dataclass(frozen=True)
class Stretch:
    """Points from ``start`` up to but not including ``end``, at one level: their median."""

    start: int
    end: int
    level: float


@dataclass(frozen=True)
class Step:
    """The level changes: ``place`` is the first point at the new level."""

    place: int
    before: float
    after: float


def stretches(values: Sequence[float]) -> list[Stretch]:
    """The series as stretches of one level each, in order, over all points that are looked at.

    Positions are those of ``values``; of a series longer than :data:`LONGEST` the earlier points
    belong to no stretch. Empty for an empty series. Values must be finite.
    """
    skipped = max(0, len(values) - LONGEST)
    series = np.asarray(values[skipped:], dtype=float)
    number = len(series)
    if not number:
        return []
    costs, price = deviations(series / noise(series)), PENALTY * math.log(number)
    best, edges = np.zeros(number + 1), [0] * (number + 1)
    for end in range(1, number + 1):
        through = best[:end] + costs[:end, end] + price
        edges[end] = int(through.argmin())
        best[end] = through[edges[end]]
    places = [number]
    while places[-1]:
        places.append(edges[places[-1]])
    return [
        Stretch(start + skipped, end + skipped, float(np.median(series[start:end])))
        for start, end in pairwise(reversed(places))
    ]


def steps(values: Sequence[float], least: float = 0.0) -> list[Step]:
    """Where the level changes by more than ``least``, relative to the level before."""
    return [
        Step(after.start, before.level, after.level)
        for before, after in pairwise(stretches(values))
        if abs(after.level - before.level) > least * abs(before.level)
    ]


def noise(series: NDArray[np.float64]) -> float:
    """The mean absolute deviation of the noise, by what two neighbours differ.

    A step moves one of these differences alone. 0.85: for Gaussian and Laplacian noise alike. Less
    than a thousandth of the typical value does not count: no timing repeats better.
    """
    apart = 0.85 * float(np.median(np.abs(np.diff(series)))) if len(series) > 1 else 0.0
    return max(apart, 1e-3 * float(np.median(np.abs(series))), 1e-12)


def deviations(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """``[i, j]``: the sum of absolute deviations of ``series[i:j]`` from its median, or inf.

    None is more than :data:`MOST`. It is inf for what is shorter than :data:`SHORTEST` and not the
    whole.
    """
    number = len(series)
    costs = np.full((number + 1, number + 1), np.inf)
    for length in {*range(SHORTEST, number), number}:
        stretch = np.lib.stride_tricks.sliding_window_view(series, length)
        apart = np.abs(stretch - np.median(stretch, axis=1, keepdims=True))
        start = np.arange(number - length + 1)
        costs[start, start + length] = np.minimum(apart, MOST).sum(axis=1)
    return costs
