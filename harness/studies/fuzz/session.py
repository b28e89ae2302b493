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
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.checks import CHECKS
from harness.cluster.executor import Unit, UnitError
from harness.cluster.usage import Usage
from harness.engine.opening import NamedFailed
from harness.engine.waiting import LONGEST_WAIT
from harness.events import Phase, UnitDone
from harness.studies.fuzz import units
from harness.studies.fuzz.crossing import cross_next, limit
from harness.studies.fuzz.examples import open_examples, share_findings
from harness.studies.fuzz.plan import target_name
from harness.studies.fuzz.sizing import ROUND_SECONDS
from harness.studies.fuzz.state import Kept, Round
from harness.studies.fuzz.units import Came, Campaign

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.cluster.executor import Done, Executor
    from harness.core.countdown import Countdown
    from harness.events import ClusterUsed, Event
    from harness.studies.fuzz.amending import Amender
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.store import CampaignStore

TURN_SECONDS = 60.0
"""A target keeps its place for so many seconds where others wait: loading a large vocabulary into
all implementations takes a few seconds, and should not be much of it. In a session that is too
short for that, each has the same share of the time."""

MOST = 0.5
"""A round that has taken more than so much of a session when time is up is not lost."""

POLL_SECONDS = 0.2
"""A thread that only waits is deaf to Ctrl-C."""

GRACE = 2 * ROUND_SECONDS
"""Seconds for which the last units are waited for, beyond who may hang."""

TOGETHER = 64
"""Rounds that are committed together at the most. A transaction costs as much as several rounds in
it; and what is not committed yet is lost with the driver."""

CANARY, ROUND, OPENING = "the canary", ", round ", ", opening "


@dataclass(slots=True)
class Course:
    """How far a target is. place, mark: where its last round was done, and the state there.

    rounds: done in this session. turn: seconds of its units since others waited. began: when its
    round that is on did, in seconds of the session. crossed: how often inputs of others crossed.
    owed: the user has named it, and nothing was ever asked.
    """

    source: str
    shard: int
    cases: int
    owed: bool
    place: str = ""
    mark: str = ""
    rounds: int = 0
    turn: float = 0.0
    began: float = 0.0
    crossed: int = 0

    @property
    def name(self) -> str:
        """As in the database."""
        return target_name(self.source, self.shard)


class Session:
    """Runs the targets of a plan by an executor.

    place: writes files of findings that came from elsewhere, before the commit. amender: commits
    what workers left behind. publish: gets each round once it is committed. announce:
    gets what is being done. countdown: of the budget; it begins to run when the first vocabulary is
    loaded. done: by target, the cases of earlier sessions. prepared: told how long the loading
    took, when the countdown begins.

    A round that is on when the time is up is cut off and lost: the next session does it again,
    alike. One that has taken most of the session would be lost in each of them, so that it is
    brought to an end. What the user named has a round at least, however late it is.
    cases: those that were committed in this session. awaited: who was waited for. least: the
    vocabularies that had their first round after the time. canary: whether it was found, None while
    nobody knows, and what is said of it.
    """

    def __init__(
        self,
        plan: FuzzPlan,
        store: CampaignStore,
        campaign: Campaign,
        executor: Executor,
        place: Callable[[Mapping[str, bytes]], None],
        amender: Amender,
        publish: Callable[[Round], None],
        announce: Callable[[Event], None],
        countdown: Countdown,
        done: Mapping[str, int],
        prepared: Callable[[float], None],
    ) -> None:
        self._plan, self._store, self._campaign = plan, store, campaign
        self._executor, self._place, self._amender = executor, place, amender
        self._publish, self._announce = publish, announce
        self._countdown, self._prepared = countdown, prepared
        self._courses = [
            Course(source, shard, cases, owed=not cases and plan.plan.owed(source))
            for source, shard in plan.targets
            for cases in [done[target_name(source, shard)]]
        ]
        # A session that is too short for all of them begins with those that had the least so far.
        self._courses.sort(key=lambda one: one.cases)
        self._waiting = deque(self._courses)
        self._underway: dict[str, Course] = {}
        self._places: set[str] = set()
        self._usage = Usage()
        self._examples = open_examples(plan.database) if plan.database else None
        self.cases = 0
        self.awaited: set[str] = set()
        self.least: set[str] = set()
        waiting = "the canary was not found yet when the session ended"
        self.canary: tuple[bool | None, str] = (
            None, waiting if plan.canary else "no canary rode along",
        )  # fmt: skip

    @property
    def late(self) -> float:
        """Seconds for which it has gone on after its time."""
        return self._countdown.late

    @property
    def cluster(self) -> ClusterUsed | None:
        """What the cluster did, where there is one."""
        return self._usage.summary() if self._campaign.portable else None

    def run(self, each: Callable[[], None]) -> None:
        """Until the budget is spent; ``each`` is called now and then.

        Raises ClusterError, UnitError, LedgerError, OutputError, NamedFailed, KeyboardInterrupt.
        """
        try:
            self._executor.listen(self._tell)
            shared = self._executor.share("campaign", self._campaign)
            if self._plan.canary:
                self._executor.submit(Unit(CANARY, units.watched, (shared,)))
            self._note_crossings()
            while self._on or self._cross():
                self._begin_more()
                self._take_all()
                each()
            if CHECKS["survival"] in self._plan.plan.checks:
                self._amender.note_left(self._left_behind())
        except UnitError as error:
            if isinstance(error.__cause__, NamedFailed):
                raise error.__cause__ from None
            raise
        finally:
            self._executor.close()

    @property
    def _jobs(self) -> int:
        """How many targets may be underway."""
        here = self._campaign.portable is None
        return self._plan.plan.jobs if here else self._executor.slots

    @property
    def _on(self) -> bool:
        """Whether there is anything to wait for."""
        longest = GRACE + LONGEST_WAIT * self._plan.plan.limits.seconds
        if self._countdown.over:
            owed = any(one.owed for one in (*self._waiting, *self._underway.values()))
            return owed or (bool(self._underway) and self._countdown.late < longest)
        watching = self._plan.canary and self.canary[0] is None
        return bool(self._underway or self._waiting) or watching

    def _note_crossings(self) -> None:
        for one in self._courses:
            kept = self._store.target(one.name)
            one.crossed = kept.state.crossed if kept else 0

    def _cross(self) -> bool:
        """Have inputs cross between targets when all have stopped; whether they go on."""
        if self._countdown.over or not cross_next(self._plan, self._store):
            return False
        self._note_crossings()
        for one in self._courses:
            one.mark = ""  # no place has the state that it has now
        self._waiting.extend(self._courses)
        return True

    def _tell(self, event: Event) -> None:
        if self._campaign.portable is not None:
            self._usage.consume(event)
            self._announce(event)

    def _begin_more(self) -> None:
        """Have as many targets underway as there are slots."""
        while self._waiting and len(self._underway) < self._jobs:
            course = self._waiting.popleft()
            if self._enough(course):
                self._pay(course)
            elif course.owed or not self._countdown.over:
                self._next(course)

    def _next(self, course: Course) -> None:
        """Have the next round of a target performed, or have it opened where no place has it."""
        self._underway[course.name] = course
        course.began = self._countdown.spent
        left = self._countdown.left if self._countdown.running and not course.owed else math.inf
        if course.mark:
            lasting = course.began <= (1 - MOST) * (self._countdown.seconds or math.inf)
            unit = Unit(
                f"{course.name}{ROUND}{course.rounds + 1}", units.rounded,
                arguments=(course.mark, left, lasting), prefers=course.place,
            )  # fmt: skip
        else:
            share = self._executor.share
            load = share(course.source, self._plan.plan.vocabularies[course.source])
            name, kept = (course.source, course.shard), self._store.target(course.name)
            unit = Unit(
                f"{course.name}{OPENING}{course.rounds + 1}", units.opened,
                (share("campaign", self._campaign), load), (name, kept, left), course.place,
            )  # fmt: skip
        self._announce(Phase("fuzzing " + ", ".join(one.source for one in self._on_show())))
        self._executor.submit(unit)

    def _on_show(self) -> list[Course]:
        return sorted(self._underway.values(), key=lambda one: one.name)

    def _take_all(self) -> None:
        """Wait for a result, and take all that have come: what there is to commit, in one go."""
        rounds: list[tuple[Course, Done, Round, Mapping[str, bytes]]] = []
        try:
            done = self._executor.next(POLL_SECONDS)
            while done is not None:
                taken = self._taken(done)
                if taken is not None and taken[1].done is not None:
                    rounds.append((taken[0], done, taken[1].done, taken[1].files))
                done = self._executor.next(0.0) if len(rounds) < TOGETHER else None
        finally:  # whatever ends the session
            if rounds:
                self._commit([(committed, files) for _, _, committed, files in rounds])
        for course, result, committed, _ in rounds:
            cases = committed.cases - course.cases
            self._count(result, cases)
            self.cases += cases
            course.cases += cases
            course.rounds += 1
            self._pay(course)
            self._go_on(course)

    def _taken(self, done: Done) -> tuple[Course, Came] | None:
        """Take what a unit came to; a target's round where there is one to commit."""
        if done.name == CANARY:
            found, said = json.loads(done.result)
            self.canary = found, said
            self._count(done, 0)
            return None
        self._places.add(done.place)
        came = Came.unpacked(done.result)
        rounded = ROUND in done.name
        course = self._underway.pop(done.name.rpartition(ROUND if rounded else OPENING)[0])
        self.awaited.update(came.awaited)
        course.place, course.mark = done.place, came.mark
        course.turn += done.seconds
        if came.done is not None:
            # Something may not have been asked in it that came after the end.
            lasts = course.owed or course.began <= (1 - MOST) * (self._countdown.seconds or 0.0)
            return (course, came) if lasts or not self._countdown.over else None
        self._count(done, 0)
        if came.too_long is not None:
            kept = self._store.target(course.name) or Kept()
            kept.state.round_size = came.too_long
            self._store.commit([kept.round(course.name)])  # nothing to show: it has done nothing
        elif came.mark and not rounded:
            if not self._countdown.running:
                self._countdown.start()
                self._prepared(self._countdown.prepared)
        elif came.mark or not came.cold:  # there is nothing left to ask, or no time
            self._pay(course)
            return None
        if course.owed or not self._countdown.over:
            self._next(course)
        return None

    def _go_on(self, course: Course) -> None:
        """Another round of a target, unless it has had enough, or others waited long enough."""
        if self._enough(course) or self._countdown.over:
            return
        seconds = turn(self._countdown.seconds, self._jobs, len(self._courses))
        if self._waiting and course.turn > seconds:
            course.turn = 0.0
            self._waiting.append(course)
            return
        self._next(course)

    def _pay(self, course: Course) -> None:
        """Owe nothing of a target from now on."""
        if course.owed and self._countdown.over:
            self.least.add(course.source)
        course.owed = False

    def _count(self, done: Done, cases: int) -> None:
        size = len(done.result)
        self._tell(UnitDone(done.name, done.node, done.tries, done.seconds, size, cases))

    def _commit(self, rounds: list[tuple[Round, Mapping[str, bytes]]]) -> None:
        """Write the files of findings, and then the rounds, all of them or none."""
        for _, files in rounds:
            self._place(files)
        self._store.commit([done for done, _ in rounds])
        for done, _ in rounds:
            self._publish(done)
            if self._examples is not None and done.findings:
                source = done.target.rpartition("#")[0]
                vocabulary = self._plan.plan.vocabularies[source]()
                share_findings(vocabulary, self._examples, done.findings)

    def _enough(self, course: Course) -> bool:
        """Whether it has done as many cases as it may before others have, too."""
        most = limit(self._plan.plan.budget.cases, course.crossed)
        return most is not None and course.cases >= most

    def _left_behind(self) -> dict[str, str]:
        """Close all places, and return what their workers left behind, as far as it comes."""
        left: dict[str, str] = {}
        ends = {f"end of {place}": place for place in sorted(self._places)}
        for name, place in ends.items():
            self._executor.submit(Unit(name, units.closed, prefers=place))
        deadline = time.monotonic() + GRACE
        while ends and time.monotonic() < deadline:
            done = self._executor.next(POLL_SECONDS)
            if done is not None and ends.pop(done.name, None) is not None:
                left |= json.loads(done.result)
        return left


def turn(seconds: float | None, threads: int, targets: int) -> float:
    """How long a target keeps its place, of so many in a session of so many seconds."""
    return TURN_SECONDS if seconds is None else min(TURN_SECONDS, seconds * threads / targets)
