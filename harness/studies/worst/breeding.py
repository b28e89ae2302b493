"""Patterns at random, and patterns made from others: the moves of the search. Pure.

What is drawn knows the vocabulary's tokens, Unicode's categories and bytes, and nothing of what is
known to be hostile: a family that is listed has to be found like any other input.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from corpora.families.pattern import Pattern, Pump
from corpora.generators.material import material, units_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary

PLANES = 0x20000
"""Characters are drawn below: the rest is ideographs of which there are enough already."""

MOST_UNITS = 128
"""A pump has so many units at the most: further ones are not read, and the smallest input has to
hold each of them."""

MOST_BYTES = 1024
"""A pump has so many bytes at the most, and so have both ends together: a quarter of the smallest
input that is measured."""

LONGEST_UNIT = 256

COUNTS = (1, 1, 1, 2, 2, 3, 4, 8, 16, 32, 64)
"""Units of a new pump: few make runs and beats, many make text of one kind."""

TIMES = (2, 2, 3, 4, 8, 16, 64, 128)
"""A unit is repeated so many times, which makes runs within a pump."""

TRIES = 20
"""Draws before a vocabulary of few letters is asked for a token instead."""


@cache
def characters() -> dict[str, str]:
    """All assigned characters below :data:`PLANES` by their general category."""
    found: dict[str, list[str]] = {}
    for code in range(PLANES):
        category = unicodedata.category(chr(code))
        if category not in ("Cn", "Cs", "Co"):
            found.setdefault(category, []).append(chr(code))
    return {category: "".join(some) for category, some in sorted(found.items())}


class Breeder:
    """Makes patterns that a vocabulary can spell. It has no state but its tables."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._tokens = material(vocabulary).surfaces

    def fresh(self, rng: random.Random) -> Pattern:
        """A pattern out of nothing."""
        pumps = [self._pump(rng)]
        if rng.random() < 0.1:
            pumps.append(self._pump(rng))
        prefix = self._unit(rng, self._source(rng)) if rng.random() < 0.1 else b""
        suffix = self._unit(rng, self._source(rng)) if rng.random() < 0.15 else b""
        return Pattern(tuple(pumps), prefix, suffix)

    def child(self, rng: random.Random, parent: Pattern, other: Callable[[], Pattern]) -> Pattern:
        """A pattern like ``parent``, changed once or a few times; ``other`` gives mates."""
        moves = (
            self._replace, self._replace, self._insert, self._remove, self._again, self._reorder,
            self._trim, self._alike, self._turn, self._ends, self._ends, self._second, self._thin,
        )  # fmt: skip
        child = parent
        while child == parent or rng.random() < 0.4:
            if rng.random() < 0.15:
                child = self._cross(rng, child, other())
            else:
                child = rng.choice(moves)(rng, child)
        return child

    def spells(self, pattern: Pattern) -> bool:
        """Whether the vocabulary can encode it: toy vocabularies have few letters."""
        parts = (unit for pump in pattern.pumps for unit in pump.units)
        return all(map(self._vocabulary.can_encode, (pattern.prefix, pattern.suffix, *parts)))

    # Units.

    def _source(self, rng: random.Random) -> str:
        """Where units come from: ``token``, ``ascii``, ``byte``, or a category of Unicode."""
        kind = rng.random()
        if kind < 0.4:
            return "token"
        if kind < 0.6:
            return "ascii"
        return "byte" if kind < 0.65 else rng.choice(list(characters()))

    def _unit(self, rng: random.Random, source: str) -> bytes:
        for _ in range(TRIES):
            if source == "token":
                break
            if source == "ascii":
                unit = bytes([rng.randrange(0x80)])
            elif source == "byte":
                unit = bytes([rng.randrange(0x80, 0x100)])
            else:
                unit = rng.choice(characters()[source]).encode()
            if self._vocabulary.can_encode(unit):
                return unit
        return rng.choice(self._tokens)[:LONGEST_UNIT]

    def _pump(self, rng: random.Random) -> Pump:
        source = self._source(rng)
        mixed = rng.random() < 0.25
        units = [
            self._unit(rng, self._source(rng) if mixed else source)
            for _ in range(rng.choice(COUNTS))
        ]
        if rng.random() < 0.15:
            at = rng.randrange(len(units))
            units[at : at + 1] = [units[at]] * rng.choice(TIMES)
        return fitting(units, drawn=len(units) > 1 and rng.random() < 0.5)

    # Moves. Each takes a pattern and gives one, which may be the same where it has no meaning.

    def _replace(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """Another unit for all of one, or for one alone; of a similar kind where it can be told."""
        at, units = self._opened(rng, pattern)
        place = rng.randrange(len(units))
        old, new = units[place], self._unit(rng, self._source(rng))
        if rng.random() < 0.5:
            units = [new if unit == old else unit for unit in units]
        else:
            units[place] = new
        return closed(pattern, at, units)

    def _insert(self, rng: random.Random, pattern: Pattern) -> Pattern:
        at, units = self._opened(rng, pattern)
        new = rng.choice(units) if rng.random() < 0.3 else self._unit(rng, self._source(rng))
        units.insert(rng.randrange(len(units) + 1), new)
        return closed(pattern, at, units)

    def _remove(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """Some of the units that stand together."""
        at, units = self._opened(rng, pattern)
        if len(units) < 2:
            return pattern
        start = rng.randrange(len(units))
        del units[start : start + 1 + int(rng.random() ** 3 * len(units))]
        return closed(pattern, at, units or [rng.choice(pattern.pumps[at].units)])

    def _again(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """A unit said many times, or all of the pump twice."""
        at, units = self._opened(rng, pattern)
        if rng.random() < 0.3:
            return closed(pattern, at, units * 2)
        place = rng.randrange(len(units))
        units[place : place + 1] = [units[place]] * rng.choice(TIMES)
        return closed(pattern, at, units)

    def _reorder(self, rng: random.Random, pattern: Pattern) -> Pattern:
        at, units = self._opened(rng, pattern)
        a, b = rng.randrange(len(units)), rng.randrange(len(units))
        units[a], units[b] = units[b], units[a]
        return closed(pattern, at, units)

    def _trim(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """A unit without its last or first character: what begins like a token and is none."""
        at, units = self._opened(rng, pattern)
        place = rng.randrange(len(units))
        parts = units_of(units[place])
        if len(parts) > 1:
            old, new = units[place], b"".join(parts[1:] if rng.random() < 0.3 else parts[:-1])
            every = rng.random() < 0.5
            units = [
                new if index == place or (every and unit == old) else unit
                for index, unit in enumerate(units)
            ]
        return closed(pattern, at, units)

    def _thin(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """All units cut to their single characters, or joined to one unit."""
        at, units = self._opened(rng, pattern)
        if rng.random() < 0.5:
            return closed(pattern, at, list(dict.fromkeys(chain(*map(units_of, units)))))
        return closed(pattern, at, [b"".join(units)[:LONGEST_UNIT]])

    def _alike(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """More units of the kind that one is of: characters of its category, or tokens."""
        at, units = self._opened(rng, pattern)
        model = rng.choice(units)
        source = "token"
        parts = units_of(model)
        if len(parts) == 1:
            source = "byte" if model[0] >= 0x80 and len(model) == 1 else _category(model)
        more = [self._unit(rng, source) for _ in range(rng.choice(COUNTS))]
        return closed(pattern, at, [*units, *more] if rng.random() < 0.5 else more)

    def _turn(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """Drawn where in turn, in turn where drawn."""
        at = rng.randrange(len(pattern.pumps))
        pump = pattern.pumps[at]
        if len(pump.units) < 2:
            return pattern
        return _with(pattern, at, replace(pump, drawn=not pump.drawn))

    def _ends(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """Another beginning or end, one more, or none."""
        at_start = rng.random() < 0.4
        end = pattern.prefix if at_start else pattern.suffix
        kind = rng.random()
        if kind < 0.3:
            new = b""
        elif kind < 0.6:
            new = end + self._unit(rng, self._source(rng))
        else:
            new = self._unit(rng, self._source(rng)) * rng.choice((1, 1, 1, *TIMES))
        if len(new) > MOST_BYTES // 2:
            return pattern
        return replace(pattern, prefix=new) if at_start else replace(pattern, suffix=new)

    def _second(self, rng: random.Random, pattern: Pattern) -> Pattern:
        """A second pump, or one less."""
        if len(pattern.pumps) > 1:
            return replace(pattern, pumps=(rng.choice(pattern.pumps),))
        pumps = [*pattern.pumps, self._pump(rng)]
        rng.shuffle(pumps)
        return replace(pattern, pumps=tuple(pumps))

    def _cross(self, rng: random.Random, one: Pattern, other: Pattern) -> Pattern:
        """Units of both in one pump, or the ends of one around the pumps of the other."""
        if rng.random() < 0.3:
            return Pattern(one.pumps, other.prefix, other.suffix)
        at, units = self._opened(rng, one)
        theirs = rng.choice(other.pumps).units
        some = theirs[rng.randrange(len(theirs)) :]
        return closed(one, at, [*units[: rng.randrange(len(units) + 1)], *some])

    def _opened(self, rng: random.Random, pattern: Pattern) -> tuple[int, list[bytes]]:
        at = rng.randrange(len(pattern.pumps))
        return at, list(pattern.pumps[at].units)


def fitting(units: Sequence[bytes], *, drawn: bool) -> Pump:
    """A pump of the first of these units, as many as a pump may have."""
    kept: list[bytes] = []
    room = MOST_BYTES
    for unit in units[:MOST_UNITS]:
        if len(unit) > room:
            break
        kept.append(unit)
        room -= len(unit)
    return Pump(tuple(kept or [units[0][:MOST_BYTES]]), drawn and len(kept) > 1)


def closed(pattern: Pattern, at: int, units: Sequence[bytes]) -> Pattern:
    """The pattern with other units in one of its pumps."""
    return _with(pattern, at, fitting(units, drawn=pattern.pumps[at].drawn))


def _with(pattern: Pattern, at: int, pump: Pump) -> Pattern:
    pumps = list(pattern.pumps)
    pumps[at] = pump
    return replace(pattern, pumps=tuple(pumps))


def _category(character: bytes) -> str:
    category = unicodedata.category(character.decode())
    return category if category in characters() else "ascii"
