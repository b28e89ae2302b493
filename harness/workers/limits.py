"""The limits of a worker: how much time and memory a request may take, and how often it may die."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.core.outcomes import Failed, Status
from harness.workers.reasons import TIME_OUTS

if TYPE_CHECKING:
    from harness.core.messages import Way
    from impls.interface import Mode


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take.

    seconds: CPU time that a worker and its children may spend on one input, besides
        ``seconds_per_megabyte`` for each MB of the request; or the time for which a worker may
        sit idle without an answer. Generous, as it is for hangs and not for slowness. Time in
        which other programs have the processor, and time spent in a compiler, do not count.
    memory: bytes, of the worker and its children.
    load_seconds: likewise for building the library's object from a vocabulary.
    deaths: after so many deaths on one vocabulary an implementation is withdrawn from it;
        hangs: likewise for time-outs, which cost more. A new process takes a second or two.
    batch_deaths: after so many deaths the rest of a batch is not asked any more, so that one
        batch does not use them all up.
    """

    seconds: float = 8.0
    seconds_per_megabyte: float = 10.0
    load_seconds: float = 120.0
    memory: int = 4 << 30
    deaths: int = 16
    hangs: int = 3
    batch_deaths: int = 2

    def for_bytes(self, count: int) -> float:
        """The seconds that a request of ``count`` bytes may take."""
        return self.seconds + self.seconds_per_megabyte * count / 1e6


@dataclass(slots=True)
class Losses:
    """What one vocabulary has cost so far.

    leaks: inputs on which it has run out of memory that it answers alone. hanging: what took too
    long twice, the second time alone and with more time: when it does so once more, that is no
    longer in doubt. batch_seconds: which a batch was given that took too long, though none of its
    inputs does.
    """

    deaths: int = 0
    hangs: int = 0
    leaks: int = 0
    hanging: set[tuple[Mode, Way | None, bytes]] = field(default_factory=set)
    batch_seconds: float = 0.0

    def add(self, failure: Failed) -> None:
        """Count a failure that is sure."""
        if failure.status is Status.TIMED_OUT:
            self.hangs += 1
        else:
            self.deaths += 1

    def too_many(self, limits: Limits) -> str | None:
        """Why it has died or hung too often to be asked on, if it has."""
        if self.hangs >= limits.hangs:
            return f"withdrawn after {self.hangs} {TIME_OUTS}"
        if self.deaths >= limits.deaths:
            return f"withdrawn after {self.deaths} deaths"
        return None
