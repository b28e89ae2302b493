"""Prose: words of thirty-odd scripts, and English from the installed documentation."""

from __future__ import annotations

from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.drawing import LENGTHS, encodable, picker, sizes
from corpora.generators.locales import LOCALES, Locale, letters

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from corpora.vocabularies.model import Vocabulary

_WORD_LENGTHS = sizes(4, 24, spread=0.6)

# Letters of a language in use: in real text a few make up most of it, and words come again.
_LETTERS, _WORDS = 40, 300

# By Zipf's law, summed up, so that it is not done anew for each word.
_FREQUENCIES = tuple(accumulate(1 / (rank + 2) for rank in range(_LETTERS)))

# Share of the texts before which a language's words are made anew; that costs about 1 ms.
_RENEWED = 1 / 1000

_COUNTS = sizes(6, 300)


@cache
def english() -> str:
    """The text of Python's built-in help topics; a line of our own where that is left out."""
    try:
        from pydoc_data.topics import topics  # noqa: PLC0415  (700 kB, seldom needed)
    except ImportError:
        return "The quick brown fox jumps over the lazy dog; it doesn't bark, and we'll see why. "
    return "\n".join(topics[name] for name in sorted(topics))


def words(locale: Locale, rng: random.Random) -> list[str]:
    """A small vocabulary of made-up words, frequent letters first by Zipf's law."""
    available = letters(locale)
    used = rng.choices(available, k=_LETTERS)
    length = picker(rng, _WORD_LENGTHS)
    ends = list(accumulate(length() for _ in range(_WORDS)))
    drawn = rng.choices(used, cum_weights=_FREQUENCIES, k=ends[-1])
    made = ["".join(drawn[start:end]) for start, end in pairwise([0, *ends])]
    if locale.casing:
        made += [word.capitalize() for word in made[::4]] + [word.upper() for word in made[::30]]
    digits = [chr(ord(locale.zero) + digit) for digit in range(10)]
    made += ["".join(rng.choices(digits, k=length())) for _ in range(8)]
    return made + ["".join(rng.choices("0123456789", k=length())) for _ in range(8)]


def sentences(locale: Locale, rng: random.Random) -> Callable[[int], str]:
    """A function that makes text of about ``n`` words in ``locale``."""
    vocabulary = words(locale, rng)
    stop, draw = picker(rng, locale.stops), rng.random
    opening, closing = locale.quotes

    def make(count: int) -> str:
        text = locale.joiner.join(rng.choices(vocabulary, k=count))
        kind = draw()
        if kind < 0.2:
            text = f"{opening}{text}{closing}"
        if kind < 0.8:
            rest = rng.choices(vocabulary, k=int(draw() * 4))
            text += stop() + locale.joiner.join(rest)
        return text

    return make


def _prose(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    makers: dict[str, Callable[[int], str]] = {}
    pick, count, length, draw = (
        picker(rng, LOCALES),
        picker(rng, _COUNTS),
        picker(rng, LENGTHS),
        rng.random,
    )
    tracker = english()
    while True:
        if draw() < 0.15:
            at = int(draw() * len(tracker))
            yield tracker[at : at + length()].encode()
            continue
        locale = pick()
        make = makers.get(locale.name)
        if make is None or draw() < _RENEWED:
            make = makers[locale.name] = sentences(locale, rng)
        text = make(count())
        if draw() < 0.1:
            other = makers.get(pick().name)
            text += other(3) if other else ""
        yield text.encode()


GENERATOR = FunctionGenerator(
    "prose",
    "made-up prose in many scripts, and English from the help topics: ordinary use",
    encodable(_prose),
)
