"""An implementation loaded by itself, to be measured: by growth, other costs, and the search."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.comparisons import Contract, contracts_of
from harness.core.messages import Meter
from harness.core.outcomes import Results
from harness.core.participants import Participant
from harness.workers import Limits
from harness.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary

TINY = 16
"""Bytes of the input whose time is taken for a call's own cost."""

WARM_UP = 192
"""Bytes of an input encoded before those that are timed: compilers, lazy tables, cold caches."""


class NotLoaded(Exception):
    """The implementation does not run this vocabulary: one line that says why."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """An implementation in a worker of its own, ready to be measured on one vocabulary."""

    pool: WorkerPool
    participant: Participant
    contract: Contract

    def gauge(self, inputs: Sequence[bytes], meter: Meter) -> Results:
        """One request: outcomes of all inputs, and their costs where none of them killed it."""
        return self.pool.gauge(self.participant.name, self.contract, inputs, meter)


@contextlib.contextmanager
def loaded(
    participant: Participant,
    vocabulary: Vocabulary,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
    left: Callable[[], float] = lambda: math.inf,
) -> Iterator[Loaded]:
    """Start a worker and load, in the vocabulary's first mode that it runs. Raises NotLoaded.

    left: the seconds until what is asked is cut off, which raises OutOfTime, as loading does then.
    """
    pool = WorkerPool([participant], limits or Limits(), environment)
    pool.limit_by(left)
    try:
        yield load_into(pool, participant, vocabulary)
    finally:
        pool.close()


def load_into(pool: WorkerPool, participant: Participant, vocabulary: Vocabulary) -> Loaded:
    """Load in a pool that is there, as :func:`loaded` does. Raises NotLoaded."""
    contracts = contracts_of(vocabulary, [participant], frozenset(), proper=True)
    if not contracts:
        raise NotLoaded(f"{participant.name} does not run {vocabulary.id}")
    faults = pool.load(vocabulary, [participant.name])
    for answer in faults.values():
        raise NotLoaded(f"{participant.name} on {vocabulary.id}: {answer.error}")
    return Loaded(pool, participant, contracts[0])
