"""A cell of growth: what was measured of one implementation along one axis, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from harness.studies.growth.claims import Found, growth_of, reconcile
from harness.verdict.exponents import (
    LEAST_POINTS,
    THRESHOLD,
    UNKNOWN,
    Verdict,
    fitted_costs,
    judge,
    points_of,
    shown_noise,
    slope,
)
from harness.verdict.memory import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

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
neighbour and no cache does that (``python -m tests.doubles.growth_cells`` counts)."""

RISING = 1.2
"""The exponent over the last two doublings of a candidate above which more sizes are asked, even
where it may be called linear: what is small there may be a square that sets in."""

RISING_LOOK = 12
"""Rounds after which they are asked no more."""

SPARE_POINTS = 1
"""Sizes that a cell keeps besides those that it needs, when it gives up its largest ones."""

SMALLEST = 256
"""Bytes of the smallest input that is judged where larger ones tell: below, a call's own cost is
all there is to see."""

SMALL = 128
"""The largest of the sizes below."""

SLOW = 1e-4
"""Seconds of a call on :data:`SMALL` bytes from which on such sizes are judged as well: of a
call that takes less, its own cost and its linear part hide the growth there."""

Ask = Callable[[Sequence[int], int], "list[int] | None"]
"""Given sizes and the number of a round, what each costs in nanoseconds; None without an answer."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What a cost may grow with that is not the length of an input.

    name: what is counted, in plural. row: stands in reports in place of a family. sizes: the
    smallest and the largest that are asked.
    """

    name: str
    row: str
    sizes: tuple[int, int]
    ask: Ask


class Call(NamedTuple):
    """Nanoseconds of one call; counted, waited: by the kernel and on the wall.

    These two only where what was spent is a program's own word.
    """

    spent: int
    counted: int = 0
    waited: int = 0

    def at(self, size: int, length: int) -> Call:
        """What it took for each byte, for an input of a size: variants are some bytes shorter.

        Of a small size that is much: costs of one variant and another would look like growth.
        """
        return Call(*(one * size // length for one in self)) if length else self


@dataclass(slots=True, eq=False)
class Cell:
    """One implementation on one family, or along an axis.

    calls: by the size of their input; 0 stands for a few bytes. took: size to the least seconds
    that a call took, by whatever clock says more. beside: size to the least nanoseconds of a
    trusted implementation on the same inputs in the same rounds, where there is one. cached: size
    to nanoseconds of an input encoded just before. steps: length of the input to lines executed.
    seconds: that passed for it so far. round_seconds: that a round is expected to take, by the last
    one. found: what its sizes say, after however few rounds. agreeing: how many rounds in a row it
    has looked superlinear.
    own: it is the user's own candidate, which is to be decided. repeated: some sizes were measured
    on a text that its process had had before.
    refused: it rejects these inputs, or does not support them, so that there is nothing to say.
    given_up: it died on others too often, or answers no more. failure: how it failed on this one.
    stopped: why its sizes end where they do. silent_beyond: it gave no answer beyond the largest
    size of the suite. cut_off: the end of the run came in the midst of a round. said: its event is
    out.
    """

    participant: Participant
    contract: Contract
    family: Family
    axis: Axis | None = None
    own: bool = False
    calls: dict[int, list[Call]] = field(default_factory=dict)
    took: dict[int, float] = field(default_factory=dict)
    beside: dict[int, int] = field(default_factory=dict)
    cached: dict[int, int] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    rounds: int = 0
    seconds: float = 0.0
    round_seconds: float = 0.0
    agreeing: int = 0
    found: Found = field(default_factory=lambda: Found(UNKNOWN, {}))
    repeated: bool = False
    refused: bool = False
    given_up: bool = False
    failure: str = ""
    stopped: str = ""
    silent_beyond: bool = False
    cut_off: bool = False
    said: bool = False

    @property
    def name(self) -> str:
        """Of the implementation."""
        return self.participant.name

    # What was measured.

    def add(self, size: int, call: Call) -> None:
        """Note a call."""
        self.calls.setdefault(size, []).append(call)
        seconds = max(call.spent, call.counted) / 1e9
        self.took[size] = min(seconds, self.took.get(size, seconds))

    @property
    def _large(self) -> list[int]:
        """The sizes without those that say little where larger ones can be had."""
        every = self.took.get(SMALL, 0.0) > SLOW or self.axis is not None
        return sorted(size for size in self.calls if size and (every or size >= SMALLEST))

    @property
    def sizes(self) -> list[int]:
        """The sizes that are judged, and asked in each round."""
        large = self._large
        return large if len(large) >= LEAST_POINTS else sorted(self.calls.keys() - {0})

    def costs(self, clock: str = "spent", least: Callable[..., float] = min) -> dict[int, float]:
        """Size to the least nanoseconds so far: as the program says, where it does."""
        some = [size for size in (0, *self.sizes) if size in self.calls]
        return {size: least(getattr(call, clock) for call in self.calls[size]) for size in some}

    @property
    def told(self) -> bool:
        """Whether what a call took is only a program's word."""
        return any(call.waited for call in self.calls.get(0, ()))

    # What it says.

    def look(self) -> None:
        """Judge it after a round."""
        self.found = self._judged(named=False)
        superlinear = self.verdict is Verdict.SUPERLINEAR
        self.agreeing = self.agreeing + 1 if superlinear else 0

    def _judged(self, *, named: bool) -> Found:
        costs = self.costs()
        if self.told:
            return reconcile(costs, self.costs("counted"), self.costs("waited"), named=named)
        beside = {size: cost for size, cost in self.beside.items() if size}
        noise = shown_noise(beside, self.beside.get(0, 0))
        growth = growth_of(costs, named=named, noise=noise)
        if growth.verdict is Verdict.LINEAR and self.keeps_answers:
            growth = replace(growth, verdict=Verdict.INCONCLUSIVE)
        return Found(growth, costs)

    @property
    def keeps_answers(self) -> bool:
        """Whether its usual call grows faster than its quickest.

        It then knew some answers before it was asked, by what it keeps of other texts.
        """
        usual = self.costs(least=median) | {0: self.costs().get(0, 0)}
        return growth_of(usual, named=False).verdict is Verdict.SUPERLINEAR

    @property
    def verdict(self) -> Verdict:
        """By what is known; superlinear may still have to be proved."""
        if self.failure:
            return Verdict.FAILED
        return self.found.growth.verdict if self.rounds >= FIRST_LOOK else Verdict.INCONCLUSIVE

    @property
    def rising(self) -> bool:
        """Whether the last two doublings cost more than a linear cost does."""
        costs, last = self.costs(), self.sizes[-3:]
        spent = {size: max(1.0, costs[size] - costs.get(0, 0)) for size in last}
        return len(last) == 3 and slope(spent, last[0], last[-1]) > RISING

    @property
    def estimate(self) -> float:
        """The exponent so far, of all sizes or the largest; 0 where there is none."""
        return max(self.found.growth.exponent or 0.0, self.found.growth.lately)

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to ask."""
        return self.refused or self.given_up or bool(self.failure)

    @property
    def _lacking(self) -> int:
        """How many more rounds that agree it takes to say that it is superlinear."""
        rounds, agreeing = proof_of(self.found.growth.strength)
        return max(rounds - self.rounds, agreeing - self.agreeing)

    @property
    def settled(self) -> bool:
        """Whether it has a verdict that fails a bound or keeps it."""
        proved = self.verdict is Verdict.SUPERLINEAR and self._lacking <= 0
        return proved or self.verdict in (Verdict.LINEAR, Verdict.FAILED)

    @property
    def open(self) -> bool:
        """Whether larger inputs may still show growth in it, of which nothing is proved.

        What is linear but for steps between caches may be a growth that sets in.
        """
        linear = self.verdict is Verdict.LINEAR and self.estimate <= THRESHOLD
        return not (self.ended or linear or (self.settled and self.verdict is not Verdict.LINEAR))

    @property
    def decided(self) -> bool:
        """Whether more rounds would change nothing."""
        followed = self.own and bool(self.stopped)
        few = self.rounds > 0 and len(self.sizes) < LEAST_POINTS and not followed
        if self.ended or self.rounds >= LAST_LOOK or few:
            return True
        linear = self.verdict is Verdict.LINEAR
        if linear and followed and self.rounds < RISING_LOOK and self.rising:
            return False
        return self.settled

    @property
    def looked(self) -> bool:
        """Whether it was judged at all."""
        return self.decided or self.rounds >= FIRST_LOOK

    @property
    def rounds_due(self) -> int:
        """How many more rounds it takes to say that it is superlinear, if it looks so by now."""
        superlinear = self.found.growth.verdict is Verdict.SUPERLINEAR
        return self._lacking if superlinear and not self.decided else 0

    # Its sizes.

    def fitted(self, sizes: Sequence[int]) -> int:
        """How many of these sizes tell something."""
        # What a program says of itself may be the same for all sizes.
        costs = self.costs("counted" if self.told else "spent")
        return len(fitted_costs({size: costs[size] for size in sizes}, costs.get(0, 0)))

    @property
    def short(self) -> bool:
        """Whether it has too few sizes to be judged."""
        return self.fitted(self._large) < LEAST_POINTS

    def shed(self) -> bool:
        """Give up the largest size, where it has enough others: a round takes that much less."""
        *sizes, last = self.sizes or [0]
        if self.fitted(sizes) < LEAST_POINTS + SPARE_POINTS:
            return False
        self.round_seconds *= 1 - self.took[last] / sum(self.took[size] for size in self.sizes)
        self.stop_at(last)
        for column in (self.calls, self.took, self.beside):
            column.pop(last, None)
        self.found = self._judged(named=False)
        return True

    def stop_at(self, size: int) -> None:
        """Say that its sizes end here, as a call takes so long."""
        where = shown(size) if self.axis is None else f"{size} {self.axis.name}"
        self.stopped = f"stopped at {where}: {self.took[size] * 1e3:.3g} ms a call"

    # What is told of it.

    def event(self) -> Measured:
        """What there is to say of its time."""
        found, verdict = self._judged(named=True), self.verdict
        known = bool(self.failure) or self.rounds >= FIRST_LOOK
        growth = found.growth if known else UNKNOWN
        if verdict is Verdict.SUPERLINEAR and not self.settled:
            verdict = Verdict.INCONCLUSIVE
        still_open = verdict is Verdict.INCONCLUSIVE and not self.given_up
        notes = (
            found.contrast if known else "",
            self.failure or (self._open_reason if still_open else ""),
            self.stopped,
            "measured on texts that its process had before" if self.repeated else "",
        )
        return replace(growth, verdict=verdict).measured(
            seconds(found.costs),
            **self._about,
            note="; ".join(filter(None, notes)),
            overhead=growth.overhead / 1e9,
            rounds=self.rounds,
            cached=points_of(seconds(self.cached)),
        )

    @property
    def _open_reason(self) -> str:
        """Why it is not decided."""
        quickest = growth_of(self.costs(), named=False).verdict
        if quickest is Verdict.LINEAR and self.keeps_answers:
            return "its usual calls grow faster than its quickest: it keeps answers"
        if not self.rounds:
            return "out of time in its first round"
        rounds = f"after {self.rounds} round{'' if self.rounds == 1 else 's'}"
        return rounds if self.decided else f"out of time {rounds}"

    def steps_event(self) -> Measured:
        """What there is to say of its steps, which need no second look."""
        growth = judge(self.steps, exact=True)
        return growth.measured(self.steps, **self._about, measure="steps", rounds=1)

    @property
    def _about(self) -> dict[str, str]:
        """What its events are about."""
        vocabulary, axis = self.contract.vocabulary, self.axis
        about = {"implementation": self.name, "vocabulary": vocabulary.id}
        if axis is not None:
            return about | {"family": axis.row, "axis": axis.name}
        expression = self.family.expression(vocabulary)
        return about | {"family": self.family.name, "expression": expression}


def proof_of(strength: float) -> tuple[int, int]:
    """Rounds, and rounds in a row that agree, after which a growth so strong is superlinear."""
    enough = (proof[1:] for proof in PROOFS if strength >= proof[0])
    return next(enough, PROOFS[-1][1:])


def seconds(times: Mapping[int, float]) -> dict[int, float]:
    """Nanoseconds by size as seconds, without those of a few bytes."""
    return {size: spent / 1e9 for size, spent in times.items() if size}
