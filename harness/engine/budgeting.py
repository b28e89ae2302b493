"""How the time of a run is shared among its vocabularies. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.core.countdown import Countdown

LAST = 0.04
"""Share of a budget, at its end, in which no new case is asked: what was asked is judged then, and
what was found is minimised."""

LAST_SECONDS, MOST_LAST = 1.0, 0.1
"""The end of a run has so many seconds, which is enough to minimise most findings, but no more than
this share of a short budget."""

LEAST_SECONDS = 0.5
"""Seconds that a vocabulary gets at the least while the budget lasts."""


def left_for_cases(countdown: Countdown) -> float:
    """The seconds until no new case is to be asked; infinite where time is no limit."""
    if countdown.seconds is None:
        return float("inf")
    return countdown.left - last_seconds(countdown.seconds)


def last_seconds(budget: float) -> float:
    """The seconds at the end of a budget in which no new case is asked."""
    return max(LAST * budget, min(LAST_SECONDS, MOST_LAST * budget))


def share(left: float, weight: float, ahead: float, pools: int, reserved: float) -> float:
    """The seconds that one vocabulary is checked for.

    Parameters
    ----------
    left
        Seconds of the whole run that are left.
    weight
        Of this vocabulary.
    ahead
        Weights of this one and of all that no pool has begun.
    pools
        How many vocabularies are checked side by side.
    reserved
        Seconds of a pool that other work will take: growth, and loading what is to come.
    """
    part = min(1.0, pools * weight / ahead) if ahead > 0 else 1.0
    return min(left, max(LEAST_SECONDS, (left - reserved) * part))
