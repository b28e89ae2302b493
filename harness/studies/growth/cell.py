"""A cell of growth: what was measured of one implementation on one family, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from harness.engine.costs import least
from harness.studies.growth.claims import Claims, Reconciled, reconcile
from harness.verdict.exponents import (
    LEAST_POINTS,
    UNKNOWN,
    Growth,
    Verdict,
    fitted_costs,
    judge,
    points_of,
    shown_noise,
    slope,
)
from harness.verdict.memory import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.families.base import Family
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from harness.events import Measured

FIRST_LOOK, LAST_LOOK = 3, 24
"""Rounds after which a cell is judged for the first time, when ``linear`` may be said; after the
last, what is inconclusive stays so."""

PROOFS = ((4.0, 4, 2), (2.0, 6, 3), (1.0, 12, 6))
"""What it takes to say ``superlinear``, which fails the gate: the strength
(:attr:`harness.verdict.exponents.Growth.strength`), how many rounds there have been, and after how
many of them in a row it has looked so.

What is only just beyond the caches needs twelve: with six, and three in a row, two of 12,000
simulated cells were accused whose bytes the caches alone had made three times dearer, beside
neighbours on all cores. What makes a byte eighteen times as dear needs no more than four: no
neighbour and no cache does that (``python -m tests.harness.growth_rivals`` counts)."""

RISING = 1.2
"""The exponent over the last two doublings of a candidate above which more sizes are asked, even
where it may be called linear: what is small there may be a square that sets in."""

RISING_LOOK = 12
"""Rounds after which they are asked no more."""

SPARE_POINTS = 1
"""Sizes that a cell keeps besides those that it needs, when it gives up its largest ones."""


@dataclass(frozen=True, slots=True)
class Call:
    """Nanoseconds of one call; counted, round_trip: where those are only a program's word."""

    spent: int
    counted: int | None = None
    round_trip: int | None = None

    def at(self, size: int, length: int) -> Call:
        """What it took for each byte, for an input of a size: variants are some bytes shorter.

        Of a small size that is much: costs of one variant and another would look like growth.
        """
        if not length or length == size:
            return self
        counted, trip = (
            None if one is None else one * size // length for one in (self.counted, self.round_trip)
        )
        return Call(self.spent * size // length, counted, trip)


@dataclass(slots=True)
class Cell:
    """One implementation on one family. times: size to the least nanoseconds so far.

    calls: size to the nanoseconds of each call. beside, beside_tiny: as ``times`` and ``tiny``, of
    a trusted implementation on the same inputs in the same rounds, where there is one.
    tiny: likewise for a few bytes. cached: size to nanoseconds of an input encoded just before.
    counted, round_trips: as ``times``, where those are only the word of a program: CPU time by the
    kernel's count, and time on the wall. tiny_counted: of a few bytes.
    steps: length of the input to lines executed.
    young: costs of a size that is to come next, a call each. grown: its largest size is settled,
    for now. seconds: that passed for it so far. round_seconds: that a round is expected to take, by
    the last one. agreeing: how many rounds in a row it has looked
    superlinear; strength: how strongly, at the last.
    own: it is the user's own candidate, which is to be decided. repeated: some sizes were measured
    on a text that its process had had before.
    refused: it rejects these inputs, or does not support them, so that there is nothing to say.
    given_up: it died on others too often. failure: how it failed on this one. stopped: why its
    sizes end where they do. cut_off: the end of the run came in the midst of a round. said: its
    event is out.
    """

    participant: Participant
    contract: Contract
    family: Family
    times: dict[int, int] = field(default_factory=dict)
    calls: dict[int, list[int]] = field(default_factory=dict)
    beside: dict[int, int] = field(default_factory=dict)
    beside_tiny: int | None = None
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
    strength: float = 0.0
    verdict: Verdict = Verdict.INCONCLUSIVE
    own: bool = False
    repeated: bool = False
    grown: bool = False
    refused: bool = False
    given_up: bool = False
    failure: str = ""
    stopped: str = ""
    cut_off: bool = False
    said: bool = False
    _latest: tuple[object, Reconciled] | None = None

    @property
    def begun(self) -> bool:
        """Whether there is anything to say of it, be it that time was too short."""
        return self.rounds > 0 or self.cut_off

    @property
    def growth(self) -> Growth:
        """The judgement of what was measured so far."""
        return self._judged(named=True).growth

    def _compared(self, *, named: bool = False) -> Reconciled:
        """What the sizes say, after however few rounds.

        Which cell is next is asked of all of them after each round, of which one has changed.
        """
        if named:
            return self._compare(named=True)
        columns = (self.times, self.counted, self.round_trips, self.beside)
        calls = sum(map(len, self.calls.values()))
        key = (
            *(tuple(one.items()) for one in columns),
            calls, self.tiny, self.tiny_counted, self.beside_tiny,
        )  # fmt: skip
        if self._latest is None or self._latest[0] != key:
            self._latest = key, self._compare(named=False)
        return self._latest[1]

    def _compare(self, *, named: bool) -> Reconciled:
        tiny = self.tiny or 0
        if self.counted:
            return reconcile(self._claims, tiny, self.tiny_counted or 0, named=named)
        noise = shown_noise(self.beside, self.beside_tiny or 0)
        growth = judge(self.times, tiny, named=named, noise=noise)
        if growth.verdict is Verdict.LINEAR and self.keeps_answers:
            growth = replace(growth, verdict=Verdict.INCONCLUSIVE)
        return Reconciled(growth, counted=False, contradicted=False)

    def _judged(self, *, named: bool) -> Reconciled:
        found = self._compared(named=named)
        if self.failure:
            return replace(found, growth=replace(found.growth, verdict=Verdict.FAILED))
        return found if self.rounds >= FIRST_LOOK else Reconciled(UNKNOWN, False, False)

    @property
    def _claims(self) -> Claims:
        return Claims(self.times, self.counted, self.round_trips)

    @property
    def keeps_answers(self) -> bool:
        """Whether its usual call grows faster than its quickest.

        It then knew some answers before it was asked, by what it keeps of other texts.
        """
        usual = {size: median(calls) for size, calls in self.calls.items() if size in self.times}
        return judge(usual, self.tiny or 0, named=False).verdict is Verdict.SUPERLINEAR

    @property
    def rising(self) -> bool:
        """Whether the last two doublings cost more than a linear cost does."""
        last = sorted(self.times)[-3:]
        if len(last) < 3:
            return False
        spent = {size: max(1.0, self.times[size] - (self.tiny or 0)) for size in last}
        return slope(spent, last[0], last[-1]) > RISING

    @property
    def seconds_a_call(self) -> dict[int, float]:
        """Size to the seconds of a call, by whatever clock says more."""
        return {
            size: max(spent, self.counted.get(size, 0)) / 1e9 for size, spent in self.times.items()
        }

    @property
    def estimate(self) -> float:
        """The exponent so far, 0 where there is none."""
        return self._compared().growth.exponent or 0.0

    @property
    def looked(self) -> bool:
        """Whether it was judged at all."""
        return self.decided or self.rounds >= FIRST_LOOK

    @property
    def settled(self) -> bool:
        """Whether it has a verdict that fails a bound or keeps it."""
        return bool(self.failure) or self.verdict is Verdict.LINEAR or self.proved

    @property
    def open(self) -> bool:
        """Whether it was judged, and more rounds may decide it."""
        return self.looked and not self.decided

    def look(self) -> None:
        """Judge it after a round, and note the verdict."""
        growth = self._judged(named=False).growth
        self.verdict, self.strength = growth.verdict, growth.strength
        self.agreeing = self.agreeing + 1 if self.verdict is Verdict.SUPERLINEAR else 0

    def add(self, size: int, call: Call) -> None:
        """Note what a call on an input of a size took: the least of all counts."""
        self.times[size] = least(self.times.get(size), call.spent)
        self.calls.setdefault(size, []).append(call.spent)
        if call.counted is not None and call.round_trip is not None:
            self.counted[size] = least(self.counted.get(size), call.counted)
            self.round_trips[size] = least(self.round_trips.get(size), call.round_trip)

    def add_tiny(self, call: Call) -> None:
        """Likewise of a few bytes."""
        self.tiny = least(self.tiny, call.spent)
        if call.counted is not None:
            self.tiny_counted = least(self.tiny_counted, call.counted)

    def add_beside(self, sizes: Sequence[int], tiny: int, spent: Sequence[int]) -> None:
        """Note what a trusted implementation took on the same inputs."""
        self.beside_tiny = least(self.beside_tiny, tiny)
        for size, one in zip(sizes, spent, strict=True):
            self.beside[size] = least(self.beside.get(size), one)

    @property
    def proved(self) -> bool:
        """Whether it has looked superlinear for long enough to say so."""
        rounds, agreeing = proof_of(self.strength)
        return self.rounds >= rounds and self.agreeing >= agreeing

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
        if self.grown and len(self.times) < LEAST_POINTS and not (self.own and self.stopped):
            return True
        if self.own and self.stopped and self.rounds < RISING_LOOK and self.rising:
            return self.proved
        return self.verdict is Verdict.LINEAR or self.proved

    @property
    def rounds_due(self) -> int:
        """How many more rounds it takes to say that it is superlinear, if it looks so by now."""
        if self.decided or not self.rounds:
            return 0
        growth = self._compared().growth
        if growth.verdict is not Verdict.SUPERLINEAR:
            return 0
        rounds, agreeing = proof_of(growth.strength)
        return max(rounds - self.rounds, agreeing - self.agreeing)

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
        self.beside.pop(size, None)
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
        repeated = "measured on texts that its process had before" if self.repeated else ""
        times = self.counted if found.counted else self.times
        return growth.measured(
            seconds(times),
            **self._about,
            note="; ".join(part for part in (contrast, reason, self.stopped, repeated) if part),
            overhead=growth.overhead / 1e9,
            rounds=self.rounds,
            cached=points_of(seconds(self.cached)),
        )

    @property
    def _open_reason(self) -> str:
        """Why it is not decided."""
        quickest = judge(self.times, self.tiny or 0, named=False).verdict
        if quickest is Verdict.LINEAR and self.keeps_answers:
            return "its usual calls grow faster than its quickest: it keeps answers"
        if not self.rounds:
            return "out of time in its first round"
        rounds = f"{self.rounds} round{'' if self.rounds == 1 else 's'}"
        return f"after {rounds}" if self.decided else f"out of time after {rounds}"

    def steps_event(self) -> Measured:
        """What there is to say of its steps, which need no second look."""
        return judge(self.steps, exact=True).measured(
            self.steps, **self._about, measure="steps", rounds=1
        )

    @property
    def _about(self) -> dict[str, str]:
        """What its events are about."""
        vocabulary = self.contract.vocabulary
        return {
            "implementation": self.participant.name,
            "vocabulary": vocabulary.id,
            "family": self.family.name,
            "expression": self.family.expression(vocabulary),
        }


def proof_of(strength: float) -> tuple[int, int]:
    """Rounds, and rounds in a row that agree, after which a growth so strong is superlinear."""
    for least_strength, rounds, agreeing in PROOFS:
        if strength >= least_strength:
            return rounds, agreeing
    return PROOFS[-1][1:]


def seconds(times: Mapping[int, int]) -> dict[int, float]:
    """Nanoseconds by size as seconds."""
    return {size: spent / 1e9 for size, spent in times.items()}
