"""The measurement of what a program says of its own time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.verdict.exponents import UNKNOWN, Verdict
from harness.verdict.told import TELLING, Told, judge_told

if TYPE_CHECKING:
    from corpora.families.base import Family
    from harness.events import Measured
    from harness.studies.costs.subject import Stopped, Subject

NAME = "own-ns"
"""In place of a family."""

SMALLEST, LARGEST = 4 << 10, 256 << 10
"""Bytes of the inputs."""

ENOUGH = 40_000_000
"""Nanoseconds of CPU time of a call after which no larger input is asked."""

CALLS = 3
"""Calls at each size, each on another text."""


def measure_told(subject: Subject, family: Family, stopped: Stopped) -> Measured | None:
    """What it says beside what the clocks say; None where it says nothing, or was not measured.

    Raises Stopped and OutOfTime.
    """
    vocabulary, size = subject.contract.vocabulary, SMALLEST
    found: dict[int, list[Told]] = {}
    while size <= min(LARGEST, subject.most or LARGEST):
        inputs = [family.make(vocabulary, size, variant) for variant in range(CALLS)]
        results = subject.gauge(inputs, Meter.CLAIM)
        if results.status.any() or results.costs is None:
            break
        found[size] = [told_of(*map(int, row)) for row in results.costs]
        if any(one.said is None for one in found[size]):
            return None
        slow = min(one.counted for one in found[size]) > ENOUGH
        if len(found) >= TELLING and (slow or stopped()):
            break
        size *= 2
    if not found:
        return None
    false = judge_told(found)
    verdict = {True: Verdict.SUPERLINEAR, False: Verdict.LINEAR, None: Verdict.INCONCLUSIVE}[false]
    return replace(UNKNOWN, verdict=verdict).measured(
        {size: max(one.said or 0 for one in calls) / 1e9 for size, calls in found.items()},
        implementation=subject.name,
        vocabulary=vocabulary.id,
        family=NAME,
        note=line_of(max(found), found[max(found)]) if false else "",
        measure="claim",
        rounds=CALLS,
        expression=family.expression(vocabulary),
    )


def told_of(said: int, counted: int, waited: int, echo: int, asked: int, answered: int) -> Told:
    """One row of the meter, where -1 stands for nothing."""
    return Told(
        None if said < 0 else said, counted, waited, None if echo < 0 else echo, asked, answered
    )


def line_of(size: int, calls: list[Told]) -> str:
    """The largest size in words, with all the numbers."""
    said = max(one.said or 0 for one in calls) / 1e6
    counted = min(one.counted for one in calls) / 1e6
    waited = min(one.waited for one in calls) / 1e6
    echo = min(one.echo or 0 for one in calls) / 1e6
    return (
        f"it says that {size >> 10} KiB take {said:.3g} ms, and they take {counted:.3g} ms of CPU "
        f"time and {waited:.3g} ms until it answers, where an echo takes {echo:.3g} ms"
    )
