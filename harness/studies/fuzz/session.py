"""A session of a campaign: an executor performs rounds, and each is committed once.

A target has one round underway at a time, so that its rounds come in the order that the state of
each decides, whoever performs them: what a target comes to is the same on any machine, and on any
number of them. What was not handed back when a node was lost is done again from what was committed,
alike.
"""

from __future__ import annotations

import json
import math
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from harness.cluster.executor import Unit, UnitError
from harness.cluster.usage import Usage
from harness.core.comparisons import algorithm_of
from harness.engine.state import NamedFailed
from harness.events import Phase, UnitDone
from harness.studies.fuzz import units
from harness.studies.fuzz.arms import SHARED
from harness.studies.fuzz.examples import open_examples, share_findings
from harness.studies.fuzz.known import comes_back
from harness.studies.fuzz.plan import target_name
from harness.studies.fuzz.state import State
from harness.studies.fuzz.units import Came, Campaign

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from harness.cluster.executor import Done, Executor
    from harness.core.countdown import Countdown
    from harness.events import ClusterUsed, Event
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import Kept, Round
    from harness.studies.fuzz.store import CampaignStore

    Course = Generator[Unit | None, Done, None]
    """What is done with a target, a unit after another; None where others may have its place."""

TURN_SECONDS = 60.0
"""A target keeps its place for so many seconds where others wait: loading a large vocabulary into
all implementations takes a few seconds, and should not be much of it. In a session that is too
short for that, each has the same share of the time."""

POLL_SECONDS = 0.2
"""A thread that only waits is deaf to Ctrl-C."""

GRACE = 30.0
"""Seconds for which the last units are waited for."""

OFFERED = 16
"""Inputs of its corpus that a target gives to the others of its algorithm."""

CANARY = "the canary"


class Shows(Protocol):
    """Shows a person how a session goes; the command line has one."""

    def begin(self, cases: Mapping[str, int]) -> None:
        """Take note of how many cases each target had in earlier sessions."""
        ...

    def prepared(self, seconds: float) -> None:
        """Take note of the seconds that preparing took: the first case comes now."""
        ...

    def announce(self, event: Event) -> None:
        """Show an event that is not committed: a phase, or who could not load."""
        ...

    def publish(self, done: Round) -> None:
        """Show a round that was committed."""
        ...

    def stop(self) -> None:
        """Take what moves off the terminal."""
        ...


@dataclass(slots=True)
class Session:
    """Runs the targets of a plan by an executor.

    place: writes files of findings that came from elsewhere, before the commit. shows: is told what
    is being done, each round once it is committed, and how long the loading took, when the
    countdown begins. countdown: of the budget; it begins to run when the first vocabulary is
    loaded. kept: the targets that earlier sessions have committed.

    A round that was not answered when the time is up is lost: the next session does it again,
    alike. What the user named has a round at least, however late it is.
    cases: those that were committed in this session. gone: ids of findings that no longer show.
    least: the vocabularies that had their first round after the time. canary: whether it was found,
    None while nobody knows, and what is said of it.
    """

    plan: FuzzPlan
    store: CampaignStore
    campaign: Campaign
    executor: Executor
    place: Callable[[Mapping[str, bytes]], None]
    shows: Shows
    countdown: Countdown
    kept: Mapping[str, Kept]
    committed: Callable[[Round], None]
    cases: int = 0
    gone: set[str] = field(default_factory=set)
    least: set[str] = field(default_factory=set)
    canary: tuple[bool | None, str] = (None, "no canary rode along")
    _others: dict[str, list[bytes]] = field(default_factory=dict)
    _waiting: deque[Course] = field(default_factory=deque)
    _underway: dict[str, Course] = field(default_factory=dict)
    _owed: set[str] = field(default_factory=set)
    """Targets that go on though the time is over: those that have found something, until that is
    asked again, and those that the user named, until something was asked."""
    _places: set[str] = field(default_factory=set)
    _usage: Usage = field(default_factory=Usage)

    @property
    def cluster(self) -> ClusterUsed | None:
        """What the cluster did, where there is one."""
        return self._usage.summary() if self.campaign.portable else None

    def run(self, each: Callable[[], None]) -> dict[str, str]:
        """Until the budget is spent; ``each`` is called now and then.

        Gives what workers left behind, by implementation. Raises ClusterError, UnitError,
        LedgerError, OutputError, NamedFailed, KeyboardInterrupt.
        """
        plan, executor = self.plan, self.executor
        jobs = plan.plan.jobs if self.campaign.portable is None else executor.slots
        try:
            executor.listen(self._tell)
            if plan.canary:
                self.canary = None, "the canary was not found yet when the session ended"
                shared = executor.share("campaign", self.campaign)
                executor.submit(Unit(CANARY, units.watched, (shared,)))
            # Where cases are counted, what is asked must not depend on where a session was cut off.
            if self.countdown.seconds is not None:
                self._others = crossing(plan, self.kept)
            seconds = turn(self.countdown.seconds, jobs, len(plan.targets))
            # A session that is too short for all of them begins with those that had the least.
            for source, shard in sorted(plan.targets, key=lambda one: self._state(*one).cases):
                state, name = self._state(source, shard), target_name(source, shard)
                again = bool(state.fixed or any(map(comes_back, state.findings)))
                if again or (plan.plan.owed(source) and not state.cases):
                    self._owed.add(name)
                self._waiting.append(self._course(source, shard, seconds, again=again))
            while self._on:
                while self._waiting and len(self._underway) < jobs:
                    self._go_on(self._waiting.popleft())
                self._take()
                each()
            return self._left_behind()
        except UnitError as error:
            if isinstance(error.__cause__, NamedFailed):
                raise error.__cause__ from None
            raise
        finally:
            executor.close()

    def _state(self, source: str, shard: int) -> State:
        kept = self.kept.get(target_name(source, shard))
        return kept.state if kept else State()

    @property
    def _on(self) -> bool:
        """Whether there is anything to wait for."""
        if self.countdown.over:
            return bool(self._owed) or (bool(self._underway) and self.countdown.late < GRACE)
        watching = self.plan.canary and self.canary[0] is None
        return bool(self._underway or self._waiting) or watching

    def _course(self, source: str, shard: int, seconds: float, *, again: bool) -> Course:
        """The story of a target in this session. seconds: of a turn, where others wait.

        First it is asked again what it has found, where there is anything. Then it is opened, where
        no place has it, and has round after round.
        """
        name, executor, countdown = target_name(source, shard), self.executor, self.countdown
        load, most = self.plan.plan.vocabularies[source], self.plan.plan.budget.cases
        shared = executor.share("campaign", self.campaign), executor.share(source, load)
        others = self._others.get(name, [])
        cases, number = self._state(source, shard).cases, 0
        place, mark, spent = "", "", 0.0

        def perform() -> Generator[Unit, Done, Came]:
            """Have it opened, or have a round performed, and commit what came of it."""
            nonlocal cases, number, place, mark, spent
            number += 1
            left = countdown.left if countdown.running and name not in self._owed else math.inf
            unit = Unit(f"{name}, round {number}", units.rounded, (), (mark, left), place)
            if not mark:
                given = (source, shard), self.store.parts(name), others, left, again
                unit = Unit(f"{name}, opening {number}", units.opened, shared, given, place)
            self.shows.announce(Phase(f"fuzzing {source}"))
            done = yield unit
            came = Came.unpacked(done.result)
            place, mark, spent = done.place, came.mark, spent + done.seconds
            self._places.add(place)
            new = 0
            if came.done is not None:
                self.place(came.files)
                self.store.commit([came.done], forget=again)
                self.committed(came.done)
                self.shows.publish(came.done)
                new = came.done.cases - cases
                if again:
                    self.gone.update(came.done.gone)
                elif self.plan.database and came.done.findings:
                    share_findings(load(), open_examples(self.plan.database), came.done.findings)
            cases, self.cases = cases + new, self.cases + new
            self._count(done, new)
            return came

        if again:
            yield from perform()
            again = False
            if cases:
                self._owed.discard(name)
            yield None
        while (name in self._owed or not countdown.over) and (most is None or cases < most):
            if not mark:
                yield from perform()
                if not mark:  # there was no time
                    break
                continue
            if not countdown.running:
                countdown.start()
                self.shows.prepared(countdown.prepared)
            came = yield from perform()
            if came.cold:
                continue
            if name in self._owed and countdown.over:
                self.least.add(source)
            self._owed.discard(name)
            if came.done is None:  # there was no time, or there is nothing left to ask
                break
            if self._waiting and spent > seconds:
                spent = 0.0
                yield None
        self._owed.discard(name)

    def _go_on(self, course: Course, done: Done | None = None) -> None:
        """Hand a course what its unit came to, and have its next one performed."""
        try:
            unit = next(course) if done is None else course.send(done)
        except StopIteration:
            return
        if unit is None:
            self._waiting.append(course)
        else:
            self._underway[unit.name] = course
            self.executor.submit(unit)

    def _take(self) -> None:
        """Wait for a result, and have its target go on."""
        done = self.executor.next(POLL_SECONDS)
        if done is not None and done.name == CANARY:
            found, said = json.loads(done.result)
            self.canary = found, said
            self._count(done, 0)
        elif done is not None:
            self._go_on(self._underway.pop(done.name), done)

    def _tell(self, event: Event) -> None:
        if self.campaign.portable is not None:
            self._usage.consume(event)
            self.shows.announce(event)

    def _count(self, done: Done, cases: int) -> None:
        size = len(done.result)
        self._tell(UnitDone(done.name, done.node, done.tries, done.seconds, size, cases))

    def _left_behind(self) -> dict[str, str]:
        """Close all places, and return what their workers left behind, as far as it comes."""
        left: dict[str, str] = {}
        ends = {f"end of {place}": place for place in sorted(self._places)}
        for name, place in ends.items():
            self.executor.submit(Unit(name, units.closed, prefers=place))
        deadline = time.monotonic() + GRACE
        while ends and time.monotonic() < deadline:
            done = self.executor.next(POLL_SECONDS)
            if done is not None and ends.pop(done.name, None) is not None:
                left |= json.loads(done.result)
        return left


def crossing(plan: FuzzPlan, kept: Mapping[str, Kept]) -> dict[str, list[bytes]]:
    """What each target is given of all of its algorithm: what joined their corpora last."""
    offered: dict[str, list[bytes]] = defaultdict(list)
    given = {}
    for source, shard in plan.targets:
        name = target_name(source, shard)
        given[name] = offered[algorithm_of(plan.plan.vocabularies[source]())]
        entries = kept[name].state.corpus if name in kept else []
        given[name] += [one.data for one in entries if one.origin != SHARED][-OFFERED:]
    return given


def turn(seconds: float | None, threads: int, targets: int) -> float:
    """How long a target keeps its place, of so many in a session of so many seconds."""
    return TURN_SECONDS if seconds is None else min(TURN_SECONDS, seconds * threads / targets)
