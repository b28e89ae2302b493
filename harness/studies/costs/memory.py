"""The measurement of memory: what a call takes at its peak, by the length of its input."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.studies.costs.subject import failure_of
from harness.verdict.exponents import Verdict
from harness.verdict.memory import LIMIT, SUPERLINEAR, TELLING, Memory, Taken, beyond, judge_memory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.families.base import Family
    from harness.core.outcomes import Failed
    from harness.events import Measured
    from harness.studies.costs.subject import Stopped, Subject

FAMILIES = ("prose", "letter-run", "byte-fallback", "long-word", "brackets", "newlines")
"""The first three of these that a vocabulary can spell are measured: text as it is, one long
pre-token of few tokens, and text of which each byte is a token."""

ASKED = 3
"""Families that are measured."""

SMALLEST, LARGEST = 4 << 10, 256 << 10
"""Bytes of the inputs: pages are as large as the smallest."""

MUCH = 24 << 20
"""Bytes of memory beyond which no larger input is asked, once there are enough: it says no more."""

SLOW = 0.1
"""Seconds of the two calls on a size after which no larger one is asked."""

SLOWEST = 1.0
"""Likewise while there are too few sizes to judge: a busy machine decides nothing."""

ROUNDS = 2
"""Rounds where the first is beyond the limit; what a disturbance added does not come again."""

CALLS = 2
"""Inputs of each size in a row; see :mod:`harness.verdict.memory`."""

WARM_UP = 1 << 10
"""Bytes of the inputs before each size: tables that are made at the first call, compilers."""


def chosen(suiting: Sequence[Family]) -> list[Family]:
    """The families that are measured, of those that the vocabulary can spell."""
    known = {one.name: one for one in suiting}
    return [known[name] for name in FAMILIES if name in known][:ASKED]


def measure_memory(subject: Subject, family: Family, stopped: Stopped) -> Measured | None:
    """The memory of a family's inputs; None where it declines them, or nothing was measured.

    Raises Stopped and OutOfTime.
    """
    rounds: list[Mapping[int, tuple[Taken, Taken]]] = []
    for number in range(ROUNDS):
        taken, failed = _round(subject, family, number, stopped)
        if failed is not None:
            return _failed(subject, family, judge_memory([*rounds, taken]), *failed)
        if not taken:
            break
        rounds.append(taken)
        found = judge_memory(rounds)
        if beyond(found.peaks, LIMIT) is False and found.verdict != SUPERLINEAR:
            break
    if not rounds:
        return None
    return event(subject, family, judge_memory(rounds), len(rounds))


def _round(
    subject: Subject, family: Family, number: int, stopped: Stopped
) -> tuple[dict[int, tuple[Taken, Taken]], tuple[int, Failed] | None]:
    """Each size twice, from small to large; and the size at which memory ran out, and how."""
    found: dict[int, tuple[Taken, Taken]] = {}
    vocabulary, size = subject.contract.vocabulary, SMALLEST
    while size <= min(LARGEST, subject.most or LARGEST):
        if len(found) >= TELLING and stopped():
            break
        variants = range(CALLS * number, CALLS * (number + 1))
        inputs = [family.make(vocabulary, WARM_UP, number)] if not found else []
        before = len(inputs)
        inputs += [family.make(vocabulary, size, variant) for variant in variants]
        started = time.monotonic()
        results = subject.gauge(inputs, Meter.MEMORY)
        failure = failure_of(results)
        if failure is not None and failure[1].status is Status.OUT_OF_MEMORY:
            return found, (size, failure[1])
        if results.status.any() or results.costs is None:
            break
        first, second = (Taken(*map(int, row[[0, 2]])) for row in results.costs[before:])
        found[size] = first, second
        seconds, enough = time.monotonic() - started, len(found) >= TELLING
        if seconds > SLOWEST or (enough and (seconds > SLOW or second.peak > MUCH)):
            break
        size *= 2
    return found, None


def event(subject: Subject, family: Family, found: Memory, rounds: int) -> Measured:
    """What there is to say of memory."""
    decided = len(found.peaks) > 1
    verdict = Verdict.LINEAR if decided else Verdict.INCONCLUSIVE
    if found.verdict == SUPERLINEAR:
        verdict = Verdict.SUPERLINEAR
    return replace(found.growth, verdict=verdict, constant=None).measured(
        found.peaks,
        implementation=subject.name,
        vocabulary=subject.contract.vocabulary.id,
        family=family.name,
        note="" if decided else "one size only was measured",
        measure="memory",
        rounds=rounds,
        memory_per_byte=found.per_byte,
        memory_verdict=found.verdict,
        expression=family.expression(subject.contract.vocabulary),
    )


def _failed(
    subject: Subject, family: Family, found: Memory, size: int, failure: Failed
) -> Measured:
    """What there is to say where memory ran out: no bound allows for that."""
    said = event(subject, family, found, 1)
    line = failure.message.split("\n", 1)[0]
    note = f"{failure.status.label} at {size >> 10} KiB: {line}"
    return replace(said, verdict=Verdict.FAILED.value, note=note)
