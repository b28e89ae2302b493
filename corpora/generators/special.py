"""Special-token text inside ordinary text: whole, broken, nested, adjacent, overlapping."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import COMMON_SPECIAL_TEXTS, WORDS
from corpora.generators.drawing import alternating, encodable, picker, sizes
from corpora.generators.material import material

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary

# White space beside a special token matters where it strips (lstrip, rstrip), a letter where it
# wants to stand alone (single_word).
SURROUNDINGS = (
    "",
    " ",
    "  ",
    "\n",
    "a",
    "1",
    "\u4e2d",
    ".",
    "\u0301",
    "<",
    ">",
    "|",
    "_",
    "\u2581",
)

_COUNTS = sizes(3, 60)
_ALIKE = 2
"""So many are drawn often of texts that differ in their numbers alone."""
_MANY = 1_000
"""Special tokens that are tried alone and framed one by one; vocabularies reserve thousands."""


def special_texts(vocabulary: Vocabulary) -> tuple[str, ...]:
    """The vocabulary's own special texts, then some that are common in the field."""
    return tuple(dict.fromkeys((*material(vocabulary).special_texts, *COMMON_SPECIAL_TEXTS)))


DAMAGES = 9
"""Kinds of :func:`broken`."""


def broken(text: str, other: str, at: int, kind: int) -> str:
    """``text`` damaged at ``at`` (0 <= at <= len); ``kind`` is below :data:`DAMAGES`."""
    head, tail = text[:at], text[at:]
    return (
        head,
        tail,
        head + other + tail,  # nested
        head + tail[1:],
        head + tail[:1] + tail,
        head + " " + tail,
        head + text,  # one begins while another is open
        text + tail,
        text.swapcase(),
    )[kind]


def _damage(rng: random.Random, pick: Callable[[], str]) -> str:
    text = pick()
    return broken(text, pick(), int(rng.random() * (len(text) + 1)), int(rng.random() * DAMAGES))


def _special(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    texts = [text for text in special_texts(vocabulary) if vocabulary.can_encode(text.encode())]
    if texts:
        few = distinct(texts)
        ordered = [*dict.fromkeys((*few, *texts))]
        yield from alternating(_one_by_one(ordered[:_MANY]), _mixed(few, texts, rng))


def distinct(texts: Sequence[str]) -> list[str]:
    """Some of those that differ in their numbers alone, all of the others.

    Vocabularies reserve hundreds of ``<|reserved_17|>``, and the few that mean something would
    never be drawn.
    """
    seen: Counter[str] = Counter()
    kept = []
    for text in texts:
        kind = re.sub("[0-9]+", "0", text)
        seen[kind] += 1
        if seen[kind] <= _ALIKE:
            kept.append(text)
    return kept


def _one_by_one(texts: Sequence[str]) -> Iterator[bytes]:
    for text in texts:
        yield text.encode()
        yield f"a{text}b {text} c{text}{text}".encode()
        yield text.swapcase().encode()


def _mixed(few: Sequence[str], texts: Sequence[str], rng: random.Random) -> Iterator[bytes]:
    known, any_, word = picker(rng, few), picker(rng, texts), picker(rng, WORDS)
    beside, count, draw = picker(rng, SURROUNDINGS), picker(rng, _COUNTS), rng.random

    def pick() -> str:
        return known() if draw() < 0.8 else any_()

    while True:
        parts: list[str] = []
        for _ in range(count()):
            kind = draw()
            if kind < 0.3:
                parts += (beside(), pick(), beside())
            elif kind < 0.4:
                parts += (pick(), pick())
            elif kind < 0.7:
                parts.append(_damage(rng, pick))
            else:
                parts += (word(), beside())
        yield "".join(parts).encode()


GENERATOR = FunctionGenerator(
    "special",
    "special-token text in ordinary text, whole, broken, nested, adjacent: what is split off",
    encodable(_special),
)
