"""The measurement of memory: what a call takes at its peak, by the length of its input."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.verdict.exponents import Verdict
from harness.verdict.memory import LIMIT, SUPERLINEAR, TELLING, Taken, beyond, judge_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from corpora.families.base import Family
    from harness.engine.costs import Loaded
    from harness.events import Measured

FAMILIES = ("prose", "letter-run", "byte-fallback", "long-word", "brackets", "newlines")
"""The first three of these that a vocabulary can spell are measured: text as it is, one long
pre-token of few tokens, and text of which each byte is a token."""

ASKED = 3
"""Families that are measured."""

SIZES = tuple(4096 << doubling for doubling in range(7))
"""Bytes of the inputs, up to 256 KiB: pages are as large as the smallest."""

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


def measure_memory(on: Loaded, family: Family, stopped: Callable[[], bool]) -> Measured | None:
    """The memory of a family's inputs; None where it declines them, or nothing was measured.

    Raises Stopped and OutOfTime.
    """
    rounds: list[Mapping[int, tuple[Taken, Taken]]] = []
    failure = ""
    for number in range(ROUNDS):
        taken, failure = _round(on, family, number, stopped)
        rounds += [taken] if taken else []
        found = judge_memory(rounds)
        kept = beyond(found.peaks, LIMIT) is False and found.verdict != SUPERLINEAR
        if failure or not taken or kept:
            break
    if not rounds and not failure:
        return None
    decided = len(found.peaks) > 1
    verdict = Verdict.LINEAR if decided else Verdict.INCONCLUSIVE
    verdict = Verdict.SUPERLINEAR if found.verdict == SUPERLINEAR else verdict
    verdict = Verdict.FAILED if failure else verdict
    return replace(found.growth, verdict=verdict, constant=None).measured(
        found.peaks,
        implementation=on.participant.name,
        vocabulary=on.contract.vocabulary.id,
        family=family.name,
        note=failure or ("" if decided else "one size only was measured"),
        measure="memory",
        rounds=len(rounds),
        memory_per_byte=found.per_byte,
        memory_verdict=found.verdict,
        expression=family.expression(on.contract.vocabulary),
    )


def _round(
    on: Loaded, family: Family, number: int, stopped: Callable[[], bool]
) -> tuple[dict[int, tuple[Taken, Taken]], str]:
    """Each size twice, from small to large; and how memory ran out, if it did."""
    found: dict[int, tuple[Taken, Taken]] = {}
    vocabulary, most = on.contract.vocabulary, on.participant.about.max_input
    for size in SIZES:
        enough = len(found) >= TELLING
        if (most is not None and size > most) or (enough and stopped()):
            break
        inputs = [] if found else [family.make(vocabulary, WARM_UP, number)]
        variants = range(CALLS * number, CALLS * (number + 1))
        inputs += [family.make(vocabulary, size, variant) for variant in variants]
        started = time.monotonic()
        results = on.gauge(inputs, Meter.MEMORY)
        for row in (results.status == Status.OUT_OF_MEMORY).nonzero()[0].tolist():
            line = results.messages.get(row, "").split("\n", 1)[0]
            return found, f"{Status.OUT_OF_MEMORY.label} at {size >> 10} KiB: {line}"
        if results.status.any() or results.costs is None:
            break
        first, second = (Taken(*map(int, row[[0, 2]])) for row in results.costs[-CALLS:])
        found[size] = first, second
        seconds, enough = time.monotonic() - started, len(found) >= TELLING
        if seconds > SLOWEST or (enough and (seconds > SLOW or second.peak > MUCH)):
            break
    return found, ""
