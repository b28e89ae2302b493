"""A session of a campaign: its targets in turn on a few threads, until budget or Ctrl-C ends it."""

from __future__ import annotations

import math
import queue
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.engine.waiting import LONGEST_WAIT, SUSPECT_SECONDS
from harness.events import Phase
from harness.findings import inputless
from harness.studies.fuzz.canary import CanaryWatch
from harness.studies.fuzz.crossing import cross_next, limit
from harness.studies.fuzz.examples import open_examples
from harness.studies.fuzz.leaving import left_behind
from harness.studies.fuzz.plan import target_name
from harness.studies.fuzz.sizing import ROUND_SECONDS, TooLong
from harness.studies.fuzz.target import Guides, Target
from harness.workers.pool import Stopped, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.core.countdown import Countdown
    from harness.events import Event
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import Round
    from harness.studies.fuzz.store import CampaignStore

TURN_SECONDS = 60.0
"""A target keeps its place for so many seconds where others wait: loading a large vocabulary into
all implementations takes a few seconds, and should not be much of it. In a session that is too
short for that, each has the same share of the time."""

LAST_LOOKS_SECONDS = 10.0
"""What was found is looked into for so many seconds after a campaign's last case: enough to make
one slow finding minimal, or dozens of quick ones."""

MOST = 0.5
"""A round that has taken more than so much of a session when time is up is not lost."""

POLL_SECONDS = 0.2
"""A thread that only waits is deaf to Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Underway:
    """A round that is on: where, and the seconds of the session after which it began."""

    pool: WorkerPool
    began: float


class Session:
    """Runs the targets of a plan.

    save: writes a finding's folder. publish: gets each round once it is committed, one at a time.
    announce: gets what the threads are busy with. countdown: of the budget; it begins to run when
    the first vocabulary is loaded. done: by target, the cases of earlier sessions. prepared: told
    how long the loading took, when the countdown begins.

    A round that is on when the time is up is cut off and lost: the next session does it again,
    alike. One that has taken most of the session would be lost in each of them, so that it is
    brought to an end: what may be a hang is waited for, and nothing else is asked.
    What the user named has a round at least, however late it is.
    cases: those that were committed in this session. awaited: who was waited for. least: the
    vocabularies that had their first round after the time.
    """

    def __init__(
        self,
        plan: FuzzPlan,
        store: CampaignStore,
        save: Callable[[str, Violation, Contract], str | None],
        publish: Callable[[Round], None],
        announce: Callable[[Event], None],
        countdown: Countdown,
        done: Mapping[str, int] = MappingProxyType({}),
        prepared: Callable[[float], None] = lambda seconds: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan, self._store, self._save = plan, store, save
        self._publish, self._announce = publish, announce
        self._guides = Guides(
            plan.structured,
            plan.coverage,
            plan.costly,
            open_examples(plan.database) if plan.database else None,
        )
        self._stop = threading.Event()
        self._turn_seconds = TURN_SECONDS
        self._lock = threading.Lock()
        self._pools: list[WorkerPool] = []
        self._targets: dict[tuple[str, int], Target] = {}
        self._waiting: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()
        self._countdown = countdown
        self._done = done
        self._prepared = prepared
        self._clock = clock
        self._rounds: dict[str, Underway] = {}
        self.cases = 0
        self.awaited: set[str] = set()
        self.least: set[str] = set()
        self._owing = {
            one
            for one in plan.targets
            if plan.plan.owed(one[0]) and not done.get(target_name(*one), 0)
        }
        """Targets that the user named, and on which nothing was ever asked."""
        self._leavings: dict[str, str] = {}
        self.canary: CanaryWatch | None = CanaryWatch(plan) if plan.canary else None

    def run(self, each: Callable[[], None] = lambda: None) -> None:
        """Until the budget is spent; ``each`` is called now and then, from this thread.

        An exception of a thread, or of ``each``, KeyboardInterrupt included, ends all and is
        raised.
        """
        try:
            self._go_through(each, watch=True)
            while not self._stop.is_set() and cross_next(self._plan, self._store):
                self._targets.clear()  # they are others now
                self._go_through(each, watch=False)
        finally:
            self._commit_leavings()

    def _go_through(self, each: Callable[[], None], *, watch: bool) -> None:
        """Have all targets go on until they stop. watch: for the canary, too."""
        # A session that is too short for all of them begins with those that had the least so far.
        for one in sorted(self._plan.targets, key=lambda one: self._done.get(target_name(*one), 0)):
            self._waiting.put(one)
        threads = max(1, min(self._plan.plan.jobs, len(self._plan.targets)))
        self._turn_seconds = turn(self._countdown.seconds, threads, len(self._plan.targets))
        with ThreadPoolExecutor(threads + 1, thread_name_prefix="fuzz") as pool:
            futures: list[Future[None]] = [
                pool.submit(self._work_through, threads) for _ in range(threads)
            ]
            if self.canary is not None and watch:
                futures.append(pool.submit(self._watch))
            try:
                while wait(futures, timeout=POLL_SECONDS).not_done:
                    if any(f.done() and f.exception() for f in futures):
                        break
                    if self._over and not self._ending():
                        self.stop()
                    each()
                for future in futures:
                    future.result()
            except BaseException:
                self.stop()
                raise
            finally:
                pool.shutdown()

    def _commit_leavings(self) -> None:
        """Enter what workers left behind, each in the first target that has asked its author."""
        for which, target in list(self._targets.items()):
            mine = {
                name: self._leavings.pop(name) for name in target.asked if name in self._leavings
            }
            if mine:
                # What the target has not committed is lost, as at any end of a session.
                name, plan = target_name(*which), self._plan.plan
                kept = self._store.target(name)
                done = left_behind(plan, name, kept, self._save, mine, target.asked)
                self._store.commit(done)
                self._publish(done)

    def _ending(self) -> bool:
        """Cut off, as time is up, all but the rounds that would be lost in each session."""
        with self._lock:
            kept = [one for one in self._rounds.values() if self._kept(one.began)]
            lost = [pool for pool in self._pools if all(pool is not one.pool for one in kept)]
        limit = LONGEST_WAIT * self._plan.plan.limits.seconds
        if not kept or self._countdown.late > limit:
            return False
        for pool in lost:
            pool.kill()
        for one in kept:
            working = {name: one.pool.at_work(name) for name in one.pool.loaded()}
            suspects = {name for name, seconds in working.items() if seconds > SUSPECT_SECONDS}
            one.pool.abandon([name for name in working if name not in suspects])
            self.awaited |= suspects
        return True

    def _kept(self, began: float) -> bool:
        """Whether a round that began then is not to be lost, though time is up."""
        seconds = self._countdown.seconds
        return seconds is not None and began <= (1 - MOST) * seconds

    @property
    def late(self) -> float:
        """Seconds for which it has gone on after its time."""
        return self._countdown.late

    @property
    def _over(self) -> bool:
        """Whether the time is up, and nothing is owed any more."""
        return self._countdown.over and not self._owing

    def _left(self) -> float:
        """Seconds until no question is asked; there is no limit before the clock runs."""
        unlimited = not self._countdown.running or self._owing
        return math.inf if unlimited else self._countdown.left

    def stop(self) -> None:
        """End all threads and kill all workers, from any thread; rounds that are on are lost."""
        self._stop.set()
        with self._lock:
            for target in self._targets.values():
                target.stop()
            for pool in self._pools:
                pool.kill()
        if self.canary is not None:
            self.canary.stop()

    def _start_clock(self) -> None:
        """The budget begins when the first vocabulary is loaded."""
        with self._lock:
            if not self._countdown.running:
                self._countdown.start()
                self._prepared(self._countdown.prepared)

    def _watch(self) -> None:
        assert self.canary is not None
        try:
            self.canary.run()
        except Stopped:
            return

    def _work_through(self, threads: int) -> None:
        pool = WorkerPool(self._plan.plan.participants, self._plan.plan.limits)
        pool.limit_by(self._left)
        with self._lock:
            self._pools.append(pool)
        try:
            while not self._stop.is_set() and not self._over:
                try:
                    which = self._waiting.get_nowait()
                except queue.Empty:
                    return
                if self._countdown.over and which not in self._owing:
                    continue
                if self._turn(pool, which, endless=len(self._plan.targets) <= threads):
                    self._waiting.put(which)
        except Stopped:
            return
        finally:
            pool.close()
            if CHECKS[inputless.CHECK] in self._plan.plan.checks:
                with self._lock:
                    self._leavings |= pool.left()

    def _turn(self, pool: WorkerPool, which: tuple[str, int], *, endless: bool) -> bool:
        """Rounds of one target; whether there may be more."""
        target = self._target(which)
        if self._enough(target):
            self._pay(which)
            return False
        self._announce(Phase(f"loading {target.source}"))
        target.open(pool)
        self._start_clock()
        self._announce(Phase(f"fuzzing {target.source}"))
        began = self._countdown.spent
        try:
            while not self._stop.is_set() and (which in self._owing or not self._countdown.over):
                before = target.state.cases
                try:
                    done = self._round(target, pool)
                except TooLong as error:
                    self._give_up(pool, which, error)
                    return True
                if done is None:
                    self._pay(which)
                    return False
                self._store.commit(done)
                self._pay(which)
                with self._lock:
                    self.cases += done.state.cases - before
                    self._publish(done)
                target.share()
                if self._enough(target):
                    return False
                if not endless and self._countdown.spent - began > self._turn_seconds:
                    return True
        finally:
            target.close()
        return False

    def _pay(self, which: tuple[str, int]) -> None:
        """Owe nothing of a target from now on."""
        with self._lock:
            if which in self._owing and self._countdown.over:
                self.least.add(which[0])
            self._owing = self._owing - {which}

    def _give_up(self, pool: WorkerPool, which: tuple[str, int], error: TooLong) -> None:
        """Go back to what was committed, to go on with smaller rounds."""
        pool.abandon(error.owing)
        with self._lock:
            self._targets.pop(which).close()
        self._store.commit(self._target(which).lessened(error.size))

    def _round(self, target: Target, pool: WorkerPool) -> Round | None:
        """One round; None where there is nothing left to ask, or it came too late to be kept.

        Raises TooLong.
        """
        began = self._countdown.spent
        with self._lock:
            self._rounds[target.name] = Underway(pool, began)
        try:
            done = target.round(pool)
        finally:
            with self._lock:
                del self._rounds[target.name]
        # Something may not have been asked in it then.
        late = self._over and not self._kept(began)
        return None if late else done

    def _target(self, which: tuple[str, int]) -> Target:
        """A target, as it was committed last; the same one in each of its turns."""
        with self._lock:
            target = self._targets.get(which)
        if target is None:
            source, shard = which
            kept = self._store.target(target_name(source, shard))
            alone = self._plan.alone(source)
            target = Target(
                alone, source, shard, self._save, kept, self._guides, ROUND_SECONDS, self._clock
            )
            target.limit_by(lambda: self._left() + LAST_LOOKS_SECONDS)
            with self._lock:
                self._targets[which] = target
        return target

    def _enough(self, target: Target) -> bool:
        """Whether it has done as many cases as it may before others have, too."""
        most = limit(self._plan.plan.budget.cases, target.state.crossed)
        return most is not None and target.state.cases >= most


def turn(seconds: float | None, threads: int, targets: int) -> float:
    """How long a target keeps its place, of so many in a session of so many seconds."""
    return TURN_SECONDS if seconds is None else min(TURN_SECONDS, seconds * threads / targets)
