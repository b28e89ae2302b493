"""The loop of a campaign: choose who makes inputs, have them made, ask, reward what was new.

What is new is for a feedback to say: behaviours of all who are asked (``fuzz``), the cost of one
implementation (``worst``), or places in the source that were never run (what Atheris makes for
``fuzz``, and whole targets of libFuzzer in ``guided``, which drive themselves).

Who makes the next batch is chosen by Thompson sampling for discoveries that come as a Poisson
process: each arm's rate of discoveries for its cost has a Gamma belief, a rate is drawn from each,
and the greatest is taken. What was seen long ago counts less and less, as every arm dries up
(discounted Thompson sampling: Raj and Kalyani, Taming Non-stationary Bandits: A Bayesian Approach,
arXiv:1707.09727). Besides, a share of all batches goes to whichever arm has waited longest: a yield
that is zero today may not be so tomorrow.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Made = TypeVar("Made")

Maker = Callable[[int, int], Made | None]
"""Makes a batch, given its number in the campaign and how many its arm has made before: a function
of the two, and of what was kept so far. An empty batch: it has nothing now. None: it has nothing
left."""

Feedback = Callable[[str, Made], tuple[int, float]]
"""Asks a batch of an arm, and keeps what is new: how many inputs were asked, and what that was
worth, in discoveries."""

FLOOR = 0.2
"""Share of the batches that go to the arm that has waited longest: with a dozen arms, each gets at
least one batch in sixty, whatever it yields."""

MEMORY = 0.98
"""The weight of a batch shrinks by this factor with each one that follows, so that the last fifty
or so decide."""

PRIOR_GAIN, PRIOR_COST = 1.0, 1.0
"""The belief about an arm before anything is known: one discovery for a batch, very unsure."""


@dataclass(slots=True)
class Arm:
    """A way of making inputs, and what it has yielded.

    cost: of a batch, beside others: 1 for one that a generator makes. gain, spent: discoveries and
    costs, discounted. last: number of its last batch, -1 before the first. batches: made; cases,
    found: in all. ended: it has no more inputs to give.
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


@dataclass(slots=True)
class Schedule:
    """What a loop goes on from. number: of the next batch."""

    number: int = 0
    arms: list[Arm] = field(default_factory=list)


class Loop(Generic[Made]):
    """Chooses who makes the next batch. A choice depends on the seed, the number of the batch, and
    what was rewarded so far: nothing else.

    makers: by name. costs: of those of which a batch takes longer than that of a generator.
    schedule: all its state, which it goes on from and keeps up to date.
    """

    def __init__(
        self,
        makers: Mapping[str, Maker[Made]],
        seed: str,
        schedule: Schedule,
        costs: Mapping[str, float] | None = None,
    ) -> None:
        if not schedule.arms:
            schedule.arms += [Arm(name, (costs or {}).get(name, 1.0)) for name in makers]
        self._makers, self._seed, self._schedule = makers, seed, schedule

    def turn(self, learn: Feedback[Made]) -> bool:
        """One batch: chosen, made, asked, rewarded; whether anybody had anything.

        Where asking raises, as time is up, nothing was rewarded: what was kept before goes on.
        """
        schedule = self._schedule
        while (arm := self._chosen()) is not None:
            made = self._makers[arm.name](schedule.number, arm.batches)
            if made is None:
                arm.ended = True
                continue
            arm.batches += 1
            arm.last = schedule.number
            self._reward(arm, *learn(arm.name, made))
            return True
        return False

    def _chosen(self) -> Arm | None:
        able = [arm for arm in self._schedule.arms if not arm.ended]
        untried = [arm for arm in able if arm.last < 0]
        if untried or not able:
            return next(iter(untried), None)
        rng = random.Random(f"schedule/{self._seed}/{self._schedule.number}")
        if rng.random() < FLOOR:
            return min(able, key=lambda arm: arm.last)
        rates = [
            rng.gammavariate(PRIOR_GAIN + arm.gain, 1 / (PRIOR_COST + arm.spent)) for arm in able
        ]
        return able[rates.index(max(rates))]

    def _reward(self, arm: Arm, cases: int, discoveries: float) -> None:
        for one in self._schedule.arms:
            one.gain *= MEMORY
            one.spent *= MEMORY
        arm.gain += discoveries
        arm.spent += arm.cost
        arm.cases += cases
        arm.found += discoveries
        self._schedule.number += 1


def derived(seed: int, shard: int, segment: int) -> int:
    """A seed for each segment of each shard; the campaign's own for the first."""
    if shard == segment == 0:
        return seed
    digest = hashlib.sha256(f"{seed}/{shard}/{segment}".encode()).digest()
    return int.from_bytes(digest[:6], "big")
