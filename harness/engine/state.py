"""What all parts of a run share: its plan and clock, what it has found, and how it is stopped."""

from __future__ import annotations

import copy
import math
import threading
import time
from typing import TYPE_CHECKING

from harness.core.countdown import Countdown
from harness.engine.plan import Plan, Tally
from harness.events import SlowOnce
from harness.findings.folder import FindingsFolder
from harness.findings.tracker import FindingTracker
from harness.workers.claims import Claim, summed
from harness.workers.requests import taken

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.events import Event
    from harness.workers.pool import WorkerPool

    Tell = Callable[[Event], None]

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


class NamedFailed(Exception):
    """An implementation that the user named cannot load a vocabulary, which ends the run.

    trace: the message, of which the words of the error have the first line.
    """

    def __init__(self, name: str, vocabulary: str, trace: str) -> None:
        super().__init__(name, vocabulary, trace)
        self.trace = trace

    def __str__(self) -> str:
        name, vocabulary, trace = self.args
        line = trace.split("\n", 1)[0]
        return f"{name} cannot load {vocabulary}: {line}"


def left_for_cases(countdown: Countdown) -> float:
    """The seconds until no new case is to be asked; infinite where time is no limit."""
    if countdown.seconds is None:
        return float("inf")
    return countdown.left - last_seconds(countdown.seconds)


def last_seconds(budget: float) -> float:
    """The seconds at the end of a budget in which no new case is asked."""
    return max(LAST * budget, min(LAST_SECONDS, MOST_LAST * budget))


class RunState:
    """A run on its way. Thread-safe.

    emit: takes the run's events, from several threads, one call at a time. findings: the tracker
    that keeps what is found, or the folder of one that is made for it. stop: set when the run is to
    end. lock: guards the tally.
    """

    def __init__(self, plan: Plan, emit: Tell, findings: FindingTracker | FindingsFolder) -> None:
        self.plan = plan
        self.emit = emit
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.countdown = Countdown(plan.budget.seconds)
        self._settled_by = -math.inf
        self.tally = Tally()
        if isinstance(findings, FindingsFolder):
            self._track(findings)
        else:
            self.tracker = findings

    def _track(self, folder: FindingsFolder) -> None:
        """Have a tracker of its own, which has the time that there is for findings."""
        plan = self.plan
        self.tracker = FindingTracker(
            self.emit,
            folder.save_finding,
            plan.expectations,
            plan.versions,
            unhurried=plan.unhurried,
            drop=folder.drop,
        )
        self.tracker.limit_by(self.left_for_findings)

    def part(self, emit: Tell, folder: FindingsFolder | None) -> RunState:
        """The run as one vocabulary has it: on the same clock, and stopped with this one.

        folder: for findings of its own, with a tracker and a tally of its own; else these are
        shared. Who hangs, and was waited for, is known to all: nobody is waited for twice.
        """
        part = copy.copy(self)
        part.emit = emit
        if folder is not None:
            part._track(folder)
            part.tally = Tally(hung=self.tally.hung, awaited=self.tally.awaited)
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

    def note_answers(self, pool: WorkerPool, vocabulary: str) -> None:
        """Tell the failures that did not come back, for which nothing fails; and take note of what
        became of the capabilities that were claimed."""
        for one in pool.excused():
            self.emit(SlowOnce.of(one, vocabulary))
            with self.lock:
                self.tally.excused[one.implementation] += 1
        with self.lock:
            known = map(Claim._make, self.tally.claims)
            self.tally.claims[:] = summed([*known, *taken(pool.claims)])
