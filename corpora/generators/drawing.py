"""Cheap seeded choices: what the generators need of ``random``, at tens of nanoseconds each.

``Random.choice`` and ``randrange`` cost several times as much as ``random()``, and a generator
makes tens of thousands of cases a second, so everything here rests on the latter.
"""

from __future__ import annotations

import math
from functools import wraps
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary

T = TypeVar("T")

# Steps of a table of sizes: fine enough that its last entry stands for one case in 256.
_STEPS = 256
_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2

# A generator that has nothing to say to a restricted byte alphabet must end, or a campaign that
# waits for its next case would wait for ever. Where under one case in 20 can be spelt, it is only
# the trivial ones (a space, say).
_PATIENCE, _REJECTED_A_CASE = 500, 20


def sizes(median: float, top: int, *, spread: float = 1.2) -> tuple[int, ...]:
    """A table of sizes to draw from evenly: log-normal quantiles, at least 1, at most ``top``.

    spread: standard deviation of the logarithm; 1.2 puts one size in 100 beyond 16 medians.
    """
    normal = NormalDist(math.log(median), spread)
    quantiles = (normal.inv_cdf((step + 0.5) / _STEPS) for step in range(_STEPS))
    return tuple(min(max(round(math.exp(q)), 1), top) for q in quantiles)


# In bytes or characters; the tail ends at a few kB.
LENGTHS = sizes(64, 4096)
# In words or other units of about six bytes.
UNITS = sizes(10, 600)


def picker(rng: random.Random, items: Sequence[T]) -> Callable[[], T]:
    """A function that draws one of ``items`` (not empty) at each call."""
    draw, count = rng.random, len(items)

    def pick() -> T:
        return items[int(draw() * count)]

    return pick


def scattered(count: int, rng: random.Random) -> Iterator[int]:
    """Each of ``range(count)`` once, in an order whose every stretch samples the whole range.

    Multiples of the golden ratio, modulo ``count``: the points of any prefix are spread evenly.
    The start is drawn from ``rng``. Takes no memory, unlike a shuffled list.
    """
    if count == 0:
        return
    step = max(round(count * _GOLDEN_RATIO), 1)
    while math.gcd(step, count) != 1:
        step += 1
    at = int(rng.random() * count)
    for _ in range(count):
        yield at
        at = (at + step) % count


def alternating(listed: Iterable[T], drawn: Iterator[T]) -> Iterator[T]:
    """What is tried one by one and what is drawn at random, in turn; then the latter alone.

    A campaign gives each generator few cases: the long list first, and it would not see the rest.
    """
    for item in listed:
        yield item
        yield next(drawn)
    yield from drawn


def encodable(
    make: Callable[[Vocabulary, random.Random], Iterator[bytes]],
) -> Callable[[Vocabulary, random.Random], Iterator[bytes]]:
    """Keep what the vocabulary's byte alphabet can spell; end where that is next to nothing.

    Costs nothing for a vocabulary that has all the bytes.
    """

    @wraps(make)
    def filtered(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
        cases = make(vocabulary, rng)
        return cases if vocabulary.byte_alphabet is None else _spellable(cases, vocabulary)

    return filtered


def _spellable(cases: Iterator[bytes], vocabulary: Vocabulary) -> Iterator[bytes]:
    patience = _PATIENCE
    for case in cases:
        if vocabulary.can_encode(case):
            patience += _REJECTED_A_CASE
            yield case
        else:
            patience -= 1
            if patience == 0:
                return
