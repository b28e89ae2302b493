"""The limits of a worker: how much time and memory one request may take."""

from __future__ import annotations

from dataclasses import dataclass


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
