"""The time that ``--budget`` gives a command: from its first case to its verdict."""

from __future__ import annotations

import math
import mmap
import time
from collections.abc import Callable
from typing import Self


class Countdown:
    """A budget of seconds that begins to run when the first case is asked.

    What comes before (loading vocabularies, starting processes, compiling) is counted apart, in
    :attr:`prepared`, since a slow machine would do nothing else within a short budget. Writing the
    reports comes after it. seconds: None where there is no limit. now: a clock that
    never goes back. Copies of this process share the moment at which it began to run.
    """

    def __init__(self, seconds: float | None, now: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._now = now
        self._made = now()
        self._shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("d")
        """Whether it runs, and since when."""

    def start(self) -> Self:
        """Begin to run, unless it does already."""
        if not self.running:
            self._shared[1] = self._now()
            self._shared[0] = 1.0
        return self

    @property
    def running(self) -> bool:
        """Whether the first case was asked."""
        return bool(self._shared[0])

    @property
    def prepared(self) -> float:
        """The seconds before the first case, up to now where there was none yet."""
        return (self._shared[1] if self.running else self._now()) - self._made

    @property
    def spent(self) -> float:
        """The seconds since the first case."""
        return self._now() - self._shared[1] if self.running else 0.0

    @property
    def left(self) -> float:
        """The seconds left; infinite where there is no limit, 0 at the least."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.spent)

    @property
    def late(self) -> float:
        """The seconds since the time was up, 0 where it is not."""
        return 0.0 if self.seconds is None else max(0.0, self.spent - self.seconds)

    @property
    def over(self) -> bool:
        """Whether no time is left. Before the first case there always is some."""
        return self.running and self.left <= 0

    def part(self, seconds: float) -> Countdown:
        """A countdown of a part of the time that is left, which runs from now on."""
        return Countdown(min(seconds, self.left), self._now).start()


def seconds_text(seconds: float | None) -> str:
    """A budget in words, for a command's first line: ``for 45 s``, ``until Ctrl-C``."""
    if seconds is None:
        return "until Ctrl-C"
    return f"for {seconds:g} s" if seconds < 600 else f"for {seconds / 60:g} min"
