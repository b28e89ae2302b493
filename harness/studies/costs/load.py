"""What it costs to load a vocabulary, by the number of its tokens."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from corpora.vocabularies.drawn.sized import of_size
from harness.core.comparisons import contracts_of
from harness.studies.costs.series import event, measure_series
from harness.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Algorithm, Vocabulary
    from harness.core.participants import Participant
    from harness.events import Measured
    from harness.studies.costs.subject import Stopped
    from harness.workers import Limits

AXIS, ROW = "tokens", "loading"

SIZES = (1000, 2000, 4000, 8000, 16000, 32000, 64000, 100_000)
"""Tokens of the vocabularies."""

LIMIT = 25_000_000
"""Nanoseconds of a load after which no larger vocabulary is."""

WARM_UP = 600
"""Tokens of the one that is loaded first: libraries are imported by the first load."""


@cache
def drawn(algorithm: Algorithm, size: int) -> Vocabulary | None:
    """The vocabulary of a size; the same in every round, as no implementation may keep one."""
    return of_size(algorithm, size)


def measure_load(
    participant: Participant,
    algorithm: Algorithm,
    limits: Limits,
    vocabulary: str,
    stopped: Stopped,
    halted: Stopped = lambda: False,
) -> Measured | None:
    """The cost of loading; None where it loads no random vocabulary of the algorithm.

    In a worker of its own, by its CPU time. vocabulary: the name under which it is told. halted:
    whether the run was ended, so that nothing more is loaded. Raises Stopped and OutOfTime.
    """
    first = drawn(algorithm, WARM_UP)
    if first is None or not contracts_of(first, [participant], frozenset(), proper=True):
        return None
    pool = WorkerPool([participant], limits)

    def ask(sizes: Sequence[int], turn: int) -> list[int] | None:
        found = []
        for size in sizes:
            one = drawn(algorithm, size)
            if halted() or one is None or pool.load(one, [participant.name]):
                return None
            found.append(pool.load_spent(participant.name))
        return found

    try:
        if pool.load(first, [participant.name]):
            return None
        found = measure_series(ask, SIZES, LIMIT, stopped)
    finally:
        pool.close()
    return event(participant.name, vocabulary, AXIS, ROW, found)
