"""One sitting of a search for the worst input: search, minimise, finals, in its time."""

from __future__ import annotations

import contextlib
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.core.countdown import Countdown
from harness.core.messages import Meter
from harness.engine.costs import loaded
from harness.studies.worst import listed
from harness.studies.worst.breeding import Breeder
from harness.studies.worst.candidates import PALPABLE, Aim
from harness.studies.worst.finals import Entrant, Finals
from harness.studies.worst.gauge import Live, Timely
from harness.studies.worst.guide import Guide
from harness.studies.worst.polish import polished, smallest_deaths, until
from harness.studies.worst.results import Entry, Report
from harness.studies.worst.search import Search
from harness.studies.worst.state import State
from harness.verdict.exponents import THRESHOLD, judge
from harness.workers import Limits
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from corpora.families.pattern import Pattern
    from harness.studies.worst.candidates import Candidate
    from harness.studies.worst.gathered import Gathered
    from harness.studies.worst.gauge import Gauge
    from harness.studies.worst.plan import WorstPlan
    from harness.studies.worst.polish import Found

SEARCHING, MINIMISING = 0.7, 0.12
"""Shares of the budget, which runs from the first measurement on; the rest is for the finals. What
a phase does not use is the next one's."""

COMPARING = 0.5
"""The share of the finals' time for comparing at one size; the rest is for growth."""

SECONDS, DEATHS, HANGS = 20.0, 200, 30
"""Limits of the worker: a request is made of what should be done in three seconds, on a machine
that may be busy with several times as much; and deaths are what is looked for."""

CONTROLS = 5
"""Measurements of the control before a search."""

GROWING, HUNGRY = 2, 1
"""Candidates for growth and memory that are minimised, besides those for cost."""

AS_BAD = 0.9
"""Share of the cost at full size from which the smaller pattern stands for the first: they were
compared at a smaller size."""

SHOWN_LISTED = 2
"""Listed families whose growth is measured beside what was found: for the plots."""

BEYOND = 2
"""Growth is measured up to so many times the size at which costs are compared."""

HUNGER = 4.0
"""Times the control's memory from which memory is worth a line: arrays that grow by doubling, and
one id for each byte where words have one for four, come to that without any fault."""


class Watcher:
    """Told how far a search is. This one says nothing."""

    def prepared(self, seconds: float) -> None:
        """The implementation is loaded, which took so long, and the budget begins to run."""

    def searching(self, search: Search, seconds: float) -> None:
        """After a generation; ``seconds`` of the search so far, in all sittings."""

    def doing(self, what: str) -> None:
        """What is being done from now on."""


class Sitting:
    """What one command does of a search. countdown: of the budget; it runs when run() is called.

    gathered: what searches elsewhere found, which is measured here instead of searching.
    """

    def __init__(
        self,
        plan: WorstPlan,
        state: State,
        report: Report,
        gauge: Gauge,
        watcher: Watcher,
        countdown: Countdown,
        gathered: Gathered | None = None,
        seeds: Sequence[tuple[str, Pattern]] = (),
    ) -> None:
        self._gathered = gathered
        self._plan = plan
        self._state = state
        self._report = report
        self._countdown = countdown
        self._gauge = Timely(gauge, countdown)
        self._watcher = watcher
        self._ordinary_memory = 0.0
        self._guide = Guide(self._gauge) if plan.guided else None
        begins = [one for name, one in plan.families.items() if name not in plan.withheld]
        elsewhere = [] if gathered is None else gathered.patterns
        self._search = Search(
            Breeder(plan.vocabulary),
            self._gauge,
            plan.sizes,
            plan.seed,
            [*elsewhere, *(seeds or listed.seeds(begins, plan.vocabulary))],
            self._guide,
        )

    def prepare(self) -> None:
        """Read the state, and encode once: what is compiled or built on first use is built then."""
        if self._gathered is None:
            self._state.restore(self._search, self._guide)
        self._gauge.read([self._prose(self._plan.sizes.large, CONTROLS)], Meter.TIME)

    def run(self) -> None:
        """All of it; the report is complete then."""
        self._report.prepared = self._countdown.prepared
        self._watcher.prepared(self._countdown.prepared)
        self._measure_control()
        if self._gathered is None:
            self._go_on()
        else:
            self._measure(self._gathered)
        self._watcher.doing("minimising")
        rest = self._countdown.left * MINIMISING / (1 - SEARCHING)
        minimising = self._countdown.part(rest)
        self._gauge.confine(minimising)
        deaths = smallest_deaths(self._gauge, self._search.deaths, self._countdown.part(rest / 2))
        found = polished(self._gauge, self._best(), self._search.scale, minimising)
        self._gauge.confine(self._countdown)
        self._watcher.doing("measuring what was found and what is listed side by side")
        self._finals(found)
        self._report.found += deaths
        self._report.spent = self._countdown.spent
        self._report.complete = True

    def break_off(self) -> None:
        """Report what stands out so far, as the search measured it: for an interrupted search."""
        self._report.spent = self._countdown.spent
        self._sum_up()
        if self._report.found:  # the finals had come to their end
            return
        for aim, one in self._best():
            made = Entry(one.pattern.expression(), aim.value, origin=one.origin)
            made.expression, made.pattern = made.name, one.pattern.to_dict()
            made.points = [[s.length, s.least / 1e9] for _, s in sorted(one.samples.items())]
            if all(made.expression != other.expression for other in self._report.found):
                self._report.found.append(made)

    def _best(self) -> list[tuple[Aim, Candidate]]:
        """What stands out for each aim, the best first."""
        wanted = ((Aim.COST, self._plan.most), (Aim.GROWTH, GROWING), (Aim.MEMORY, HUNGRY))
        return [
            (aim, one)
            for aim, most in wanted
            for one in self._search.archive.ranked(aim, self._search.scale)[:most]
        ]

    def _prose(self, size: int, variant: int) -> bytes:
        """An input of the control."""
        return self._plan.families[listed.CONTROL].make(self._plan.vocabulary, size, variant)

    def _measure_control(self) -> None:
        """Measure prose: a machine is as fast as it is today."""
        size = self._plan.sizes.large
        inputs = [self._prose(size, i) for i in range(CONTROLS)]
        readings = self._gauge.read(inputs, Meter.TIME)
        costs = [one.cost for one in readings if one.answered]
        if not costs and self._gauge.cut:
            return  # there was no time even for this
        if not costs:
            how = readings[0].message.split("\n", 1)[0]
            raise ImplementationError(f"{self._plan.participant.name} fails on plain prose: {how}")
        self._search.progress.control = min(costs) / size
        memory = self._gauge.read(inputs[:1], Meter.MEMORY)[0]
        self._ordinary_memory = max(PALPABLE, memory.cost) / size

    def _go_on(self) -> None:
        """Search for what is left of its share after earlier sittings.

        A generation that the end of the time cuts short is not kept: whoever goes on does it again.
        """
        before = self._state.seconds
        searching = self._countdown.part(max(0.0, self._plan.budget * SEARCHING - before))
        self._gauge.confine(searching)
        self._gauge.cut = False

        def after() -> None:
            if not self._gauge.cut:
                self._state.save(self._search, self._guide, before + searching.spent)
                self._report.generations = self._search.progress.generation
            self._watcher.searching(self._search, before + searching.spent)

        self._report.generations = self._search.progress.generation
        self._search.run(lambda: not searching.over, after)
        self._sum_up()
        self._gauge.confine(self._countdown)

    def _measure(self, gathered: Gathered) -> None:
        """Measure what searches elsewhere found, for half of the time at the most."""
        measuring = self._countdown.part(self._countdown.left / 2)
        self._gauge.confine(measuring)
        self._gauge.cut = False
        search = self._search
        for death in gathered.deaths:
            search.deaths.add(death)
        search.run(
            lambda: search.progress.generation < search.beginning and not measuring.over,
            lambda: self._watcher.searching(search, gathered.seconds),
        )
        search.progress.readings += gathered.readings
        self._report.generations = gathered.generations
        self._sum_up()
        self._report.seconds = gathered.seconds
        self._gauge.confine(self._countdown)

    def searched(self) -> dict[str, Any]:
        """Search for the whole time, and return what a driver measures again."""
        self._measure_control()
        search, began = self._search, self._countdown.spent
        search.run(lambda: not self._countdown.over)
        best = {id(one): one for _, one in self._best()}
        return {
            "patterns": [
                {"pattern": one.pattern.to_dict(), "origin": one.origin} for one in best.values()
            ],
            "deaths": [one.to_dict() for one in search.deaths.all()],
            "readings": search.progress.readings,
            "generations": search.progress.generation,
            "seconds": round(self._countdown.spent - began, 3),
        }

    def _sum_up(self) -> None:
        """Say how far the search got."""
        report, search = self._report, self._search
        report.seconds = self._state.seconds
        report.readings = search.progress.readings
        report.kinds, report.died = len(search.archive), search.deaths.count
        report.ended = search.over
        if self._guide is not None:
            report.guided = self._guide.places

    def _finals(self, found: list[Found]) -> None:
        """What was found beside what is listed, all of it, whoever was told of what."""
        vocabulary, sizes = self._plan.vocabulary, self._plan.sizes
        known = {
            name: Entrant(name, partial(family.make, vocabulary), name != listed.CONTROL)
            for name, family in self._plan.families.items()
        }
        pairs = []
        for number, one in enumerate(found, 1):
            first = Entrant(f"{one.aim}-{number}", one.pattern.make, False)
            smallest = Entrant(f"{one.aim}-{number}", one.smallest.make, False)
            pairs.append((one, first, first if one.smallest == one.pattern else smallest))
        mine = {id(it): it for _, *both in pairs for it in both}
        finals = Finals(self._gauge, [*mine.values(), *known.values()])
        comparing = self._countdown.part(self._countdown.left * COMPARING)
        finals.heats(sizes.large)
        finals.compare(sizes.full, until(comparing, self._gauge))
        chosen: list[tuple[Found, Entrant]] = []
        for one, first, smallest in pairs:
            least = AS_BAD * (first.a_byte(sizes.full) or 0.0)
            if (smallest.a_byte(sizes.full) or 0.0) < least:
                one.smallest, smallest = one.pattern, first
            chosen.append((one, smallest))
        still = [one for one in finals.entrants if one.listed]
        still.sort(key=lambda one: -(one.a_byte(sizes.full) or 0.0))
        control = known[listed.CONTROL]
        finals.entrants = [control, *still[:SHOWN_LISTED], *(one for _, one in chosen)]
        finals.grow(sizes.full * BEYOND, until(self._countdown, self._gauge))
        self._report.compared, self._report.grown = finals.compared, finals.grown
        self._tell(control, still, chosen)

    def _tell(
        self, control: Entrant, still: list[Entrant], chosen: list[tuple[Found, Entrant]]
    ) -> None:
        report, size = self._report, self._plan.sizes.full
        families, vocabulary = self._plan.families, self._plan.vocabulary
        report.control = entry(control, "control", size)
        report.listed = [entry(one, "listed", size) for one in still]
        for listed_one in (report.control, *report.listed):
            listed_one.expression = families[listed_one.name].expression(vocabulary)
            listed_one.origin = families[listed_one.name].reason
        shown: dict[str, Entry] = {}
        for one, entrant in sorted(chosen, key=lambda pair: -(pair[1].a_byte(size) or 0.0)):
            made = entry(entrant, one.aim.value, size)
            made.expression, made.origin = one.smallest.expression(), one.origin
            made.pattern, made.memory = one.smallest.to_dict(), one.memory
            if stands_out(made, self._ordinary_memory):
                shown.setdefault(made.expression, made)
        report.found = list(shown.values())


@contextlib.contextmanager
def at_work(
    plan: WorstPlan,
    folder: Path,
    report: Report,
    countdown: Countdown,
    watcher: Watcher,
    gathered: Gathered | None = None,
    seeds: Sequence[tuple[str, Pattern]] = (),
) -> Iterator[Sitting]:
    """A sitting whose implementation is loaded and whose time runs, which ends its worker.

    Raises NotLoaded.
    """
    state = State(folder, plan.identity())
    limits = Limits(SECONDS, memory=plan.memory, deaths=DEATHS, hangs=HANGS)
    after = contextlib.ExitStack()  # what is done when the worker has ended
    with after, loaded(plan.participant, plan.vocabulary, limits) as on:

        def left() -> None:
            report.left = on.pool.left().get(report.implementation, "")

        sitting = Sitting(plan, state, report, Live(on), watcher, countdown, gathered, seeds)
        sitting.prepare()
        after.callback(left)
        # A request that would go on past the end is not waited for.
        cutting = threading.Timer(countdown.start().left, on.pool.kill)
        cutting.daemon = True
        cutting.start()
        try:
            yield sitting
        finally:
            cutting.cancel()


def entry(entrant: Entrant, kind: str, size: int) -> Entry:
    """What the finals say of an entrant."""
    growth = judge(entrant.least)
    failure = entrant.failure
    return Entry(
        name=entrant.name,
        kind=kind,
        a_byte=entrant.a_byte(size),
        points=[[entrant.lengths[s], t / 1e9] for s, t in sorted(entrant.least.items())],
        exponent=growth.exponent,
        low=growth.low,
        high=growth.high,
        verdict="failed" if failure is not None and failure.died else growth.verdict.value,
        message=failure.message.split("\n", 1)[0] if failure is not None else "",
    )


def stands_out(found: Entry, ordinary: float) -> bool:
    """Whether it is worth telling: what grew or took memory in the search does so in the finals."""
    if found.kind == Aim.GROWTH:
        return found.exponent is not None and found.exponent > THRESHOLD
    if found.kind == Aim.MEMORY:
        return found.memory is not None and found.memory > HUNGER * ordinary
    return True
