"""A cell of growth: what was measured of one implementation on one family, and what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.engine.costs import least
from harness.events import Measured
from harness.studies.growth.claims import Claims, Reconciled, reconcile
from harness.verdict.exponents import (
    LEAST_POINTS,
    UNKNOWN,
    Growth,
    Verdict,
    fitted_costs,
    judge,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from corpora.families.base import Family
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant

FIRST_LOOK, SECOND_LOOK, LAST_LOOK = 3, 12, 24
"""Rounds after which a cell is judged: ``linear`` may be said at the first look, ``superlinear``,
which fails the gate, from the second on only; after the last, what is inconclusive stays so."""

AGREEING = 6
"""Rounds in a row after which a cell has to look superlinear before that is said of it. With three,
and the second look after six, two of 12,000 simulated cells were accused whose bytes the caches
alone had made three times dearer, beside neighbours on all cores; after twelve rounds none was."""

SPARE_POINTS = 1
"""Sizes that a cell keeps besides those that it needs, when it gives up its largest ones."""


@dataclass(frozen=True, slots=True)
class Call:
    """Nanoseconds of one call; counted, round_trip: where those are only a program's word."""

    spent: int
    counted: int | None = None
    round_trip: int | None = None


@dataclass(slots=True)
class Cell:
    """One implementation on one family. times: size to the least nanoseconds so far.

    tiny: likewise for a few bytes. cached: size to nanoseconds of an input encoded just before.
    counted, round_trips: as ``times``, where those are only the word of a program: CPU time by the
    kernel's count, and time on the wall. tiny_counted: of a few bytes.
    steps: length of the input to lines executed.
    young: costs of a size that is to come next, a call each. grown: its largest size is settled,
    for now. seconds: that passed for it so far. round_seconds: that a round is expected to take, by
    the last one. agreeing: how many rounds in a row it has looked
    superlinear.
    refused: it rejects these inputs, or does not support them, so that there is nothing to say.
    given_up: it died on others too often. failure: how it failed on this one. stopped: why its
    sizes end where they do. cut_off: the end of the run came in the midst of a round. said: its
    event is out.
    """

    participant: Participant
    contract: Contract
    family: Family
    times: dict[int, int] = field(default_factory=dict)
    tiny: int | None = None
    counted: dict[int, int] = field(default_factory=dict)
    round_trips: dict[int, int] = field(default_factory=dict)
    tiny_counted: int | None = None
    cached: dict[int, int] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    young: list[Call] = field(default_factory=list)
    rounds: int = 0
    seconds: float = 0.0
    round_seconds: float = 0.0
    agreeing: int = 0
    verdict: Verdict = Verdict.INCONCLUSIVE
    grown: bool = False
    refused: bool = False
    given_up: bool = False
    failure: str = ""
    stopped: str = ""
    cut_off: bool = False
    said: bool = False

    @property
    def begun(self) -> bool:
        """Whether there is anything to say of it, be it that time was too short."""
        return self.rounds > 0 or self.cut_off

    @property
    def growth(self) -> Growth:
        """The judgement of what was measured so far."""
        return self._judged(named=True).growth

    def _compared(self, *, named: bool = False) -> Reconciled:
        """What the sizes say, after however few rounds."""
        tiny = self.tiny or 0
        if self.counted:
            return reconcile(self._claims, tiny, self.tiny_counted or 0, named=named)
        growth = judge(self.times, tiny, named=named)
        return Reconciled(growth, counted=False, contradicted=False)

    def _judged(self, *, named: bool) -> Reconciled:
        found = self._compared(named=named)
        if self.failure:
            return replace(found, growth=replace(found.growth, verdict=Verdict.FAILED))
        return found if self.rounds >= FIRST_LOOK else Reconciled(UNKNOWN, False, False)

    @property
    def _claims(self) -> Claims:
        return Claims(self.times, self.counted, self.round_trips)

    def look(self) -> None:
        """Judge it after a round, and note the verdict."""
        self.verdict = self._judged(named=False).growth.verdict
        self.agreeing = self.agreeing + 1 if self.verdict is Verdict.SUPERLINEAR else 0

    def add(self, size: int, call: Call) -> None:
        """Note what a call on an input of a size took: the least of all counts."""
        self.times[size] = least(self.times.get(size), call.spent)
        if call.counted is not None and call.round_trip is not None:
            self.counted[size] = least(self.counted.get(size), call.counted)
            self.round_trips[size] = least(self.round_trips.get(size), call.round_trip)

    def add_tiny(self, call: Call) -> None:
        """Likewise of a few bytes."""
        self.tiny = least(self.tiny, call.spent)
        if call.counted is not None:
            self.tiny_counted = least(self.tiny_counted, call.counted)

    @property
    def proved(self) -> bool:
        """Whether it has looked superlinear for long enough to say so."""
        return self.rounds >= SECOND_LOOK and self.agreeing >= AGREEING

    @property
    def short(self) -> bool:
        """Whether it has too few sizes to be judged."""
        # What a program says of itself may be the same for all sizes.
        costs, tiny = (self.counted, self.tiny_counted) if self.counted else (self.times, self.tiny)
        return len(fitted_costs(costs, tiny or 0)) < LEAST_POINTS

    @property
    def decided(self) -> bool:
        """Whether more rounds would change nothing."""
        if self.refused or self.given_up or self.failure or self.rounds >= LAST_LOOK:
            return True
        if self.grown and len(self.times) < LEAST_POINTS:
            return True
        return self.verdict is Verdict.LINEAR or self.proved

    @property
    def rounds_due(self) -> int:
        """How many more rounds it takes to say that it is superlinear, if it looks so by now."""
        if self.decided or not self.rounds:
            return 0
        if self._compared().growth.verdict is not Verdict.SUPERLINEAR:
            return 0
        return max(SECOND_LOOK - self.rounds, AGREEING - self.agreeing)

    def shed(self) -> bool:
        """Give up the largest size, where it has enough others: a round takes that much less."""
        size = max(self.times, default=0)
        less = {one: cost for one, cost in self.times.items() if one < size}
        counted = {one: cost for one, cost in self.counted.items() if one < size}
        # What a program says of itself may be the same for all sizes.
        costs, tiny = (counted, self.tiny_counted) if counted else (less, self.tiny)
        if len(fitted_costs(costs, tiny or 0)) < LEAST_POINTS + SPARE_POINTS:
            return False
        whole = self.counted or self.times
        self.round_seconds *= sum(costs.values()) / sum(whole.values())
        self.stop_at(size, whole[size] / 1e9)
        self.times, self.counted = less, counted
        self.round_trips.pop(size, None)
        self.young.clear()
        return True

    def stop_at(self, size: int, seconds: float) -> None:
        """Say that its sizes end here, as a call takes so long."""
        self.stopped = f"stopped at {shown(size)}: {seconds * 1e3:.3g} ms a call"

    def event(self) -> Measured:
        """What there is to say of its time."""
        found, reason = self._judged(named=True), self.failure
        growth = found.growth
        if growth.verdict is Verdict.SUPERLINEAR and not self.proved:
            growth = replace(growth, verdict=Verdict.INCONCLUSIVE)
        if growth.verdict is Verdict.INCONCLUSIVE and not self.given_up:
            reason = self._open_reason
        contrast = self._claims.contrast(shown(max(self.counted))) if found.contradicted else ""
        times = self.counted if found.counted else self.times
        said = self._said(growth, {size: spent / 1e9 for size, spent in times.items()})
        constant = growth.constant
        return replace(
            said,
            note="; ".join(part for part in (contrast, reason, self.stopped) if part),
            constant=constant.value if constant else None,
            constant_low=constant.low if constant else None,
            constant_high=constant.high if constant else None,
            overhead=growth.overhead / 1e9,
            rounds=self.rounds,
            cached=[[size, spent / 1e9] for size, spent in sorted(self.cached.items())],
        )

    @property
    def _open_reason(self) -> str:
        """Why it is not decided."""
        if not self.rounds:
            return "out of time in its first round"
        rounds = f"{self.rounds} round{'' if self.rounds == 1 else 's'}"
        return f"after {rounds}" if self.decided else f"out of time after {rounds}"

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
            implementation=self.participant.name,
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
