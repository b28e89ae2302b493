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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from harness.core.outcomes import Encoded, Status
from harness.core.partition import partition
from harness.core.standing import most_trusted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Observation
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome, Results

BITS = 18
MAP_SIZE = 1 << BITS
"""Behaviours are told apart by a hash of so many bits: as there are at most some 200,000 ids and
as many pairs and triples of shapes that occur, few fall together, and the map stays at 256 KiB."""

SATURATED = 3
"""Counts above are of no use: estimates need what was seen once and twice."""

_LENGTHS = np.array([1, 2, 3, 5, 9], dtype=np.int64)
"""The classes of lengths begin at these lengths, in bytes."""

_LETTERS = 12
UNKNOWN_SHAPE = len(_LENGTHS) * _LETTERS * _LETTERS
SPECIAL_SHAPE = UNKNOWN_SHAPE + 1
_SHAPES = SPECIAL_SHAPE + 1

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: multiplying by it spreads consecutive numbers (Knuth 6.4)."""


def _letter_classes() -> NDArray[np.int64]:
    """The class of each byte, as a token begins or ends with it."""
    classes = np.zeros(256, dtype=np.int64)
    for byte in range(256):
        character = chr(byte)
        if byte >= 0xF0:
            kind = 11
        elif byte >= 0xE0:
            kind = 10
        elif byte >= 0xC0:
            kind = 9
        elif byte >= 0x80:
            kind = 8
        elif character == " ":
            kind = 1
        elif character in "\r\n":
            kind = 2
        elif character.isdigit():
            kind = 3
        elif character.isupper():
            kind = 4
        elif character.islower():
            kind = 5
        elif character == "'":
            kind = 6
        else:
            kind = 7 if character.isprintable() else 0
        classes[byte] = kind
    return classes


LETTER_CLASSES = _letter_classes()


class Shapes:
    """The shape of each token of a vocabulary. ``table``: int64 [ids + 1], the last for others."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        count = max(
            len(vocabulary.tokens), *(i + 1 for i in [0, *vocabulary.special_tokens.values()])
        )
        self.table = np.full(count + 1, UNKNOWN_SHAPE, dtype=np.int64)
        known = [(i, token) for i, token in enumerate(vocabulary.tokens) if token]
        places = np.array([i for i, _ in known], dtype=np.int64)
        lengths = np.array([len(token) for _, token in known], dtype=np.int64)
        first = np.frombuffer(b"".join(token[:1] for _, token in known), dtype=np.uint8)
        last = np.frombuffer(b"".join(token[-1:] for _, token in known), dtype=np.uint8)
        length = np.searchsorted(_LENGTHS, lengths, side="right") - 1
        shape = (length * _LETTERS + LETTER_CLASSES[first]) * _LETTERS + LETTER_CLASSES[last]
        self.table[places] = shape
        for token_id in vocabulary.special_tokens.values():
            self.table[token_id] = SPECIAL_SHAPE

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
    """What the answers to a batch show."""
    contract = seen.contract
    witness = _witness(contract, list(seen.results))
    owners, codes = _ngrams(seen.results[witness], shapes, contract.id)
    return BatchBehaviour(owners, codes, _disagreements(seen, witness))


def _witness(contract: Contract, present: Sequence[str]) -> str:
    """Whose tokens are looked at: the most trusted of those that are exact, else any."""
    exact = [name for name in present if name in contract.exact]
    return most_trusted(exact or present, contract.standing)


def _ngrams(
    results: Results, shapes: Shapes, salt: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ids = results.ids.astype(np.int64)
    lengths = np.diff(results.ends, prepend=0)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    shape = shapes.of(ids)
    start = zlib.crc32(salt.encode("utf-8", "surrogatepass"))
    owners, codes = [owner], [_hashed(ids, start, 1)]
    for length in (2, 3):
        if len(ids) < length:
            continue
        joined = np.zeros(len(ids) - length + 1, dtype=np.int64)
        for step in range(length):
            joined = joined * _SHAPES + shape[step : step + len(joined)]
        inside = owner[: len(joined)] == owner[length - 1 :]
        owners.append(owner[: len(joined)][inside])
        codes.append(_hashed(joined, start, length)[inside])
    pairs = np.unique((np.concatenate(owners) << BITS) | np.concatenate(codes))
    return pairs >> BITS, pairs & (MAP_SIZE - 1)


def _hashed(values: NDArray[np.int64], salt: int, kind: int) -> NDArray[np.int64]:
    """Numbers below ``MAP_SIZE``; what differs falls together once in so many."""
    offset = np.uint64(((salt << 8) | kind) * int(_GOLDEN) % 2**64)
    mixed = values.astype(np.uint64) + offset
    mixed ^= mixed >> np.uint64(29)
    return ((mixed * _GOLDEN) >> np.uint64(64 - BITS)).astype(np.int64)


def _disagreements(seen: Observation, witness: str) -> dict[int, str]:
    """The shape of each disagreement: exact ones by equal outcome, and all who gave none."""
    base = seen.results[witness]
    exact = set(seen.contract.exact)
    suspects: set[int] = set()
    for name, results in seen.results.items():
        if results is base or results.same_as(base):
            continue
        if name not in exact:
            suspects.update(np.flatnonzero(results.status > Status.UNSUPPORTED).tolist())
            continue
        suspects.update(results.differing(base))
    found = {}
    for index in sorted(suspects):
        outcomes = {name: results.outcome(index) for name, results in seen.results.items()}
        shape = disagreement(outcomes, seen.contract)
        if shape is not None:
            found[index] = shape
    return found


def disagreement(outcomes: dict[str, Outcome], contract: Contract) -> str | None:
    """The shape of what outcomes of one input make of it; None if they agree.

    The partition of those that are to agree, with how many tokens each part has beside the first,
    and the failures by kind: ``toy/raw tiktoken=tokenizers|bpe.heap(more) x:crashed``.
    """
    exact = {name: outcome for name, outcome in outcomes.items() if name in contract.exact}
    parts = partition(exact, contract.standing)
    failed = [
        f"{name}:{outcome.status.label}"
        for name, outcome in outcomes.items()
        if outcome.status > Status.UNSUPPORTED
    ]
    if len(parts) < 2 and not failed:
        return None
    words = ["=".join(part.names) + _beside(part.outcome, parts[0].outcome) for part in parts]
    return " ".join([contract.id, "|".join(words), *failed]).rstrip()


def _beside(outcome: Outcome, first: Outcome) -> str:
    if outcome is first:
        return ""
    if not isinstance(outcome, Encoded) or not isinstance(first, Encoded):
        return f"({outcome.status.label})"
    more = len(outcome.ids) - len(first.ids)
    return "(more)" if more > 0 else "(fewer)" if more < 0 else "(as-many)"


class Map:
    """How often each behaviour was seen, up to ``SATURATED`` inputs, over all inputs so far."""

    def __init__(self, counts: bytes = b"") -> None:
        """Make one of what :attr:`counts` gave, or an empty one. Raises ValueError."""
        if not counts:
            counts = bytes(MAP_SIZE)
        if len(counts) != MAP_SIZE:
            raise ValueError(f"has {len(counts):,} behaviours, not {MAP_SIZE:,}")
        self._counts = np.frombuffer(counts, dtype=np.uint8).copy()
        if self._counts.max() > SATURATED:
            raise ValueError(f"counts a behaviour more often than {SATURATED} times")

    @property
    def counts(self) -> bytes:
        """The map as bytes, for the constructor."""
        return self._counts.tobytes()

    def add(self, behaviour: BatchBehaviour) -> dict[int, int]:
        """Count what was seen; how many behaviours each input was the first to show."""
        codes, first = np.unique(behaviour.codes, return_index=True)
        fresh = self._counts[codes] == 0
        owners, numbers = np.unique(behaviour.owners[first[fresh]], return_counts=True)
        seen = np.bincount(behaviour.codes, minlength=MAP_SIZE)[codes]
        total = np.minimum(self._counts[codes].astype(np.int64) + seen, SATURATED)
        self._counts[codes] = total.astype(np.uint8)
        return dict(zip(owners.tolist(), numbers.tolist(), strict=True))

    @property
    def species(self) -> tuple[int, int, int]:
        """How many behaviours were seen, how many in one input only, how many in two."""
        counts = np.bincount(self._counts, minlength=SATURATED + 1)
        return int(MAP_SIZE - counts[0]), int(counts[1]), int(counts[2])
