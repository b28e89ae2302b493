"""Searches for the worst input as units of work: several of them, with seeds of their own.

Costs of two machines are not compared with each other. So each unit searches by itself, on the
machine where it is, and what stands out there is only where the last search begins: the driver
measures all of it again on its own machine, minimises and compares it as ever.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.families.catalog import families
from corpora.families.pattern import Pattern
from corpora.vocabularies import scratch
from harness.cluster.executor import Unit, UnitError
from harness.cluster.usage import Usage
from harness.core import stored
from harness.core.countdown import Countdown
from harness.events import SearchGathered, UnitDone
from harness.studies.portable import PlugIn, made, portable
from harness.studies.worst import listed
from harness.studies.worst.gathered import Gathered
from harness.studies.worst.plan import WorstPlan
from harness.studies.worst.results import Report
from harness.studies.worst.sitting import Watcher, at_work

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.cluster.executor import Executor
    from harness.events import Event

POLL_SECONDS = 0.5

MAX_BYTES = 1 << 26
"""The greatest size of what a search found, unpacked."""

SEED_STEP = 1_000_003
"""Between the seeds of two searches of one command; the first has the command's own."""


@dataclass(frozen=True, slots=True)
class SearchTask:
    """What all searches of a command share, besides the vocabulary. seeds: where they begin."""

    participant: PlugIn
    seeds: tuple[tuple[str, Pattern], ...]
    size: int
    seed: int
    guided: bool
    memory: int
    most: int

    @classmethod
    def of(cls, plan: WorstPlan) -> SearchTask:
        """What travels of a plan."""
        begins = [one for name, one in plan.families.items() if name not in plan.withheld]
        seeds = tuple(listed.seeds(begins, plan.vocabulary))
        return cls(
            portable(plan.participant), seeds, plan.size, plan.seed, plan.guided, plan.memory,
            plan.most,
        )  # fmt: skip

    def here(self, vocabulary: Vocabulary, number: int) -> WorstPlan:
        """Return the plan of one of the searches on this machine, which has no budget of its own.

        Raises ImplementationError, SelectionError.
        """
        control = {listed.CONTROL: families()[listed.CONTROL]}
        return WorstPlan(
            made(self.participant), vocabulary, control, frozenset(), self.size, 0.0,
            self.seed + number * SEED_STEP, self.guided, self.memory, self.most,
        )  # fmt: skip


def perform(
    keep: dict[str, Any], task: SearchTask, vocabulary: Vocabulary, number: int, seconds: float
) -> bytes:
    """Search for so many seconds, wherever this is called. keep: nothing is."""
    plan = task.here(vocabulary, number)
    report = Report("", plan.participant.name, "", vocabulary.id, plan.seed, plan.size, [])
    countdown, nobody = Countdown(seconds), Watcher()
    with (
        scratch.temporary("worst-") as folder,
        at_work(plan, Path(folder), report, countdown, nobody, seeds=task.seeds) as sitting,
    ):
        found = sitting.searched()
    return zlib.compress(json.dumps(found).encode(), 6)


def unpacked(name: str, packed: bytes) -> dict[str, Any]:
    """What a search found. Raises UnitError for what is nothing of the kind."""
    try:
        found = stored.parsed(stored.unzipped(packed, MAX_BYTES).decode())
        Gathered().take(found if isinstance(found, dict) else {})
    except ValueError as error:
        raise UnitError(f"{name}: its result cannot be read: {error}") from error
    assert isinstance(found, dict)
    return found


def gather(
    executor: Executor,
    plan: WorstPlan,
    searches: int,
    done: Collection[int],
    seconds: float,
    tell: Callable[[Event], None],
) -> None:
    """Have searches performed, each for so many seconds, and tell what each of them found.

    done: the numbers of those that an earlier sitting has. Raises UnitError, ClusterError.
    """
    usage = Usage()

    def take(event: Event) -> None:
        usage.consume(event)
        tell(event)

    executor.listen(take)
    shared = (
        executor.share("task", SearchTask.of(plan)),
        executor.share("vocabulary", plan.vocabulary),
    )
    left: dict[str, int] = {}
    for number in sorted({*range(searches)} - {*done}):
        name = f"search {number + 1} of {searches}"
        left[name] = number
        executor.submit(Unit(name, perform, shared, (number, seconds)))
    while left:
        came = executor.next(POLL_SECONDS)
        if came is None:
            continue
        found = unpacked(came.name, came.result)
        size = len(came.result)
        take(UnitDone(came.name, came.node, came.tries, came.seconds, size, found["readings"]))
        tell(SearchGathered(left.pop(came.name), searches, found))
    tell(usage.summary())


def gathered(events: Sequence[Event]) -> tuple[int, dict[int, dict[str, Any]]]:
    """How many searches a record is of, 0 where it has none yet, and what those done found."""
    known = [one for one in events if isinstance(one, SearchGathered)]
    return max((one.searches for one in known), default=0), {one.number: one.found for one in known}
