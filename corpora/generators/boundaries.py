"""Tokens of the vocabulary on both sides of a place where a split pattern may cut.

A wrong cut shows in the ids only where merging would go over the right one, or stops at the wrong
one: letters on their own rarely tell, and running text has few places of each kind.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import (
    APOSTROPHES,
    CLASS_CHARACTERS,
    CONTRACTION_ENDINGS,
    CONTRACTIONS,
    SPACES,
)
from corpora.generators.drawing import encodable, picker, sizes
from corpora.generators.material import material

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

BETWEEN = (*CLASS_CHARACTERS * 2, *SPACES, *CONTRACTIONS, *APOSTROPHES)
"""One of these stands between two tokens."""

_COUNTS = sizes(2, 40)


class _Words(NamedTuple):
    """Tokens as text. Lists that would be empty hold other words, so that any can be drawn from.

    wide: of characters of several bytes, of which merges may take a part, and so go over any
    boundary.
    """

    all: list[str]
    contracted: list[str]
    capitals: list[str]
    wide: list[str]
    wide_capitals: list[str]


@lru_cache(maxsize=8)
def _words(vocabulary: Vocabulary) -> _Words:
    """Made once: a campaign asks for the cases of a vocabulary again and again."""
    surfaces = [surface.decode(errors="replace") for surface in material(vocabulary).text]
    words = [text for text in surfaces if text.isalpha()] or surfaces
    begun = [text for text in words if text.lower().startswith(CONTRACTION_ENDINGS)]
    contracted = [text for text in begun if text.lower() not in CONTRACTION_ENDINGS]
    capitals = [text for text in words if text[0].isupper()]
    wide = [text for text in words if not text.isascii()]
    wide_capitals = [text for text in capitals if not text.isascii()]
    return _Words(
        words,
        contracted or words,
        capitals or words,
        wide or words,
        wide_capitals or capitals or words,
    )


def _boundaries(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    words = _words(vocabulary)
    alike = picker(rng, [*material(vocabulary).by_shape.values()])
    word, between = picker(rng, words.all), picker(rng, BETWEEN)
    apostrophe, count, draw = picker(rng, APOSTROPHES), picker(rng, _COUNTS), rng.random
    contraction, capital = picker(rng, words.contracted), picker(rng, words.capitals)
    wide_word, wide_capital = picker(rng, words.wide), picker(rng, words.wide_capitals)

    def odd() -> str:
        same = alike()
        return same[int(draw() * len(same))].decode(errors="replace")

    while True:
        parts: list[str] = []
        for _ in range(count()):
            kind = draw()
            if kind < 0.25:
                # Is it a contraction, or a word behind an apostrophe?
                parts += (word() if draw() < 0.5 else "", apostrophe(), contraction())
            elif kind < 0.35:
                parts += (word(), capital())
            elif kind < 0.5:
                parts += (wide_word(), wide_capital())
            elif kind < 0.75:
                parts += (word(), between(), word())
            else:
                parts += (odd(), between() if draw() < 0.5 else "", odd())
        yield "".join(parts).encode()


GENERATOR = FunctionGenerator(
    "boundaries",
    "tokens around apostrophes, capitals, white space and marks: where pre-tokenizers cut",
    encodable(_boundaries),
)
