"""What minimising one finding may cost, and why it ended before the input was minimal."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.core.outcomes import Status
from harness.findings.masking import witnesses
from harness.findings.shrinking import ROUND_CASES, shrink
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.findings.entries import Entry
    from harness.findings.masking import Asking
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

SHRINK_SHARE = 0.25
"""About this share of a run's time goes into violations that look like others."""

FEW = 2
"""Candidates that are asked at a time of what ends processes: each may cost a new one."""

NO_TIME = "not made smaller, for want of time"

TRIES_HANG = "not made smaller any further, as each try that hangs takes so long"

WITHDRAWN = "not made smaller any further, as it was withdrawn meanwhile"

TOOK_LONG = "not made smaller any further, as that took so long"


class Patience:
    """The time that looking into violations has, while cases are asked and afterwards.

    unhurried: the clock decides nothing, so that the same cases give the same findings. share: for
    how much of the usual time a finding is minimised.
    """

    def __init__(self, *, unhurried: bool, share: float = 1.0) -> None:
        self._unhurried = unhurried
        self._share = share
        self._began = time.monotonic()
        self._spent = 0.0
        self._lock = threading.Lock()
        self.left: Callable[[], float] = lambda: math.inf
        """Seconds until nothing is looked into any more."""

    @property
    def late(self) -> bool:
        """Whether violations have had their share of the time."""
        left = self.left()
        if self._unhurried or left == math.inf:
            return False
        return left <= 0 or self._spent > SHRINK_SHARE * (time.monotonic() - self._began)

    def minimising(self, violation: Violation) -> float:
        """Seconds for minimising one finding."""
        if self._unhurried:
            return UNHURRIED_SECONDS
        dies = violation.check == "survival"
        return self._share * (SHRINK_DEATHS_SECONDS if dies else SHRINK_SECONDS)

    @contextlib.contextmanager
    def looking(self, pool: WorkerPool) -> Iterator[None]:
        """Count the time of a block, in which the pool answers as long as there is any left."""
        started = time.monotonic()
        try:
            with pool.lasting(self.for_questions):
                yield
        finally:
            with self._lock:
                self._spent += time.monotonic() - started

    def for_questions(self, usual: float) -> float:
        """Seconds left for a question; usual: those that are left for the questions of others."""
        left = self.left()
        return usual if left == math.inf else max(usual, left)


def minimise(
    asking: Asking, seconds: float, hides: Callable[[Violation], bool]
) -> tuple[Entry, str | None]:
    """The entry with the smallest input found, and why the search did not end by itself.

    hides: whether a violation would hide this one.
    """
    deadline = time.monotonic() + seconds
    entry, contract = asking.entry, asking.entry.contract
    few = witnesses(entry.violation, contract)
    smallest, why = search(asking, few, hides, deadline)
    if smallest is not entry.violation and few is not contract:
        try:
            judged = asking.ask([smallest.data])
        except OutOfTime:
            return replace(entry, violation=smallest), NO_TIME
        same = next(filter(asking.same, judged.violations), None)
        # Else somebody else parts from the trusted on it, too: all are asked from the beginning.
        smallest, why = (same, why) if same else search(asking, contract, hides, deadline)
    return replace(entry, violation=smallest), why


def search(
    asking: Asking, contract: Contract, hides: Callable[[Violation], bool], deadline: float
) -> tuple[Violation, str | None]:
    """The smallest violation as these participants see it; why the search did not end by itself."""
    violation = smallest = asking.entry.violation
    hung = cut_off = False

    def failing(candidates: Sequence[bytes]) -> list[bool]:
        nonlocal smallest, hung, cut_off
        lawful = [one for one in candidates if contract.vocabulary.can_encode(one)]
        try:
            shown = asking.ask(lawful, contract).violations
            ends = {part.outcome.status for one in shown for part in one.parts}
            # One is enough: it takes three times the limit of a request, as it is asked again
            # alone, and counts towards the withdrawal of who hangs.
            hung |= Status.TIMED_OUT in ends
            # The first one is taken: of the others neither the signature has to be known, which
            # takes longer than an answer, nor whether they hide anything.
            for place, one in enumerate(candidates):
                same = [found for found in shown if found.data == one and asking.same(found)]
                if same and not hides(same[-1]):
                    smallest = same[-1]
                    return [other == place for other in range(len(candidates))]
        except OutOfTime:
            cut_off = True
        return [False] * len(candidates)

    dies = CHECKS[violation.check].alone and violation.stage != Status.ERRORED.label
    left, most = deadline - time.monotonic(), FEW if dies else ROUND_CASES
    _, ended = shrink(violation.data, failing, left, lambda: cut_off or hung, most)
    if hung:
        return smallest, TRIES_HANG
    if not ended:
        return smallest, NO_TIME if cut_off else TOOK_LONG
    gone = set(violation.culprits) & asking.pool.withdrawn().keys()
    return smallest, WITHDRAWN if gone else None
