"""The finals: what was found and what is listed, measured side by side by growth's prober.

Every round takes all of them in turn, on fresh inputs of all sizes, so that a disturbance falls on
all alike; of each size the least time counts.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from corpora.families.pattern import Pattern
from corpora.families.user import family_of
from harness.core.messages import Meter
from harness.events import Phase
from harness.studies.growth.cell import Cell
from harness.studies.growth.claims import growth_of
from harness.studies.growth.prober import Prober
from harness.studies.growth.schedule import LEAST_CALL, MOST_CALL
from harness.studies.worst.gauge import portions
from harness.studies.worst.patterns import smallest
from harness.studies.worst.results import Entry
from harness.studies.worst.state import CONTROL, PALPABLE, Aim, Candidate
from harness.studies.worst.target import control_of
from harness.verdict.exponents import THRESHOLD
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.families.base import Family
    from harness.core.countdown import Countdown
    from harness.engine.costs import Loaded
    from harness.events import Event
    from harness.studies.worst.gauge import Gauge
    from harness.studies.worst.plan import WorstPlan
    from harness.studies.worst.results import Report
    from harness.studies.worst.state import Death, Sizes, State

HEATS, STAY = 2, 5
"""Rounds at a small size after which most of the listed families are out, and how many stay: the
worst at a small size is among the worst at a large one."""

LEAST_ROUNDS, MOST_ROUNDS = 4, 16
"""The rounds. Four are made even where their share of the time is up, though not where the whole
time is."""

BEYOND = 2
"""Growth is measured up to so many times the size at which costs are compared."""

CALLS = 12
"""Calls of the longest kind for which the time of a cell is planned: a round takes as long as two
or three."""

AS_BAD = {Aim.COST: 0.93, Aim.GROWTH: 0.97, Aim.MEMORY: 0.8}
"""Share of what stands out that a smaller pattern has to keep: the least of three times on a busy
machine differs by some hundredths, and memory goes by pages and doublings of arrays."""

LOOKS = 3
"""Inputs by which a smaller pattern is compared."""

HUNGER = 4.0
"""Times the control's memory from which memory is worth a line: arrays that grow by doubling, and
one id for each byte where words have one for four, come to that without any fault."""

DEATHS_SHOWN, OF_A_KIND = 6, 2
"""Deaths that are minimised and told: in all, and of one status."""


GROWING, HUNGRY = 2, 1
"""Candidates for growth and memory that are minimised, besides those for cost."""

MINIMISING = 0.4
"""Share of the time after the search that goes into minimising."""


Found = dict[Pattern, tuple[Aim, Candidate]]
"""Patterns that stand out, as small as they get, with what each was made of."""


def standing_out(states: Sequence[State], sizes: Sizes, most: int) -> list[tuple[Aim, Candidate]]:
    """What stands out for each aim in all searches, the best first.

    Costs are told as multiples of what prose costs where they were measured, since no two machines
    are as fast.
    """
    found = []
    for aim, count in {Aim.COST: most, Aim.GROWTH: GROWING, Aim.MEMORY: HUNGRY}.items():
        scored = []
        for state in states:
            unit = state.control if aim is Aim.COST and state.control else 1.0
            best = state.ranked(aim, sizes)[:count]
            scored += [(sizes.score(one, aim, state.control) / unit, one) for one in best]
        kinds: dict[Pattern, Candidate] = {}  # several searches may begin with the same
        for _, one in sorted(scored, key=lambda pair: -pair[0]):
            kinds.setdefault(one.pattern, one)
        found += [(aim, one) for one in [*kinds.values()][:count]]
    return found


def finish(
    report: Report,
    gauge: Gauge,
    plan: WorstPlan,
    states: Sequence[State],
    countdown: Countdown,
    announce: Callable[[Event], None],
) -> None:
    """Minimise what stands out, and measure it beside what is listed, into a report.

    countdown: of all the time that is left.
    """
    announce(Phase("minimising"))
    minimising, sizes = countdown.part(countdown.left * MINIMISING), plan.sizes
    gauge.phase, control, memory = countdown, 0.0, PALPABLE / sizes.large
    with contextlib.suppress(OutOfTime):  # there may be no time even for this
        control, memory = control_of(gauge, plan.vocabulary, sizes.large)
    lost = [death for state in states for death in state.deaths.values()]
    deaths = smallest_deaths(gauge, lost, minimising.part(minimising.left / 2))
    found = polished(gauge, standing_out(states, sizes, plan.most), sizes, control, minimising)
    announce(Phase("measuring what was found and what is listed side by side"))
    known = families()
    listed = [known[name] for name in plan.families if name != CONTROL]
    report.compared, report.control, report.listed, stands = finals(
        gauge, found, known[CONTROL], listed, (sizes.large, sizes.full), countdown
    )
    report.found = [one for one in stands if stands_out(one, memory)] + deaths


def shares(gauge: Gauge, time: Countdown, count: int) -> Iterator[None]:
    """Give the gauge equal shares of a time as its phase, one after another."""
    phase = gauge.phase
    for number in range(count):
        gauge.phase = time.part(time.left / (count - number))
        yield
    gauge.phase = phase


def polished(
    gauge: Gauge,
    candidates: Sequence[tuple[Aim, Candidate]],
    sizes: Sizes,
    control: float,
    time: Countdown,
) -> Found:
    """The smallest patterns for these candidates, each pattern once, in equal shares of time."""
    chosen: dict[Pattern, tuple[Aim, Candidate]] = {}
    for aim, one in candidates:
        chosen.setdefault(one.pattern, (aim, one))
    found: Found = {}
    for (aim, known), _ in zip(chosen.values(), shares(gauge, time, len(chosen)), strict=True):

        def as_bad(
            patterns: Sequence[Pattern], aim: Aim = aim, first: Pattern = known.pattern
        ) -> list[bool]:
            """Which are as bad as the first one was, by measuring all of them side by side."""
            every = [Candidate(one, "") for one in (first, *patterns)]
            for _ in range(LOOKS):
                gauge.measure([(one, size) for size in sizes[:2] for one in every])
            if aim is Aim.MEMORY:
                gauge.measure([(one, sizes.large) for one in every], Meter.MEMORY)
            whole, *scores = [sizes.score(one, aim, control) for one in every]
            return [
                one.looks(sizes.large) > 0 and score >= AS_BAD[aim] * whole
                for one, score in zip(every[1:], scores, strict=True)
            ]

        pattern = smallest(known.pattern, as_bad, lambda: gauge.able)
        found.setdefault(pattern, (aim, known))
    return found


def smallest_deaths(gauge: Gauge, deaths: Sequence[Death], time: Countdown) -> list[Entry]:
    """Deaths of each status, each with its smallest pattern and its shortest input."""
    chosen: list[Death] = []
    for death in sorted(deaths, key=lambda one: one.rank):
        same = sum(one.status is death.status for one in chosen)
        if same < OF_A_KIND and len(chosen) < DEATHS_SHOWN:
            chosen.append(death)
    found: dict[str, Entry] = {}
    for death, _ in zip(chosen, shares(gauge, time, len(chosen)), strict=True):
        entry = smallest_death(gauge, death)
        found.setdefault(f"{entry.kind} {entry.expression}", entry)
    return list(found.values())


def smallest_death(gauge: Gauge, death: Death) -> Entry:
    """The same end by less; as it was met where there is no time for more."""
    message, size = death.message, death.size

    def dies(pattern: Pattern, size: int) -> bool:
        nonlocal message
        [reading] = gauge.read([pattern.make(size)])
        if reading.status is death.status:
            message = reading.message
        return reading.status is death.status

    with contextlib.suppress(OutOfTime):
        while size > 1 and gauge.able and dies(death.pattern, size // 2):
            size //= 2
    # One at a time: each costs a process.
    pattern = smallest(
        death.pattern, lambda some: [dies(one, size) for one in some], lambda: gauge.able, 1
    )
    label = death.status.label
    return Entry(
        name=label,
        kind=label,
        length=len(pattern.make(size)),
        message=message.split("\n", 1)[0],
        expression=pattern.expression(),
        origin="search",
        pattern=pattern.to_dict(),
    )


def side_by_side(
    on: Loaded, families: Sequence[Family], largest: int, countdown: Countdown
) -> tuple[int, list[Cell]]:
    """Whole rounds of all families up to a size, and what was measured, family by family."""
    cells = [Cell(on.participant, on.contract, family) for family in families]
    prober = Prober(on.pool, largest)
    planned = countdown.left / (CALLS * len(cells))
    limit, whole = min(MOST_CALL, max(planned, 100 * LEAST_CALL)), 0
    with contextlib.suppress(OutOfTime):
        prober.warm_up(cells[0])
        while whole < MOST_ROUNDS and not (whole >= LEAST_ROUNDS and countdown.over):
            for cell in cells:
                if not cell.ended:
                    prober.round(cell, limit)
            whole += 1
    return whole, cells


def heats(gauge: Gauge, listed: Sequence[Family], size: int) -> list[Family]:
    """The listed families that are among the worst at a size, the worst first."""
    least: dict[str, int] = {}
    vocabulary = gauge.on.contract.vocabulary
    with contextlib.suppress(OutOfTime):
        for number in range(HEATS):
            for part in portions(listed, lambda family: least.get(family.name, 0)):
                inputs = [family.make(vocabulary, size, number) for family in part]
                for family, one in zip(part, gauge.read(inputs), strict=True):
                    if one.answered:
                        least[family.name] = min(one.cost, least.get(family.name, one.cost))
    return sorted(listed, key=lambda family: -least.get(family.name, 0))[:STAY]


def finals(
    gauge: Gauge,
    found: Found,
    control: Family,
    listed: Sequence[Family],
    sizes: tuple[int, int],
    countdown: Countdown,
) -> tuple[int, Entry, list[Entry], list[Entry]]:
    """What was found beside what is listed, all of it, whoever was told of what.

    Gives whole rounds, and the lines of the control, of what is listed, and of what was found.
    sizes: bytes at which the listed families have their heats, and at which all are compared.
    """
    small, size = sizes
    still = heats(gauge, listed, small)
    made_of = [family_of(one.expression(), "", one) for one in found]
    rounds, cells = side_by_side(gauge.on, [control, *still, *made_of], size * BEYOND, countdown)
    first, *lines = [entry_of(one, "listed", size) for one in cells]
    first.kind = "control"
    known, mine = lines[: len(still)], lines[len(still) :]
    for number, (made, pattern) in enumerate(zip(mine, found, strict=True), 1):
        aim, one = found[pattern]
        made.kind, made.name, made.origin = aim.value, f"{aim}-{number}", one.origin
        made.pattern, made.memory = pattern.to_dict(), one.memory(small)
    for some in (known, mine):
        some.sort(key=lambda one: -(one.a_byte or 0.0))
    return rounds, first, known, mine


def entry_of(cell: Cell, kind: str, size: int) -> Entry:
    """What the finals say of a family."""
    costs, family = cell.costs(), cell.family
    growth = growth_of(costs)
    return Entry(
        name=family.name,
        kind=kind,
        a_byte=costs[size] / size if size in cell.sizes else None,
        points=[[one, costs[one] / 1e9] for one in cell.sizes],
        exponent=growth.exponent,
        low=growth.low,
        high=growth.high,
        verdict="failed" if cell.failure else growth.verdict.value,
        message=cell.failure,
        expression=family.expression(cell.contract.vocabulary),
        origin=family.reason,
    )


def stands_out(found: Entry, ordinary: float) -> bool:
    """Whether it is worth telling: what grew or took memory in the search does so in the finals."""
    if found.kind == Aim.GROWTH:
        return found.exponent is not None and found.exponent > THRESHOLD
    if found.kind == Aim.MEMORY:
        return found.memory is not None and found.memory > HUNGER * ordinary
    return True
