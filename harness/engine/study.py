"""What a study is: something that is done with each vocabulary that a run has loaded.

The engine opens one session after another and gives each to the studies of the run. It knows none
of them: who makes the run says which there are (``harness/studies``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.opening import Opened
    from harness.workers.pool import WorkerPool


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """One vocabulary, loaded into its participants.

    pool: their workers. opened: who has loaded it, and under which contracts. end: when its
    time for cases is over, on the monotonic clock; infinite where time is no limit.
    """

    pool: WorkerPool
    source: str
    vocabulary: Vocabulary
    opened: Opened
    end: float

    @property
    def over(self) -> bool:
        """Whether its time for cases is over."""
        return time.monotonic() > self.end


class Study(Protocol):
    """Does its part with each session of a run, and tells it by events."""

    @property
    def beside(self) -> bool:
        """Whether it asks no worker of the session, so that it goes on beside the others."""
        ...

    @property
    def alone(self) -> bool:
        """Whether nothing may go on beside it, as it measures time."""
        ...

    def concerns(self, source: str) -> bool:
        """Whether it has anything to do on a vocabulary."""
        ...

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Make what is made on first use, one thing a step, before the time of a run begins.

        It takes seconds on a large vocabulary, which no clock could cut off.
        """
        ...

    def step(self, session: Session) -> None:
        """Do its part with a session."""
        ...
