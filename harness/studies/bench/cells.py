"""A cell: one implementation on one text at one size, and what was measured of it so far."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.core.outcomes import Status
from harness.events import Benched, Timing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.core.outcomes import Results, Spent
    from harness.core.participants import Participant

MOST_GROWTH, LEAST_GROWTH = 2.2, 1.0
"""Bounds of the exponent by which a larger size's time is foretold: of the quadratic algorithms
and a little, and of the linear ones."""


@dataclass(frozen=True, slots=True)
class Row:
    """An implementation, or its counting of ids."""

    participant: Participant
    counting: bool = False

    @property
    def name(self) -> str:
        """As it stands in tables."""
        return f"{self.participant.name} count" if self.counting else self.participant.name


@dataclass(slots=True)
class Cell:
    """What is known of a row at a size. digest: of its ids; tokens: how many. seconds: of a call
    when it was tried.
    """

    row: Row
    size: int
    bytes: int = 0
    status: str = "skipped"
    note: str = ""
    digest: str = ""
    tokens: int | None = None
    seconds: float = 0.0
    timings: list[Timing] = field(default_factory=list)

    @property
    def measurable(self) -> bool:
        """Whether it is worth asking again."""
        return self.status == "measured"

    def skip(self, status: str, note: str) -> None:
        """Settle that it is not measured (any further), and why."""
        self.status, self.note = status, note

    def take(self, results: Results) -> bool:
        """Take note of an answer; False if it is none, after which the cell is settled."""
        status = Status(int(results.status[0]))
        if status is Status.ENCODED and results.timed is not None:
            return True
        line = results.messages.get(0, "").split("\n", 1)[0] or "no times"
        if status in (Status.UNSUPPORTED, Status.REJECTED):
            self.skip("unsupported", line)
        else:
            self.skip("failed", f"{status.label}: {line}")
        return False

    def answered(self, results: Results) -> None:
        """Keep what tells the ids apart from another's."""
        self.digest = hashlib.sha256(results.ids.tobytes()).hexdigest()
        self.tokens = int(results.ids[0]) if self.row.counting else len(results.ids)

    def time(self, kind: str, number: int, size: int, spent: Spent) -> None:
        """Add a measurement over ``size`` bytes."""
        self.timings.append(
            Timing(
                kind=kind,
                round=number,
                bytes=size,
                passes=spent.passes,
                cpu=spent.cpu / 1e9,
                wall=spent.wall / 1e9,
            )
        )

    def answer(self, right: Cell | None) -> str:
        """How its ids compare with the right ones; see :class:`harness.events.Benched`."""
        if self.tokens is None or right is None or right.tokens is None:
            return "unchecked"
        same = self.tokens == right.tokens if self.row.counting else self.digest == right.digest
        if same:
            return "equal"
        return "different" if self.row.participant.about.defined else "by-law"

    def event(self, vocabulary: str, text: str, mode: str, right: Cell | None) -> Benched:
        """What there is to say."""
        return Benched(
            vocabulary=vocabulary,
            text=text,
            mode=mode,
            row=self.row.name,
            implementation=self.row.participant.name,
            size=self.size,
            bytes=self.bytes,
            status=self.status,
            note=self.note,
            answer=self.answer(right),
            trusted=right.row.name if right is not None else "",
            tokens=self.tokens,
            timings=self.timings,
        )


def foretold(times: Sequence[tuple[int, float]], size: int) -> float:
    """Seconds that ``size`` bytes will take, from (bytes, seconds) of smaller ones, rising.

    By the exponent between the last two, at least that of a linear cost; linear from a single one.
    """
    if not times:
        return 0.0
    last, spent = times[-1]
    growth = LEAST_GROWTH
    if len(times) > 1:
        before, less = times[-2]
        growth = math.log(max(spent, 1e-9) / max(less, 1e-9)) / math.log(last / before)
    exponent = min(max(growth, LEAST_GROWTH), MOST_GROWTH)
    return spent * math.pow(size / last, exponent)


def ladder(sizes: Sequence[int], step: int = 8) -> list[int]:
    """The sizes, and others between any two that are more than ``step`` times apart."""
    found: list[int] = []
    for size in sizes:
        while found and size > found[-1] * step:
            found.append(found[-1] * step)
        found.append(size)
    return found
