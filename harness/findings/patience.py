"""What minimising one finding may cost, and why it ended before the input was minimal."""

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from harness.checks.base import Violation
from harness.core.machine_load import stretched
from harness.workers.pool import WorkerPool

SHRINK_SECONDS = 10.0
"""The time for minimising one finding on a quiet machine. On a busy one each of the two dozen
rounds that it takes waits longer."""

SHRINK_DEATHS_SECONDS = 20.0
"""The time for minimising a finding that ends the process: each step that fails costs a new
process, a second or two."""

UNHURRIED_SECONDS = 300.0
"""The time for minimising one finding of a run that the clock is not to decide. It is there only
for what would never end."""

SHRINK_SHARE = 0.25
"""About this share of a run's time goes into violations that look like others."""

FEW = 2
"""Candidates that are asked at a time of what ends processes: each may cost a new one."""

NO_TIME = "not minimised: no time was left"

TRIES_HANG = "not minimised further: each try that hangs takes too long"

WITHDRAWN = "not minimised further: it was withdrawn from the vocabulary"

TOOK_LONG = "not minimised further: it took too long"


@dataclass
class Patience:
    """The time that looking into violations has, while cases are asked and afterwards.

    unhurried: the clock decides nothing, so that the same cases give the same findings. share: for
    how much of the usual time a finding is minimised.
    """

    unhurried: bool
    share: float = 1.0
    left: Callable[[], float] = lambda: math.inf
    """Seconds until nothing is looked into any more."""
    _began: float = field(default_factory=time.monotonic)
    _spent: float = 0.0

    @property
    def late(self) -> bool:
        """Whether violations have had their share of the time."""
        left = self.left()
        if self.unhurried or left == math.inf:
            return False
        return left <= 0 or self._spent > SHRINK_SHARE * (time.monotonic() - self._began)

    def minimising(self, violation: Violation) -> float:
        """Seconds for minimising one finding."""
        if self.unhurried:
            return UNHURRIED_SECONDS
        dies = violation.check == "survival"
        return self.share * stretched(SHRINK_DEATHS_SECONDS if dies else SHRINK_SECONDS)

    @contextlib.contextmanager
    def looking(self, pool: WorkerPool) -> Iterator[None]:
        """Count the time of a block, in which the pool answers as long as there is any left."""
        started = time.monotonic()
        try:
            with pool.lasting(self.for_questions):
                yield
        finally:
            self._spent += time.monotonic() - started

    def for_questions(self, usual: float) -> float:
        """Seconds left for a question; usual: those that are left for the questions of others."""
        left = self.left()
        return usual if left == math.inf else max(usual, left)
