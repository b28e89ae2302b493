"""One session of a search for the worst input: search, minimise, finals, in its time."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.engine.costs import loaded
from harness.studies.worst.finals import finals, polished, smallest_deaths, stands_out
from harness.studies.worst.gauge import SLOWEST, Gauge
from harness.studies.worst.patterns import Breeder, seeds
from harness.studies.worst.plan import CONTROL
from harness.studies.worst.results import Entry, Report
from harness.studies.worst.search import Search
from harness.studies.worst.state import PALPABLE, Aim, Candidate, State, Store, place_of
from harness.workers import Limits
from harness.workers.pool import OutOfTime
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from corpora.families.pattern import Pattern
    from harness.core.countdown import Countdown
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


def beginnings(plan: WorstPlan) -> list[tuple[str, Pattern]]:
    """Patterns to begin with, and their origins: like the listed families that are not withheld."""
    told = [one for name, one in plan.families.items() if name not in plan.withheld]
    return seeds(told, plan.vocabulary)


class Session:
    """What one command does of a search. countdown: of the budget; it runs when run() is called.

    store: of the state; None for a search whose state is not kept. gathered: what searches
    elsewhere came to, which is measured here instead of searching. begin: patterns to begin with;
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
        gathered: Sequence[State] = (),
        begin: Sequence[tuple[str, Pattern]] | None = None,
    ) -> None:
        self._plan, self._report = plan, report
        self._countdown, self._watcher, self._gathered = countdown, watcher, gathered
        self._gauge = Gauge(on, countdown)
        self._ordinary_memory = 0.0
        self._store = None if gathered else store
        self._state = State() if self._store is None else self._store.restored()
        for one in gathered:
            for death in one.deaths.values():
                self._state.bury(death)
        if gathered:
            all_found = [found for one in gathered for found in one.places.values()]
            begin = [(o, p) for p, o in {one.pattern: one.origin for one in all_found}.items()]
        self._search = Search(
            Breeder(plan.vocabulary),
            self._gauge,
            plan.sizes,
            plan.seed,
            beginnings(plan) if begin is None else begin,
            self._state,
            guided=plan.guided and not gathered,
            bred=not gathered,
        )

    def prepare(self) -> None:
        """Encode once: what is compiled or built on first use is built then."""
        self._gauge.read([self._prose(CONTROLS)])

    def run(self) -> None:
        """All of it; the report is complete then. An interrupted one tells what stands out."""
        try:
            self._run()
        except KeyboardInterrupt:
            self._break_off()
            raise

    def _run(self) -> None:
        countdown, report, gauge = self._countdown, self._report, self._gauge
        report.prepared = countdown.prepared
        self._watcher.prepared(countdown.prepared)
        self.search()
        self._watcher.doing("minimising")
        rest = countdown.left * MINIMISING / (1 - SEARCHING)
        minimising = countdown.part(rest)
        lost = list(self._state.deaths.values())
        deaths = smallest_deaths(gauge, lost, minimising.part(rest / 2))
        found = polished(gauge, self._best(), self._search.scale, minimising)
        self._watcher.doing("measuring what was found and what is listed side by side")
        families, sizes = dict(self._plan.families), self._plan.sizes
        control = families.pop(CONTROL)
        report.compared, report.control, report.listed, stands = finals(
            gauge, found, control, list(families.values()), (sizes.large, sizes.full), countdown
        )
        report.grown = report.compared
        report.found = [one for one in stands if stands_out(one, self._ordinary_memory)]
        report.found += deaths
        report.spent = countdown.spent
        report.complete = True

    def _break_off(self) -> None:
        """Report what stands out so far, as the search measured it."""
        self._report.spent = self._countdown.spent
        self._sum_up()
        if self._report.found:  # the finals had come to their end
            return
        made: dict[str, Entry] = {}
        for aim, one in self._best():
            line = one.pattern.expression()
            samples = sorted(one.samples, key=lambda sample: sample.size)
            points = [[s.length, s.least / 1e9] for s in samples]
            made.setdefault(line, Entry(
                line, aim.value, points=points, expression=line, origin=one.origin,
                pattern=one.pattern.to_dict(),
            ))  # fmt: skip
        self._report.found += made.values()

    def searched(self) -> State:
        """Search for the whole time; gives what a driver measures again, and how far it came."""
        self.search(share=1.0)
        state = self._state
        best = {place_of(aim, one.pattern): one for aim, one in self._best()}
        return State(
            seconds=state.seconds,
            generation=state.generation,
            readings=state.readings,
            places=best,
            deaths=state.deaths,
        )

    def _best(self) -> list[tuple[Aim, Candidate]]:
        """What stands out for each aim, the best first."""
        wanted = ((Aim.COST, self._plan.most), (Aim.GROWTH, GROWING), (Aim.MEMORY, HUNGRY))
        scale = self._search.scale
        return [(aim, one) for aim, most in wanted for one in self._state.ranked(aim, scale)[:most]]

    def _prose(self, variant: int) -> bytes:
        """An input of the control."""
        control, size = self._plan.families[CONTROL], self._plan.sizes.large
        return control.make(self._plan.vocabulary, size, variant)

    def _measure_control(self) -> None:
        """Measure prose: a machine is as fast as it is today. Raises OutOfTime."""
        inputs = [self._prose(variant) for variant in range(CONTROLS)]
        readings = self._gauge.read(inputs)
        costs = [one.cost for one in readings if one.answered]
        if not costs:
            how = readings[0].message.split("\n", 1)[0]
            raise ImplementationError(f"{self._plan.participant.name} fails on plain prose: {how}")
        size = self._plan.sizes.large
        self._state.control = min(costs) / size
        [memory] = self._gauge.read(inputs[:1], Meter.MEMORY)
        self._ordinary_memory = max(PALPABLE, memory.cost) / size

    def search(self, share: float = SEARCHING) -> None:
        """Search for what is left of this share of the budget after earlier sessions.

        Of what was searched elsewhere all is measured, for half of the time at the most.
        """
        with contextlib.suppress(OutOfTime):  # there may be no time even for this
            self._measure_control()
        state, gathered, before = self._state, self._gathered, self._state.seconds
        left = self._countdown.left / 2 if gathered else self._plan.budget * share - before
        searching = self._gauge.phase = self._countdown.part(max(0.0, left))

        def after() -> None:
            state.seconds = before + searching.spent
            if self._store is not None:
                self._store.save(state)
            self._watcher.searching(self._search, state.seconds)

        self._search.run(lambda: not searching.over, after)
        self._gauge.phase = self._countdown
        if gathered:
            state.readings += sum(one.readings for one in gathered)
            state.generation = sum(one.generation for one in gathered)
            state.seconds = sum(one.seconds for one in gathered)
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
    gathered: Sequence[State] = (),
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
        # One that goes on longer than any is planned to is not waited for: who is killed in the
        # middle of a request is not asked what it leaves behind.
        on.pool.limit_by(lambda: countdown.left + SLOWEST / 1e9)
        yield session
