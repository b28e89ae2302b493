"""The search: patterns bred towards cost, growth and memory.

A generation is one turn of the loop of a campaign (:mod:`harness.studies.fuzz.loop`), whose
feedback is cost: a batch of patterns is measured at two sizes, once. What would take the place of
the best of its kind is measured again on fresh inputs, and takes it only if the least of all times
still says so; the leaders are measured again and again, so that nobody stays there by a disturbance
of his rival or by his own luck. With the same answers the same seed gives the same search.

After PerfFuzz (Lemieux et al., ISSTA 2018), which keeps the inputs that raise the count of any one
place in the code, and Singularity (Wei et al., ESEC/FSE 2018), which searches patterns, not inputs.
"""

from __future__ import annotations

import contextlib
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.studies.fuzz.loop import Loop
from harness.studies.worst.gauge import SLOWEST
from harness.studies.worst.state import PALPABLE, Aim, Candidate, Scale, State
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.families.pattern import Pattern
    from harness.studies.worst.gauge import Gauge, Reading
    from harness.studies.worst.patterns import Breeder

BATCH = 32
"""Patterns of a generation: enough that a request's own cost does not count, few enough that one
that is lost to a death or an interruption is no loss."""

BEST = 0.4
"""Share of parents from among the leaders; the others come from any niche."""

LEADERS = 8
"""Candidates that are measured again and again, and come into the finals."""

CONFIRM = 3
"""Measurements of a candidate before it takes a place."""

SURE = 12
"""Measurements of a leader after which its least time is left at that."""

REMEMBERED = 2
"""Candidates of those that took a place whose memory is measured, each of which takes as long as
ten times."""

HOPELESS = 0.6
"""Share of its niche's best, at the smaller size, below which the larger one is measured by chance
only."""

CHANCE = 0.2

CROWD = 8
"""Candidates of a generation that are asked in one large input."""

HUNGRY = 2.0
"""Times the least memory a byte that such an input took, from which each of them is asked."""

DOUBTED = 6
"""Holders of places that are measured again in a generation."""

DEEP = 4
"""Generations between two looks at what a large input does: crashes and overflows of the stack."""

DEEPER = 4
"""A large input is so many times as large as the one before."""

ENOUGH_DEATHS = 60
"""The search ends after so many deaths: it has found what there is, and each costs a new start."""

FOLLOWED_BYTES = 256
"""Of inputs that are run interpreted: some twenty thousand lines, a few hundredths of a second."""

FOLLOWED = 8
"""Patterns that are run interpreted for a batch."""

RAISED = 1.05
"""A count of lines has to be so many times as great as ever before: the last pump may be cut here
or there, which is no discovery."""

OWN = 0.6
"""Share of parents of what is run interpreted from those that raised a count."""

LISTED, DRAWN, BRED, FOLLOWING = "listed", "drawn", "bred", "guided"
"""The arms; all but the first are origins of patterns, too."""

TOWARDS = (6, 3, 1)
"""How often parents are of those that are best for each aim, in the order of the aims."""

Patterns = list[tuple[str, "Pattern"]]
"""A batch: patterns with their origins."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of inputs. small, large: of all candidates; full: of the finals; deepest: of a few."""

    small: int
    large: int
    full: int
    deepest: int


@dataclass(frozen=True, slots=True)
class Making:
    """A way of making patterns. make: of a source of chance, and the number of the batch."""

    make: Callable[[random.Random, int], Patterns]
    seed: int
    cost: float = 1.0
    lasting: bool = True

    def take(self, number: int, place: int) -> Patterns | None:
        """The ``place``-th batch, in generation ``number``; None where there is none."""
        return self.make(random.Random(f"made/{self.seed}/{number}"), place) or None

    def close(self) -> None:
        """Nothing to let go of."""


class Search:
    """One search, generation by generation.

    seeds: patterns to begin with, and their origins; bred: others follow. guided: what raises the
    count of any place in the source, run interpreted, is worth a measurement: counts of lines are
    the same every time, so that no noise hides the first step of a way that leads up.
    """

    def __init__(
        self,
        breeder: Breeder,
        gauge: Gauge,
        sizes: Sizes,
        seed: int,
        seeds: Sequence[tuple[str, Pattern]] = (),
        state: State | None = None,
        *,
        guided: bool = False,
        bred: bool = True,
    ) -> None:
        self.sizes = sizes
        self.state = State() if state is None else state
        self._breeder, self._gauge, self._seed = breeder, gauge, seed
        begin = [(name, pattern) for name, pattern in seeds if breeder.spells(pattern)]
        makers = {
            LISTED: Making(
                lambda _, place: begin[place * BATCH : (place + 1) * BATCH], seed, lasting=False
            )
        }
        if bred:
            makers[DRAWN] = Making(self._drawn, seed)
            makers[BRED] = Making(self._bred, seed)
        if guided:
            makers[FOLLOWING] = Making(self._followed, seed)
        self._loop = Loop(makers, f"worst/{seed}", self.state.arms, self.state.taken)

    @property
    def scale(self) -> Scale:
        """How candidates are compared."""
        return Scale(self.sizes.small, self.sizes.large, self.state.control)

    @property
    def over(self) -> str:
        """Why there is nothing more to search; empty while there is."""
        if self.state.died >= ENOUGH_DEATHS:
            return f"{self.state.died} deaths are enough"
        return self._gauge.over

    def leaders(self, aim: Aim = Aim.COST) -> list[Candidate]:
        """The best for an aim, the best first."""
        return self.state.ranked(aim, self.scale)[:LEADERS]

    def run(self, more: Callable[[], bool], after: Callable[[], None] = lambda: None) -> None:
        """Generations while ``more`` says so, and there is time; ``after`` is called after each.

        What the end of the time cuts short is no generation: whoever goes on does it again.
        """
        with contextlib.suppress(OutOfTime):
            while more() and not self.over and self.step():
                after()

    def step(self) -> bool:
        """One generation; whether anybody had patterns. Raises OutOfTime."""
        state, number, before = self.state, self.state.generation, self._gauge.readings
        rng = random.Random(f"{self._seed}/{number}")
        chosen, _ = self._loop.choose(number)
        batch: list[Candidate] = []
        for arm, patterns in chosen:
            batch = [Candidate(p, origin) for p, origin in self._unknown(patterns).items()]
            won = self._judged(rng, batch) + (len(batch) if arm == FOLLOWING else 0)
            self._loop.reward(arm, number, len(batch), won)
        self._doubt()
        if number % DEEP == DEEP - 1:
            self._deep(rng, batch)
        state.generation += 1
        state.readings += self._gauge.readings - before
        return bool(chosen)

    def _unknown(self, patterns: Patterns) -> dict[Pattern, str]:
        """Those that have no place, and did not kill: to ask them again costs another process."""
        known = {one.pattern for one in self.state.places.values()}
        known |= {one.pattern for one in self.state.deaths.values()}
        able = {p: origin for origin, p in patterns if p not in known}
        return {p: origin for p, origin in able.items() if self._breeder.spells(p)}

    # Who is measured.

    def _drawn(self, rng: random.Random, place: int) -> Patterns:
        return [(DRAWN, self._breeder.fresh(rng)) for _ in range(BATCH)]

    def _bred(self, rng: random.Random, place: int) -> Patterns:
        """Children of those that are best for an aim."""
        ranked = [self.state.ranked(aim, self.scale) for aim in Aim]
        weights = [TOWARDS[at] * bool(some) for at, some in enumerate(ranked)]
        if not any(ranked):
            return []

        def parent() -> Pattern:
            [some] = rng.choices(ranked, weights)
            return rng.choice(some[:LEADERS] if rng.random() < BEST else some).pattern

        return [(BRED, self._breeder.child(rng, parent(), parent())) for _ in range(BATCH)]

    def _followed(self, rng: random.Random, place: int) -> Patterns:
        """Those of a few patterns that raise a count of lines. Nobody who died is among them: what
        an interpreted run makes of its limits says nothing of the compiled one."""
        own = [one for _, one in self.state.lines.values()]
        others = [one.pattern for one in self.state.places.values()]
        tried: dict[Pattern, None] = {}
        for _ in range(FOLLOWED):
            parents = own if own and rng.random() < OWN else others
            pattern = (
                self._breeder.child(rng, rng.choice(parents), rng.choice(parents))
                if parents
                else self._breeder.fresh(rng)
            )
            if self._breeder.spells(pattern):
                tried[pattern] = None
        inputs = [one.make(FOLLOWED_BYTES) for one in tried]
        # Compiled first: what is built on first use would take minutes interpreted.
        self._gauge.read(inputs, Meter.TIME)
        read = zip(tried, inputs, self._gauge.read(inputs, Meter.LINES), strict=True)
        return [(FOLLOWING, one) for one, data, reading in read if self._raises(one, data, reading)]

    def _raises(self, pattern: Pattern, data: bytes, reading: Reading) -> bool:
        """Take note of how often each place was run; whether any count was raised."""
        raised = False
        for place, count in enumerate(reading.counts if reading.answered else ()):
            share, before = count / (len(data) or 1), self.state.lines.get(str(place))
            if share and (before is None or share > before[0] * RAISED):
                self.state.lines[str(place)] = share, pattern
                raised = True
        return raised

    # Measuring.

    def _read(self, asked: Sequence[tuple[Candidate, int]], meter: Meter = Meter.TIME) -> None:
        for death in self._gauge.measure(asked, meter):
            self.state.bury(death)

    def _judged(self, rng: random.Random, batch: Sequence[Candidate]) -> int:
        """Measure a batch, and give places to who deserves them; how many places they took."""
        small, large = self.sizes.small, self.sizes.large
        self._read([(one, small) for one in batch])
        hopeful = [one for one in batch if self._hopeful(one) or rng.random() < CHANCE]
        able = [one for one in hopeful if one.samples and one.foretold(large) <= SLOWEST]
        self._read([(one, large) for one in able])
        promising = [one for one in batch if self.state.wins(one, self.scale)]
        for _ in range(CONFIRM - 1):
            still = [one for one in promising if self.state.wins(one, self.scale)]
            self._read([(one, s.size) for one in still for s in one.samples])
        hungry = [*promising[:REMEMBERED], *self._crowd(rng.sample(able, min(CROWD, len(able))))]
        self._read([(one, large) for one in hungry], Meter.MEMORY)
        return sum(map(self._placed, (*promising, *hungry)))

    def _crowd(self, some: Sequence[Candidate]) -> Sequence[Candidate]:
        """Those whose memory is worth a look, by asking all of them in one large input.

        Only where its memory, or the end of it, is out of the ordinary are they asked one by one.
        """
        size, state = self.sizes.full, self.state
        some = [one for one in some if one.foretold(size) < SLOWEST / CROWD]
        if not some:
            return ()
        data = b"".join(one.pattern.make(size) for one in some)
        [reading] = self._gauge.read([data], Meter.MEMORY)
        if not reading.answered:
            self._read([(one, size) for one in some if reading.died])
            return ()
        share, usual = reading.cost / len(data), state.memory
        state.memory = min(share, usual or share)
        return some if reading.cost > PALPABLE and share > HUNGRY * usual > 0 else ()

    def _hopeful(self, one: Candidate) -> bool:
        best, small = self.state.holder(one.pattern), self.sizes.small
        return best is None or one.cost(small) >= HOPELESS * best.cost(small)

    def _placed(self, one: Candidate) -> int:
        """Give a candidate the places that it deserves, unless it killed; how many were empty."""
        won = [] if self.state.fatal(one.pattern) else self.state.wins(one, self.scale)
        fresh = len({*won} - self.state.places.keys())
        self.state.places |= dict.fromkeys(won, one)
        return fresh

    def _doubt(self) -> None:
        """Measure leaders and others again of whom little is known: no luck is to last."""
        small = self.sizes.small
        leaders = [*self.leaders(Aim.COST), *self.leaders(Aim.GROWTH)]
        asked = {one.pattern: one for one in leaders if one.looks(small) < SURE}
        for one in self.state.places.values():
            if one.looks(small) < CONFIRM:
                asked[one.pattern] = one
        doubted = sorted(asked.values(), key=lambda one: one.looks(small))[:DOUBTED]
        self._read([(one, s.size) for one in doubted for s in one.samples])

    def _deep(self, rng: random.Random, batch: Sequence[Candidate]) -> None:
        """One pattern at larger sizes: the length is what brings some down."""
        able = self.leaders() if rng.random() < BEST else [*self.state.places.values(), *batch]
        if not able:
            return
        one, size = rng.choice(able), self.sizes.large
        while one.looks(size) and size * DEEPER <= self.sizes.deepest:
            size *= DEEPER
            if one.foretold(size) > SLOWEST or self.state.fatal(one.pattern):
                break
            self._read([(one, size)])
