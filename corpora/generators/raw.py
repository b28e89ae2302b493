"""Random bytes: NUL, invalid UTF-8 of every kind, and text with such bytes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import BROKEN_UTF8, CLASS_CHARACTERS, WORDS
from corpora.generators.drawing import LENGTHS, UNITS, picker

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

FRAGMENTS = (
    *BROKEN_UTF8,
    *(character.encode() for character in CLASS_CHARACTERS),
    *(word.encode() for word in WORDS),
    *[b"\x00"] * 8,
    *[b" "] * 8,
)
"""Ill-formed and well-formed pieces that are mixed."""


def _raw(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    alphabet = vocabulary.byte_alphabet
    length, count = picker(rng, LENGTHS), picker(rng, UNITS)
    if alphabet is not None:
        while alphabet:
            yield bytes(rng.choices(alphabet, k=length()))
        return
    while True:
        yield rng.randbytes(length())
        yield b"".join(rng.choices(FRAGMENTS, k=2 * count()))


GENERATOR = FunctionGenerator(
    "raw",
    "random bytes, NUL, truncated and overlong UTF-8, surrogates: what text never has",
    _raw,
)
