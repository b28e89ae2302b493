"""Which generator is asked next: the one that still yields, and each now and then.

Thompson sampling for discoveries that come as a Poisson process: each arm's rate of discoveries for
its cost has a Gamma belief, a rate is drawn from each, and the greatest is taken. What was seen
long ago counts less and less, as every arm dries up (discounted Thompson sampling: Raj and Kalyani,
Taming Non-stationary Bandits: A Bayesian Approach, arXiv:1707.09727). Besides, a share of all
batches goes to whichever arm has waited longest: a yield that is zero today may not be so tomorrow.

A choice depends on the seed, the number of the batch, and what was rewarded so far: nothing else.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FLOOR = 0.2
"""Share of the batches that go to the arm that has waited longest: with a dozen arms, each gets at
least one batch in sixty, whatever it yields."""

MEMORY = 0.98
"""The weight of a batch shrinks by this factor with each one that follows, so that the last fifty
or so decide."""

PRIOR_GAIN, PRIOR_COST = 1.0, 1.0
"""The belief about an arm before anything is known: one discovery for a batch, very unsure."""

JOINED_GAIN, DISAGREEMENT_GAIN, BUCKET_GAIN = 0.1, 5.0, 20.0
"""The gains of three discoveries: an input that joins the corpus, a new shape of disagreement, a
new bucket of findings. Early on nearly all inputs join, so that they must count for little."""

JOINED_COUNTED = 50
"""Inputs of one batch that count: long batches of strange bytes would outdo all else at first."""


@dataclass(slots=True)
class Arm:
    """A way of making inputs, and what it has yielded.

    cost: of a batch, beside others: 1 for one that a generator makes. gain, spent: discoveries and
    costs, discounted. last: number of its last batch, -1 before the first. batches, cases, found:
    in all. ended: it has no more inputs to give.
    """

    name: str
    cost: float = 1.0
    gain: float = 0.0
    spent: float = 0.0
    last: int = -1
    batches: int = 0
    cases: int = 0
    found: float = 0.0
    ended: bool = False


class Schedule:
    """Chooses among arms.

    arms: all its state, which it goes on from and keeps up to date; those of ``costs`` are added
    where there are none yet.
    """

    def __init__(
        self, costs: Mapping[str, float], seed: str, arms: list[Arm] | None = None
    ) -> None:
        arms = [] if arms is None else arms
        if not arms:
            arms += [Arm(name, cost) for name, cost in costs.items()]
        self.arms = {arm.name: arm for arm in arms}
        self._seed = seed

    def choose(self, number: int, busy: Sequence[str] = ()) -> str | None:
        """The arm of batch ``number``; None when all have ended. Changes nothing.

        busy: those chosen already for batches that are not rewarded yet: an arm that was never
        tried is not chosen twice.
        """
        able = [arm for arm in self.arms.values() if not arm.ended]
        if not able:
            return None
        for arm in able:
            if arm.last < 0 and arm.name not in busy:
                return arm.name
        rng = random.Random(f"schedule/{self._seed}/{number}")
        if rng.random() < FLOOR:
            waiting = [arm for arm in able if arm.name not in busy] or able
            return min(waiting, key=lambda arm: arm.last).name
        drawn = {
            arm.name: rng.gammavariate(PRIOR_GAIN + arm.gain, 1 / (PRIOR_COST + arm.spent))
            for arm in able
        }
        return max(drawn, key=drawn.__getitem__)

    def reward(self, name: str, number: int, cases: int, discoveries: float) -> None:
        """Batch ``number`` of an arm is done and came to so many discoveries."""
        for arm in self.arms.values():
            arm.gain *= MEMORY
            arm.spent *= MEMORY
        arm = self.arms[name]
        arm.gain += discoveries
        arm.spent += arm.cost
        arm.last = number
        arm.batches += 1
        arm.cases += cases
        arm.found += discoveries

    def end(self, name: str) -> None:
        """An arm has no more inputs."""
        self.arms[name].ended = True


def gain(joined: int, shapes: int, buckets: int) -> float:
    """What a batch was worth, by the discoveries that it came to."""
    counted = min(joined, JOINED_COUNTED)
    return JOINED_GAIN * counted + DISAGREEMENT_GAIN * shapes + BUCKET_GAIN * buckets
