"""A run as the sum of its parts: one vocabulary each, with a tracker and a tally of its own.

Findings on different vocabularies never depend on one another. So a part can be performed
elsewhere, be kept when it is whole, and be taken up again; all come together here.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from harness.events import Counted, Found
from harness.findings.causes import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.engine.state import RunState
    from harness.engine.study import Study
    from harness.events import Event

    Tell = Callable[[Event], None]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One vocabulary of a run: its source, the state that is its own, and its studies."""

    source: str
    run: RunState
    studies: Sequence[Study]


class Turn(msgspec.Struct, frozen=True):
    """A vocabulary to be examined now.

    ahead: weights of this one and of all that nobody has begun. loading: seconds that loading took
    so far, for each unit of weight. unmeasured: vocabularies on which growth is to be measured yet.
    hung: who was found to time out, by whomever.
    """

    source: str
    ahead: float
    loading: float
    unmeasured: int
    hung: list[str] = []


class Ended(msgspec.Struct, frozen=True, tag=True):
    """How a part has ended. whole: all was done that its time was enough for.

    loading: seconds that loading took, where it came to its end. tally: of the part, as
    ``Tally.plain`` gives it. unexpected: whether there is a finding that nobody expects.
    """

    whole: bool = False
    loading: float | None = None
    tally: dict[str, Any] = {}
    unexpected: bool = False


class Left(msgspec.Struct, frozen=True):
    """What a worker left behind when it ended, in a line.

    contract, source, who: the last contract under which it was asked, its vocabulary, and all who
    took part in it.
    """

    name: str
    line: str
    contract: str
    source: str
    who: list[str]


class Examines(Protocol):
    """Examines vocabularies: an examiner, or its copy."""

    def examine(self, turn: Turn, tell: Tell) -> Ended:
        """Examine one. tell: takes the events. Raises what a study raises."""
        ...

    def stop(self) -> None:
        """End it, from any thread."""
        ...

    def close(self) -> list[Left]:
        """End all workers, once; what they have left behind."""
        ...


class Parts(Protocol):
    """Makes the parts of a run. Thread-safe."""

    def begin(self, source: str) -> Tell:
        """Where the events of a part go that is about to begin."""
        ...

    def part(self, source: str, tell: Tell) -> Part:
        """The part, in the process that performs it. tell: takes its events."""
        ...

    def end(self, source: str, ended: Ended) -> None:
        """Take note that a part has ended."""
        ...


class Undivided:
    """A run whose vocabularies share one tracker and one tally, in one process."""

    def __init__(self, run: RunState, studies: Sequence[Study]) -> None:
        self._run, self._studies = run, studies

    def begin(self, source: str) -> Tell:
        """See :class:`Parts`."""
        return self._run.emit

    def part(self, source: str, tell: Tell) -> Part:
        """See :class:`Parts`."""
        return Part(source, self._run, self._studies)

    def end(self, source: str, ended: Ended) -> None:
        """See :class:`Parts`."""


class Sum:
    """The findings of all parts, and how often each bucket was counted. Thread-safe."""

    def __init__(self) -> None:
        self.findings: dict[str, Found] = {}
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, event: Event) -> Event:
        """Add an event of a part, and return it as an event of the whole."""
        with self._lock:
            if isinstance(event, Counted):
                self.counts[event.bucket] += event.more
                return replace(event, count=self.counts[event.bucket])
            if isinstance(event, Found):
                self.findings.pop(event.replaces or "", None)
                self.findings[event.id] = replace(event, replaces=None)  # that was told once
            return event

    def snapshot(self) -> Snapshot:
        """What a tracker of the whole run would know: its findings, and their counts."""
        with self._lock:
            return Snapshot(findings=list(self.findings.values()), counts=dict(self.counts))
