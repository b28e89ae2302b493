"""Repeated text over one to three letters: what exposes ties and stale entries.

In ordinary text of a real vocabulary two overlapping candidates of one rank hardly ever meet; in
``aabaabaab`` they meet at every place. The words used here are those of combinatorics on words:
periodic, nearly periodic, Fibonacci's and Thue's, and random.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.drawing import LENGTHS, picker, sizes
from corpora.generators.material import material

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary

_PERIODS = sizes(3, 24, spread=0.8)

# Words are cut from a stretch this long, so that a cut of 4 kB finds many places.
_STRETCH = 8192

MORPHISMS: dict[str, tuple[bytes, ...]] = {
    "fibonacci": (b"\0\1", b"\0"),
    "thue-morse": (b"\0\1", b"\1\0"),
    "period-doubling": (b"\0\1", b"\0\0"),
    "tribonacci": (b"\0\1", b"\0\2", b"\0"),
    "square-free": (b"\0\1\2", b"\0\2", b"\1"),
}
"""Substitutions whose fixed point is an infinite word; a letter is the index of its image."""


@cache
def fixed_point(name: str) -> bytes:
    """A stretch of the infinite word of ``MORPHISMS[name]``, letters as bytes 0, 1, 2."""
    images, word = MORPHISMS[name], b"\0"
    while len(word) < _STRETCH:
        word = b"".join([images[letter] for letter in word])
    return word[:_STRETCH]


def spell(word: Sequence[int], units: tuple[bytes, ...]) -> bytes:
    """``word`` with each letter replaced by the unit of that index."""
    return b"".join([units[letter] for letter in word])


def _growing(units: tuple[bytes, ...], size: int) -> bytes:
    """``ab aab aaab ..``: runs of the first unit that grow by one, others between them."""
    others, parts, run = len(units) - 1, [], 0
    while size > 0:
        run += 1
        parts.append(units[0] * run + units[1 + run % others])
        size -= run + 1
    return b"".join(parts)


def _repeats(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    pick_alphabet, draw = picker(rng, material(vocabulary).alphabets), rng.random
    length, period = picker(rng, LENGTHS), picker(rng, _PERIODS)
    two = [fixed_point(name) for name, images in MORPHISMS.items() if len(images) == 2]
    three = [fixed_point(name) for name, images in MORPHISMS.items() if len(images) == 3]
    while True:
        units, size, shape = pick_alphabet(), length(), int(draw() * 6)
        if len(units) == 1:
            yield units[0] * size
            continue
        letters = range(len(units))
        if shape == 0:
            yield spell(rng.choices(letters, k=size), units)
        elif shape == 1:
            stretches = two if len(units) == 2 else three
            stretch = stretches[int(draw() * len(stretches))]
            at = int(draw() * (_STRETCH - size))
            yield spell(stretch[at : at + size], units)
        elif shape == 2:
            yield _growing(units, size)
        else:
            block = spell(rng.choices(letters, k=period()), units)
            times = size // len(block) + 1
            text = block * times
            if shape == 3:
                # One letter too many breaks the period, between two blocks.
                at = int(draw() * (times + 1)) * len(block)
                text = text[:at] + units[int(draw() * len(units))] + text[at:]
            elif shape == 4:
                # A remainder: ties fall elsewhere where the text does not end with the block.
                text += spell(rng.choices(letters, k=period()), units)
            yield text


GENERATOR = FunctionGenerator(
    "repeats",
    "repeated text over one to three letters: ties between merges, stale entries of a heap",
    _repeats,
)
