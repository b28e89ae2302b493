"""A session of a campaign on a cluster: the driver has rounds performed, and commits each once.

A target has one round underway at a time, so that its rounds come in the order that the state of
each decides, whoever performs them: what a target comes to is what it comes to on one machine. As
many targets are underway as there are slots. What a node had not handed back when it was lost is
done again from what was committed, alike.
"""

from __future__ import annotations

import json
import time
from collections import deque
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from harness.checks import CHECKS
from harness.cluster.executor import Unit
from harness.cluster.usage import Usage
from harness.events import UnitDone
from harness.findings import inputless
from harness.studies.fuzz import scattered
from harness.studies.fuzz.behaviour import Map
from harness.studies.fuzz.crossing import cross_next, limit
from harness.studies.fuzz.plan import target_name
from harness.studies.fuzz.scattered import Came, Campaign
from harness.studies.fuzz.session import POLL_SECONDS, TURN_SECONDS
from harness.studies.fuzz.sizing import ROUND_SECONDS
from harness.studies.fuzz.state import Round, State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.cluster.executor import Done, Executor
    from harness.core.countdown import Countdown
    from harness.events import ClusterUsed, Event
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.store import CampaignStore, Kept

CANARY = "the canary"
"""The name of the unit that looks for it."""

GRACE = 2 * ROUND_SECONDS
"""Seconds for which rounds that are on when time is up are waited for: so that none is lost that is
nearly done, and what workers left behind is told."""

TOGETHER = 64
"""Rounds that are committed together at the most. A transaction costs as much as several rounds in
it; and what is not committed yet is lost with the driver."""

MEMORY = 2 << 30
"""Bytes that the open targets of a place may hold in all; the last one stays open in any case."""


@dataclass(slots=True)
class Canary:
    """What is known of the canary, as :class:`harness.studies.fuzz.canary.CanaryWatch` tells it."""

    found: bool | None = None
    said: str = "the canary was not found yet when the session ended"


@dataclass(slots=True)
class Course:
    """How far a target is. place, mark: where its last round was done, and the state there.

    turn: seconds of its rounds since others waited. crossed: how often inputs of others crossed.
    """

    source: str
    shard: int
    cases: int
    place: str = ""
    mark: str = ""
    rounds: int = 0
    turn: float = 0.0
    crossed: int = 0

    @property
    def name(self) -> str:
        """As in the database."""
        return target_name(self.source, self.shard)


class ClusterSession:
    """Runs the targets of a plan by an executor; as :class:`harness.studies.fuzz.session.Session`.

    place: writes the files of findings, before the commit. publish: gets each round once it is
    committed. announce: gets what happens on the cluster. countdown: of the budget; it begins to
    run when the first round is done. done: by target, the cases of earlier sessions.
    """

    def __init__(
        self,
        plan: FuzzPlan,
        store: CampaignStore,
        place: Callable[[Mapping[str, bytes]], None],
        publish: Callable[[Round], None],
        announce: Callable[[Event], None],
        countdown: Countdown,
        executor: Executor,
        done: Mapping[str, int] = MappingProxyType({}),
        prepared: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._plan, self._store, self._place = plan, store, place
        self._publish, self._announce = publish, announce
        self._countdown, self._executor, self._prepared = countdown, executor, prepared
        self._campaign = Campaign.of(plan, store.mark, MEMORY)
        courses = [Course(*one, done.get(target_name(*one), 0)) for one in plan.targets]
        # A session that is too short for all of them begins with those that had the least so far.
        self._courses = sorted(courses, key=lambda one: one.cases)
        self._waiting = deque(self._courses)
        self._underway: dict[str, Course] = {}
        self._places: set[str] = set()
        self._shared: Any = None
        self._usage = Usage()
        self.cases = 0
        self.awaited: set[str] = set()
        self.late = 0.0
        self.canary: Canary | None = Canary() if plan.canary else None

    @property
    def cluster(self) -> ClusterUsed:
        """What the cluster did."""
        return self._usage.summary()

    def run(self, each: Callable[[], None] = lambda: None) -> None:
        """Until the budget is spent; ``each`` is called now and then.

        Raises ClusterError, UnitError, LedgerError, OutputError, KeyboardInterrupt.
        """
        executor = self._executor
        try:
            executor.listen(self._tell)
            self._shared = executor.share("campaign", self._campaign)
            if self.canary is not None:
                executor.submit(Unit(CANARY, scattered.watch, (self._shared,)))
            self._note_crossings()
            while self._on or self._cross():
                self._begin_more()
                self._take_all()
                each()
            if CHECKS[inputless.CHECK] in self._plan.plan.checks:
                self._commit_leavings()
        finally:
            executor.close()

    @property
    def _on(self) -> bool:
        """Whether there is anything to wait for."""
        if self._countdown.over:
            return bool(self._underway) and self._countdown.late < GRACE
        watching = self.canary is not None and self.canary.found is None
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
            one.place = ""  # no place has the state that it has now
        self._waiting.extend(self._courses)
        return True

    def _tell(self, event: Event) -> None:
        self._usage.consume(event)
        self._announce(event)

    def _begin_more(self) -> None:
        """Have as many targets underway as there are slots."""
        while (
            self._waiting
            and not self._countdown.over
            and len(self._underway) < self._executor.slots
        ):
            course = self._waiting.popleft()
            if not self._enough(course):
                self._next(course)

    def _next(self, course: Course, *, anew: bool = False) -> None:
        """Have the next round of a target performed. anew: with the state, as no place has it."""
        self._underway[course.name] = course
        given = anew or not course.place
        kept = self._store.target(course.name) if given else None
        load = self._executor.share(course.source, self._plan.plan.vocabularies[course.source])
        self._executor.submit(
            Unit(
                f"{course.name}, round {course.rounds + 1}",
                scattered.perform_given if given else scattered.perform_warm,
                (self._shared, load),
                (course.source, course.shard, kept if given else course.mark),
                course.place,
            )
        )

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
            cases = committed.state.cases - course.cases
            self._count(result, cases)
            self.cases += cases
            course.cases += cases
            course.rounds += 1
            course.turn += result.seconds
            self._go_on(course)

    def _taken(self, done: Done) -> tuple[Course, Came] | None:
        """Take what a unit came to; a target's round where there is one to commit."""
        if done.name == CANARY:
            assert self.canary is not None
            self.canary.found, self.canary.said = json.loads(done.result)
            self._count(done, 0)
            return None
        self._places.add(done.place)
        came = Came.unpacked(done.result)
        name = done.name.rpartition(", round ")[0]
        course = self._underway.pop(name)
        course.place, course.mark = done.place, came.mark
        if came.cold:
            self._next(course, anew=True)
            return None
        self._start_clock()
        if came.done is not None:
            return course, came
        self._count(done, 0)
        if came.too_long is not None:
            self._commit([(lessened(name, self._store.target(name), came.too_long), {})])
            self._next(course, anew=True)
        return None

    def _go_on(self, course: Course) -> None:
        """Another round of a target, unless it has had enough, or others waited long enough."""
        if self._enough(course):
            return
        if self._countdown.over or (self._waiting and course.turn > TURN_SECONDS):
            course.turn = 0.0
            self._waiting.append(course)
            return
        self._next(course)

    def _count(self, done: Done, cases: int) -> None:
        size = len(done.result)
        self._tell(UnitDone(done.name, done.node, done.tries, done.seconds, size, cases))

    def _commit(self, rounds: Sequence[tuple[Round, Mapping[str, bytes]]]) -> None:
        """Write the files of findings, and then the rounds, all of them or none."""
        for _, files in rounds:
            self._place(files)
        self._store.commit_all([done for done, _ in rounds])
        for done, _ in rounds:
            self._publish(done)

    def _start_clock(self) -> None:
        if not self._countdown.running:
            self._countdown.start()
            self._prepared(self._countdown.prepared)

    def _enough(self, course: Course) -> bool:
        """Whether it has done as many cases as it may before others have, too."""
        most = limit(self._plan.plan.budget.cases, course.crossed)
        return most is not None and course.cases >= most

    def _commit_leavings(self) -> None:
        """Enter what workers left behind, each in the first target that has asked its author."""
        left: dict[str, str] = {}
        for place in sorted(self._places):
            self._executor.submit(Unit(f"end of {place}", scattered.close, prefers=place))
        for done in self._rest(len(self._places)):
            left |= json.loads(done.result)
        for source, shard in self._plan.targets:
            name = target_name(source, shard)
            kept = self._store.target(name)
            if not left or kept is None:
                continue
            load = self._executor.share(source, self._plan.plan.vocabularies[source])
            unit = Unit(
                f"{name}, leavings",
                scattered.leave,
                (self._shared, load),
                (source, shard, kept, left),
            )
            self._executor.submit(unit)
            for done in self._rest(1):
                came = Came.unpacked(done.result)
                if came.done is not None:
                    self._commit([(came.done, came.files)])
                left = {author: line for author, line in left.items() if author not in came.asked}

    def _rest(self, count: int) -> list[Done]:
        """Return what the last units came to, as far as it comes in time."""
        found: list[Done] = []
        deadline = time.monotonic() + GRACE
        while len(found) < count and time.monotonic() < deadline:
            done = self._executor.next(POLL_SECONDS)
            if done is not None and ", round " not in done.name and done.name != CANARY:
                found.append(done)
        return found


def lessened(name: str, kept: Kept | None, size: int) -> Round:
    """No round, but that the next one is to take on no more than ``size``, to be committed."""
    state = kept.state if kept else State()
    state.round_size = size
    packed = Map(kept.map if kept else None).packed()
    first = len(kept.corpus) if kept else 0
    return Round(name, state, packed, first, [], [], [], [], 0.0)
