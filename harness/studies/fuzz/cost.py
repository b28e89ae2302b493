"""Inputs that cost more a byte than any before: the one behaviour that only the clock tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.core.outcomes import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.core.comparisons import Contract
    from harness.workers.pool import WorkerPool

EVERY = 8
"""One batch in so many is timed: that asks every implementation a second time."""

LEAST_BYTES = 64
"""Below, a call's own cost is all there is to see."""

STEP = 1.5
"""A cost is new if it is so many times as great as before: smaller steps are noise."""

AGAIN = 3
"""A candidate is timed so many times again, and its least time counts."""


def dearer(
    pool: WorkerPool, contract: Contract, inputs: Sequence[bytes], costs: dict[str, float]
) -> list[int]:
    """The inputs that cost an implementation more a byte than any of its length before.

    costs: nanoseconds a byte by implementation and power of two of the length; raised here.
    """
    long_enough = [index for index, data in enumerate(inputs) if len(data) >= LEAST_BYTES]
    found = []
    for name in contract.names if long_enough else ():
        given = [inputs[index] for index in long_enough]
        timed = pool.gauge(name, contract, given, Meter.TIME)
        if timed.costs is None:
            continue
        for row, index in enumerate(long_enough):
            size = len(inputs[index])
            key = f"{name} {1 << size.bit_length() - 1}"
            if timed.costs[row, 0] / size <= STEP * costs.get(key, 0.0):
                continue
            if timed.status[row] != Status.ENCODED:
                continue
            again = pool.gauge(name, contract, [inputs[index]] * AGAIN, Meter.TIME).costs
            if again is None:
                continue
            least = float(again[:, 0].min()) / size
            if least > STEP * costs.get(key, 0.0):
                costs[key] = least
                found.append(index)
    return sorted(set(found))
