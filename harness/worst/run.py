"""One search from plan to ``worst.json``: search, minimise, finals, in the time that is given."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from harness.messages import Meter
from harness.scaling.costs import NotLoaded, loaded
from harness.scaling.judgement import THRESHOLD, judge
from harness.store import OutputError, write_whole
from harness.workers import Limits
from harness.worst import listed
from harness.worst.breeding import Breeder
from harness.worst.candidates import PALPABLE, Aim
from harness.worst.finals import Entrant, Finals
from harness.worst.gauge import Live
from harness.worst.guide import Guide
from harness.worst.polish import polished, smallest_deaths, until
from harness.worst.results import Entry, Report
from harness.worst.search import Search
from harness.worst.state import State
from impls.registry import ImplementationError

if TYPE_CHECKING:
    from pathlib import Path

    from harness.worst.gauge import Gauge
    from harness.worst.plan import WorstPlan
    from harness.worst.polish import Found

SEARCHING, MINIMISING = 0.7, 0.12
"""Shares of the budget; the rest is for the finals."""

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

    def searching(self, search: Search, seconds: float) -> None:
        """After a generation; ``seconds`` of the search so far, in all sittings."""

    def doing(self, what: str) -> None:
        """What is being done from now on."""


def execute(plan: WorstPlan, folder: Path, command: str, watcher: Watcher) -> Report:
    """Search, or go on with it; the report, which is on disk as well.

    Raises ImplementationError where the implementation cannot be loaded, OutputError. Through
    KeyboardInterrupt nothing is lost: the state of the last whole generation is on disk.
    """
    report = Report(
        command=command,
        implementation=plan.contestant.name,
        version=plan.contestant.about.version,
        vocabulary=plan.vocabulary.id,
        seed=plan.seed,
        size=plan.sizes.full,
        withheld=sorted(plan.withheld),
    )
    state = State(folder, plan.identity())
    limits = Limits(SECONDS, memory=plan.memory, deaths=DEATHS, hangs=HANGS)
    try:
        with loaded(plan.contestant, plan.vocabulary, limits) as on:
            Sitting(plan, state, report, Live(on), watcher).run()
    except NotLoaded as error:
        raise ImplementationError(str(error)) from error
    write(report, folder)
    return report


def write(report: Report, folder: Path) -> None:
    """Write ``worst.json``. Raises OutputError."""
    try:
        write_whole(folder / "worst.json", report.to_json())
    except OSError as error:
        raise OutputError(f"--out {folder}: {error.strerror}; make room there") from error


class Sitting:
    """What one command does of a search."""

    def __init__(
        self, plan: WorstPlan, state: State, report: Report, gauge: Gauge, watcher: Watcher
    ) -> None:
        self._plan = plan
        self._state = state
        self._report = report
        self._gauge = gauge
        self._watcher = watcher
        self._guide = Guide(gauge) if plan.guided else None
        told = [one for name, one in plan.families.items() if name not in plan.withheld]
        self._search = Search(
            Breeder(plan.vocabulary),
            gauge,
            plan.sizes,
            plan.seed,
            listed.seeds(told, plan.vocabulary),
            self._guide,
        )

    def run(self) -> None:
        """All of it; the report is complete then."""
        self._state.restore(self._search, self._guide)
        self._measure_control()
        self._go_on()
        self._watcher.doing("minimising")
        seconds = self._plan.budget * MINIMISING
        deaths = smallest_deaths(self._gauge, self._search.deaths, seconds / 2)
        scale = self._search.scale
        best = [
            (aim, one)
            for aim, most in (
                (Aim.COST, self._plan.most),
                (Aim.GROWTH, GROWING),
                (Aim.MEMORY, HUNGRY),
            )
            for one in self._search.archive.ranked(aim, scale)[:most]
        ]
        found = polished(self._gauge, best, scale, seconds if not deaths else seconds / 2)
        self._watcher.doing("measuring what was found and what is listed side by side")
        self._finals(found)
        self._report.found += deaths
        self._report.complete = True

    def _measure_control(self) -> None:
        """Measure prose: a machine is as fast as it is today."""
        size = self._plan.sizes.large
        family = self._plan.families[listed.CONTROL]
        inputs = [family.make(self._plan.vocabulary, size, i) for i in range(CONTROLS)]
        readings = self._gauge.read(inputs, Meter.TIME)
        costs = [one.cost for one in readings if one.answered]
        if not costs:
            how = readings[0].message.split("\n", 1)[0]
            raise ImplementationError(f"{self._plan.contestant.name} fails on plain prose: {how}")
        self._search.progress.control = min(costs) / size

    def _go_on(self) -> None:
        began, before = time.monotonic(), self._state.seconds
        enough = self._plan.budget * SEARCHING

        def spent() -> float:
            return before + time.monotonic() - began

        def after() -> None:
            self._state.save(self._search, self._guide, spent())
            self._watcher.searching(self._search, spent())

        self._search.run(lambda: spent() < enough, after)
        progress, report = self._search.progress, self._report
        report.seconds = self._state.seconds
        report.generations, report.readings = progress.generation, progress.readings
        report.kinds, report.died = len(self._search.archive), self._search.deaths.count
        report.ended = self._search.over
        if self._guide is not None:
            report.guided = self._guide.places

    def _finals(self, found: list[Found]) -> None:
        """What was found beside what is listed, all of it, whoever was told of what."""
        vocabulary, sizes = self._plan.vocabulary, self._plan.sizes
        seconds = self._plan.budget * (1 - SEARCHING - MINIMISING)
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
        began = time.monotonic()
        finals.heats(sizes.large)
        finals.compare(sizes.full, until(began + seconds / 2, self._gauge))
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
        finals.grow(sizes.full * BEYOND, until(began + seconds, self._gauge))
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
        ordinary = self._memory_of_control()
        told: dict[str, Entry] = {}
        for one, entrant in sorted(chosen, key=lambda pair: -(pair[1].a_byte(size) or 0.0)):
            made = entry(entrant, one.aim.value, size)
            made.expression, made.origin = one.smallest.expression(), one.origin
            made.pattern, made.memory = one.smallest.to_dict(), one.memory
            if stands_out(made, ordinary):
                told.setdefault(made.expression, made)
        report.found = list(told.values())

    def _memory_of_control(self) -> float:
        size = self._plan.sizes.large
        data = self._plan.families[listed.CONTROL].make(self._plan.vocabulary, size, 0)
        reading = self._gauge.read([data], Meter.MEMORY)[0]
        return max(PALPABLE, reading.cost) / size


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
