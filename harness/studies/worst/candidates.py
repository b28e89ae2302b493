"""What is known of a pattern, and the archive of the best ones of each kind."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from corpora.families.pattern import Pattern
from corpora.generators.material import is_text, units_of
from harness.studies.worst.gauge import foretold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Aim(StrEnum):
    """What the search makes as great as it can."""

    COST = "cost"
    """Nanoseconds a byte."""
    GROWTH = "growth"
    """The exponent between two sizes."""
    MEMORY = "memory"
    """Bytes of peak memory a byte."""


DEAR = 0.25
"""Share of the control's cost a byte, at the larger size, from which growth is worth a look: what
is cheap at both sizes (an early refusal, a cached answer) has any exponent at all."""

PALPABLE = 1 << 20
"""Bytes of memory below which a process's pages, pools and pools are all there is to see."""


@dataclass(slots=True)
class Sample:
    """Measurements of a pattern at one size. least: nanoseconds; memory: bytes; None if untold."""

    length: int
    least: int
    count: int = 1
    memory: int | None = None

    def add(self, nanoseconds: int) -> None:
        """One more: noise only ever adds, so the least counts."""
        self.least = min(self.least, nanoseconds)
        self.count += 1

    def remember(self, memory: int) -> None:
        """Take note of a measurement of memory, likewise."""
        self.memory = memory if self.memory is None else min(self.memory, memory)

    @property
    def a_byte(self) -> float:
        """Nanoseconds a byte."""
        return self.least / max(1, self.length)


@dataclass(slots=True)
class Candidate:
    """A pattern and its measurements by size. origin: how the search came to it."""

    pattern: Pattern
    origin: str
    samples: dict[int, Sample] = field(default_factory=dict)

    def take(self, size: int, length: int, nanoseconds: int) -> None:
        """Take note of a measurement of time."""
        if size in self.samples:
            self.samples[size].add(nanoseconds)
        else:
            self.samples[size] = Sample(length, nanoseconds)

    def looks(self, size: int) -> int:
        """How many measurements there are at a size."""
        return self.samples[size].count if size in self.samples else 0

    def foretold(self, size: int) -> float:
        """Nanoseconds that a size may take; 0 where nothing is known."""
        return foretold({known: sample.least for known, sample in self.samples.items()}, size)

    def cost(self, size: int) -> float:
        """Nanoseconds a byte at a size, or at the largest one below that was not too slow."""
        known = [one for one in self.samples if one <= size]
        return self.samples[max(known)].a_byte if known else 0.0

    def growth(self, small: int, large: int) -> float | None:
        """The exponent between two sizes, None where it was not measured."""
        if small not in self.samples or large not in self.samples:
            return None
        a, b = self.samples[small], self.samples[large]
        if a.length >= b.length or not a.least or not b.least:
            return None
        return math.log(b.least / a.least) / math.log(b.length / a.length)

    def memory(self, size: int) -> float | None:
        """Bytes of memory a byte of input, None where it is not known or not palpable."""
        one = self.samples.get(size)
        if one is None or one.memory is None or one.memory < PALPABLE:
            return None
        return one.memory / max(1, one.length)

    def to_dict(self) -> dict[str, Any]:
        """For the state on disk."""
        samples = [[s, o.length, o.least, o.count, o.memory] for s, o in self.samples.items()]
        return {"pattern": self.pattern.to_dict(), "origin": self.origin, "samples": samples}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Candidate:
        """The candidate of :meth:`to_dict`. Raises KeyError, TypeError, ValueError."""
        samples = {size: Sample(*rest) for size, *rest in data["samples"]}
        return cls(Pattern.from_dict(data["pattern"]), data["origin"], samples)


@dataclass(frozen=True, slots=True)
class Scale:
    """The sizes at which all are compared, and the control's cost a byte at the larger one."""

    small: int
    large: int
    control: float = 0.0

    def score(self, candidate: Candidate, aim: Aim) -> float:
        """How far a candidate got towards an aim; 0 for not at all."""
        if aim is Aim.COST:
            return candidate.cost(self.large)
        if aim is Aim.MEMORY:
            return candidate.memory(self.large) or 0.0
        if candidate.cost(self.large) < DEAR * self.control:
            return 0.0
        return candidate.growth(self.small, self.large) or 0.0


CLASSED = 32
"""Characters of a pump by which its kind is told."""


@lru_cache(maxsize=4096)  # a few generations
def niche(pattern: Pattern) -> str:
    """The kind of a pattern: only the best of each is kept, so that no kind drives out the others.

    Which of its pumps are drawn, how long the longest is (by factors of eight), what most of its
    units begin with (the major category), and whether there are ends.
    """
    form = "".join("d" if pump.drawn else "r" for pump in pattern.pumps)
    longest = max(sum(map(len, pump.units)) for pump in pattern.pumps)
    size = (longest.bit_length() - 1) // 3
    first = max(pattern.pumps, key=lambda pump: sum(map(len, pump.units)))
    classes: dict[str, int] = {}
    for unit in first.units[:CLASSED]:
        kind = major(units_of(unit)[0])
        classes[kind] = classes.get(kind, 0) + 1
    most = max(sorted(classes), key=lambda kind: classes[kind])
    ends = ("^" if pattern.prefix else "") + ("$" if pattern.suffix else "")
    return f"{form}{size}{most}{ends}"


def major(character: bytes) -> str:
    """The major category of a character, ``B`` for a byte that is none."""
    return unicodedata.category(character.decode())[0] if is_text(character) else "B"


class Archive:
    """The best candidate of each niche for each aim (Mouret and Clune, MAP-Elites, 2015)."""

    def __init__(self) -> None:
        self._best: dict[Aim, dict[str, Candidate]] = {aim: {} for aim in Aim}

    def holder(self, pattern: Pattern) -> Candidate | None:
        """Who has the place for cost that a pattern would take."""
        return self._best[Aim.COST].get(niche(pattern))

    def wanted(self, candidate: Candidate, scale: Scale) -> bool:
        """Whether it would take a place for any aim."""
        return any(self._beats(candidate, aim, scale) for aim in Aim)

    def consider(self, candidate: Candidate, scale: Scale) -> list[Aim]:
        """Give it the places that it deserves; for which aims."""
        won = [aim for aim in Aim if self._beats(candidate, aim, scale)]
        for aim in won:
            self._best[aim][niche(candidate.pattern)] = candidate
        return won

    def put(self, aim: Aim, candidate: Candidate) -> None:
        """Give it a place as it stands, for a state that is read back."""
        self._best[aim][niche(candidate.pattern)] = candidate

    def _beats(self, candidate: Candidate, aim: Aim, scale: Scale) -> bool:
        score = scale.score(candidate, aim)
        holder = self._best[aim].get(niche(candidate.pattern))
        if holder is candidate or score <= 0:
            return False
        return holder is None or score > scale.score(holder, aim)

    def ranked(self, aim: Aim, scale: Scale) -> list[Candidate]:
        """All of an aim, the best first."""
        return sorted(self._best[aim].values(), key=lambda one: -scale.score(one, aim))

    def __iter__(self) -> Iterator[tuple[Aim, Candidate]]:
        for aim, niches in self._best.items():
            for candidate in niches.values():
                yield aim, candidate

    def __len__(self) -> int:
        return len({id(candidate) for _, candidate in self})
