"""The measurement of what is left behind: the same thousand inputs, in pass after pass."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.verdict.exponents import UNKNOWN, Verdict
from harness.verdict.leaks import MOST, SURE, Leak, judge_left

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary
    from harness.events import Measured
    from harness.studies.costs.subject import Stopped, Subject

NAME = "many-inputs"
"""In place of a family."""

AXIS = "inputs"

INPUTS, LEAST_INPUTS = 1000, 128
"""Inputs of a pass, and the least of them where they are slow."""

LENGTHS = (16, 64, 128, 256, 512)
"""Bytes of the inputs, in turn."""

PASS_SECONDS = 0.2
"""Seconds that a pass may take: who is slower has shorter ones, and a smaller leak is not seen."""

FIRST = 64
"""Inputs by which the length of a pass is found."""

MUCH = 64 << 20
"""Bytes that a pass may leave behind: that much is told by few inputs."""


def inputs_of(
    vocabulary: Vocabulary, families: Sequence[Family], number: int = INPUTS
) -> list[bytes]:
    """Inputs of different kinds and lengths, each another text as far as the families have one."""
    return list(islice(_inputs(vocabulary, families), number))


def _inputs(vocabulary: Vocabulary, families: Sequence[Family]) -> Iterator[bytes]:
    for variant in count():
        for place, family in enumerate(families):
            yield family.make(vocabulary, LENGTHS[(variant + place) % len(LENGTHS)], variant)


def measure_left(subject: Subject, inputs: Sequence[bytes], stopped: Stopped) -> Measured | None:
    """What is left behind of these inputs; None where nothing was measured, or it died.

    Raises Stopped and OutOfTime.
    """
    fitting = [data for data in inputs if subject.most is None or len(data) <= subject.most]
    fitting = fitting[: _pass(subject, fitting)]
    held: list[int] = []
    given: list[int] = []
    found = judge_left(held, len(fitting))
    while found.leak is Leak.OPEN and len(held) <= MOST and not (len(held) > SURE and stopped()):
        results = subject.gauge(fitting, Meter.HELD)
        if results.costs is None or not len(results):
            return None
        resident, allocated = (int(one) for one in results.costs[-1])
        held.append(resident)
        given.append(allocated)
        found = judge_left(held, len(fitting))
    if found.leak is Leak.OPEN and len(held) < 2:
        return None
    verdict = {
        Leak.NONE: Verdict.LINEAR,
        Leak.LEAKS: Verdict.SUPERLINEAR,
        Leak.OPEN: Verdict.INCONCLUSIVE,
    }[found.leak]
    by_allocator = judge_left(given, len(fitting)) if any(given) else None
    note = ""
    if found.leak is Leak.LEAKS:
        note = f"it leaves {kibibytes(found.rate)} behind for each input"
        if by_allocator is not None and by_allocator.leak is Leak.LEAKS:
            note += f" ({kibibytes(by_allocator.rate)} by the allocator's count)"
    elif found.leak is Leak.OPEN:
        note = f"after {len(held)} passes of {len(fitting)} inputs memory still changes"
    return replace(UNKNOWN, verdict=verdict).measured(
        {len(fitting) * passes: one for passes, one in enumerate(held, 1)},
        implementation=subject.name,
        vocabulary=subject.contract.vocabulary.id,
        family=NAME,
        note=note,
        measure="left",
        rounds=len(held),
        axis=AXIS,
    )


def _pass(subject: Subject, inputs: Sequence[bytes]) -> int:
    """How many inputs a pass has: fewer of who is slow, and where each leaves much behind."""
    before = subject.gauge(inputs[:FIRST], Meter.HELD)
    started = time.monotonic()
    after = subject.gauge(inputs[FIRST : 2 * FIRST], Meter.HELD)
    seconds = time.monotonic() - started
    most = min(INPUTS, int(FIRST * PASS_SECONDS / max(seconds, 1e-9)))
    if before.costs is not None and after.costs is not None and len(after):
        grown = int(after.costs[-1, 0] - before.costs[-1, 0])
        most = min(most, FIRST * MUCH // max(1, grown))
    return max(LEAST_INPUTS, most)


def kibibytes(count: float) -> str:
    """Bytes in words: ``4.1 KiB``."""
    return f"{count / 1024:.1f} KiB"
