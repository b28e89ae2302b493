"""What a search for the worst input knows: the best pattern of each kind, and who got no answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

import msgspec

from corpora.families.pattern import Pattern
from harness.core.outcomes import Status
from harness.studies.campaigns import state
from harness.studies.worst.patterns import niche

CONTROL = "prose"
"""The family that everybody measures: costs are told as multiples of its."""

PALPABLE = 1 << 20
"""Bytes of memory below which a process's pages, pools and caches are all there is to see."""

DEAR = 0.25
"""Share of the control's cost a byte, at the larger size, from which growth is worth a look: what
is cheap at both sizes (an early refusal, a cached answer) has any exponent at all."""

BETTER = 1.01
"""A place is taken by what is so many times as bad: less is noise, and would be measured for ever.
"""


class Aim(StrEnum):
    """What the search makes as great as it can."""

    COST = "cost"
    """Nanoseconds a byte."""
    GROWTH = "growth"
    """The exponent between two sizes."""
    MEMORY = "memory"
    """Bytes of peak memory a byte."""


@dataclass(slots=True)
class Sample:
    """Measurements of a pattern at one size. least: nanoseconds, noise only ever adds to them.

    memory: bytes; None where it was not measured.
    """

    size: int
    length: int
    least: int
    count: int = 1
    memory: int | None = None


@dataclass(slots=True)
class Candidate:
    """A pattern and its measurements by size. origin: how the search came to it."""

    pattern: Pattern
    origin: str
    samples: list[Sample] = field(default_factory=list)

    def at(self, size: int) -> Sample | None:
        """The measurements at a size."""
        return next((one for one in self.samples if one.size == size), None)

    def take(self, size: int, length: int, nanoseconds: int) -> None:
        """Take note of a measurement of time."""
        known = self.at(size)
        if known is None:
            self.samples.append(Sample(size, length, nanoseconds))
        else:
            known.least, known.count = min(known.least, nanoseconds), known.count + 1

    def looks(self, size: int) -> int:
        """How many measurements there are at a size."""
        known = self.at(size)
        return 0 if known is None else known.count

    def _below(self, size: int) -> Sample:
        """The largest that is not above a size; one that says nothing where there is none."""
        known = [one for one in self.samples if one.size <= size]
        return max(known, key=lambda one: one.size, default=Sample(1, 1, 0))

    def foretold(self, size: int) -> float:
        """Nanoseconds that a size may take: its own, or if they grow quadratically from smaller
        sizes on; 0 where nothing is known."""
        known = self._below(size)
        return known.least * (size / known.size) ** 2

    def cost(self, size: int) -> float:
        """Nanoseconds a byte at a size, or at the largest one below that was not too slow."""
        known = self._below(size)
        return known.least / max(1, known.length)

    def memory(self, size: int) -> float | None:
        """Bytes of memory a byte of input, None where it is not known or not palpable."""
        known = self.at(size)
        if known is None or (known.memory or 0) < PALPABLE:
            return None
        return (known.memory or 0) / max(1, known.length)


class Sizes(NamedTuple):
    """Bytes of inputs. small, large: of all candidates; full: of the finals; deepest: of a few."""

    small: int
    large: int
    full: int
    deepest: int

    def score(self, one: Candidate, aim: Aim, control: float) -> float:
        """How far a candidate got towards an aim; 0 for not at all.

        control: the control's cost a byte at the larger size.
        """
        if aim is Aim.MEMORY:
            return one.memory(self.large) or 0.0
        cost = one.cost(self.large)
        if aim is Aim.COST:
            return cost
        a, b = one.at(self.small), one.at(self.large)
        if a is None or b is None or a.length >= b.length or not a.least or not b.least:
            return 0.0
        dear = cost >= DEAR * control
        return math.log(b.least / a.least) / math.log(b.length / a.length) if dear else 0.0


@dataclass(frozen=True, slots=True)
class Death:
    """A pattern that got no answer. length: bytes of the input; size: what it was made for."""

    pattern: Pattern
    length: int
    size: int
    status: Status
    message: str

    @property
    def key(self) -> str:
        """Its kind, of which the shortest input is kept."""
        return f"{self.status.label}/{niche(self.pattern)}"

    @property
    def rank(self) -> tuple[int, int]:
        """By which those of one kind are compared."""
        return self.length, self.pattern.weight


@dataclass(slots=True)
class State(state.State):
    """All that a search knows. Its cases are readings, of any kind.

    control: the control's cost a byte at the larger size. memory: the least bytes of memory a byte
    that a crowd of patterns took. places: the best of each aim and niche
    (Mouret and Clune, MAP-Elites, 2015). deaths: by kind; died: how many there were. lines: by
    place in the source, its greatest count a byte, and whose that was. ended: why it ended before
    its time, if it did.
    """

    PAGES: ClassVar[Mapping[str, int]] = {"places": 16, "deaths": 16, "lines": 64}

    control: float = 0.0
    memory: float = 0.0
    places: dict[str, Candidate] = field(default_factory=dict)
    deaths: dict[str, Death] = field(default_factory=dict)
    died: int = 0
    lines: dict[str, tuple[float, Pattern]] = field(default_factory=dict)
    ended: str = ""

    @property
    def facts(self) -> dict[str, int]:
        """Kinds that have a place, and deaths."""
        return {"kinds": self.kinds, "deaths": self.died}

    def check(self) -> None:
        """Who has several places is one candidate again."""
        known: dict[Pattern, Candidate] = {}
        self.places = {
            name: known.setdefault(one.pattern, one) for name, one in self.places.items()
        }

    def parts(self) -> dict[str, Any]:
        """As ever, of candidates as they are now: they are measured on and on."""
        now = replace(self, places=msgspec.to_builtins(self.places))
        return state.State.parts(now)

    def ranked(self, aim: Aim, sizes: Sizes) -> list[Candidate]:
        """The best of each niche for an aim, the best first."""
        held = [one for place, one in self.places.items() if place.startswith(aim.value)]
        return sorted(held, key=lambda one: -sizes.score(one, aim, self.control))

    def wins(self, one: Candidate, sizes: Sizes) -> list[str]:
        """The places that it would take."""
        won = []
        for aim in Aim:
            place, score = place_of(aim, one.pattern), sizes.score(one, aim, self.control)
            holder = self.places.get(place)
            held = 0.0 if holder is None else BETTER * sizes.score(holder, aim, self.control)
            if score > held:
                won.append(place)
        return won

    def bury(self, death: Death) -> None:
        """Take note of a death."""
        self.died += 1
        known = self.deaths.get(death.key, death)
        self.deaths[death.key] = min(known, death, key=lambda one: one.rank)

    def fatal(self, pattern: Pattern) -> bool:
        """Whether this pattern is known to kill: to ask again would cost another process."""
        return any(one.pattern == pattern for one in self.deaths.values())

    @property
    def kinds(self) -> int:
        """How many candidates have a place."""
        return len({one.pattern for one in self.places.values()})


def place_of(aim: Aim, pattern: Pattern) -> str:
    """The place that a pattern is measured for."""
    return f"{aim.value}/{niche(pattern)}"
