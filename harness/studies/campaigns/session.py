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
from typing import TYPE_CHECKING, Any, Protocol

from harness.cluster.executor import Unit, UnitError
from harness.cluster.local import LocalExecutor
from harness.cluster.usage import Usage
from harness.engine.state import NamedFailed
from harness.events import Phase, UnitDone
from harness.studies.campaigns import units
from harness.studies.campaigns.units import Came, Campaign
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.cluster.executor import Done, Executor
    from harness.core.countdown import Countdown
    from harness.events import ClusterUsed, Event
    from harness.studies.campaigns.state import Kept, Round
    from harness.studies.campaigns.store import CampaignStore
    from harness.studies.campaigns.units import CampaignPlan, Open

TURN_SECONDS = 60.0
"""A target keeps its place for so many seconds where others wait: loading a large vocabulary into
all implementations takes a few seconds, and should not be much of it. In a session that is too
short for that, each has the same share of the time."""

POLL_SECONDS = 0.2
"""A thread that only waits is deaf to Ctrl-C."""

GRACE = 30.0
"""Seconds for which the last units are waited for."""

BESIDE = "beside the targets"
"""The unit that is no target's."""


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


class Session:
    """Runs the targets of a plan by an executor.

    executor: performs the rounds elsewhere; None: on this machine. shows: is told what is being
    done, each round once it is committed, and how long the loading took, when the countdown begins.
    countdown: of the budget; it begins to run when the first vocabulary is loaded. kept: the
    targets that earlier sessions have committed. place: writes files of findings, before the
    commit. committed: called with each round after it. others: inputs that each target is given
    first. beside: the work of a unit that goes on beside the targets, and is waited for.

    A round that was not answered when the time is up is lost: the next session does it again,
    alike. What the user named has a round at least, however late it is.
    cases: those that were committed in this session. gone: ids of findings that no longer show.
    least: the vocabularies that had their first round after the time. besides: what that unit came
    to, None while nobody knows.
    """

    def __init__(
        self,
        plan: CampaignPlan,
        target: Open,
        store: CampaignStore,
        executor: Executor | None,
        shows: Shows,
        countdown: Countdown,
        kept: Mapping[str, Kept[Any]],
        place: Callable[[Mapping[str, bytes]], None] = lambda files: None,
        committed: Callable[[Round], None] = lambda done: None,
        others: Mapping[str, list[bytes]] | None = None,
        beside: Callable[..., bytes] | None = None,
    ) -> None:
        self._plan, self._store, self._shows, self._countdown = plan, store, shows, countdown
        self._kept, self._put, self._committed = kept, place, committed
        self._others, self._beside = others or {}, beside
        jobs = plan.plan.jobs
        self._executor = executor or LocalExecutor(jobs + (beside is not None))
        self._campaign = Campaign(plan, target) if executor is None else Campaign.of(plan, target)
        self._jobs = jobs if executor is None else executor.slots
        self.cases = 0
        self.gone: set[str] = set()
        self.least: set[str] = set()
        self.besides: bytes | None = None
        self._waiting: deque[Strand] = deque()
        self._underway: dict[str, Strand] = {}
        self._owed: set[str] = set()
        """Targets that go on though the time is over: those that have found something, until that
        is asked again, and those that the user named, until something was asked."""
        self._places: set[str] = set()
        self._usage = Usage()

    @property
    def cluster(self) -> ClusterUsed | None:
        """What the cluster did, where there is one."""
        return self._usage.summary() if self._campaign.portable else None

    def run(self, each: Callable[[], None] = lambda: None) -> dict[str, str]:
        """Until the budget is spent; ``each`` is called now and then.

        Gives what workers left behind, by implementation. Raises ClusterError, UnitError,
        LedgerError, OutputError, NamedFailed, ImplementationError, KeyboardInterrupt.
        """
        executor = self._executor
        try:
            executor.listen(self._tell)
            if self._beside is not None:
                shared = executor.share("campaign", self._campaign)
                executor.submit(Unit(BESIDE, self._beside, (shared,)))
            self._wait_for_all()
            turn_seconds = turn(self._countdown.seconds, self._jobs, len(self._plan.targets))
            while self._on:
                while self._waiting and len(self._underway) < self._jobs:
                    self._go_on(self._waiting.popleft())
                self._take(turn_seconds)
                each()
            return self._left_behind()
        except UnitError as error:
            if isinstance(error.__cause__, NamedFailed | ImplementationError):
                raise error.__cause__ from None
            raise
        finally:
            executor.close()

    def _wait_for_all(self) -> None:
        """Have all targets wait for a place, those first that had the least.

        A session that is too short for all of them has no more than those.
        """
        strands = []
        for name, (source, _) in self._plan.targets.items():
            strand = Strand(name, again=False, cases=0)
            if name in self._kept:
                state = self._kept[name].state
                strand.again, strand.cases = state.again, state.cases
            if strand.again or (self._plan.plan.owed(source) and not strand.cases):
                self._owed.add(name)
            strands.append(strand)
        self._waiting = deque(sorted(strands, key=lambda one: one.cases))

    @property
    def _on(self) -> bool:
        """Whether there is anything to wait for."""
        if self._countdown.over:
            return bool(self._owed) or (bool(self._underway) and self._countdown.late < GRACE)
        watching = self._beside is not None and self.besides is None
        return bool(self._underway or self._waiting) or watching

    def _go_on(self, strand: Strand) -> None:
        """Have the next unit of a target performed, unless it has come to its end.

        First it is asked again what it has found, where there is anything. Then it is opened, where
        no place has it, and has round after round.
        """
        name, plan, countdown = strand.name, self._plan.plan, self._countdown
        owed = name in self._owed
        enough = plan.budget.cases is not None and strand.cases >= plan.budget.cases
        if not strand.again and (enough or (countdown.over and not owed)):
            self._owed.discard(name)
            return
        source, _ = self._plan.targets[name]
        strand.number += 1
        strand.opens = strand.again or not strand.mark
        if not strand.opens and not countdown.running:
            countdown.start()
            self._shows.prepared(countdown.prepared)
        left = countdown.left if countdown.running and not owed else math.inf
        if strand.opens:
            given = ("campaign", self._campaign), (source, plan.vocabularies[source])
            unit = Unit(
                f"{name}, opening {strand.number}",
                units.opened,
                [self._executor.share(*one) for one in given],
                (name, self._store.parts(name), self._others.get(name, []), left, strand.again),
                strand.place,
            )
        else:
            known = strand.mark, left
            unit = Unit(f"{name}, round {strand.number}", units.rounded, (), known, strand.place)
        self._shows.announce(Phase(f"{self._plan.doing} {source}"))
        self._underway[unit.name] = strand
        self._executor.submit(unit)

    def _take(self, turn_seconds: float) -> None:
        """Wait for a result, and have its target go on."""
        done = self._executor.next(POLL_SECONDS)
        if done is None:
            return
        if done.name == BESIDE:
            self.besides = done.result
            self._count(done, 0)
            return
        strand, came = self._underway.pop(done.name), Came.unpacked(done.result)
        strand.place, strand.mark = done.place, came.mark
        strand.spent += done.seconds
        self._places.add(done.place)
        self._count(done, self._commit(strand, came))
        if not strand.opens and not came.cold:
            if strand.name in self._owed and self._countdown.over:
                self.least.add(self._plan.targets[strand.name][0])
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
        self._put(came.files)
        self._store.commit([came.done], forget=strand.again)
        new = came.done.cases - strand.cases
        strand.cases, self.cases = came.done.cases, self.cases + new
        if strand.again:
            self.gone.update(came.done.gone)
        self._committed(came.done)
        self._shows.publish(came.done, new)
        return new

    def _tell(self, event: Event) -> None:
        if self._campaign.portable is not None:
            self._usage.consume(event)
            self._shows.announce(event)

    def _count(self, done: Done, cases: int) -> None:
        size = len(done.result)
        self._tell(UnitDone(done.name, done.node, done.tries, done.seconds, size, cases))

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
