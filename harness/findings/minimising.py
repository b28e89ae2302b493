"""What minimising one finding may cost, and why it ended before the input was minimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.outcomes import Status

if TYPE_CHECKING:
    from harness.checks.base import Judgement

SHRINK_TIMEOUTS = 1
"""Time-outs that minimising a finding may cost: each takes three times the limit of a request, as
it is asked again alone, and counts towards the withdrawal of who hangs."""

NO_TIME = "not made smaller, for want of time"

TRIES_HANG = "not made smaller any further, as each try that hangs takes so long"

WITHDRAWN = "not made smaller any further, as it was withdrawn meanwhile"

TOOK_LONG = "not made smaller any further, as that took so long"


@dataclass(slots=True)
class Spent:
    """What minimising one finding has cost: time-outs, and whether the end of the run came."""

    timeouts: int = 0
    cut_off: bool = False

    def on(self, judgement: Judgement) -> Judgement:
        """Count the time-outs among the answers to candidates."""
        self.timeouts += any(
            part.outcome.status is Status.TIMED_OUT
            for violation in judgement.violations
            for part in violation.parts
        )
        return judgement

    @property
    def enough(self) -> bool:
        """Whether no further candidate is to be tried."""
        return self.cut_off or self.timeouts >= SHRINK_TIMEOUTS
