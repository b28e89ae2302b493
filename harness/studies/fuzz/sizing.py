"""How much a round takes on, so that one that is killed has cost a few seconds at the most.

A round that takes long makes the next one smaller, down to a single input, and one that is done
soon makes the next one larger, up to all the batches that the schedule chooses at a time. What was
chosen and not asked yet is committed with the round, and asked by the next ones, in the same order:
so that the size decides when something is committed, and not what is asked.

How large the next round is depends on how long the last one took, and is committed with it. Only
where rounds take seconds does the clock have a part in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.engine.streams import Batch
from harness.studies.fuzz.arms import SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUND_SECONDS = 10.0
"""A round is given up after so long, and done again in smaller ones, unless it is one input: that
has the time limit of its own."""

LONG_SECONDS = 5.0
"""A round that took longer is too large: another input may take longer than the last ones."""

SHORT_SECONDS = 2.0
"""After a round shorter than this the next one may take on more: :data:`GROWTH` times this is below
the limit."""

GROWTH = 4

FIRST = 1 << 9
"""The first round takes on so much, a dozen short inputs, since nobody knows the pace of the
campaign yet."""

WHOLE = 1 << 24
"""Beyond what the schedule ever chooses at a time: the size decides nothing."""

CALL = 32
"""Bytes that a call weighs besides its input."""


def weight(inputs: Sequence[bytes]) -> int:
    """What inputs count for in the size of a round."""
    return sum(CALL + len(data) for data in inputs)


def next_size(size: int, asked: int, seconds: float) -> int:
    """The size of the next round, where one of ``size`` has asked inputs of weight ``asked``."""
    if seconds > LONG_SECONDS:
        return max(1, int(min(asked, size) * LONG_SECONDS / 2 / seconds))
    if seconds <= SHORT_SECONDS:
        return min(WHOLE, size * GROWTH)
    return size


@dataclass(frozen=True, slots=True)
class Waiting:
    """A batch that was chosen, or the rest of one, with what its first parts came to.

    arm: that made it. generator, seed, number, start, inputs: of the batch. cases, joined, shapes,
    buckets: of the parts that were asked.
    """

    arm: str
    generator: str
    seed: int
    number: int
    start: int
    inputs: list[bytes]
    cases: int = 0
    joined: int = 0
    shapes: int = 0
    buckets: int = 0

    @classmethod
    def of(cls, arm: str, batch: Batch) -> Waiting:
        """All of a batch."""
        return cls(arm, batch.generator, batch.seed, batch.number, batch.start, batch.inputs)

    def first(self, count: int) -> Batch:
        """Its next inputs, so many of them, as a batch."""
        return Batch(self.generator, self.seed, self.number, self.start, self.inputs[:count])

    def without(self, count: int) -> Waiting:
        """What is left of it after its next inputs, so many of them."""
        return replace(self, start=self.start + count, inputs=self.inputs[count:])


@dataclass(frozen=True, slots=True)
class Part:
    """What a round asks of one batch. last: nothing of the batch is left after it."""

    waiting: Waiting
    batch: Batch
    last: bool


def taken(waiting: Sequence[Waiting], size: int, cases: int | None = None) -> list[Part]:
    """The parts of a round: as many inputs as its size allows, in order, and at least one.

    cases: that may be asked, besides what others shared, so that a campaign ends with as many as
    were asked for, whatever the sizes of its rounds; None: any number.
    """
    parts: list[Part] = []
    left = size
    most = WHOLE if cases is None else cases
    for one in waiting:
        count = 0
        for data in one.inputs:
            left -= CALL + len(data)
            most -= one.arm != SHARED
            if most < 0 or (left < 0 and (parts or count)):
                left = -1
                break
            count += 1
        if count:
            parts.append(Part(one, one.first(count), count == len(one.inputs)))
        if left < 0:
            break
    return parts


def after(
    waiting: Sequence[Waiting], parts: Sequence[Part], came: Sequence[Waiting]
) -> list[Waiting]:
    """What waits after a round. came: by part, its batch with what its parts came to so far."""
    rest = list(waiting[len(parts) :])
    if parts and not parts[-1].last:
        rest.insert(0, came[-1].without(len(parts[-1].batch.inputs)))
    return rest


class TooLong(Exception):
    """A round took longer than it may: the next is to take on no more than ``size``.

    owing: who has not answered.
    """

    def __init__(self, size: int, owing: Sequence[str]) -> None:
        self.size, self.owing = size, owing
        super().__init__(f"to be done again in rounds of {size}")
