"""The shortest pattern that costs as much, or dies the same death. Pure over a predicate.

Delta debugging (Zeller and Hildebrandt 2002) over the parts of a pattern: pumps, ends, units,
characters of units; then each character is replaced by a plainer one where that changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from corpora.families.pattern import Pattern, Pump
from corpora.generators.material import units_of
from harness.findings.shrinking import SIMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")

Keeps = Callable[[Sequence[Pattern]], list[bool]]
"""A function of this type says which of the given patterns are as bad."""

ASKED = 8
"""Patterns in a request: the first that is as bad is taken, so that much of a long one is in vain.
"""


def minimise(pattern: Pattern, keeps: Keeps, more: Callable[[], bool]) -> Pattern:
    """The smallest pattern found; it is as bad wherever ``pattern`` was. Ends early without
    ``more``."""
    best = pattern
    while more():
        found = _first(smaller(best), keeps, more)
        if found is None:
            break
        best = found
    while more():
        found = _first(plainer(best), keeps, more)
        if found is None:
            break
        best = found
    return best


def _first(candidates: Iterator[Pattern], keeps: Keeps, more: Callable[[], bool]) -> Pattern | None:
    asked: list[Pattern] = []
    for candidate in candidates:
        asked.append(candidate)
        if len(asked) == ASKED:
            for one, kept in zip(asked, keeps(asked), strict=True):
                if kept:
                    return one
            asked = []
            if not more():
                return None
    for one, kept in zip(asked, keeps(asked) if asked else [], strict=True):
        if kept:
            return one
    return None


def smaller(pattern: Pattern) -> Iterator[Pattern]:
    """Patterns with less in them, from those with much less to those with a little less."""
    if len(pattern.pumps) > 1:
        for pump in pattern.pumps:
            yield replace(pattern, pumps=(pump,))
    if pattern.prefix:
        yield replace(pattern, prefix=b"")
    if pattern.suffix:
        yield replace(pattern, suffix=b"")
    for at, pump in enumerate(pattern.pumps):
        for fewer in fewer_units(pump):
            yield _with(pattern, at, fewer)
    for some in without(units_of(pattern.prefix)):
        yield replace(pattern, prefix=b"".join(some))
    for some in without(units_of(pattern.suffix)):
        yield replace(pattern, suffix=b"".join(some))
    for at, pump in enumerate(pattern.pumps):
        for fewer in shorter_units(pump):
            yield _with(pattern, at, fewer)
    for at, pump in enumerate(pattern.pumps):
        if pump.drawn:
            yield _with(pattern, at, Pump(pump.units))


def fewer_units(pump: Pump) -> Iterator[Pump]:
    """The pump with some of its units."""
    distinct = tuple(dict.fromkeys(pump.units))
    if len(distinct) < len(pump.units):
        yield Pump(distinct, pump.drawn and len(distinct) > 1)
    for some in without(pump.units):
        if some:
            yield Pump(tuple(some), pump.drawn and len(some) > 1)


def shorter_units(pump: Pump) -> Iterator[Pump]:
    """The pump with one of its units shorter, all that are alike at once."""
    for unit in dict.fromkeys(pump.units):
        for some in without(units_of(unit)):
            if some:
                new = b"".join(some)
                yield Pump(tuple(new if one == unit else one for one in pump.units), pump.drawn)


def without(items: Sequence[T]) -> Iterator[list[T]]:
    """The items without a part of them: halves first, then ever smaller ones."""
    size = len(items)
    part = size // 2 if size > 1 else 0
    while part:
        for start in range(0, size, part):
            yield [*items[:start], *items[start + part :]]
        part //= 2


def plainer(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern with one character in all its places by a plainer one."""
    parts = [
        pattern.prefix, pattern.suffix, *(unit for pump in pattern.pumps for unit in pump.units)
    ]  # fmt: skip
    for character in dict.fromkeys(c for part in parts for c in units_of(part)):
        place = SIMPLE.encode().find(character) if len(character) == 1 else -1
        for simple in SIMPLE[: place if place >= 0 else None]:
            yield exchanged(pattern, character, simple.encode())


def exchanged(pattern: Pattern, old: bytes, new: bytes) -> Pattern:
    """The pattern with a character in all its places by another."""

    def change(part: bytes) -> bytes:
        return b"".join(new if unit == old else unit for unit in units_of(part))

    pumps = tuple(Pump(tuple(map(change, pump.units)), pump.drawn) for pump in pattern.pumps)
    return Pattern(pumps, change(pattern.prefix), change(pattern.suffix))


def _with(pattern: Pattern, at: int, pump: Pump) -> Pattern:
    pumps = list(pattern.pumps)
    pumps[at] = pump
    return replace(pattern, pumps=tuple(pumps))
