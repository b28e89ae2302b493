"""What a search knows, and ``search.json``, where it is kept so that it goes on where it was."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from corpora.families.pattern import Pattern
from harness.core import stored
from harness.core.outcomes import Status
from harness.core.writing import OutputError, write_whole, writing
from harness.studies.fuzz.loop import Arm
from harness.studies.worst.patterns import niche

if TYPE_CHECKING:
    from pathlib import Path

STATE = "search.json"

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
class State:
    """All that a search knows, or what came of it.

    seconds: how long was searched, in all sessions. readings: of inputs, of any kind. control: the
    control's cost a byte at the larger size. memory: the least bytes of memory a byte that a crowd
    of patterns took. places: the best of each aim and niche (Mouret and Clune, MAP-Elites, 2015).
    deaths: by kind; died: how many there were. lines: by place in the source, its greatest count a
    byte, and whose that was. arms: of the loop.
    """

    seconds: float = 0.0
    generation: int = 0
    readings: int = 0
    control: float = 0.0
    memory: float = 0.0
    places: dict[str, Candidate] = field(default_factory=dict)
    deaths: dict[str, Death] = field(default_factory=dict)
    died: int = 0
    lines: dict[str, tuple[float, Pattern]] = field(default_factory=dict)
    arms: list[Arm] = field(default_factory=list)

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


class _Stored(msgspec.Struct):
    """A file: of what search it is, and its state."""

    search: dict[str, Any]
    state: Any


class Store:
    """The state of one search in a folder.

    identity: what decides the search. A state of another one is kept beside it as ``.old``.
    """

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.path = folder / STATE
        self._identity = identity
        with writing(f"--out {folder}"):
            folder.mkdir(parents=True, exist_ok=True)

    def restored(self) -> State:
        """The state that is on disk, where it is of the same search; else a new one.

        Raises OutputError, with the field at fault, for what is no state of a search.
        """
        try:
            found = stored.typed(stored.parsed(stored.read(self.path)), _Stored)
            if found.search != self._identity:
                self.path.replace(self.path.with_name(STATE + ".old"))
                return State()
            state = stored.typed(found.state, State, "state")
        except FileNotFoundError:
            return State()
        except OSError as error:
            raise OutputError(f"{self.path}: {error.strerror}; name another --out") from error
        except ValueError as error:
            raise stored.damaged(self.path, str(error)) from error
        known: dict[Pattern, Candidate] = {}  # who has several places is one candidate
        state.places = {
            name: known.setdefault(one.pattern, one) for name, one in state.places.items()
        }
        return state

    def save(self, state: State) -> None:
        """Write all of it; the file is whole at any time. Raises OutputError."""
        plain = {"search": self._identity, "state": msgspec.to_builtins(state)}
        write_whole(self.path, json.dumps(plain))
