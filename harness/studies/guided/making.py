"""What libFuzzer's inputs become: its own mutants, ours, and what our strategies make.

Inputs stay plain bytes, so that a corpus of ``tokgate fuzz --save-corpus`` and a dictionary of
tokens mean to a target what they say. The structure comes in by the mutator: now and then it gives
what Hypothesis draws from the strategies of all generators for one of the vocabularies, alone or
spliced into what was there. All of it follows from the seed that libFuzzer gives.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from corpora.generators.mutations import KINDS, mutated
from harness.studies.fuzz.arms import CHOICES, drawer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary

    Mutate = Callable[[bytes, int], bytes]

DRAWN, SPLICED = 1 / 8, 1 / 4
"""The parts of all mutants that our strategies make, alone and spliced into the input; the rest are
libFuzzer's."""

LONGEST_WORD = 64
"""Bytes of an entry of libFuzzer's dictionaries."""

WORDS = 4000
"""Entries of a dictionary: libFuzzer tries each of them."""


class Mutator:
    """Makes one input of another.

    mutate: libFuzzer's own mutator, of an input and the greatest size of what comes out.
    """

    def __init__(self, vocabularies: Sequence[Vocabulary], mutate: Mutate) -> None:
        self._drawers = [drawer(one) for one in vocabularies]
        self._mutate = mutate

    def __call__(self, data: bytes, most: int, seed: int) -> bytes:
        """Return a mutant of at most so many bytes; the seed decides which."""
        rng = random.Random(seed)
        coin = rng.random()
        if coin >= DRAWN + SPLICED:
            return self._mutate(data, most)
        new = rng.choice(self._drawers)(rng.randbytes(CHOICES))
        if coin < DRAWN or not data:
            return new[:most]
        kind, at, span = rng.randrange(KINDS), rng.randint(0, len(data)), rng.randint(1, 16)
        return mutated(data, kind, at, span, new)[:most]


def by_bytes(rng: random.Random) -> Mutate:
    """Return a mutator for where there is no libFuzzer: one byte at a time."""

    def mutate(data: bytes, most: int) -> bytes:
        kind, at, span = rng.randrange(KINDS), rng.randint(0, len(data)), rng.randint(1, 4)
        return mutated(data, kind, at, span, rng.randbytes(1))[:most]

    return mutate


def dictionary(vocabularies: Sequence[Vocabulary]) -> str:
    """Return libFuzzer's dictionary of the tokens of vocabularies: a line for each, escaped."""
    words: dict[bytes, None] = {}
    for vocabulary in vocabularies:
        spelt = [*vocabulary.tokens, *(text.encode() for text in vocabulary.special_tokens)]
        words.update(dict.fromkeys(one for one in spelt if one and 1 < len(one) <= LONGEST_WORD))
    lines = ('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"' for word in words)
    return "".join(f"{line}\n" for line, _ in zip(lines, range(WORDS), strict=False))
