"""What minimising one finding may cost, and why it ended before the input was minimal."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.core.outcomes import Status
from harness.findings.diagnosis import signature
from harness.findings.shrinking import shrink
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.checks.base import Judgement, Violation
    from harness.findings.entries import Entry
    from harness.workers.pool import WorkerPool

SHRINK_SECONDS = 10.0
"""The time for minimising one finding. On a busy machine each of the two dozen rounds that it takes
waits for a batch that was asked before it."""

SHRINK_DEATHS_SECONDS = 20.0
"""The time for minimising a finding that ends the process: each step that fails costs a new
process, a second or two."""

UNHURRIED_SECONDS = 300.0
"""The time for minimising one finding of a run that the clock is not to decide. It is there only
for what would never end."""

OVERTIME_SECONDS = 10.0
"""The time for looking into violations after the last case of a vocabulary, in all: enough to make
one slow finding minimal, or dozens of quick ones."""

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


class Overtime:
    """The time that looking into violations has once there is no more time for cases."""

    def __init__(self) -> None:
        self._remaining = OVERTIME_SECONDS
        self._since: float | None = None

    def left(self, usual: float) -> float:
        """The seconds left; usual: those that are left for the questions of others."""
        if usual > 0:
            return usual + self._remaining
        now = time.monotonic()
        if self._since is None:
            self._since = now
        return self._remaining - (now - self._since)

    def pause(self) -> None:
        """Take note of what was spent: nothing is being looked into for now."""
        if self._since is not None:
            self._remaining -= time.monotonic() - self._since
            self._since = None


def minimise(
    pool: WorkerPool,
    entry: Entry,
    seconds: float,
    allowed: Callable[[bytes], bool],
    hides: Callable[[Violation], bool],
) -> tuple[Entry, str | None]:
    """The entry with the smallest input found, and why the search did not end by itself.

    allowed: whether an input may be tried. hides: whether a violation would hide this one.
    """
    contract, check = entry.contract, CHECKS[entry.violation.check]
    latest = {entry.violation.data: entry.violation}
    spent = Spent()

    def failing(candidates: Sequence[bytes]) -> list[bool]:
        lawful = [c for c in candidates if allowed(c) and contract.vocabulary.can_encode(c)]
        try:
            violations = spent.on(pool.examine(contract, check, lawful)).violations
        except OutOfTime:
            spent.cut_off = True
            return [False] * len(candidates)
        seen = {one.data: one for one in violations if signature(one, contract) == entry.signature}
        # The first one is taken, and only of that it has to be known whether it hides anything.
        first = next((c for c in candidates if c in seen and not hides(seen[c])), None)
        if first is not None:
            latest[first] = seen[first]
        return [candidate == first for candidate in candidates]

    smallest, ended = shrink(entry.violation.data, failing, seconds, lambda: spent.enough)
    why = None
    if spent.timeouts >= SHRINK_TIMEOUTS:
        why = TRIES_HANG
    elif not ended:
        why = NO_TIME if spent.cut_off else TOOK_LONG
    elif set(entry.violation.culprits) & set(pool.withdrawn()):
        why = WITHDRAWN
    return replace(entry, violation=latest[smallest], explanation=None), why
