"""The measurement of what is left behind: the same thousand inputs, in pass after pass."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.verdict.exponents import UNKNOWN, Verdict
from harness.verdict.leaks import MOST, SURE, judge_left

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary
    from harness.engine.costs import Loaded
    from harness.events import Measured

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
    every = (
        family.make(vocabulary, LENGTHS[(variant + place) % len(LENGTHS)], variant)
        for variant in count()
        for place, family in enumerate(families)
    )
    return list(islice(every, number))


def measure_left(
    on: Loaded, inputs: Sequence[bytes], stopped: Callable[[], bool]
) -> Measured | None:
    """What is left behind of these inputs; None where nothing was measured, or it died.

    Raises Stopped and OutOfTime.
    """
    most = on.participant.about.max_input
    fitting = [data for data in inputs if most is None or len(data) <= most]
    fitting = fitting[: _pass(on, fitting)]
    held: list[int] = []
    given: list[int] = []
    found = judge_left(held, len(fitting))
    while found.verdict is Verdict.INCONCLUSIVE and len(held) <= MOST:
        if len(held) > SURE and stopped():
            break
        results = on.gauge(fitting, Meter.HELD)
        if results.costs is None or not len(results):
            return None
        resident, allocated = results.costs[-1].tolist()
        held.append(resident)
        given.append(allocated)
        found = judge_left(held, len(fitting))
    note = ""
    if found.verdict is Verdict.SUPERLINEAR:
        note = f"it leaves {kibibytes(found.rate)} behind for each input"
        by_allocator = judge_left(given, len(fitting))
        if any(given) and by_allocator.verdict is Verdict.SUPERLINEAR:
            note += f" ({kibibytes(by_allocator.rate)} by the allocator's count)"
    elif found.verdict is Verdict.INCONCLUSIVE:
        note = f"after {len(held)} passes of {len(fitting)} inputs memory still changes"
    return replace(UNKNOWN, verdict=found.verdict).measured(
        {len(fitting) * passes: one for passes, one in enumerate(held, 1)},
        implementation=on.participant.name,
        vocabulary=on.contract.vocabulary.id,
        family=NAME,
        note=note,
        measure="left",
        rounds=len(held),
        axis=AXIS,
    )


def _pass(on: Loaded, inputs: Sequence[bytes]) -> int:
    """How many inputs a pass has: fewer of who is slow, and where each leaves much behind."""
    before = on.gauge(inputs[:FIRST], Meter.HELD)
    started = time.monotonic()
    after = on.gauge(inputs[FIRST : 2 * FIRST], Meter.HELD)
    seconds = time.monotonic() - started
    most = min(INPUTS, int(FIRST * PASS_SECONDS / max(seconds, 1e-9)))
    if before.costs is not None and after.costs is not None and len(after):
        grown = int(after.costs[-1, 0] - before.costs[-1, 0])
        most = min(most, FIRST * MUCH // max(1, grown))
    return max(LEAST_INPUTS, most)


def kibibytes(count: float) -> str:
    """Bytes in words: ``4.1 KiB``."""
    return f"{count / 1024:.1f} KiB"
