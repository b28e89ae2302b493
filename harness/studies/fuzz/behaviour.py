"""What an input shows of the behaviour of those who encode it, where there is no coverage.

For native libraries there is nothing to instrument; what they do is seen in their answers:

- the tokens that a trusted one gives: each id, and each pair and triple of neighbouring tokens by
  *shape* (how long it is, what it begins and ends with). By their ids nearly every pair of tokens
  of a large vocabulary is new for ever (4e10 pairs of 200,000), and so would every input be.
- the disagreement: who gives the same as whom, who rejects or dies, who gives more tokens.

Both are functions of the answers alone, so that the same inputs show the same on every machine.
"""

from __future__ import annotations

import zlib
from bisect import bisect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.core.messages import Meter
from harness.core.outcomes import Encoded, Status
from harness.core.partition import comparable
from harness.core.standing import most_trusted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Observation
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome, Results
    from harness.workers.pool import WorkerPool

BITS = 18
MAP_SIZE = 1 << BITS
"""Behaviours are told apart by a hash of so many bits: as there are at most some 200,000 ids and
as many pairs and triples of shapes that occur, few fall together, and the map stays at 256 KiB."""

SATURATED = 3
"""Counts above are of no use: estimates need what was seen once and twice."""

_LENGTHS = (1, 2, 3, 5, 9)
"""The classes of lengths begin at these lengths, in bytes."""

_LETTERS = 16
"""Bytes are told apart by their upper halves: control, space and punctuation, digits, capitals,
small letters, and the bytes of wider characters."""

UNKNOWN_SHAPE = len(_LENGTHS) * _LETTERS * _LETTERS
SPECIAL_SHAPE = UNKNOWN_SHAPE + 1
_SHAPES = SPECIAL_SHAPE + 1

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: multiplying by it spreads consecutive numbers (Knuth 6.4)."""


class Shapes:
    """The shape of each token of a vocabulary. ``table``: int64 [ids + 1], the last for others."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        special = list(vocabulary.special_tokens.values())
        self.table = np.full(
            max(len(vocabulary.tokens) - 1, 0, *special) + 2, UNKNOWN_SHAPE, dtype=np.int64
        )
        for token_id, token in enumerate(vocabulary.tokens):
            if token:
                length = bisect(_LENGTHS, len(token)) - 1
                ends = (token[0] >> 4) * _LETTERS + (token[-1] >> 4)
                self.table[token_id] = length * _LETTERS * _LETTERS + ends
        self.table[special] = SPECIAL_SHAPE

    def of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The shapes of ids; of such as the vocabulary does not have, the unknown one."""
        last = len(self.table) - 1
        shapes: NDArray[np.int64] = self.table[np.where((ids < 0) | (ids > last), last, ids)]
        return shapes


@dataclass(frozen=True, slots=True, eq=False)
class BatchBehaviour:
    """What a batch showed.

    owners, codes: int64 [n], pairs without repetition of an input and a behaviour it shows, in
    order of the inputs. disagreements: by input, the shape of a disagreement.
    """

    owners: NDArray[np.int64]
    codes: NDArray[np.int64]
    disagreements: dict[int, str] = field(default_factory=dict)


def observe(seen: Observation, shapes: Shapes) -> BatchBehaviour:
    """What the answers to a batch show.

    The tokens of the most trusted are looked at, of those that are exact where there are any.
    """
    contract = seen.contract
    exact = [name for name in seen.results if name in contract.exact]
    witness = most_trusted(exact or list(seen.results), contract.standing)
    owners, codes = _ngrams(seen.results[witness], shapes, contract.id)
    return BatchBehaviour(owners, codes, _disagreements(seen, witness))


def _ngrams(
    results: Results, shapes: Shapes, salt: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ids = results.ids.astype(np.int64)
    lengths = np.diff(results.ends, prepend=0)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    start = zlib.crc32(salt.encode("utf-8", "surrogatepass"))
    pairs = [owner << BITS | _hashed(ids, start, 1)]
    joined = shape = shapes.of(ids)
    for length in (2, 3):
        joined = joined[:-1] * _SHAPES + shape[length - 1 :]
        inside = owner[: len(joined)] == owner[length - 1 :]
        pairs.append((owner[: len(joined)] << BITS | _hashed(joined, start, length))[inside])
    shown = np.unique(np.concatenate(pairs))
    return shown >> BITS, shown & (MAP_SIZE - 1)


def _hashed(values: NDArray[np.int64], salt: int, kind: int) -> NDArray[np.int64]:
    """Numbers below ``MAP_SIZE``; what differs falls together once in so many."""
    offset = np.uint64(((salt << 8) | kind) * int(_GOLDEN) % 2**64)
    mixed = values.astype(np.uint64) + offset
    mixed ^= mixed >> np.uint64(29)
    return ((mixed * _GOLDEN) >> np.uint64(64 - BITS)).astype(np.int64)


def _disagreements(seen: Observation, witness: str) -> dict[int, str]:
    """The shape of each disagreement: who differs from the witness, and how.

    Of those that are to be exact that is more, fewer or other tokens, or no encoding; of others
    only failures: ``toy/raw bpe.heap:more x:crashed``.
    """
    base = seen.results[witness]
    found: dict[int, str] = {}
    for name, results in seen.results.items():
        failed = np.flatnonzero(results.status > Status.UNSUPPORTED).tolist()
        exact = name in seen.contract.exact and results is not base
        differing = results.differing(base) if exact and not results.same_as(base) else ()
        for index in sorted({*failed, *differing}):
            one, first = results.outcome(index), base.outcome(index)
            if index in failed or (one != first and comparable(one) and comparable(first)):
                where = found.get(index, seen.contract.id)
                found[index] = f"{where} {name}:{_beside(one, first)}"
    return found


def _beside(outcome: Outcome, first: Outcome) -> str:
    if not isinstance(outcome, Encoded) or not isinstance(first, Encoded):
        return outcome.status.label
    more = len(outcome.ids) - len(first.ids)
    return "more" if more > 0 else "fewer" if more < 0 else "as-many"


class Map:
    """How often each behaviour was seen, up to ``SATURATED`` inputs, over all inputs so far.

    counts: as :attr:`counts` gave them; none for an empty map. Raises ValueError for anything else.
    """

    def __init__(self, counts: bytes = b"") -> None:
        self._counts = np.frombuffer(counts or bytes(MAP_SIZE), dtype=np.uint8).copy()
        if len(self._counts) != MAP_SIZE or self._counts.max() > SATURATED:
            raise ValueError(
                f"is no map of {MAP_SIZE:,} behaviours, each counted up to {SATURATED}"
            )

    @property
    def counts(self) -> bytes:
        """The map as bytes, for the constructor."""
        return self._counts.tobytes()

    def add(self, behaviour: BatchBehaviour) -> set[int]:
        """Count what was seen; the inputs that were the first to show some behaviour."""
        codes, first, seen = np.unique(behaviour.codes, return_index=True, return_counts=True)
        fresh = self._counts[codes] == 0
        self._counts[codes] = np.minimum(self._counts[codes] + seen, SATURATED)
        return set(behaviour.owners[first[fresh]].tolist())

    @property
    def species(self) -> tuple[int, int, int]:
        """How many behaviours were seen, how many in one input only, how many in two."""
        counts = np.bincount(self._counts, minlength=SATURATED + 1)
        return int(MAP_SIZE - counts[0]), int(counts[1]), int(counts[2])


EVERY = 8
"""One batch in so many is timed where cost is a behaviour, too: that asks everybody once more."""

LEAST_BYTES = 64
"""Below, a call's own cost is all there is to see."""

STEP = 1.5
"""A cost is new if it is so many times as great as before: smaller steps are noise."""

AGAIN = 3
"""What may be new is timed so many times again, and its least time counts."""


def dearer(
    pool: WorkerPool, contract: Contract, inputs: Sequence[bytes], costs: dict[str, float]
) -> set[int]:
    """The inputs that cost an implementation more a byte than any of its length before.

    costs: nanoseconds a byte by implementation and power of two of the length; raised here.
    Raises OutOfTime.
    """
    found = set()
    long_enough = [index for index, data in enumerate(inputs) if len(data) >= LEAST_BYTES]

    def timed(name: str, given: list[bytes]) -> list[int]:
        """Nanoseconds of each input; 0 of one without an encoding, and of all where one died."""
        answers = pool.gauge(name, contract, given, Meter.TIME)
        if answers.costs is None:
            return [0] * len(given)
        spent: list[int] = np.where(
            answers.status == Status.ENCODED, answers.costs[:, 0], 0
        ).tolist()
        return spent

    for name in contract.names if long_enough else ():
        spent = timed(name, [inputs[index] for index in long_enough])
        for index, first in zip(long_enough, spent, strict=True):
            size = len(inputs[index])
            key = f"{name} {1 << size.bit_length() - 1}"
            known = STEP * size * costs.get(key, 0.0)
            if first > known and (least := min(timed(name, [inputs[index]] * AGAIN))) > known:
                costs[key] = least / size
                found.add(index)
    return found
