"""Marks, jamo, widths, ligatures, emoji, bidi, zero width, expansions, casing: odd characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import ODD_UNITS, WORDS
from corpora.generators.drawing import UNITS, alternating, encodable, picker

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

EVERY_UNIT = tuple(dict.fromkeys(unit for units in ODD_UNITS.values() for unit in units))
"""The units of all categories of :data:`~corpora.generators.characters.ODD_UNITS`."""

PLAIN = (*WORDS, *" " * 24, "\n", ", ")
"""The texts that stand between the odd ones."""

# Some of one category, some of all: interactions within a category are the likelier ones.
_POOLS = (
    *((*units * 2, *PLAIN[-len(units) :]) for units in ODD_UNITS.values()),
    EVERY_UNIT,
    EVERY_UNIT + PLAIN * 3,
    EVERY_UNIT + PLAIN,
)


def _scripts(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    alone = list(EVERY_UNIT)
    rng.shuffle(alone)
    yield from alternating((unit.encode() for unit in alone), _mixed(rng))


def _mixed(rng: random.Random) -> Iterator[bytes]:
    pool, count = picker(rng, _POOLS), picker(rng, UNITS)
    while True:
        yield "".join(rng.choices(pool(), k=count())).encode()


GENERATOR = FunctionGenerator(
    "scripts",
    "marks, jamo, widths, ligatures, emoji, bidi, zero width, expansions, casing: normalization",
    encodable(_scripts),
)
