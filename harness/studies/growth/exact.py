"""Instructions of libraries, cell by cell, where they can be counted: what long suites add to time.

Our own algorithms have steps for that. A library has a worker of its own here, under Valgrind,
which takes some fifty times as long, so that sizes are small and limits are wide.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.engine.costs import NotLoaded, costs, loaded
from harness.verdict.exponents import judge
from harness.workers import Limits
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant
    from harness.events import Measured

SIZES = tuple(512 << doubling for doubling in range(5))
"""Up to 8 KiB: exact, so that few bytes tell."""

VARIANT = 29
"""An input that no round of time has used."""

SLOWER = 50
"""A call takes so many times as long under Valgrind, by its manual and as measured."""


def count_instructions(
    participants: Sequence[Participant],
    vocabulary: Vocabulary,
    families: Sequence[Family],
    wrapper: Sequence[str],
    limits: Limits,
    seconds: float,
    emit: Callable[[Measured], None],
    stopped: Callable[[], bool] = lambda: False,
    left: Callable[[], float] = lambda: math.inf,
) -> None:
    """Say what instructions each takes, an equal part of ``seconds`` for each.

    left: the seconds until the whole run is over, when what is being counted is cut off.
    One that does not load, or dies of a family, is passed over here: the measurement of time, and
    the checks, say that of it.
    """
    slow = Limits(
        seconds=limits.seconds * SLOWER,
        load_seconds=limits.load_seconds * SLOWER,
        memory=limits.memory,
    )
    for place, participant in enumerate(participants):
        if stopped() or seconds <= 0:
            return
        started = time.monotonic()
        share = seconds / (len(participants) - place)
        try:
            with loaded(participant, vocabulary, slow, wrapper=wrapper, left=left) as on:
                for family in families:
                    if stopped() or time.monotonic() - started > share:
                        break
                    if not family.suits(vocabulary):
                        continue
                    inputs = [family.make(vocabulary, size, VARIANT) for size in SIZES]
                    subjects = [lambda _, data=data: data for data in inputs]
                    found = costs(on, subjects, Meter.INSTRUCTIONS, rounds=1)
                    spent = {cost.size: cost.spent for cost in found.of if cost.spent is not None}
                    if len(spent) == len(found.of):
                        emit(event_of(participant, vocabulary, family, spent, found.overhead))
        except NotLoaded:
            continue
        except OutOfTime:
            return
        finally:
            seconds -= time.monotonic() - started


def event_of(
    participant: Participant,
    vocabulary: Vocabulary,
    family: Family,
    spent: dict[int, int],
    overhead: int,
) -> Measured:
    """What there is to say of a cell."""
    growth = judge(spent, overhead, exact=True)
    return growth.measured(
        spent,
        implementation=participant.name,
        vocabulary=vocabulary.id,
        family=family.name,
        measure="instructions",
        overhead=growth.overhead,
        rounds=1,
        expression=family.expression(vocabulary),
    )
