"""Whom the costs are measured of: one implementation, loaded, in a mode that it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.core.outcomes import Failed, Status
from harness.workers.reasons import kept_from_answering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome, Results
    from harness.core.participants import Participant
    from harness.workers.pool import WorkerPool

Stopped = Callable[[], bool]
"""Whether nothing more is to be asked."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One implementation, which its worker has loaded, under a contract that it takes part in."""

    pool: WorkerPool
    participant: Participant
    contract: Contract

    @property
    def name(self) -> str:
        """As in reports."""
        return self.participant.name

    @property
    def most(self) -> int | None:
        """Bytes of the longest input that it may be asked; None for any."""
        return self.participant.about.max_input

    def gauge(self, inputs: Sequence[bytes], meter: Meter) -> Results:
        """Outcomes of inputs in one request, and their costs where all of them were answered.

        Raises Stopped and OutOfTime.
        """
        return self.pool.gauge(self.name, self.contract, inputs, meter)


def answering(
    pool: WorkerPool, participant: Participant, contracts: Sequence[Contract], probe: bytes
) -> Subject | None:
    """The subject under the first contract in whose mode it encodes a probe; None for nowhere.

    A program over stdio has no other way to say that it does not do a mode. Raises Stopped and
    OutOfTime.
    """
    for contract in contracts:
        if participant.name in contract.names and participant.name not in pool.withdrawn():
            subject = Subject(pool, participant, contract)
            if not subject.gauge([probe], Meter.TIME).status.any():
                return subject
    return None


def failure_of(results: Results) -> tuple[int, Failed] | None:
    """The first input that the implementation failed on, and how; None where it did on none.

    Neither what it declines is a failure, nor what the harness has not asked.
    """
    for row, status in enumerate(results.status.tolist()):
        if status in (Status.ENCODED, Status.REJECTED, Status.UNSUPPORTED):
            continue
        outcome: Outcome = results.outcome(row)
        if isinstance(outcome, Failed) and not kept_from_answering(outcome.message):
            return row, outcome
    return None


def within(seconds: float, stopped: Stopped) -> Stopped:
    """Whether a time is over that begins now, or nothing more is to be asked."""
    end = time.monotonic() + seconds
    return lambda: stopped() or time.monotonic() >= end
