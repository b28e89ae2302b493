"""Patterns at random, and patterns changed and made smaller, as texts. Pure.

A pattern is written as a text whose structure is characters, too, so that it is changed as inputs
of a campaign are (:func:`corpora.generators.mutations.mutated`), and minimised as inputs of
findings are (:mod:`harness.findings.shrink`): whatever comes of it is a pattern again.

What is drawn knows the vocabulary's tokens, Unicode's categories and bytes, and nothing of what is
known to be hostile: a family that is listed has to be found like any other input.
"""

from __future__ import annotations

import math
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from corpora.families.pattern import Pattern, Pump
from corpora.generators.drawing import sizes
from corpora.generators.material import is_text, material, units_of
from corpora.generators.mutations import KINDS, mutated
from harness.findings.shrink import shrink
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary

    AsBad = Callable[[Sequence[Pattern]], list[bool]]

PREFIX, SUFFIX, PUMP, UNIT, DRAWN = STRUCTURE = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4"
"""The characters that end a prefix, begin a suffix, stand between pumps and between units, and mark
a pump as drawn. They are none that a text may have (Unicode's noncharacters)."""

_PLAIN = str.maketrans("", "", STRUCTURE)

MOST_UNITS = 128
"""A pump has so many units at the most: further ones are not read, and the smallest input has to
hold each of them."""

MOST_BYTES = 1024
"""A pump has so many bytes at the most: a quarter of the smallest input that is measured."""

MOST_PUMPS = 2

LONGEST_END = 128
"""Characters of a prefix, and of a suffix."""

LONGEST_UNIT = 256

PLANES = 0x20000
"""Characters are drawn below: the rest is ideographs of which there are enough already."""

COUNTS = (1, 1, 1, 2, 2, 3, 4, 8, 16, 32, 64)
"""Units of a new pump: few make runs and beats, many make text of one kind."""

TIMES = (2, 2, 3, 4, 8, 16, 64, 128)
"""A unit is repeated so many times, which makes runs within a pump."""

LONGEST = 4096
"""Characters of a text that is read, more than all that it is cut to."""

SPANS = sizes(2, 64)
"""Characters that a change takes out, swaps or doubles."""

TRIES = 20
"""Draws before a vocabulary of few letters is asked for a token instead."""

SAMPLE = 192
"""Bytes of a family's input that a pattern repeats: a few words, or a run."""

ASKED = 8
"""Smaller patterns in a request: the first that is as bad is taken, so that much of a long one is
in vain."""


def written(pattern: Pattern) -> str:
    """A pattern as a text; bytes that are no text are lone surrogates, as Python has them."""
    pumps = (DRAWN * p.drawn + UNIT.join(map(_text, p.units)) for p in pattern.pumps)
    prefix = _text(pattern.prefix) + PREFIX if pattern.prefix else ""
    suffix = SUFFIX + _text(pattern.suffix) if pattern.suffix else ""
    return prefix + PUMP.join(pumps) + suffix


def read(text: str) -> Pattern | None:
    """The pattern of a text, cut to what a pattern may have; None where it has no pump."""
    prefix, _, rest = text.rpartition(PREFIX)
    body, _, suffix = rest.partition(SUFFIX)
    pumps = [pump for part in body.split(PUMP) if (pump := _pump(part)) is not None]
    if not pumps:
        return None
    first, last = (_bytes(end[:LONGEST_END]) for end in (prefix, suffix))
    return Pattern(tuple(pumps[:MOST_PUMPS]), first, last)


def _pump(part: str) -> Pump | None:
    units: list[bytes] = []
    room = MOST_BYTES
    for unit in filter(None, map(_bytes, part.split(UNIT)[:MOST_UNITS])):
        if len(unit) > room:
            break
        units.append(unit)
        room -= len(unit)
    return Pump(tuple(units), DRAWN in part and len({*units}) > 1) if units else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.translate(_PLAIN).encode("utf-8", "surrogateescape")


@cache
def characters() -> dict[str, str]:
    """All assigned characters below :data:`PLANES` by their general category."""
    found: dict[str, list[str]] = {}
    for code in range(PLANES):
        category = unicodedata.category(chr(code))
        if category not in ("Cn", "Cs", "Co"):
            found.setdefault(category, []).append(chr(code))
    return {category: "".join(some) for category, some in sorted(found.items())}


@lru_cache(maxsize=4096)  # a few generations
def niche(pattern: Pattern) -> str:
    """The kind of a pattern: only the best of each is kept, so that no kind drives out the others.

    Which of its pumps are drawn, how long the longest is (by factors of eight), what most of the
    units of that begin with (the major category, ``B`` for a byte that is no text), and whether
    there are ends.
    """
    longest = max(pattern.pumps, key=lambda pump: sum(map(len, pump.units)))
    size = (sum(map(len, longest.units)).bit_length() - 1) // 3
    kinds = [_major(units_of(unit)[0]) for unit in longest.units]
    form = "".join("d" if pump.drawn else "r" for pump in pattern.pumps)
    ends = "^" * bool(pattern.prefix) + "$" * bool(pattern.suffix)
    return f"{form}{size}{max(sorted(set(kinds)), key=kinds.count)}{ends}"


def _major(character: bytes) -> str:
    return unicodedata.category(character.decode())[0] if is_text(character) else "B"


class Breeder:
    """Makes patterns that a vocabulary can spell. It has no state but its tables."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._tokens = material(vocabulary).surfaces

    def fresh(self, rng: random.Random) -> Pattern:
        """A pattern out of nothing."""
        pumps = PUMP.join(self._drawn_pump(rng) for _ in range(1 + (rng.random() < 0.1)))
        prefix = self._unit(rng, self._kind(rng)) + PREFIX if rng.random() < 0.1 else ""
        suffix = SUFFIX + self._unit(rng, self._kind(rng)) if rng.random() < 0.15 else ""
        made = read(prefix + pumps + suffix)
        assert made is not None, "its units are not empty"
        return made

    def child(self, rng: random.Random, parent: Pattern, other: Pattern) -> Pattern:
        """A pattern like ``parent``, changed once or a few times; ``other`` is spliced with it."""
        text, child = written(parent), None
        while child in (None, parent) or rng.random() < 0.4:
            text = self._changed(rng, text if child else written(parent), written(other))
            child = read(text[:LONGEST])
        assert child is not None
        return child

    def spells(self, pattern: Pattern) -> bool:
        """Whether the vocabulary can encode it: toy vocabularies have few letters."""
        parts = (unit for pump in pattern.pumps for unit in pump.units)
        return all(map(self._vocabulary.can_encode, (pattern.prefix, pattern.suffix, *parts)))

    def _changed(self, rng: random.Random, text: str, other: str) -> str:
        """One change: a character by a new piece wherever it stands, or a change at a place."""
        at = rng.randrange(len(text))
        piece = self._piece(rng, text[at])
        kind = rng.randrange(KINDS + 1)
        if kind == KINDS:
            return text.replace(text[at], piece)
        return mutated(text, kind, at, rng.choice(SPANS), other if kind == KINDS - 1 else piece)

    def _piece(self, rng: random.Random, alike: str) -> str:
        """What is put in: units of any kind, or of the kind of a character, or a piece of form."""
        if rng.random() < 0.2:
            return rng.choice(STRUCTURE)
        category = unicodedata.category(alike)
        kind = category if category in characters() and rng.random() < 0.4 else self._kind(rng)
        unit = self._unit(rng, kind)
        form = rng.random()
        if form < 0.3:
            return UNIT + unit + UNIT
        return unit * rng.choice(TIMES) if form < 0.5 else unit

    def _kind(self, rng: random.Random) -> str:
        """Where units come from: ``token``, ``ascii``, ``byte``, or a category of Unicode."""
        kind = rng.random()
        if kind < 0.4:
            return "token"
        if kind < 0.6:
            return "ascii"
        return "byte" if kind < 0.65 else rng.choice(list(characters()))

    def _unit(self, rng: random.Random, kind: str) -> str:
        for _ in range(TRIES):
            if kind == "token":
                break
            if kind in characters():
                unit = rng.choice(characters()[kind])
            else:
                unit = _text(bytes([rng.randrange(0x80) + 0x80 * (kind == "byte")]))
            if self._vocabulary.can_encode(_bytes(unit)):
                return unit
        return _text(rng.choice(self._tokens)[:LONGEST_UNIT])

    def _drawn_pump(self, rng: random.Random) -> str:
        kind, mixed = self._kind(rng), rng.random() < 0.25
        count = rng.choice(COUNTS)
        units = [self._unit(rng, self._kind(rng) if mixed else kind) for _ in range(count)]
        if rng.random() < 0.15:
            at = rng.randrange(count)
            units[at : at + 1] = [units[at]] * rng.choice(TIMES)
        return DRAWN * (rng.random() < 0.5) + UNIT.join(units)


def seeds(families: Iterable[Family], vocabulary: Vocabulary) -> list[tuple[str, Pattern]]:
    """Patterns like these families: a sample of each over and over, and its characters drawn."""
    found: list[tuple[str, Pattern]] = []
    for family in families:
        sample = units_of(family.make(vocabulary, SAMPLE, 0))[:MOST_UNITS]
        distinct = tuple(dict.fromkeys(sample))
        if not sample or sum(map(len, sample)) > MOST_BYTES:
            continue
        found.append((family.name, Pattern((Pump(tuple(sample)),))))
        if len(distinct) > 1:
            found.append((family.name, Pattern((Pump(distinct, drawn=True),))))
    return found


def smallest(
    pattern: Pattern, as_bad: AsBad, more: Callable[[], bool], most: int = ASKED
) -> Pattern:
    """The smallest pattern found; it is as bad wherever ``pattern`` was.

    most: so many are asked at a time. Ends early without ``more``, or when time is out.
    """

    def failing(texts: Sequence[bytes]) -> list[bool]:
        patterns = [read(_text(text)) for text in texts]
        asked = [one for one in patterns if one is not None]
        try:
            answers = iter(as_bad(asked) if asked else ())
        except OutOfTime:
            return [False] * len(texts)
        return [one is not None and next(answers) for one in patterns]

    text = written(pattern).encode("utf-8", "surrogateescape")
    found, _ = shrink(text, failing, math.inf, lambda: not more(), most)
    return read(_text(found)) or pattern
