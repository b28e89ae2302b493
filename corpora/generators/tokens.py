"""The vocabulary's own tokens: alone, concatenated, and overlapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.drawing import picker, scattered, sizes
from corpora.generators.material import material

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

# A fifth of the cases are pairs, where a mistake is smallest; some run to hundreds of tokens.
_COUNTS = (2,) * 64 + sizes(9, 400)
_LINKS = sizes(6, 200)


def _alone(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    surfaces = material(vocabulary).surfaces
    return (surfaces[i] for i in scattered(len(surfaces), rng))


def _concatenated(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    found = material(vocabulary)
    count = picker(rng, _COUNTS)
    while True:
        yield b"".join(rng.choices(found.text, k=count()))
        yield b"".join(rng.choices(found.surfaces, k=count()))


def _overlapping(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    """Chains in which the end of each token is the beginning of the next: ``stat`` + ``ation``."""
    found = material(vocabulary)
    start, links, draw = picker(rng, found.text), picker(rng, _LINKS), rng.random
    indexes = ((found.by_first_byte, 1), (found.by_first_two, 2))
    while True:
        chain = last = start()
        parts = [chain]
        for _ in range(links()):
            index, shared = indexes[draw() < 0.5]
            following = index.get(last[-shared:])
            if following is None:
                last = start()
                parts.append(last)
            else:
                last = following[int(draw() * len(following))]
                parts.append(last[shared:])
        yield b"".join(parts)


GENERATORS = (
    FunctionGenerator(
        "tokens",
        "every token of the vocabulary alone: one that does not encode to itself",
        _alone,
    ),
    FunctionGenerator(
        "concatenations",
        "two and more tokens in a row, half of them text: merges across a boundary",
        _concatenated,
    ),
    FunctionGenerator(
        "overlaps",
        "tokens that share an end with the next one's beginning: wrong choice among candidates",
        _overlapping,
    ),
)
