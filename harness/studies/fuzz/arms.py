"""The ways in which a target makes inputs: the arms among which its schedule chooses."""

from __future__ import annotations

import hashlib
import random
from typing import TYPE_CHECKING

from harness.engine.streams import Batch, Stream
from harness.studies.fuzz.corpus import Corpus, mutants

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.generators.base import Generator
    from corpora.vocabularies.model import Vocabulary

CORPUS = "corpus"
"""Mutants of inputs that showed something new."""

SHARED = "shared"
"""Inputs that others have shared through Hypothesis's example database."""

SEEDS = "seeds"
"""Inputs that the user gave to begin with."""

MUTANTS = 512
"""A batch has so many mutants, which is as many inputs as a generator's batch of middling inputs
has."""

SEGMENT = 32
"""Batches of a generator that goes on for ever under one seed, then another seed follows: to go on
after a kill, the stream is run up to where it was, at most for so many batches (about a second)."""

FINITE = frozenset({SEEDS, "edge", "tokens", "codepoints", "runs"})
"""Generators that list what there is, and end: another seed would begin the list again."""


class Generated:
    """Batches of a generator, its stream cut into segments."""

    cost = 1.0
    lasting = False

    def __init__(
        self, generator: Generator, vocabulary: Vocabulary, seed: int, shard: int, longest: int
    ) -> None:
        self._generator, self._vocabulary = generator, vocabulary
        self._seed, self._shard, self._longest = seed, shard, longest
        self._stream: Stream | None = None
        self._at = 0

    def take(self, number: int, place: int) -> Batch | None:
        """The ``place``-th batch; streams are run up to it where it does not follow the last."""
        segment, within = 0, place
        if self._generator.name not in FINITE:
            segment, within = divmod(place, SEGMENT)
        if self._stream is None or place != self._at or within == 0:
            seed = derived(self._seed, self._shard, segment)
            self._stream = Stream(self._generator, self._vocabulary, seed, self._longest)
            for _ in range(within):
                self._stream.take()
        self._at = place + 1
        return self._stream.take()

    def close(self) -> None:
        """Nothing to let go of."""


class Mutated:
    """Mutants of the corpus."""

    cost = 1.0
    lasting = True

    def __init__(
        self, corpus: Callable[[], Corpus], vocabulary: Vocabulary, seed: int, shard: int
    ) -> None:
        self._corpus, self._vocabulary = corpus, vocabulary
        self._seed, self._shard = seed, shard

    def take(self, number: int, place: int) -> Batch | None:
        """Mutants of what the corpus has now."""
        rng = random.Random(f"{CORPUS}/{self._seed}/{self._shard}/{number}")
        made = mutants(self._corpus(), self._vocabulary, rng, MUTANTS)
        return Batch(CORPUS, self._seed, place, place * MUTANTS, made) if made else None

    def close(self) -> None:
        """Nothing to let go of."""


def derived(seed: int, shard: int, segment: int) -> int:
    """A seed for each segment of each shard; the campaign's own for the first."""
    if shard == segment == 0:
        return seed
    digest = hashlib.sha256(f"{seed}/{shard}/{segment}".encode()).digest()
    return int.from_bytes(digest[:6], "big")
