"""The search: patterns bred towards cost, growth and memory. Knows no process and no clock.

A generation measures a batch of patterns at two sizes, once. What would take the place of the best
of its kind is measured again on fresh inputs, and takes it only if the least of all times still
says so; the leaders are measured again and again, so that nobody stays there by a disturbance of
his rival or by his own luck. With the same answers the same seed gives the same search.

After PerfFuzz (Lemieux et al., ISSTA 2018), which keeps the inputs that raise the count of any one
place in the code, and Singularity (Wei et al., ESEC/FSE 2018), which searches patterns, not inputs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from harness.core.messages import Meter
from harness.studies.worst.candidates import PALPABLE, Aim, Archive, Candidate, Scale
from harness.studies.worst.deaths import Death, Deaths
from harness.studies.worst.gauge import SLOWEST, portions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.families.pattern import Pattern
    from harness.studies.worst.breeding import Breeder
    from harness.studies.worst.gauge import Gauge, Reading
    from harness.studies.worst.guide import Guide

BATCH = 32
"""Patterns of a generation: enough that a request's own cost does not count, few enough that one
that is lost to a death or an interruption is no loss."""

FRESH = 0.2
"""Share of patterns made out of nothing: the search is not to end in one corner."""

BEST = 0.4
"""Share of parents from among the leaders; the others come from any niche."""

LEADERS = 8
"""Candidates that are measured again and again, and come into the finals."""

CONFIRM = 3
"""Measurements of a candidate before it takes a place."""

SURE = 12
"""Measurements of a leader after which its least time is left at that."""

REMEMBERED = 2
"""Candidates whose memory is measured, every so many generations (:data:`RARELY`): each takes as
long as ten times."""

EXPLORED = 4
"""Generations between two explorations of the source, which take as long as some batches."""

RARELY = 4

HOPELESS = 0.6
"""Share of its niche's best, at the smaller size, below which the larger one is measured by chance
only."""

CHANCE = 0.2

DOUBTED = 6
"""Holders of places that are measured again in a generation."""

DEEP = 8
"""Generations between two looks at what a large input does: crashes and overflows of the stack."""

HUNGRY = 2.0
"""Times the least memory that a crowd of patterns took, from which each of them is asked."""

DRAWN = "drawn"
"""The origin of patterns out of nothing."""

DEEPER = 4
"""A large input is so many times as large as the one before."""

ENOUGH_DEATHS = 60
"""The search ends after so many deaths: it has found what there is, and each costs a new start."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of inputs. small, large: of all candidates; full: of leaders; deepest: of a few."""

    small: int
    large: int
    full: int
    deepest: int


@dataclass(slots=True)
class Progress:
    """How far the search is; with the archive and the deaths all of its state.

    readings: of inputs, of any kind. control: the control's cost a byte at the larger size.
    memory: the least bytes of memory a byte that a crowd of patterns took.
    """

    generation: int = 0
    readings: int = 0
    control: float = 0.0
    memory: float = 0.0


class Search:
    """One search, generation by generation."""

    def __init__(
        self,
        breeder: Breeder,
        gauge: Gauge,
        sizes: Sizes,
        seed: int,
        seeds: Sequence[tuple[str, Pattern]] = (),
        guide: Guide | None = None,
    ) -> None:
        self.sizes = sizes
        self.archive = Archive()
        self.deaths = Deaths()
        self.progress = Progress()
        self._breeder = breeder
        self._gauge = gauge
        self._seed = seed
        self._seeds = [(name, pattern) for name, pattern in seeds if breeder.spells(pattern)]
        self._guide = guide
        self._ranked: dict[Aim, list[Candidate]] = {}

    @property
    def beginning(self) -> int:
        """Generations that it takes to measure what the search begins with."""
        return -(-len(self._seeds) // BATCH)

    @property
    def scale(self) -> Scale:
        """How candidates are compared."""
        return Scale(self.sizes.small, self.sizes.large, self.progress.control)

    @property
    def over(self) -> str:
        """Why there is nothing more to search; empty while there is."""
        if self.deaths.count >= ENOUGH_DEATHS:
            return f"{self.deaths.count} deaths are enough"
        return self._gauge.over

    def leaders(self, aim: Aim = Aim.COST) -> list[Candidate]:
        """The best for an aim, the best first."""
        return self.archive.ranked(aim, self.scale)[:LEADERS]

    def run(self, more: Callable[[], bool], after: Callable[[], None] = lambda: None) -> None:
        """Generations while ``more`` says so; ``after`` is called after each."""
        while more() and not self.over:
            self.step()
            after()

    def step(self) -> None:
        """One generation."""
        rng = random.Random(f"{self._seed}/{self.progress.generation}")
        number = self.progress.generation
        self._ranked = {aim: self.archive.ranked(aim, self.scale) for aim in Aim}
        batch = self._bred(rng)
        if self._guide is not None and number % EXPLORED == 0:
            batch += self._guide.explore(rng, self._breeder, lambda: self._parent(rng))
        self._screen(rng, batch)
        self._crowd([one for one in batch if one.origin == DRAWN])
        self._confirm([one for one in batch if self.archive.wanted(one, self.scale)])
        if number % RARELY == 0:
            self._remember(rng, batch)
        self._doubt()
        if number % DEEP == DEEP - 1:
            self._deep(rng)
        self.progress.generation += 1

    # Who is measured.

    def _bred(self, rng: random.Random) -> list[Candidate]:
        start = self.progress.generation * BATCH
        batch = [Candidate(p, name) for name, p in self._seeds[start : start + BATCH]]
        while len(batch) < BATCH:
            parent = None if rng.random() < FRESH else self._parent(rng)
            if parent is None:
                pattern, origin = self._breeder.fresh(rng), DRAWN
            else:
                pattern = self._breeder.child(rng, parent, partial(self._mate, rng, parent))
                origin = "bred"
            if self._breeder.spells(pattern) and not self.deaths.fatal(pattern):
                batch.append(Candidate(pattern, origin))
        return batch

    def _parent(self, rng: random.Random) -> Pattern | None:
        aim = rng.choices((Aim.COST, Aim.GROWTH, Aim.MEMORY), (6, 3, 1))[0]
        ranked = self._ranked[aim] or self._ranked[Aim.COST]
        if not ranked:
            return None
        return rng.choice(ranked[:LEADERS] if rng.random() < BEST else ranked).pattern

    def _mate(self, rng: random.Random, instead: Pattern) -> Pattern:
        return self._parent(rng) or instead

    # Measuring.

    def _read(self, asked: Sequence[tuple[Candidate, int]], meter: Meter) -> None:
        """Measure each candidate at a size, on an input that it was not measured on before."""
        for part in portions(asked, lambda pair: pair[0].foretold(pair[1])):
            inputs = [one.pattern.make(size, one.looks(size)) for one, size in part]
            readings = self._gauge.read(inputs, meter)
            self.progress.readings += len(readings)
            for (one, size), data, reading in zip(part, inputs, readings, strict=True):
                if reading.died and len(inputs) > 1:
                    # In a batch it may have been short of time that others took: by itself, then.
                    reading = self._gauge.read([data], meter)[0]
                self._take(one, size, len(data), reading, meter)

    def _take(self, one: Candidate, size: int, length: int, reading: Reading, meter: Meter) -> None:
        if reading.died:
            self.deaths.add(Death(one.pattern, length, size, reading.status, reading.message))
        elif reading.answered and meter is Meter.TIME:
            one.take(size, length, reading.cost)
        elif reading.answered and meter is Meter.MEMORY and size in one.samples:
            one.samples[size].remember(reading.cost)

    def _screen(self, rng: random.Random, batch: Sequence[Candidate]) -> None:
        """Both sizes once, the larger one where there is hope, and an end in time."""
        self._read([(one, self.sizes.small) for one in batch], Meter.TIME)
        asked = []
        for one in batch:
            if not one.samples or one.foretold(self.sizes.large) > SLOWEST:
                continue
            best = self.archive.holder(one.pattern)
            hopeless = best is not None and (
                one.cost(self.sizes.small) < HOPELESS * best.cost(self.sizes.small)
            )
            if not hopeless or rng.random() < CHANCE:
                asked.append((one, self.sizes.large))
        self._read(asked, Meter.TIME)

    def _confirm(self, promising: Sequence[Candidate]) -> None:
        """Measure again who would take another's place, and see whether he still would."""
        for _ in range(1, CONFIRM):
            still = [
                one
                for one in promising
                if self.archive.holder(one.pattern) and self.archive.wanted(one, self.scale)
            ]
            self._read([(one, size) for one in still for size in sorted(one.samples)], Meter.TIME)
        for one in promising:
            if not self.deaths.fatal(one.pattern):
                self.archive.consider(one, self.scale)

    def _crowd(self, fresh: Sequence[Candidate]) -> None:
        """New patterns one after another in one large input, for its memory and the end of it.

        Only where that is out of the ordinary are they asked one by one.
        """
        size = self.sizes.full
        some = [one for one in fresh if one.samples and one.foretold(size) < SLOWEST / len(fresh)]
        if not some:
            return
        data = b"\n".join(one.pattern.make(size) for one in some)
        reading = self._gauge.read([data], Meter.MEMORY)[0]
        self.progress.readings += 1
        share = reading.cost / len(data)
        if reading.died:
            self._read([(one, size) for one in some], Meter.TIME)
        elif reading.answered and reading.cost > PALPABLE:
            if self.progress.memory and share > HUNGRY * self.progress.memory:
                self._read([(one, self.sizes.large) for one in some], Meter.MEMORY)
                for one in some:
                    self.archive.consider(one, self.scale)
            self.progress.memory = min(share, self.progress.memory or share)

    def _remember(self, rng: random.Random, batch: Sequence[Candidate]) -> None:
        """Measure the memory of one that took a place, and of any other."""
        size = self.sizes.large
        asked = [one for one in batch if size in one.samples]
        placed = {id(one) for _, one in self.archive}
        rng.shuffle(asked)
        watched = sorted(asked, key=lambda one: id(one) not in placed)[: REMEMBERED - 1]
        watched += [one for one in asked if one not in watched][: REMEMBERED - len(watched)]
        self._read([(one, size) for one in watched], Meter.MEMORY)
        for one in watched:
            self.archive.consider(one, self.scale)

    def _doubt(self) -> None:
        """Measure leaders and others again of whom little is known: no luck is to last."""
        leaders = [*self._ranked[Aim.COST][:LEADERS], *self._ranked[Aim.GROWTH][:LEADERS]]
        asked = {id(one): one for one in leaders if one.looks(self.sizes.small) < SURE}
        for _, one in self.archive:
            if one.looks(self.sizes.small) < CONFIRM:
                asked[id(one)] = one
        doubted = sorted(asked.values(), key=lambda one: one.looks(self.sizes.small))[:DOUBTED]
        self._read([(one, size) for one in doubted for size in sorted(one.samples)], Meter.TIME)

    def _deep(self, rng: random.Random) -> None:
        """One pattern at larger sizes: the length is what brings some down."""
        ranked = [one for _, one in self.archive]
        if not ranked:
            return
        one = (
            rng.choice(self._ranked[Aim.COST][:LEADERS] or ranked)
            if rng.random() < BEST
            else rng.choice(ranked)
        )
        size = self.sizes.large
        while size in one.samples and size * DEEPER <= self.sizes.deepest:
            size *= DEEPER
            if one.foretold(size) > SLOWEST or self.deaths.fatal(one.pattern):
                break
            self._read([(one, size)], Meter.TIME)
