"""The search: patterns bred towards cost, growth and memory.

A generation is one turn of the loop of a campaign (:mod:`harness.studies.campaigns.loop`), whose
feedback is cost: a batch of patterns is measured at two sizes, once. What would take the place of
the best of its kind is measured again on fresh inputs, and takes it only if the least of all times
still says so; the leaders are measured again and again, so that nobody stays there by a disturbance
of his rival or by his own luck. With the same answers the same seed gives the same search.

After PerfFuzz (Lemieux et al., ISSTA 2018), which keeps the inputs that raise the count of any one
place in the code, and Singularity (Wei et al., ESEC/FSE 2018), which searches patterns, not inputs.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.studies.campaigns.loop import Loop
from harness.studies.worst.gauge import SLOWEST
from harness.studies.worst.state import PALPABLE, Aim, Candidate, State, place_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.families.pattern import Pattern
    from harness.studies.campaigns.loop import Maker
    from harness.studies.worst.gauge import Gauge, Reading
    from harness.studies.worst.patterns import Breeder
    from harness.studies.worst.state import Sizes

BATCH = 32
"""Patterns of a generation: enough that a request's own cost does not count, few enough that one
that is lost to a death or an interruption is no loss."""

BEST, LEADERS = 0.4, 8
"""Share of parents from among the leaders, and how many lead; the others come from any niche."""

CONFIRM, SURE = 3, 12
"""Measurements of a candidate before it takes a place; and of a leader after which its least time
is left at that."""

REMEMBERED, CROWD = 2, 8
"""Candidates of those that took a place whose memory is measured, each of which takes as long as
ten times; and of others that are asked in one large input."""

HUNGRY = 2.0
"""Times the least memory a byte that such an input took, from which each of them is asked."""

HOPELESS, CHANCE = 0.6, 0.2
"""Share of its niche's best, at the smaller size, below which the larger one is measured by this
chance only."""

DOUBTED = 6
"""Holders of places that are measured again in a generation."""

DEEP, DEEPER = 4, 4
"""Generations between two looks at what a large input does (crashes, overflows of the stack), which
is so many times as large as the one before."""

ENOUGH_DEATHS = 60
"""The search ends after so many deaths: it has found what there is, and each costs a new start."""

FOLLOWED, FOLLOWED_BYTES = 8, 256
"""Patterns that are run interpreted for a batch, and bytes of their inputs: some twenty thousand
lines, a few hundredths of a second."""

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


class Search:
    """One search, generation by generation, from what its state knows.

    seeds: patterns to begin with, and their origins. guided: what raises the count of any place in
    the source, run interpreted, is worth a measurement: counts of lines are the same every time, so
    that no noise hides the first step of a way that leads up.
    """

    def __init__(
        self,
        breeder: Breeder,
        gauge: Gauge,
        sizes: Sizes,
        seed: int,
        state: State,
        seeds: Sequence[tuple[str, Pattern]] = (),
        *,
        guided: bool = False,
    ) -> None:
        self.sizes, self.state = sizes, state
        self._breeder, self._gauge, self._seed = breeder, gauge, seed
        begin = [(name, pattern) for name, pattern in seeds if breeder.spells(pattern)]
        makers: dict[str, Maker[Patterns]] = {
            LISTED: lambda _, place: begin[place * BATCH : (place + 1) * BATCH] or None,
            DRAWN: self._by_chance(self._drawn),
            BRED: self._by_chance(self._bred),
        }
        if guided:
            makers[FOLLOWING] = self._by_chance(self._followed)
        self._loop = Loop(makers, f"worst/{seed}", state.schedule)

    def _by_chance(self, way: Callable[[random.Random], Patterns]) -> Maker[Patterns]:
        return lambda number, _: way(random.Random(f"made/{self._seed}/{number}"))

    @property
    def over(self) -> str:
        """Why there is nothing more to search; empty while there is."""
        if self.state.died >= ENOUGH_DEATHS:
            return f"{self.state.died} deaths are enough"
        return self._gauge.over

    def leaders(self, aim: Aim = Aim.COST) -> list[Candidate]:
        """The best for an aim, the best first."""
        return self.state.ranked(aim, self.sizes)[:LEADERS]

    def step(self) -> None:
        """One generation. Raises OutOfTime: what that cuts short is none, and is done again."""
        before = self._gauge.readings
        self._loop.turn(self._learn)
        self._doubt()
        self.state.cases += self._gauge.readings - before

    def _learn(self, arm: str, patterns: Patterns) -> tuple[int, float]:
        """Measure a batch: the feedback of the loop, which is cost."""
        number = self.state.schedule.number
        rng = random.Random(f"{self._seed}/{number}")
        batch = [Candidate(p, origin) for p, origin in self._unknown(patterns).items()]
        won = self._judged(rng, batch) + (len(batch) if arm == FOLLOWING else 0)
        if number % DEEP == DEEP - 1:
            self._deep(rng, batch)
        return len(batch), won

    def _unknown(self, patterns: Patterns) -> dict[Pattern, str]:
        """Those that have no place, and did not kill: to ask them again costs another process."""
        known = {one.pattern for one in self.state.places.values()}
        known |= {one.pattern for one in self.state.deaths.values()}
        return {p: o for o, p in patterns if p not in known and self._breeder.spells(p)}

    # Who is measured.

    def _drawn(self, rng: random.Random) -> Patterns:
        return [(DRAWN, self._breeder.fresh(rng)) for _ in range(BATCH)]

    def _bred(self, rng: random.Random) -> Patterns:
        """Children of those that are best for an aim."""
        ranked = [self.state.ranked(aim, self.sizes) for aim in Aim]
        weights = [TOWARDS[at] * bool(some) for at, some in enumerate(ranked)]
        if not any(ranked):
            return []

        def parent() -> Pattern:
            [some] = rng.choices(ranked, weights)
            return rng.choice(some[:LEADERS] if rng.random() < BEST else some).pattern

        return [(BRED, self._breeder.child(rng, parent(), parent())) for _ in range(BATCH)]

    def _followed(self, rng: random.Random) -> Patterns:
        """Those of a few patterns that raise a count of lines. Nobody who died is among them: what
        an interpreted run makes of its limits says nothing of the compiled one."""
        own = [one for _, one in self.state.lines.values()]
        others = [one.pattern for one in self.state.places.values()]
        tried: dict[Pattern, None] = {}
        for _ in range(FOLLOWED):
            parents = own if own and rng.random() < OWN else others
            both = [rng.choice(parents) for _ in range(2)] if parents else []
            child = self._breeder.child(rng, *both) if both else self._breeder.fresh(rng)
            if self._breeder.spells(child):
                tried[child] = None
        inputs = [one.make(FOLLOWED_BYTES) for one in tried]
        # Compiled first: what is built on first use would take minutes interpreted.
        self._gauge.read(inputs)
        read = zip(tried, inputs, self._gauge.read(inputs, Meter.LINES), strict=True)
        return [(FOLLOWING, one) for one, data, reading in read if self._raises(one, data, reading)]

    def _raises(self, pattern: Pattern, data: bytes, reading: Reading) -> bool:
        """Take note of how often each place was run; whether any count was raised."""
        lines, raised = self.state.lines, False
        for place, count in enumerate(reading.counts if reading.answered else ()):
            share, (before, _) = count / (len(data) or 1), lines.get(str(place), (0.0, None))
            if share > before * RAISED:
                lines[str(place)] = share, pattern
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
        promising = [one for one in batch if self.state.wins(one, self.sizes)]
        for _ in range(CONFIRM - 1):
            still = [one for one in promising if self.state.wins(one, self.sizes)]
            self._read([(one, s.size) for one in still for s in one.samples])
        crowd = rng.sample(able, min(CROWD, len(able)))
        hungry = promising[:REMEMBERED] + self._out_of_the_ordinary(crowd)
        self._read([(one, large) for one in hungry], Meter.MEMORY)
        return sum(map(self._placed, (*promising, *hungry)))

    def _out_of_the_ordinary(self, crowd: Sequence[Candidate]) -> list[Candidate]:
        """Those whose memory is worth a look: all of them, or none, by asking them in one input.

        Where that gets no answer, they are asked one by one: so long an input brings down what is
        only asked shorter ones else.
        """
        size, state = self.sizes.full, self.state
        some = [one for one in crowd if one.foretold(size) < SLOWEST / CROWD]
        data = b"".join(one.pattern.make(size) for one in some)
        for reading in self._gauge.read([data] if some else [], Meter.MEMORY):
            if reading.died:
                self._read([(one, size) for one in some])
            elif reading.answered:
                usual, share = state.memory, reading.cost / len(data)
                state.memory = min(share, usual or share)
                if reading.cost > PALPABLE and share > HUNGRY * usual > 0:
                    return some
        return []

    def _hopeful(self, one: Candidate) -> bool:
        best = self.state.places.get(place_of(Aim.COST, one.pattern))
        small = self.sizes.small
        return best is None or one.cost(small) >= HOPELESS * best.cost(small)

    def _placed(self, one: Candidate) -> int:
        """Give a candidate the places that it deserves, unless it killed; how many were empty."""
        won = [] if self.state.fatal(one.pattern) else self.state.wins(one, self.sizes)
        fresh = len({*won} - self.state.places.keys())
        self.state.places |= dict.fromkeys(won, one)
        return fresh

    def _doubt(self) -> None:
        """Measure leaders and others again of whom little is known: no luck is to last."""
        small = self.sizes.small
        leaders = [*self.leaders(Aim.COST), *self.leaders(Aim.GROWTH)]
        asked = {one.pattern: one for one in leaders if one.looks(small) < SURE}
        others = self.state.places.values()
        asked |= {one.pattern: one for one in others if one.looks(small) < CONFIRM}
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
