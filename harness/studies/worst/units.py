"""Searches for the worst input as units of work: several of them, with seeds of their own.

Costs of two machines are not compared with each other. So each unit searches by itself, on the
machine where it is, and what stands out there is only where the last search begins: the driver
measures all of it again on its own machine, minimises and compares it as ever.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.families.catalog import families
from corpora.families.pattern import Pattern
from harness.cluster.executor import Unit, UnitError
from harness.cluster.usage import Usage
from harness.core import stored
from harness.core.countdown import Countdown
from harness.engine.portable import PlugIn, made, packed, portable, unpacked
from harness.events import SearchGathered, UnitDone
from harness.studies.worst.plan import CONTROL, WorstPlan
from harness.studies.worst.results import Report
from harness.studies.worst.session import Watcher, at_work, beginnings
from harness.studies.worst.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

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
    """What all searches of a command share, besides the vocabulary.

    plan: without participant, vocabulary and families. seeds: where they begin.
    """

    plan: WorstPlan
    participant: PlugIn
    seeds: tuple[tuple[str, Pattern], ...]

    @classmethod
    def of(cls, plan: WorstPlan) -> SearchTask:
        """What travels of a plan."""
        bare: Any = {"participant": None, "vocabulary": None, "families": {}}
        return cls(replace(plan, **bare), portable(plan.participant), tuple(beginnings(plan)))

    def here(self, vocabulary: Vocabulary, number: int, seconds: float) -> WorstPlan:
        """Return the plan of one of the searches on this machine, for so many seconds.

        Raises ImplementationError, SelectionError.
        """
        return replace(
            self.plan,
            participant=made(self.participant),
            vocabulary=vocabulary,
            families={CONTROL: families()[CONTROL]},
            withheld=frozenset(),
            seed=self.plan.seed + number * SEED_STEP,
            budget=seconds,
        )


def perform(
    keep: dict[str, Any], task: SearchTask, vocabulary: Vocabulary, number: int, seconds: float
) -> bytes:
    """Search for so many seconds, wherever this is called. keep: nothing is."""
    plan = task.here(vocabulary, number, seconds)
    report, countdown = Report.of(plan, ""), Countdown(seconds)
    with at_work(plan, None, report, countdown, Watcher(), begin=task.seeds) as session:
        return packed(session.searched(), {})


def found_by(name: str, result: bytes) -> dict[str, Any]:
    """What a search came to, as plain data. Raises UnitError for what is nothing of the kind."""
    try:
        plain, _ = unpacked(result, MAX_BYTES)
        return dict(msgspec.to_builtins(stored.typed(plain, State)))
    except (ValueError, msgspec.MsgspecError) as error:
        raise UnitError(f"{name}: its result cannot be read: {error}") from error


def gather(
    executor: Executor,
    plan: WorstPlan,
    searches: int,
    done: Collection[int],
    seconds: float,
    tell: Callable[[Event], None],
) -> None:
    """Have searches performed, each for so many seconds, and tell what each of them found.

    done: the numbers of those that an earlier session has. Raises UnitError, ClusterError.
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
    left = {f"search {n + 1} of {searches}": n for n in range(searches) if n not in done}
    for name, number in left.items():
        executor.submit(Unit(name, perform, shared, (number, seconds)))
    while left:
        if (came := executor.next(POLL_SECONDS)) is not None:
            found, size = found_by(came.name, came.result), len(came.result)
            take(UnitDone(came.name, came.node, came.tries, came.seconds, size, found["readings"]))
            tell(SearchGathered(left.pop(came.name), searches, found))
    tell(usage.summary())
