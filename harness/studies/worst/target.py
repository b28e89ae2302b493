"""A search as a target of a campaign: one implementation, one vocabulary, one seed.

Costs of two machines are not compared with each other. So each target searches by itself, wherever
it is, and what stands out there is measured side by side at the end (:mod:`.finals`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from harness.core.countdown import Countdown
from harness.core.messages import Meter
from harness.engine.costs import NotLoaded, load_into
from harness.events import Phase
from harness.studies.campaigns.loop import derived
from harness.studies.campaigns.state import Kept
from harness.studies.worst.gauge import Gauge
from harness.studies.worst.patterns import Breeder
from harness.studies.worst.search import Search
from harness.studies.worst.state import CONTROL, PALPABLE, Aim, State
from harness.workers.pool import OutOfTime, Stopped
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.studies.campaigns.state import Round
    from harness.studies.campaigns.units import Save
    from harness.studies.worst.plan import WorstPlan
    from harness.workers.pool import WorkerPool

CONTROLS = 5
"""Measurements of the control before a search."""


class Target:
    """A search; see :class:`harness.studies.campaigns.units.Target`. A round is a generation.

    parts: how it was committed last; none where it never was.
    """

    def __init__(
        self, plan: WorstPlan, name: str, parts: Mapping[str, bytes], pool: WorkerPool, save: Save
    ) -> None:
        self._plan, self._name, self._pool = plan, name, pool
        self._kept = Kept(State, parts)
        self._left = Countdown(None)
        self._search: Search

    def limit_by(self, left: Callable[[], float]) -> None:
        """End with the time of a session, in the midst of a generation, which is lost."""
        self._pool.limit_by(left)
        self._left = Countdown(left()).start()

    def stop(self) -> None:
        """End what is on, from any thread."""
        self._pool.kill()

    def open(self, others: Sequence[bytes] = ()) -> None:
        """Load the implementation, and measure prose. Raises Stopped, ImplementationError."""
        plan, (source, shard) = self._plan, self._plan.targets[self._name]
        vocabulary, state = plan.plan.vocabularies[source](), self._kept.state
        try:
            on = load_into(self._pool, plan.participant, vocabulary)
            self._gauge = Gauge(on, Countdown(None))
            state.control, _ = control_of(self._gauge, vocabulary, plan.sizes.large)
        except NotLoaded as error:
            raise ImplementationError(str(error)) from error
        except OutOfTime as error:
            raise Stopped from error
        self._search = Search(
            Breeder(vocabulary), self._gauge, plan.sizes, derived(plan.plan.seed, shard, 0), state,
            plan.begin, guided=plan.guided,
        )  # fmt: skip

    def ask_again(self) -> Round | None:
        """Nothing was found that could be gone."""
        return None

    def round(self) -> Round | None:
        """One generation. Raises Stopped."""
        search, began = self._search, time.monotonic()
        if search.over:
            return None
        self._gauge.phase = self._left
        try:
            search.step()
        except OutOfTime as error:
            raise Stopped from error
        search.state.ended = search.over
        return self._kept.round(self._name, [Phase(best(search))], time.monotonic() - began)


def control_of(gauge: Gauge, vocabulary: Vocabulary, size: int) -> tuple[float, float]:
    """What prose costs here and now, in nanoseconds a byte and in bytes of memory a byte.

    What is compiled or built on first use is built before. Raises OutOfTime, and
    ImplementationError where it has no answer.
    """
    family = families()[CONTROL]
    first, *inputs = [family.make(vocabulary, size, CONTROLS - n) for n in range(CONTROLS + 1)]
    gauge.read([first])
    readings = gauge.read(inputs)
    costs = [one.cost for one in readings if one.answered]
    if not costs:
        how = readings[0].message.split("\n", 1)[0]
        raise ImplementationError(f"{gauge.on.participant.name} fails on plain prose: {how}")
    [memory] = gauge.read(inputs[:1], Meter.MEMORY)
    return min(costs) / size, max(PALPABLE, memory.cost) / size


def best(search: Search) -> str:
    """The worst so far: nanoseconds a byte, times the control, and what it is."""
    leaders = search.leaders(Aim.COST)
    if not leaders:
        return "nothing yet"
    cost, control = leaders[0].cost(search.sizes.large), search.state.control
    times = f", {cost / control:.1f} x prose" if control else ""
    return f"worst {cost:,.0f} ns/byte{times}: {leaders[0].pattern.expression()}"
