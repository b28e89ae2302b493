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
from harness.studies.fuzz.units import Came, Campaign

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.cluster.executor import Done, Executor
    from harness.core.countdown import Countdown
    from harness.events import ClusterUsed, Event
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.studies.fuzz.state import Kept, Round
    from harness.studies.fuzz.store import CampaignStore

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

    def prepared(self, seconds: float) -> None:
        """Take note of the seconds that preparing took: the first case comes now."""
        ...

    def announce(self, event: Event) -> None:
        """Show an event that is not committed: a phase, or who could not load."""
        ...

    def publish(self, done: Round, cases: int) -> None:
        """Show a round that was committed, and that asked so many cases."""
        ...

    def stop(self) -> None:
        """Take what moves off the terminal."""
        ...


@dataclass(slots=True)
class Strand:
    """A target in this session.

    again: what it has found before is still to be asked again. cases: of the whole campaign.
    opens: whether its unit that is on opens it. place, mark: where it is open, and by which mark
    that place knows its state; none where it has to be opened. spent: seconds of its turn.
    """

    name: str
    again: bool
    cases: int
    number: int = 0
    opens: bool = False
    place: str = ""
    mark: str = ""
    spent: float = 0.0


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
    _waiting: deque[Strand] = field(default_factory=deque)
    _underway: dict[str, Strand] = field(default_factory=dict)
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
        plan, executor, countdown = self.plan, self.executor, self.countdown
        jobs = plan.plan.jobs if self.campaign.portable is None else executor.slots
        try:
            executor.listen(self._tell)
            if plan.canary:
                self.canary = None, "the canary was not found yet when the session ended"
                shared = executor.share("campaign", self.campaign)
                executor.submit(Unit(CANARY, units.watched, (shared,)))
            # Where cases are counted, what is asked must not depend on where a session was cut off.
            if countdown.seconds is not None:
                self._others = crossing(plan, self.kept)
            self._wait_for_all()
            turn_seconds = turn(countdown.seconds, jobs, len(plan.targets))
            while self._on:
                while self._waiting and len(self._underway) < jobs:
                    self._go_on(self._waiting.popleft())
                self._take(turn_seconds)
                each()
            return self._left_behind()
        except UnitError as error:
            if isinstance(error.__cause__, NamedFailed):
                raise error.__cause__ from None
            raise
        finally:
            executor.close()

    def _wait_for_all(self) -> None:
        """Have all targets wait for a place, those first that had the least.

        A session that is too short for all of them has no more than those.
        """
        for name, (source, _) in self.plan.targets.items():
            strand = Strand(name, again=False, cases=0)
            if name in self.kept:
                state = self.kept[name].state
                strand.cases = state.cases
                strand.again = bool(state.fixed or any(map(comes_back, state.findings)))
            if strand.again or (self.plan.plan.owed(source) and not strand.cases):
                self._owed.add(name)
            self._waiting.append(strand)
        self._waiting = deque(sorted(self._waiting, key=lambda one: one.cases))

    @property
    def _on(self) -> bool:
        """Whether there is anything to wait for."""
        if self.countdown.over:
            return bool(self._owed) or (bool(self._underway) and self.countdown.late < GRACE)
        watching = self.plan.canary and self.canary[0] is None
        return bool(self._underway or self._waiting) or watching

    def _go_on(self, strand: Strand) -> None:
        """Have the next unit of a target performed, unless it has come to its end.

        First it is asked again what it has found, where there is anything. Then it is opened, where
        no place has it, and has round after round.
        """
        name, plan, countdown = strand.name, self.plan.plan, self.countdown
        owed = name in self._owed
        enough = plan.budget.cases is not None and strand.cases >= plan.budget.cases
        if not strand.again and (enough or (countdown.over and not owed)):
            self._owed.discard(name)
            return
        source, _ = self.plan.targets[name]
        strand.number += 1
        strand.opens = strand.again or not strand.mark
        if not strand.opens and not countdown.running:
            countdown.start()
            self.shows.prepared(countdown.prepared)
        left = countdown.left if countdown.running and not owed else math.inf
        if strand.opens:
            given = ("campaign", self.campaign), (source, plan.vocabularies[source])
            unit = Unit(
                f"{name}, opening {strand.number}",
                units.opened,
                [self.executor.share(*one) for one in given],
                (name, self.store.parts(name), self._others.get(name, []), left, strand.again),
                strand.place,
            )
        else:
            known = strand.mark, left
            unit = Unit(f"{name}, round {strand.number}", units.rounded, (), known, strand.place)
        self.shows.announce(Phase(f"fuzzing {source}"))
        self._underway[unit.name] = strand
        self.executor.submit(unit)

    def _take(self, turn_seconds: float) -> None:
        """Wait for a result, and have its target go on."""
        done = self.executor.next(POLL_SECONDS)
        if done is None:
            return
        if done.name == CANARY:
            found, said = json.loads(done.result)
            self.canary = found, said
            self._count(done, 0)
            return
        strand, came = self._underway.pop(done.name), Came.unpacked(done.result)
        strand.place, strand.mark = done.place, came.mark
        strand.spent += done.seconds
        self._places.add(done.place)
        self._count(done, self._commit(strand, came))
        if not strand.opens and not came.cold:
            if strand.name in self._owed and self.countdown.over:
                self.least.add(self.plan.targets[strand.name][0])
            self._owed.discard(strand.name)
        if strand.again:
            strand.again = False
            if strand.cases:
                self._owed.discard(strand.name)
            self._waiting.append(strand)
        elif not came.cold and not (came.mark if strand.opens else came.done):
            self._owed.discard(strand.name)  # there was no time, or there is nothing left to ask
        elif not strand.opens and self._waiting and strand.spent > turn_seconds:
            strand.spent = 0.0
            self._waiting.append(strand)
        else:
            self._go_on(strand)

    def _commit(self, strand: Strand, came: Came) -> int:
        """Commit what came of a unit, if anything did; how many cases it asked."""
        if came.done is None:
            return 0
        database, source = self.plan.database, self.plan.targets[strand.name][0]
        self.place(came.files)
        self.store.commit([came.done], forget=strand.again)
        self.committed(came.done)
        new = came.done.cases - strand.cases
        strand.cases, self.cases = came.done.cases, self.cases + new
        self.shows.publish(came.done, new)
        if strand.again:
            self.gone.update(came.done.gone)
        elif database and came.done.findings:
            load = self.plan.plan.vocabularies[source]
            share_findings(load(), open_examples(database), came.done.findings)
        return new

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
    for name, (source, _) in plan.targets.items():
        given[name] = offered[algorithm_of(plan.plan.vocabularies[source]())]
        entries = kept[name].state.corpus if name in kept else []
        given[name] += [one.data for one in entries if one.origin != SHARED][-OFFERED:]
    return given


def turn(seconds: float | None, threads: int, targets: int) -> float:
    """How long a target keeps its place, of so many in a session of so many seconds."""
    return TURN_SECONDS if seconds is None else min(TURN_SECONDS, seconds * threads / targets)
