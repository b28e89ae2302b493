"""What a worker spends: CPU time, memory, time in which it only sits, of its whole family.

A time-out is a statement about the implementation, not about the machine. So what counts is CPU
time of the worker and its children, whoever else wants the processor; and the time in which none
of them wants it, as those that sleep for ever would spend nothing else.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from impls.processes import descendants

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = 1.0 / os.sysconf("SC_CLK_TCK")

AWAKE = frozenset("RD")
"""States of a thread that has work: running or waiting for a processor, and waiting for a disk."""

STILL = 0.02
"""Share of an interval in CPU time up to which a worker is taken to sit: one that wakes up now and
then to look at a clock sits, too."""

WALL = 30.0
"""An input ends in any case after so many times its limit on the wall's clock, so that what no
counter shows (a file system that does not answer) ends, too."""

LEAST_WALL = 120.0
"""Seconds on the wall's clock that any input has at the least, for machines that are very busy."""

COMPILING_SECONDS = 1800.0
"""Seconds on the wall's clock after which a request ends that says of itself that it compiles. No
function takes as long; a compiler that waits for itself, or who only says so, would never end."""

SLOWEST = 16.0
"""The machine is taken to have slowed down by this factor at the most, as far as a limit is
concerned."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and its descendants have come to.

    cpu: seconds. memory: resident bytes. awake: whether any of their threads has work.
    """

    cpu: float
    memory: int
    awake: bool


def usage_of(pid: int, *, keeper: bool = False) -> Usage:
    """What a process and all its descendants have spent; nothing of those that are gone.

    keeper: whether the process itself is a keeper, which is the harness's.
    """
    cpu, memory, awake = 0.0, 0, False
    for one in (pid, *descendants(pid)):
        with contextlib.suppress(OSError, ValueError, IndexError):
            folder = Path(f"/proc/{one}")
            kept = one != pid or not keeper
            fields = _stat(folder / "stat")
            # utime, stime, and those of children that have ended.
            cpu += sum(map(int, fields[11 if kept else 13 : 15])) * TICK
            if not kept:
                continue
            memory += int((folder / "statm").read_text().split()[1]) * PAGE
            awake = awake or any(
                _stat(thread / "stat")[0] in AWAKE for thread in (folder / "task").iterdir()
            )
    return Usage(cpu, memory, awake)


def _stat(path: Path) -> list[str]:
    """The fields of a ``stat`` file from the state on: the name before may have anything in it."""
    return path.read_text().rpartition(")")[2].split()


@dataclass(slots=True)
class Stopwatch:
    """The time that one request has taken so far, as far as it counts.

    seconds: what one input of the request may take. A worker that says at which input it is has
    so much for each of them. looked, cpu: the clock, and the CPU time, when it was last looked at.
    count: the inputs; what a worker says is not believed beyond what can be. wall, spent, waited:
    seconds of the input at work: all, of CPU time, and those in which nobody had work. It is fed by
    :meth:`look` now and then, and reads no clock itself.
    """

    seconds: float
    looked: float
    cpu: float
    count: int = 0
    wall: float = 0.0
    spent: float = 0.0
    waited: float = 0.0
    compiled: float = 0.0
    place: int = -1
    moves: int = 0

    def look(self, now: float, usage: Usage, *, place: int, compiling: bool) -> None:
        """Take note of what was spent up to now, and of the input that the worker is at."""
        passed, worked = now - self.looked, usage.cpu - self.cpu
        self.looked, self.cpu = now, usage.cpu
        # Each input is begun once, and again where a batch is asked for one by one.
        believed = 0 <= place < self.count and self.moves < 2 * self.count + 2
        moved = believed and place != self.place
        if moved or compiling:
            # A new input, or a compiler at work: the time begins anew with what follows.
            if compiling:
                self.compiled += passed  # in all, as it is never set back
            if moved:
                self.place, self.moves = place, self.moves + 1
            self.wall = self.spent = self.waited = 0.0
            return
        self.wall += passed
        self.spent += worked
        if not usage.awake and worked <= STILL * passed:
            self.waited += passed

    def overdue(self, slowness: Callable[[], float]) -> str | None:
        """Why the request has had its time, or None.

        slowness: how many times as long as at its best a fixed piece of work takes now. The CPU
        time is held against it: an implementation has as much longer.
        """
        if self.waited > self.seconds:
            return f"no answer within {self.seconds:.1f} s, in which it only waited"
        if self.spent > self.seconds and self.spent > self.seconds * slowness():
            return f"no answer within {self.seconds:.1f} s of CPU time"
        if self.compiled > COMPILING_SECONDS:
            return f"no answer within {COMPILING_SECONDS:.0f} s in which it said that it compiles"
        wall = max(LEAST_WALL, WALL * self.seconds)
        if self.wall > wall:
            return f"no answer within {wall:.0f} s"
        return None


class Control:
    """A fixed piece of work, by which the machine's speed now is told from its speed at its best.

    Neighbours that share a processor's core and caches make CPU time itself dearer.
    """

    def __init__(self) -> None:
        self._best = min(self._cost() for _ in range(3))

    def slowness(self) -> float:
        """Return how many times as long as at its best the work takes now, 1 at the least."""
        now = self._cost()
        self._best = min(self._best, now)
        return min(SLOWEST, max(1.0, now / max(self._best, 1e-6)))

    @staticmethod
    def _cost() -> float:
        """Return the CPU seconds of the work, which takes some milliseconds."""
        began = time.thread_time()
        total = 0
        for number in range(100_000):
            total ^= number * number
        return time.thread_time() - began


@cache
def control() -> Control:
    """Return the control of this process, made once."""
    return Control()
