"""The measurement of what a program says of its own time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.verdict.exponents import UNKNOWN, Verdict
from harness.verdict.told import TELLING, Told, judge_told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.families.base import Family
    from harness.engine.costs import Loaded
    from harness.events import Measured

NAME = "own-ns"
"""In place of a family."""

SIZES = tuple(4096 << doubling for doubling in range(7))
"""Bytes of the inputs, up to 256 KiB."""

ENOUGH = 40_000_000
"""Nanoseconds of CPU time of a call after which no larger input is asked."""

CALLS = 3
"""Calls at each size, each on another text."""


def measure_told(on: Loaded, family: Family, stopped: Callable[[], bool]) -> Measured | None:
    """What it says beside what the clocks say; None where it says nothing, or was not measured.

    Raises Stopped and OutOfTime.
    """
    vocabulary, most = on.contract.vocabulary, on.participant.about.max_input
    found: dict[int, list[Told]] = {}
    for size in SIZES:
        if most is not None and size > most:
            break
        inputs = [family.make(vocabulary, size, variant) for variant in range(CALLS)]
        results = on.gauge(inputs, Meter.CLAIM)
        if results.status.any() or results.costs is None:
            break
        found[size] = [told_of(*row) for row in results.costs.tolist()]
        if any(one.said is None for one in found[size]):
            return None
        slow = min(one.counted for one in found[size]) > ENOUGH
        if len(found) >= TELLING and (slow or stopped()):
            break
    if not found:
        return None
    verdict, largest = judge_told(found), max(found)
    false = verdict is Verdict.SUPERLINEAR
    return replace(UNKNOWN, verdict=verdict).measured(
        {size: max(one.said or 0 for one in calls) / 1e9 for size, calls in found.items()},
        implementation=on.participant.name,
        vocabulary=vocabulary.id,
        family=NAME,
        note=line_of(largest, found[largest]) if false else "",
        measure="claim",
        rounds=CALLS,
        expression=family.expression(vocabulary),
    )


def told_of(said: int, counted: int, waited: int, echo: int, asked: int, answered: int) -> Told:
    """One row of the meter, where -1 stands for nothing."""
    known, known_echo = (None if one < 0 else one for one in (said, echo))
    return Told(known, counted, waited, known_echo, asked, answered)


def line_of(size: int, calls: Sequence[Told]) -> str:
    """The largest size in words, with all the numbers."""
    said = max(one.said or 0 for one in calls) / 1e6
    columns = [(one.counted, one.waited, one.echo or 0) for one in calls]
    counted, waited, echo = (min(column) / 1e6 for column in zip(*columns, strict=True))
    return (
        f"it says that {size >> 10} KiB take {said:.3g} ms, and they take {counted:.3g} ms of CPU "
        f"time and {waited:.3g} ms until it answers, where an echo takes {echo:.3g} ms"
    )
