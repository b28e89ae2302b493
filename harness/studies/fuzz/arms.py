"""The ways in which a target makes inputs: the arms among which its loop chooses."""

from __future__ import annotations

import random
import threading
from itertools import count, islice
from typing import TYPE_CHECKING

import hypothesis

from corpora.generators import strategies
from corpora.generators.mutations import mutants
from harness.engine.streams import Batch, stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from corpora.generators.base import Generator
    from corpora.vocabularies.model import Vocabulary
    from harness.studies.campaigns.loop import Maker
    from harness.studies.fuzz.corpus import Corpus

CORPUS = "corpus"
"""Mutants of inputs that showed something new."""

STRUCTURED = "hypothesis"
"""What Hypothesis draws from the strategies of all generators."""

SHARED = "shared"
"""Inputs of others: of other targets, or shared through Hypothesis's example database."""

SEEDS = "seeds"
"""Inputs that the user gave to begin with."""

MUTANTS = 512
"""A batch has so many mutants, which is as many inputs as a generator's batch of middling inputs
has."""

EXAMPLES, STRUCTURED_COST = 128, 4.0
"""Hypothesis makes a batch of so many examples, which takes as long as four batches of a generator,
for a quarter of the cases."""

CHOICES = 512
"""Random bytes that Hypothesis makes an example of."""

SEGMENT = 32
"""Batches of a generator that goes on for ever under one seed, then another seed follows: to go on
after a kill, the stream is run up to where it was, at most for so many batches (about a second)."""

FINITE = frozenset({SEEDS, "edge", "tokens", "codepoints", "runs"})
"""Generators that list what there is, and end: another seed would begin the list again."""

_drawing = threading.Lock()


def generated(
    generator: Generator, vocabulary: Vocabulary, seeded: Callable[[int], int], longest: int
) -> Maker[Batch]:
    """Batches of a generator, its stream cut into segments. seeded: the seed of each segment."""
    follows: int = -1
    left: Iterator[Batch] = iter(())

    def take(number: int, place: int) -> Batch | None:
        """The stream is run up to a batch that does not follow the last one."""
        nonlocal follows, left
        segment, within = 0, place
        if generator.name not in FINITE:
            segment, within = divmod(place, SEGMENT)
        if place != follows or within == 0:
            whole = stream(generator, vocabulary, seeded(segment), longest)
            left = islice(whole, within, None)
        follows = place + 1
        return next(left, None)

    return take


def mutated(corpus: Corpus, vocabulary: Vocabulary, seed: int, shard: int) -> Maker[Batch]:
    """Mutants of what the corpus has at the time."""

    def take(number: int, place: int) -> Batch:
        rng = random.Random(f"{CORPUS}/{seed}/{shard}/{number}")
        parents = (corpus.parent(rng) for _ in count())
        made = islice(mutants(vocabulary, rng, parents), MUTANTS) if corpus.entries else ()
        able = [data for data in made if vocabulary.can_encode(data)]
        return Batch(CORPUS, seed, place, place * MUTANTS, able)

    return take


def structured(vocabulary: Vocabulary, seeded: Callable[[int], int]) -> Maker[Batch]:
    """What Hypothesis draws. seeded: the seed of each batch."""
    draw: Callable[[bytes], bytes] | None = None

    def take(number: int, place: int) -> Batch:
        nonlocal draw
        rng, made = random.Random(seeded(place)), dict[bytes, None]()
        with _drawing:  # targets have threads of their own, and Hypothesis is one
            draw = draw or drawer(vocabulary)
            for _ in range(EXAMPLES):
                made[draw(rng.randbytes(CHOICES))] = None
        able = [data for data in made if data and vocabulary.can_encode(data)]
        return Batch(STRUCTURED, seeded(place), place, 0, able)

    return take


def drawer(vocabulary: Vocabulary) -> Callable[[bytes], bytes]:
    """Return what makes an input of a vocabulary's strategies of any bytes; empty for some.

    What comes of given bytes depends on nothing else: Hypothesis chooses nothing itself.
    """
    made: list[bytes] = []

    @hypothesis.settings(
        database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(strategies.inputs(vocabulary))
    def collect(data: bytes) -> None:
        made.append(data)

    fuzz_one_input = collect.hypothesis.fuzz_one_input  # type: ignore[attr-defined]

    def draw(choices: bytes) -> bytes:
        made.clear()
        fuzz_one_input(choices)
        return made[0] if made else b""

    return draw
