"""A cell of growth: what was measured of one implementation on one family, and what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.events import Measured
from harness.scaling.judgement import (
    LEAST_POINTS,
    RANGE,
    UNKNOWN,
    Growth,
    Verdict,
    judge,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from corpora.families.base import Family
    from harness.contracts import Contestant, Contract

FIRST_LOOK, SECOND_LOOK, LAST_LOOK = 3, 6, 24
"""Rounds after which a cell is judged: ``linear`` may be said at the first look, ``superlinear``,
which fails the gate, from the second on only; after the last, what is inconclusive stays so."""

FLOOR = 256 << 10
"""Bytes of memory below which there is nothing to judge: an allocator's own pieces."""

HUNGRY = 512.0
"""Bytes of memory for a byte of input from which on an implementation is called hungry: some 300 is
what a list of objects takes that describes each byte's token (tokenizers has one)."""


@dataclass(slots=True)
class Cell:
    """One implementation on one family. times: size to the least nanoseconds so far.

    tiny: likewise for a few bytes. cached: size to nanoseconds of an input encoded just before.
    memory, stack: size to bytes at the peak. steps: length of the input to lines executed.
    young: nanoseconds of a size that is to come next. grown: its largest size is settled, for now.
    refused: it rejects these inputs, or does not support them, so that there is nothing to say.
    given_up: it died on others too often. failure: how it failed on this one. stopped: why its
    sizes end where they do. said: its event is out.
    """

    contestant: Contestant
    contract: Contract
    family: Family
    times: dict[int, int] = field(default_factory=dict)
    tiny: int | None = None
    cached: dict[int, int] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)
    stack: dict[int, int] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    young: list[int] = field(default_factory=list)
    rounds: int = 0
    grown: bool = False
    refused: bool = False
    given_up: bool = False
    failure: str = ""
    stopped: str = ""
    said: bool = False

    @property
    def growth(self) -> Growth:
        """The judgement of what was measured so far."""
        return self._judged(named=True)

    def _judged(self, *, named: bool) -> Growth:
        found = judge(self.times, self.tiny or 0, named=named)
        if self.failure:
            return replace(found, verdict=Verdict.FAILED)
        return found if self.rounds >= FIRST_LOOK else UNKNOWN

    @property
    def verdict(self) -> Verdict:
        """That of its growth."""
        return self._judged(named=False).verdict

    @property
    def short(self) -> bool:
        """Whether it has too few sizes to be judged."""
        return len(told(self.times, self.tiny or 0)) < LEAST_POINTS

    @property
    def decided(self) -> bool:
        """Whether more rounds would change nothing."""
        if self.refused or self.given_up or self.failure or self.rounds >= LAST_LOOK:
            return True
        if self.grown and len(self.times) < LEAST_POINTS:
            return True
        verdict = self.verdict
        return verdict is Verdict.LINEAR or (
            verdict is Verdict.SUPERLINEAR and self.rounds >= SECOND_LOOK
        )

    def stop_at(self, size: int, seconds: float) -> None:
        """Say that its sizes end here, as a call takes so long."""
        self.stopped = f"stopped at {shown(size)}: {seconds * 1e3:.3g} ms a call"

    def event(self) -> Measured:
        """What there is to say of its time and memory."""
        growth, reason = self.growth, self.failure
        if growth.verdict is Verdict.SUPERLINEAR and self.rounds < SECOND_LOOK:
            growth = replace(growth, verdict=Verdict.INCONCLUSIVE)
        if growth.verdict is Verdict.INCONCLUSIVE and not self.given_up:
            rounds = f"{self.rounds} round{'' if self.rounds == 1 else 's'}"
            reason = f"after {rounds}" if self.decided else f"out of time after {rounds}"
        per_byte, memory_verdict = judge_memory(self.memory)
        said = self._said(growth, {size: spent / 1e9 for size, spent in self.times.items()})
        constant = growth.constant
        return replace(
            said,
            note="; ".join(part for part in (reason, self.stopped) if part),
            constant=constant.value if constant else None,
            constant_low=constant.low if constant else None,
            constant_high=constant.high if constant else None,
            overhead=growth.overhead / 1e9,
            rounds=self.rounds,
            cached=[[size, spent / 1e9] for size, spent in sorted(self.cached.items())],
            memory=pairs(self.memory),
            stack=pairs(self.stack) if any(self.stack.values()) else [],
            memory_per_byte=per_byte,
            memory_verdict=memory_verdict,
        )

    def steps_event(self) -> Measured:
        """What there is to say of its steps, which need no second look."""
        growth = judge(self.steps)
        constant = growth.constant
        return replace(
            self._said(growth, self.steps),
            measure="steps",
            constant=constant.value if constant else None,
            constant_low=constant.low if constant else None,
            constant_high=constant.high if constant else None,
            rounds=1,
        )

    def _said(self, growth: Growth, points: Mapping[int, float]) -> Measured:
        return Measured(
            implementation=self.contestant.name,
            vocabulary=self.contract.vocabulary.id,
            family=self.family.name,
            exponent=growth.exponent,
            low=growth.low,
            high=growth.high,
            verdict=growth.verdict.value,
            points=pairs(points),
            law=growth.law,
            laws=list(growth.laws),
            expression=self.family.expression(self.contract.vocabulary),
        )


def pairs(points: Mapping[int, float]) -> list[list[float]]:
    """Points as they stand in events, by size."""
    return [[size, cost] for size, cost in sorted(points.items())]


def judge_memory(peaks: Mapping[int, int]) -> tuple[float | None, str]:
    """Bytes of memory for a byte of input, and what is said of it; None where none was measured.

    ``superlinear``: it takes more for each byte the longer the input. ``hungry``: beyond
    ``HUNGRY`` for each byte. Buffers double now and then, so that only the whole range tells.
    """
    if not peaks:
        return None, ""
    sizes = sorted(peaks)
    first = next(size for size in sizes if size * RANGE >= sizes[-1])
    more = peaks[sizes[-1]] - peaks[first]
    per_byte = more / (sizes[-1] - first) if sizes[-1] > first else peaks[first] / first
    per_byte = max(0.0, per_byte)
    telling = {size: float(peak) for size, peak in peaks.items() if peak >= FLOOR}
    if judge(telling).verdict is Verdict.SUPERLINEAR:
        return per_byte, "superlinear"
    return per_byte, "hungry" if telling and per_byte > HUNGRY else "ordinary"


def shown(size: int) -> str:
    """A size as in notes: ``256 bytes``, ``64 KiB``, ``2 MiB``."""
    if size < 1 << 10:
        return f"{size} bytes"
    return f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"


def ahead(spent: float, limit: float) -> int:
    """How many further sizes may be asked at once after a call of ``spent`` seconds.

    Were the cost quadratic, each would be four times as much as the one before: the last is not to
    take more than twice the limit, and none is asked where the next may.
    """
    return max(0, int(math.log(2 * limit / max(spent, 1e-9), 4)))
