"""What all parts of a run share: its plan and clock, what it has found, and how it is stopped."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING

from harness.core.countdown import Countdown
from harness.engine.opening import NamedFailed, Opened
from harness.engine.planning import Plan, Tally
from harness.events import NotReached, SlowOnce
from harness.findings.tracker import FindingTracker
from harness.workers.claims import Claim, summed

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.events import Event
    from harness.findings.folder import FindingsFolder
    from harness.workers.pool import WorkerPool


NO_TIME = "no time was left for it: give a larger --budget, or name it with --vocab"

SETTLE_SECONDS = 30.0
"""After the last case of a vocabulary what was found there is looked into for so many seconds more,
if it takes that long, and for longer on a busy machine. To ask again and to make an input minimal
takes up to four seconds for each kind of difference, and most runs find a few kinds on a
vocabulary. Where everything is wrong it would take hours, and what is left is told by the event
``Unsettled``."""


LAST = 0.04
"""Share of a budget, at its end, in which no new case is asked: what was asked is judged then, and
what was found is minimised."""

LAST_SECONDS, MOST_LAST = 1.0, 0.1
"""The end of a run has so many seconds, which is enough to minimise most findings, but no more than
this share of a short budget."""


def left_for_cases(countdown: Countdown) -> float:
    """The seconds until no new case is to be asked; infinite where time is no limit."""
    if countdown.seconds is None:
        return float("inf")
    return countdown.left - last_seconds(countdown.seconds)


def last_seconds(budget: float) -> float:
    """The seconds at the end of a budget in which no new case is asked."""
    return max(LAST * budget, min(LAST_SECONDS, MOST_LAST * budget))


def tracker_of(plan: Plan, emit: Callable[[Event], None], folder: FindingsFolder) -> FindingTracker:
    """A tracker of what a plan finds, with its folders."""
    return FindingTracker(
        emit,
        folder.save_finding,
        plan.expectations,
        plan.versions,
        unhurried=plan.unhurried,
        drop=folder.drop,
    )


class RunState:
    """A run on its way. Thread-safe.

    emit: takes the run's events, from several threads, one call at a time. tracker: keeps what is
    found. stop: set when the run is to end. lock: guards the tally.
    """

    def __init__(self, plan: Plan, emit: Callable[[Event], None], tracker: FindingTracker) -> None:
        self.plan = plan
        self.emit = emit
        self.tracker = tracker
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.countdown = Countdown(plan.budget.seconds)
        self._settled_by = -math.inf
        self.tally = Tally()
        self.resumed = 0
        """Vocabularies that an earlier sitting had done."""
        self.going_on = ""
        """How the user goes on with it, where it is interrupted: the end of a sentence."""

    @classmethod
    def begun(cls, plan: Plan, emit: Callable[[Event], None], folder: FindingsFolder) -> RunState:
        """A run with a tracker, which has the time that there is for findings."""
        run = cls(plan, emit, tracker_of(plan, emit, folder))
        run.limit_tracker()
        return run

    def limit_tracker(self) -> None:
        """Give the tracker the time that there is for findings, and no more."""
        self.tracker.limit_by(self.left_for_findings)

    def part(self, emit: Callable[[Event], None], tracker: FindingTracker) -> RunState:
        """A run of its own for one vocabulary, on the same clock, and stopped with this one.

        Who hangs, and was waited for, is known to all parts: nobody is waited for twice.
        """
        part = RunState(self.plan, emit, tracker)
        part.stop, part.lock, part.countdown = self.stop, self.lock, self.countdown
        part.tally.hung, part.tally.awaited = self.tally.hung, self.tally.awaited
        return part

    @property
    def left(self) -> float:
        """Seconds until no new case is to be asked."""
        return left_for_cases(self.countdown)

    def left_for_questions(self) -> float:
        """Seconds until no question at all is asked; before the first case there is no limit."""
        return self.countdown.left if self.countdown.running else math.inf

    def settle_until(self, end: float) -> None:
        """Give findings time up to this moment of the monotonic clock, whatever the budget says."""
        self._settled_by = max(self._settled_by, end)

    def left_for_findings(self) -> float:
        """Seconds in which what was found may still be looked into."""
        if self.countdown.seconds is None:
            return math.inf
        return self._settled_by - time.monotonic()

    def stop_at_the_first(self) -> None:
        """End the run where the first unexpected finding is to end it, and there is one."""
        if self.plan.fail_fast and self.tracker.unexpected:
            self.stop.set()

    def note_unreached(self, source: str) -> None:
        """Tell of a vocabulary for which no time was left."""
        self.emit(NotReached(source, NO_TIME))

    def note_excused(self, pool: WorkerPool, vocabulary: str) -> None:
        """Tell the failures that did not come back; nothing fails for them."""
        for one in pool.excused():
            self.emit(SlowOnce.of(one, vocabulary))
            with self.lock:
                self.tally.excused[one.implementation] += 1

    def note_claims(self, pool: WorkerPool) -> None:
        """Take note of what became of the capabilities that were claimed."""
        with self.lock:
            known = map(Claim._make, self.tally.claims)
            self.tally.claims[:] = summed([*known, *pool.claims.take()])

    def failed(self, name: str, vocabulary: str, message: str, *, refused: bool) -> None:
        """Take note of one that could not load, or, refused, would not. Raises NamedFailed."""
        if not refused and name in self.plan.named:
            # Who was asked for by name and cannot run makes the whole run worthless.
            raise NamedFailed(name, vocabulary, message)

    def begin(self, pool: WorkerPool, source: str, vocabulary: Vocabulary) -> Opened:
        """Have all that can run a vocabulary load it."""
        opened = Opened(pool, source, vocabulary, self.plan, self.emit, self.failed)
        opened.begin()
        return opened

    def open(self, pool: WorkerPool, source: str, vocabulary: Vocabulary) -> list[Contract]:
        """Load the vocabulary into all that can run it, and open its contracts."""
        opened = self.begin(pool, source, vocabulary)
        opened.wait(self.stop.is_set)
        opened.announce()
        return opened.contracts()
