"""Judgement of what is left behind: a slope of memory that does not end. Pure.

The same inputs are encoded in pass after pass. What a cache keeps of them it keeps once, however
much that is, and so do tables, pools and an allocator that has to find its size; what leaks leaks
in every pass. So the first pass is a warm-up, and a leak is what every later pass adds alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.verdict.exponents import Verdict

RATE = 512.0
"""Bytes for an input below which nothing is called a leak: an allocator's pages go to and fro."""

PASS_NOISE = 128 << 10
"""Bytes that a pass may add without any leak: what a thread or an allocator takes at a time."""

STILL = 2
"""Passes in a row that add less than a leak does, after which there is none."""

SURE = 5
"""Passes in a row that all add what a leak adds, before one is told."""

STEADY = 0.75
"""The last two of these passes add at least this share of what the first two added. A pool that
approaches its size adds less and less."""

MOST = 12
"""Passes after which it stays open."""


@dataclass(frozen=True)
class Left:
    """What is left behind.

    verdict: superlinear where there is a leak, linear where there is none; inconclusive while more
    passes would tell. rate: bytes for each input, the least of the passes that tell; 0 where
    nothing was measured.
    """

    verdict: Verdict
    rate: float


def judge_left(held: Sequence[int], inputs: int) -> Left:
    """With h(k) held after pass k over the same m inputs: (h(k) - h(k - 1)) / m < 512 bytes.

    A leak, if each of the last five passes adds more than that (and 128 KiB), and the last two of
    them at least 3/4 of what the first two add: what a pool adds that finds its size becomes less.
    None, if two passes in a row add less. Otherwise open, after twelve passes for good.

    Parameters
    ----------
    held
        Bytes that are held after each pass, the first of them after the warm-up.
    inputs
        How many inputs a pass has.
    """
    added = [after - before for before, after in pairwise(held)]
    if not added or inputs <= 0:
        return Left(Verdict.INCONCLUSIVE, 0.0)
    least = max(RATE * inputs, PASS_NOISE)
    rate = max(0.0, min(added[-SURE:])) / inputs
    if len(added) >= STILL and all(one < least for one in added[-STILL:]):
        return Left(Verdict.LINEAR, rate)
    last = added[-SURE:]
    if len(last) == SURE and min(last) >= least:
        early, late = sum(last[:STILL]), sum(last[-STILL:])
        if late >= STEADY * early:
            return Left(Verdict.SUPERLINEAR, rate)
    return Left(Verdict.INCONCLUSIVE, rate)
