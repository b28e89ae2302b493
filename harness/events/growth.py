"""Events of growth: what was measured, and how it stands to its bound."""

from __future__ import annotations

from dataclasses import field

from harness.events.base import Event, Point, event


@event
class Measured(Event):
    """Growth of one implementation on one family.

    measure: ``time``, ``steps`` (lines of our own source that are executed), ``memory`` (bytes at
    the peak of a call), or ``instructions``, which older records have; axis: what grows, ``bytes``
    of the input if nothing else is said. points: [axis, seconds], or [axis, number] of the others.
    verdict: ``linear`` (n log n is within it), ``superlinear``, ``inconclusive``, ``failed``.
    exponent: with its interval. law: the one of ``n``, ``n log n``, ``n^1.5``, ``n^2``, ``n^3``,
    ``exponential`` (or ``1``, ``log n``) that describes the points best; laws: all that they do
    not rule out. constant: nanoseconds (or steps) for a byte more, over the sizes fitted, with its
    interval; overhead: what a call costs by itself, in the unit of the points. rounds: how often
    each size was measured.

    cached: as points, for an input that was encoded just before. memory_per_byte: of memory, at the
    largest sizes. memory_verdict: ``ordinary``, ``hungry``, ``superlinear``, or nothing.
    expression: one line of Python for the input of ``n`` bytes, with ``random`` imported; ``n`` is
    the first of any point. note: how it failed, or why it stopped.
    """

    implementation: str
    vocabulary: str
    family: str
    exponent: float | None
    low: float | None
    high: float | None
    verdict: str
    points: list[Point]
    note: str = ""
    measure: str = "time"
    law: str = ""
    laws: list[str] = field(default_factory=list)
    constant: float | None = None
    constant_low: float | None = None
    constant_high: float | None = None
    overhead: float | None = None
    rounds: int = 0
    cached: list[Point] = field(default_factory=list)
    memory_per_byte: float | None = None
    memory_verdict: str = ""
    expression: str = ""
    axis: str = "bytes"


@event
class FamiliesMeasured(Event):
    """Growth was measured on a vocabulary, as far as there was time.

    known: how many families there are that the vocabulary can spell. chosen: those of them that
    were to be measured; left_out: those of these that there was no time for. missed: those that
    each of the user's own candidates was not measured on, by its name.
    """

    vocabulary: str
    known: int
    chosen: list[str]
    left_out: list[str]
    missed: dict[str, list[str]] = field(default_factory=dict)


@event
class GrowthJudged(Event):
    """A cell that a bound is on, of the expectations file or by default, judged at a run's end.

    bound: ``linear``, ``n log n``, ``n^1.5``, ``quadratic``, ``cubic``. outcome: ``pass``,
    ``fail``, ``inconclusive`` (which fails no gate). reason: of the bound, as its
    author gave it. line: what to read where it is not a pass. own: it is of the user's own
    candidate, which is not passed while it is inconclusive.
    """

    implementation: str
    vocabulary: str
    family: str
    measure: str
    bound: str
    outcome: str
    reason: str
    line: str = ""
    own: bool = False
