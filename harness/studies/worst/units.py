"""Searches for the worst input as units of work: several of them, with seeds of their own.

Costs of two machines are not compared with each other. So each unit searches by itself, on the
machine where it is, and what stands out there is only where the last search begins: the driver
measures all of it again on its own machine, minimises and compares it as ever.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from corpora.families.catalog import families
from harness.cluster.executor import Unit, UnitError
from harness.cluster.usage import Usage
from harness.core import stored
from harness.core.countdown import Countdown
from harness.engine.portable import made, packed, portable, unpacked
from harness.events import SearchGathered, UnitDone
from harness.studies.worst.plan import CONTROL
from harness.studies.worst.results import Report
from harness.studies.worst.session import SEARCHING, Watcher, at_work
from harness.studies.worst.state import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary
    from harness.cluster.executor import Executor
    from harness.engine.portable import PlugIn
    from harness.events import Event
    from harness.studies.worst.plan import WorstPlan

POLL_SECONDS = 0.5

MAX_BYTES = 1 << 26
"""The greatest size of what a search found, unpacked."""

SEED_STEP = 1_000_003
"""Between the seeds of two searches of one command; the first has the command's own."""


def portable_plan(plan: WorstPlan) -> WorstPlan:
    """What travels of a plan besides the participant and the vocabulary."""
    bare: Any = {"participant": None, "vocabulary": None}
    return replace(plan, families={}, withheld=frozenset(), **bare)


def plan_here(
    plan: WorstPlan, plug_in: PlugIn, vocabulary: Vocabulary, number: int, seconds: float
) -> WorstPlan:
    """The plan of one of the searches on this machine, for so many seconds.

    Raises ImplementationError, SelectionError.
    """
    return replace(
        plan,
        participant=made(plug_in),
        vocabulary=vocabulary,
        families={CONTROL: families()[CONTROL]},
        seed=plan.seed + number * SEED_STEP,
        budget=seconds,
    )


def perform(
    keep: dict[str, Any],
    bare: WorstPlan,
    plug_in: PlugIn,
    vocabulary: Vocabulary,
    number: int,
    seconds: float,
) -> bytes:
    """Search for so many seconds, wherever this is called. keep: nothing is."""
    plan = plan_here(bare, plug_in, vocabulary, number, seconds)
    with at_work(plan, None, Report.of(plan, ""), Countdown(seconds), Watcher()) as session:
        return packed(session.searched(), {})


def found_by(name: str, result: bytes) -> dict[str, Any]:
    """What a search came to, as plain data. Raises UnitError for what is nothing of the kind."""
    try:
        plain, _ = unpacked(result, MAX_BYTES)
        return dict(msgspec.to_builtins(stored.typed(plain, State)))
    except (ValueError, msgspec.MsgspecError) as error:
        raise UnitError(f"{name}: its result cannot be read: {error}") from error


def gather(
    opened: Callable[[], Executor],
    plan: WorstPlan,
    gathered: dict[int, SearchGathered],
    tell: Callable[[Event], None],
) -> None:
    """Have searches performed for their share of the budget; tell what each found, and keep it.

    opened: opens the executor; there are as many searches as it has slots. gathered: those that
    were done before, with others of as many searches. Raises UnitError, ClusterError.
    """
    searches = next((one.searches for one in gathered.values()), 0)
    if searches and len(gathered) == searches:
        return
    executor, usage = opened(), Usage()
    searches = searches or max(1, executor.slots)

    def take(event: Event) -> None:
        usage.consume(event)
        tell(event)

    try:
        executor.listen(take)
        task = {"plan": portable_plan(plan), "implementation": portable(plan.participant),
                "vocabulary": plan.vocabulary}  # fmt: skip
        shared = [executor.share(*one) for one in task.items()]
        left = {f"search {n + 1} of {searches}": n for n in range(searches) if n not in gathered}
        for name, number in left.items():
            executor.submit(Unit(name, perform, shared, (number, plan.budget * SEARCHING)))
        while left:
            if (came := executor.next(POLL_SECONDS)) is None:
                continue
            found, size = found_by(came.name, came.result), len(came.result)
            take(UnitDone(came.name, came.node, came.tries, came.seconds, size, found["readings"]))
            number = left.pop(came.name)
            gathered[number] = SearchGathered(number, searches, found)
            tell(gathered[number])
        tell(usage.summary())
    finally:
        executor.close()
