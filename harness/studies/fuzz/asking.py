"""How a batch of a campaign is sent: its first inputs to all, the rest to who is not slow."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.core.outcomes import Inputs
from harness.engine.feed import first_bytes, slow_ones
from harness.engine.taking import SPECIAL_GENERATORS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.core.comparisons import Contract
    from harness.engine.streams import Batch
    from harness.workers.pool import Pending, WorkerPool

SPECIAL_EVERY = 4
"""One in so many of the batches that are not about special tokens is asked with them, too."""

SLOW_SECONDS = 3.0
"""Seconds that an implementation needs for a round before anybody may be called slow: the clock has
a part in what a campaign asks only where it costs much, so that most campaigns repeat alike."""


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """A part of a batch on its way, from input ``first`` on, asked at ``began``."""

    pending: Pending
    batch: Batch
    first: int
    began: float


def send(
    pool: WorkerPool, contracts: Sequence[Contract], batch: Batch, rates: Mapping[str, float]
) -> list[Portion]:
    """Send a batch under each contract.

    rates: bytes a second of each implementation, as the last committed round said; none where the
    budget is a number of cases, so that everybody is asked everything.
    """
    special = batch.generator in SPECIAL_GENERATORS or batch.number % SPECIAL_EVERY == 0
    size = sum(map(len, batch.inputs))
    sent: list[Portion] = []
    for contract in contracts:
        if contract.mode.special == "all" and not special:
            continue
        trusted = contract.references & set(contract.names) - pool.withdrawn().keys()
        slow = slow_ones(rates, contract.names, size, trusted)
        head = first_bytes(batch.inputs, min(slow.values(), default=math.inf))
        fast = contract.among(set(contract.names) - set(slow))
        bounds = (head, len(batch.inputs)) if len(fast.participants) > 1 else (head,)
        for start, end in pairwise((0, *bounds)):
            if start < end:
                part = replace(batch, start=batch.start + start, inputs=batch.inputs[start:end])
                pending = pool.ask(fast if start else contract, Inputs.of(part.inputs))
                sent.append(Portion(pending, part, start, time.monotonic()))
    return sent


def rates_of(sent: Sequence[Portion]) -> dict[str, float] | None:
    """Return how fast each implementation was in a round, in bytes a second.

    None where nobody kept the round waiting for long: what is known of who did stays.
    """
    spent: dict[str, float] = {}
    sizes: Counter[str] = Counter()
    free: dict[str, float] = {}
    for portion in sent:
        for name, one in portion.pending.futures.items():
            # A worker answers one after another, however early it was asked.
            took = one.finished - max(portion.began, free.get(name, 0.0))
            spent[name] = spent.get(name, 0.0) + took
            free[name] = one.finished
            sizes[name] += len(portion.pending.inputs.data)
    if max(spent.values(), default=0.0) < SLOW_SECONDS:
        return None
    return {name: round(sizes[name] / max(seconds, 1e-4)) for name, seconds in spent.items()}
