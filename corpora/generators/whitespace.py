"""White space of all kinds around words, digits, contractions and line ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import (
    APOSTROPHES,
    CONTRACTIONS,
    NEARLY_WHITE_SPACE,
    SPACES,
    WHITE_SPACE,
    WORDS,
)
from corpora.generators.drawing import UNITS, alternating, encodable, picker

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

SHAPES = (
    "{}",
    "{}{}",
    "a{}b",
    "a{}{}b",
    " {}a",
    "{} a",
    "1{}2",
    "\n{}\n",
    "a {}",
    "'{}s",
    "a'{}",
    "{}'s",
)
"""The texts into which each kind of white space is put first of all, before the random mixtures."""

PARTS = (*SPACES * 3, *WORDS * 2, *CONTRACTIONS, *APOSTROPHES)
"""The parts of which the mixtures are made; half of them are white space."""


def _whitespace(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    placed = [s.replace("{}", c) for c in WHITE_SPACE + NEARLY_WHITE_SPACE for s in SHAPES]
    rng.shuffle(placed)
    yield from alternating((text.encode() for text in placed), _mixed(rng))


def _mixed(rng: random.Random) -> Iterator[bytes]:
    count = picker(rng, UNITS)
    while True:
        yield "".join(rng.choices(PARTS, k=2 * count())).encode()


GENERATOR = FunctionGenerator(
    "whitespace",
    "white space of all kinds around words, digits, contractions: look-ahead and class of space",
    encodable(_whitespace),
)
