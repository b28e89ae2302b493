"""How a batch of a campaign is sent: its first inputs to all, the rest to who is not slow."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import wait
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.core.outcomes import Inputs
from harness.engine.feed import first_bytes, slow_ones
from harness.engine.samples import SPECIAL_GENERATORS
from harness.workers.pool import Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.core.comparisons import Contract
    from harness.engine.streams import Batch
    from harness.workers.pool import Pending, WorkerPool

SPECIAL_EVERY = 4
"""One in so many of the batches that are not about special tokens is asked with them, too."""

POLL_SECONDS = 0.2
"""Between two looks at how long a round takes."""

SLOW_SECONDS = 3.0
"""Seconds that an implementation needs for a round before anybody may be called slow: the clock has
a part in what a campaign asks only where it costs much, so that most campaigns repeat alike."""


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """A part of a batch on its way, from input ``first`` on."""

    pending: Pending
    batch: Batch
    first: int


def send(
    pool: WorkerPool, contracts: Sequence[Contract], batch: Batch, rates: Mapping[str, float]
) -> list[Portion]:
    """Send a batch under each contract.

    rates: bytes a second of each implementation, as the last committed round said; none where the
    budget is a number of cases, so that everybody is asked everything.
    """
    special = batch.generator in SPECIAL_GENERATORS or batch.number % SPECIAL_EVERY == 0
    size = sum(map(len, batch.inputs))
    sent = []
    for contract in contracts:
        if contract.mode.special == "all" and not special:
            continue
        trusted = contract.references & set(contract.names) - pool.withdrawn().keys()
        slow = slow_ones(rates, contract.names, size, trusted)
        head = first_bytes(batch.inputs, min(slow.values(), default=math.inf))
        fast = contract.among(set(contract.names) - set(slow))
        ends = (0, head, len(batch.inputs)) if len(fast.participants) > 1 else (0, head)
        for start, end in pairwise(ends):
            if start < end:
                part = replace(batch, start=batch.start + start, inputs=batch.inputs[start:end])
                pending = pool.ask(fast if start else contract, Inputs.of(part.inputs))
                sent.append(Portion(pending, part, start))
    return sent


def answered(sent: Sequence[Portion], ended: Callable[[], bool]) -> None:
    """Wait until everybody has answered everything. Raises Stopped where it has ended before."""
    asked = [one for portion in sent for one in portion.pending.futures.values()]
    while not all(one.done for one in asked):
        if ended():
            raise Stopped
        wait([one.future for one in asked if one.future is not None], timeout=POLL_SECONDS)


def rates_of(sent: Sequence[Portion], began: float) -> dict[str, float] | None:
    """How fast each implementation has answered since a moment, in bytes a second.

    None where nobody kept the round waiting for long: what is known of who did stays.
    """
    sizes: Counter[str] = Counter()
    last: dict[str, float] = {}
    for portion in sent:
        for name, one in portion.pending.futures.items():
            sizes[name] += len(portion.pending.inputs.data)
            # A worker answers one after another: its last answer comes after all of its work.
            last[name] = max(one.finished, last.get(name, began))
    if max(last.values(), default=began) - began < SLOW_SECONDS:
        return None
    return {name: round(sizes[name] / max(end - began, 1e-4)) for name, end in last.items()}
