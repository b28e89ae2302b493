"""Which size of an input is measured next, by what the ones before took. Pure.

Sizes double, as far as a quadratic cost would stay within what a call may take. Where a doubling
multiplies the cost by more than any power of the size in use does, steps are small: the next
doubling might take longer than the time limit, which ends the process before its growth has a name.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

STEEP = 16.0
"""A doubling that multiplies the cost by more is followed by small steps: the fourth power does as
much, the third half of it."""

STEEP_FROM = 1e-4
"""Seconds of a call below which a cost is too little to call it steep: the machine disturbs it."""

STEP_FACTOR = 4.0
"""How many times as much a small step is expected to take: as much as a doubling of a quadratic
cost."""

FASTER = 2.3
"""A doubling that multiplies the cost by more may be the beginning of something steep, so that
sizes are asked one by one: the next doubling of an exponential cost multiplies by the square."""

MOST_SIZES = 24
"""Sizes of a cell after which no more are asked: small steps have told what they can by then."""


def next_sizes(
    costs: Mapping[int, float], limit: float, largest: int, at_once: int = 1
) -> list[int]:
    """The sizes to measure next, in order.

    Parameters
    ----------
    costs
        Size in bytes to the seconds of a call.
    limit
        Seconds that a call may take; the last size is not to take more than twice as much.
    largest
        Bytes of the largest size.
    at_once
        How many sizes may be asked in one request.

    Returns
    -------
    None of them where the next may take too long, or would be too large.
    """
    *_, before, size = [0, *sorted(costs)]
    factor = costs[size] / max(costs[before], 1e-9) if before else 0.0
    count = min(ahead(costs[size], limit), 1 if factor > FASTER else at_once)
    if len(costs) >= MOST_SIZES or not count:
        return []
    if size < 2 * before or (factor > STEEP and costs[size] > STEEP_FROM):
        rate = math.log(max(factor, 1 + 1e-9)) / (size - before)
        sizes = [size + min(size, max(1, int(math.log(STEP_FACTOR) / rate)))]
    else:
        sizes = [size << doubling for doubling in range(1, count + 1)]
    return [one for one in sizes if one <= largest]


def ahead(spent: float, limit: float) -> int:
    """How many further sizes may be asked at once after a call of ``spent`` seconds.

    Were the cost quadratic, each would be four times as much as the one before: the last is not to
    take more than twice the limit, and none is asked where the next may.
    """
    return max(0, int(math.log(2 * limit / max(spent, 1e-9), 4)))
