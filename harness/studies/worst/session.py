"""One session of a search for the worst input: search, minimise, finals, in its time."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from corpora.families.pattern import Pattern
from harness.core.countdown import Countdown
from harness.core.messages import Meter
from harness.engine.costs import loaded
from harness.studies.worst.finals import finals, polished, smallest_deaths, stands_out
from harness.studies.worst.gauge import Gauge
from harness.studies.worst.patterns import Breeder, seeds
from harness.studies.worst.plan import CONTROL
from harness.studies.worst.results import Entry, Report
from harness.studies.worst.search import Search
from harness.studies.worst.state import PALPABLE, Aim, Candidate, Death, State, Store
from harness.workers import Limits
from harness.workers.pool import OutOfTime
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from harness.engine.costs import Loaded
    from harness.studies.worst.plan import WorstPlan

SEARCHING, MINIMISING = 0.7, 0.12
"""Shares of the budget, which runs from the first measurement on; the rest is for the finals. What
a phase does not use is the next one's."""

SECONDS, DEATHS, HANGS = 20.0, 200, 30
"""Limits of the worker: a request is made of what should be done in three seconds, on a machine
that may be busy with several times as much; and deaths are what is looked for."""

CONTROLS = 5
"""Measurements of the control before a search."""

GROWING, HUNGRY = 2, 1
"""Candidates for growth and memory that are minimised, besides those for cost."""


class Watcher:
    """Told how far a search is. This one says nothing."""

    def prepared(self, seconds: float) -> None:
        """The implementation is loaded, which took so long, and the budget begins to run."""

    def searching(self, search: Search, seconds: float) -> None:
        """After a generation; ``seconds`` of the search so far, in all sessions."""

    def doing(self, what: str) -> None:
        """What is being done from now on."""


@dataclass(slots=True)
class Gathered:
    """What searches elsewhere found, and a driver measures again.

    patterns: with their origins. readings, generations, seconds: how far the searches came.
    """

    patterns: list[tuple[str, Pattern]] = field(default_factory=list)
    deaths: list[Death] = field(default_factory=list)
    readings: int = 0
    generations: int = 0
    seconds: float = 0.0

    def __add__(self, other: Gathered) -> Gathered:
        patterns = {pattern: origin for origin, pattern in (*self.patterns, *other.patterns)}
        return Gathered(
            [(origin, pattern) for pattern, origin in patterns.items()],
            [*self.deaths, *other.deaths],
            self.readings + other.readings,
            self.generations + other.generations,
            self.seconds + other.seconds,
        )


def beginnings(plan: WorstPlan) -> list[tuple[str, Pattern]]:
    """Patterns to begin with, and their origins: like the listed families that are not withheld."""
    told = [one for name, one in plan.families.items() if name not in plan.withheld]
    return seeds(told, plan.vocabulary)


class Session:
    """What one command does of a search. countdown: of the budget; it runs when run() is called.

    store: of the state; None for a search whose state is not kept. gathered: what searches
    elsewhere found, which is measured here instead of searching. begin: patterns to begin with;
    None for those like the listed families that are not withheld.
    """

    def __init__(
        self,
        plan: WorstPlan,
        store: Store | None,
        report: Report,
        on: Loaded,
        watcher: Watcher,
        countdown: Countdown,
        gathered: Gathered | None = None,
        begin: Sequence[tuple[str, Pattern]] | None = None,
    ) -> None:
        self._plan, self._report = plan, report
        self._countdown, self._watcher, self._gathered = countdown, watcher, gathered
        self._gauge = Gauge(on, countdown)
        self._ordinary_memory = 0.0
        self._store = None if gathered else store
        self._state = State() if self._store is None else self._store.restored()
        if begin is None:
            begin = beginnings(plan)
        self._search = Search(
            Breeder(plan.vocabulary),
            self._gauge,
            plan.sizes,
            plan.seed,
            gathered.patterns if gathered else begin,
            self._state,
            guided=plan.guided and not gathered,
            bred=not gathered,
        )

    def prepare(self) -> None:
        """Encode once: what is compiled or built on first use is built then."""
        self._gauge.read([self._prose(self._plan.sizes.large, CONTROLS)], Meter.TIME)

    def run(self) -> None:
        """All of it; the report is complete then."""
        countdown, report, search = self._countdown, self._report, self._search
        report.prepared = countdown.prepared
        self._watcher.prepared(countdown.prepared)
        with contextlib.suppress(OutOfTime):  # there may be no time even for this
            self._measure_control()
        self._go_on()
        self._watcher.doing("minimising")
        rest = countdown.left * MINIMISING / (1 - SEARCHING)
        self._gauge.phase = minimising = countdown.part(rest)
        lost = list(self._state.deaths.values())
        deaths = smallest_deaths(self._gauge, lost, minimising.part(rest / 2))
        found = polished(self._gauge, self._best(), search.scale, minimising)
        self._gauge.phase = countdown
        self._watcher.doing("measuring what was found and what is listed side by side")
        families, sizes = dict(self._plan.families), self._plan.sizes
        control = families.pop(CONTROL)
        listed = list(families.values())
        report.compared, report.control, report.listed, stands = finals(
            self._gauge, found, control, listed, (sizes.large, sizes.full), countdown
        )
        report.grown = report.compared
        report.found = [one for one in stands if stands_out(one, self._ordinary_memory)]
        report.found += deaths
        report.spent = countdown.spent
        report.complete = True

    def break_off(self) -> None:
        """Report what stands out so far, as the search measured it: for an interrupted search."""
        self._report.spent = self._countdown.spent
        self._sum_up()
        if self._report.found:  # the finals had come to their end
            return
        made: dict[str, Entry] = {}
        for aim, one in self._best():
            line = one.pattern.expression()
            samples = sorted(one.samples, key=lambda sample: sample.size)
            points = [[s.length, s.least / 1e9] for s in samples]
            entry = Entry(line, aim.value, points=points, expression=line, origin=one.origin)
            entry.pattern = one.pattern.to_dict()
            made.setdefault(line, entry)
        self._report.found += made.values()

    def searched(self) -> Gathered:
        """Search for the whole time, and return what a driver measures again."""
        with contextlib.suppress(OutOfTime):
            self._measure_control()
        search, state, began = self._search, self._state, self._countdown.spent
        search.run(lambda: not self._countdown.over)
        best = {one.pattern: one.origin for _, one in self._best()}
        return Gathered(
            [(origin, pattern) for pattern, origin in best.items()],
            list(state.deaths.values()),
            state.readings,
            state.generation,
            round(self._countdown.spent - began, 3),
        )

    def _best(self) -> list[tuple[Aim, Candidate]]:
        """What stands out for each aim, the best first."""
        wanted = ((Aim.COST, self._plan.most), (Aim.GROWTH, GROWING), (Aim.MEMORY, HUNGRY))
        scale = self._search.scale
        return [(aim, one) for aim, most in wanted for one in self._state.ranked(aim, scale)[:most]]

    def _prose(self, size: int, variant: int) -> bytes:
        """An input of the control."""
        return self._plan.families[CONTROL].make(self._plan.vocabulary, size, variant)

    def _measure_control(self) -> None:
        """Measure prose: a machine is as fast as it is today. Raises OutOfTime."""
        size = self._plan.sizes.large
        inputs = [self._prose(size, i) for i in range(CONTROLS)]
        readings = self._gauge.read(inputs, Meter.TIME)
        costs = [one.cost for one in readings if one.answered]
        if not costs:
            how = readings[0].message.split("\n", 1)[0]
            raise ImplementationError(f"{self._plan.participant.name} fails on plain prose: {how}")
        self._state.control = min(costs) / size
        memory = self._gauge.read(inputs[:1], Meter.MEMORY)[0]
        self._ordinary_memory = max(PALPABLE, memory.cost) / size

    def _go_on(self) -> None:
        """Search for what is left of its share after earlier sessions.

        Of what was searched elsewhere all is measured, for half of the time at the most.
        """
        state, gathered, before = self._state, self._gathered, self._state.seconds
        share = max(0.0, self._plan.budget * SEARCHING - before)
        searching = self._countdown.part(self._countdown.left / 2 if gathered else share)
        if gathered is not None:
            before = gathered.seconds
            for death in gathered.deaths:
                state.bury(death)

        def after() -> None:
            if gathered is None:
                state.seconds = before + searching.spent
            if self._store is not None:
                self._store.save(state)
            self._watcher.searching(self._search, before + searching.spent)

        self._gauge.phase = searching
        self._search.run(lambda: not searching.over, after)
        self._gauge.phase = self._countdown
        if gathered is not None:
            state.readings += gathered.readings
            state.generation, state.seconds = gathered.generations, gathered.seconds
        self._sum_up()

    def _sum_up(self) -> None:
        """Say how far the search got."""
        report, state = self._report, self._state
        report.seconds, report.generations = state.seconds, state.generation
        report.readings, report.died = state.readings, state.died
        report.kinds, report.ended = state.kinds, self._search.over
        if self._plan.guided:
            report.guided = len(state.lines)


@contextlib.contextmanager
def at_work(
    plan: WorstPlan,
    folder: Path | None,
    report: Report,
    countdown: Countdown,
    watcher: Watcher,
    gathered: Gathered | None = None,
    begin: Sequence[tuple[str, Pattern]] | None = None,
) -> Iterator[Session]:
    """A session whose implementation is loaded and whose time runs, which ends its worker.

    folder: of the state, None where it is not kept. Raises NotLoaded.
    """
    store = None if folder is None else Store(folder, plan.identity())
    limits = Limits(SECONDS, memory=plan.memory, deaths=DEATHS, hangs=HANGS)
    after = contextlib.ExitStack()  # what is done when the worker has ended
    with after, loaded(plan.participant, plan.vocabulary, limits) as on:

        def left() -> None:
            report.left = on.pool.left().get(report.implementation, "")

        session = Session(plan, store, report, on, watcher, countdown, gathered, begin)
        session.prepare()
        after.callback(left)
        countdown.start()
        on.pool.limit_by(lambda: countdown.left)  # a request that would go on is not waited for
        yield session
