"""The smallest inputs, from short to long: empty, every byte, pairs and triples by class."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import CLASS_BYTES, CLASS_CHARACTERS

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

# For a restricted alphabet: all strings up to the length at which there are this many.
_STRINGS = 4_000

# Of each kind of class that patterns name, one: all triples are then 1,331 cases.
_TRIPLE_CHARACTERS = (" ", "\n", "\r", "\t", "'", "s", "A", "1", ".", "\u0301", "\u4e2d")


def _edge(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    yield b""
    alphabet = vocabulary.byte_alphabet
    if alphabet is not None:
        yield from _shortlex(alphabet)
        return
    yield from (bytes([byte]) for byte in range(256))
    for characters in (product(CLASS_CHARACTERS), product(CLASS_CHARACTERS, repeat=2)):
        texts = ["".join(some) for some in characters]
        rng.shuffle(texts)
        yield from (text.encode() for text in texts)
    pairs = [bytes(pair) for pair in product(CLASS_BYTES, repeat=2)]
    rng.shuffle(pairs)
    yield from pairs
    triples = ["".join(triple).encode() for triple in product(_TRIPLE_CHARACTERS, repeat=3)]
    rng.shuffle(triples)
    yield from triples


def _shortlex(alphabet: bytes) -> Iterator[bytes]:
    """All strings over ``alphabet`` by length, to the last length with at most ``_STRINGS``."""
    length, count = 1, len(alphabet)
    while 0 < count <= _STRINGS and length <= 64:
        yield from map(bytes, product(alphabet, repeat=length))
        length, count = length + 1, count * len(alphabet)


GENERATOR = FunctionGenerator(
    "edge",
    "empty input, single bytes, pairs and triples of each class: off-by-one at the ends",
    _edge,
)
