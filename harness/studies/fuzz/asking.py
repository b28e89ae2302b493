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
    from concurrent.futures import Future

    from harness.core.comparisons import Contract
    from harness.core.outcomes import Results
    from harness.engine.streams import Batch
    from harness.workers.pool import Asked, Pending, WorkerPool

SPECIAL_EVERY = 4
"""One in so many of the batches that are not about special tokens is asked with them, too."""

SLOW_SECONDS = 3.0
"""Seconds that an implementation needs for a round before anybody may be called slow: the clock has
a part in what a campaign asks only where it costs much, so that most campaigns repeat alike."""


@dataclass(frozen=True, slots=True, eq=False)
class Portion:
    """A part of a batch on its way, from input ``first`` on."""

    pending: Pending
    batch: Batch
    first: int


@dataclass(slots=True, eq=False)
class Sent:
    """A batch on its way to everybody since ``began``."""

    portions: list[Portion]
    began: float

    @property
    def asked(self) -> list[tuple[str, Asked]]:
        """Who was asked, once for each portion."""
        return [one for portion in self.portions for one in portion.pending.futures.items()]

    @property
    def futures(self) -> list[Future[Results]]:
        """The answers that are to come, or have come."""
        return [one.future for _, one in self.asked if one.future is not None]

    @property
    def owing(self) -> bool:
        """Whether somebody has not answered yet."""
        return not all(one.done for _, one in self.asked)

    def rates(self) -> dict[str, float] | None:
        """How fast each implementation was, in bytes a second.

        None where nobody kept the round waiting for long: what is known of who did stays.
        """
        sizes: Counter[str] = Counter()
        for portion in self.portions:
            sizes.update(dict.fromkeys(portion.pending.futures, len(portion.pending.inputs.data)))
        # A worker answers one after another, so that its last answer comes after all of its work.
        spent = {
            name: max(one.finished for who, one in self.asked if who == name) - self.began
            for name in sizes
        }
        if max(spent.values(), default=0.0) < SLOW_SECONDS:
            return None
        return {name: round(sizes[name] / max(seconds, 1e-4)) for name, seconds in spent.items()}


def send(
    pool: WorkerPool, contracts: Sequence[Contract], batch: Batch, rates: Mapping[str, float]
) -> Sent:
    """Send a batch under each contract.

    rates: bytes a second of each implementation, as the last committed round said; none where the
    budget is a number of cases, so that everybody is asked everything.
    """
    special = batch.generator in SPECIAL_GENERATORS or batch.number % SPECIAL_EVERY == 0
    size = sum(map(len, batch.inputs))
    sent = Sent([], time.monotonic())
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
                sent.portions.append(Portion(pending, part, start))
    return sent
