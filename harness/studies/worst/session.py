"""One session of a search for the worst input: search, minimise, finals, in its time."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.engine.costs import loaded
from harness.studies.worst.finals import finals, polished, smallest_deaths, stands_out
from harness.studies.worst.gauge import SLOWEST, Gauge
from harness.studies.worst.patterns import Breeder
from harness.studies.worst.plan import CONTROL
from harness.studies.worst.results import Entry, Report
from harness.studies.worst.search import Search
from harness.studies.worst.state import PALPABLE, Aim, State, Store, place_of
from harness.workers import Limits
from harness.workers.pool import OutOfTime
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from harness.core.countdown import Countdown
    from harness.engine.costs import Loaded
    from harness.studies.worst.plan import WorstPlan
    from harness.studies.worst.state import Candidate

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
class Session:
    """What one command does of a search. countdown: of the budget; it runs when run() is called.

    store: of the state; None for a search whose state is not kept. gathered: what searches
    elsewhere came to, which is measured here instead of searching.
    """

    plan: WorstPlan
    store: Store | None
    report: Report
    on: Loaded
    watcher: Watcher
    countdown: Countdown
    gathered: Sequence[State] = ()
    _gauge: Gauge = field(init=False)
    _search: Search = field(init=False)
    _ordinary_memory: float = 0.0

    def __post_init__(self) -> None:
        plan, gathered = self.plan, self.gathered
        self._gauge = Gauge(self.on, self.countdown)
        state = State() if self.store is None else self.store.restored()
        for one in gathered:
            for death in one.deaths.values():
                state.bury(death)
        found = {one.pattern: one.origin for some in gathered for one in some.places.values()}
        self._search = Search(
            Breeder(plan.vocabulary),
            self._gauge,
            plan.sizes,
            plan.seed,
            [(origin, pattern) for pattern, origin in found.items()] or plan.begin,
            state,
            guided=plan.guided and not gathered,
            bred=not gathered,
        )

    @property
    def _state(self) -> State:
        return self._search.state

    def prepare(self) -> None:
        """Encode once: what is compiled or built on first use is built then."""
        self._gauge.read([self._prose(CONTROLS)])

    def run(self) -> None:
        """All of it; the report is complete then. An interrupted one tells what stands out."""
        self.report.prepared = self.countdown.prepared
        self.watcher.prepared(self.countdown.prepared)
        try:
            self.search()
            self._finish()
            self.report.complete = True
        except KeyboardInterrupt:
            self._break_off()
            raise
        finally:
            self.report.spent = self.countdown.spent

    def _finish(self) -> None:
        """Minimise what stands out, and measure it beside what is listed."""
        countdown, report, gauge = self.countdown, self.report, self._gauge
        self.watcher.doing("minimising")
        minimising = countdown.part(countdown.left * MINIMISING / (1 - SEARCHING))
        lost, sizes = list(self._state.deaths.values()), self.plan.sizes
        deaths = smallest_deaths(gauge, lost, minimising.part(minimising.left / 2))
        found = polished(gauge, self._best(), sizes, self._state.control, minimising)
        self.watcher.doing("measuring what was found and what is listed side by side")
        listed = dict(self.plan.families)
        control = listed.pop(CONTROL)
        report.compared, report.control, report.listed, stands = finals(
            gauge, found, control, list(listed.values()), (sizes.large, sizes.full), countdown
        )
        report.found = [one for one in stands if stands_out(one, self._ordinary_memory)]
        report.found += deaths

    def _break_off(self) -> None:
        """Report what stands out so far, as the search measured it."""
        self._sum_up()
        if self.report.found:  # the finals had come to their end
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
        self.report.found += made.values()

    def searched(self) -> State:
        """Search for the whole time; gives what a driver measures again, and how far it came."""
        self.search(share=1.0)
        best = {place_of(aim, one.pattern): one for aim, one in self._best()}
        return replace(self._state, control=0.0, places=best, died=0, lines={}, arms=[])

    def _best(self) -> list[tuple[Aim, Candidate]]:
        """What stands out for each aim, the best first."""
        wanted = {Aim.COST: self.plan.most, Aim.GROWTH: GROWING, Aim.MEMORY: HUNGRY}
        return [
            (aim, one)
            for aim, most in wanted.items()
            for one in self._state.ranked(aim, self.plan.sizes)[:most]
        ]

    def _prose(self, variant: int) -> bytes:
        """An input of the control."""
        control, size = self.plan.families[CONTROL], self.plan.sizes.large
        return control.make(self.plan.vocabulary, size, variant)

    def _measure_control(self) -> None:
        """Measure prose: a machine is as fast as it is today. Raises OutOfTime."""
        inputs = [self._prose(variant) for variant in range(CONTROLS)]
        readings = self._gauge.read(inputs)
        costs = [one.cost for one in readings if one.answered]
        if not costs:
            how = readings[0].message.split("\n", 1)[0]
            raise ImplementationError(f"{self.report.implementation} fails on plain prose: {how}")
        size = self.plan.sizes.large
        self._state.control = min(costs) / size
        [memory] = self._gauge.read(inputs[:1], Meter.MEMORY)
        self._ordinary_memory = max(PALPABLE, memory.cost) / size

    def search(self, share: float = SEARCHING) -> None:
        """Search for what is left of this share of the budget after earlier sessions.

        Of what was searched elsewhere all is measured, for half of the time at the most.
        """
        with contextlib.suppress(OutOfTime):  # there may be no time even for this
            self._measure_control()
        state, gathered, before = self._state, self.gathered, self._state.seconds
        left = self.countdown.left / 2 if gathered else self.plan.budget * share - before
        searching = self._gauge.phase = self.countdown.part(max(0.0, left))

        def after() -> None:
            state.seconds = before + searching.spent
            if self.store is not None:
                self.store.save(state)
            self.watcher.searching(self._search, state.seconds)

        self._search.run(lambda: not searching.over, after)
        self._gauge.phase = self.countdown
        if gathered:
            state.readings += sum(one.readings for one in gathered)
            state.generation = sum(one.generation for one in gathered)
            state.seconds = sum(one.seconds for one in gathered)
        self._sum_up()

    def _sum_up(self) -> None:
        """Say how far the search got."""
        report, state = self.report, self._state
        report.seconds, report.generations = state.seconds, state.generation
        report.readings, report.died = state.readings, state.died
        report.kinds, report.ended = state.kinds, self._search.over
        if self.plan.guided:
            report.guided = len(state.lines)


@contextlib.contextmanager
def at_work(
    plan: WorstPlan,
    folder: Path | None,
    report: Report,
    countdown: Countdown,
    watcher: Watcher,
    gathered: Sequence[State] = (),
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

        session = Session(plan, store, report, on, watcher, countdown, gathered)
        session.prepare()
        after.callback(left)
        countdown.start()
        # One that goes on longer than any is planned to is not waited for: who is killed in the
        # middle of a request is not asked what it leaves behind.
        on.pool.limit_by(lambda: countdown.left + SLOWEST / 1e9)
        yield session
