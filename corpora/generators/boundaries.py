"""Tokens of the vocabulary on both sides of a place where a split pattern may cut.

A wrong cut shows in the ids only where merging would go over the right one, or stops at the wrong
one: letters on their own rarely tell, and running text has few places of each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
"""What stands between two tokens."""

_COUNTS = sizes(2, 40)


def _boundaries(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    shapes = [*material(vocabulary).by_shape.values()]
    surfaces = [surface.decode(errors="replace") for surface in material(vocabulary).text]
    words = [text for text in surfaces if text.isalpha()] or surfaces
    contracted = [
        text
        for text in words
        if any(text.lower().startswith(e) and len(text) > len(e) for e in CONTRACTION_ENDINGS)
    ]
    capitals = [text for text in words if text[0].isupper()]
    # Of characters of several bytes, merges may take a part, and so go over any boundary.
    wide = [text for text in words if not text.isascii()]
    wide_capitals = [text for text in capitals if not text.isascii()]
    alike, word, between = picker(rng, shapes), picker(rng, words), picker(rng, BETWEEN)
    apostrophe, count, draw = picker(rng, APOSTROPHES), picker(rng, _COUNTS), rng.random
    contraction, capital = picker(rng, contracted or words), picker(rng, capitals or words)
    wide_word = picker(rng, wide or words)
    wide_capital = picker(rng, wide_capitals or capitals or words)

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
