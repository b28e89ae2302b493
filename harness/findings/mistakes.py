"""Which well-known mistake an encoder makes: the one whose ids are its ids, if there is just one.

Byte-pair encoding is done again, plainly, once rightly and once with each of some mistakes. It is
for the words of a headline alone, and nothing is judged by it. Where a mistake is named, all ids of
the smallest input, of the first one seen and of a dozen inputs like them are those that it gives,
and no other mistake of the list gives the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.core.outcomes import Encoded, Inputs
from harness.core.pretokens import piece_ends
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Outcome
    from harness.workers.pool import WorkerPool

LONGEST = 400
"""Bytes of the longest input that is encoded again: plain merging takes the square of it."""

LARGE = 1000
"""Tokens from which on a vocabulary has merges over all kinds of boundaries."""

BETWEEN = (b"", b" ", b"a", b"\n1 ")
"""What is put between two inputs."""

TEXTS = (
    "It's 12 o'clock, isn't it? They'll say: yes.\n\n  return f(x) != 345;\t// Größe, 東京",
    "aaaa abab   banana Mississippi 1000000 ---- \n\n\n",
    "the quick brown fox jumped over thirteen lazy dogs, internationalization of tokenizers",
)
"""Further inputs: words, numbers, signs, runs, white space."""

MERGES_WHOLE = "merges pre-tokens that should be taken whole, as they are tokens"
TAKES_WHOLE = "takes pre-tokens whole that are tokens, and should merge them"

Pick = Callable[[list[tuple[int, int]]], tuple[int, int]]
"""The choice of the next pair to merge, each given by its rank and place."""

PICKS: dict[str, Pick] = {
    "merges equal-rank pairs from the right": lambda found: min(
        found, key=lambda one: (one[0], -one[1])
    ),
    "merges from the left, whatever the rank": lambda found: min(found, key=lambda one: one[1]),
    "merges the pair of the lowest priority first": lambda found: max(
        found, key=lambda one: (one[0], -one[1])
    ),
}
"""Mistakes in the choice of the next pair, in the words of a headline."""

RIGHT = ""
"""Stands for no mistake."""


def named(pool: WorkerPool, contract: Contract, violations: Sequence[Violation]) -> str:
    """The one mistake that explains violations, and what is answered to inputs like theirs.

    violations: of one cause, the smallest first. Empty where there is none, or more than one, or no
    time to ask. Raises Stopped.
    """
    first = violations[0]
    if first.check != "equivalence" or first.undecided or len(first.culprits) != 1:
        return ""
    (culprit,) = first.culprits
    shown = [
        (one.data, part.outcome)
        for one in violations
        for part in one.parts[1:]
        if culprit in part.names
    ]
    candidates = frozenset.intersection(*(fitting(contract, *one) for one in shown)) - {RIGHT}
    # Nothing is said where the trusted ids are not those of plain byte-pair encoding.
    plain = all(RIGHT in fitting(contract, one.data, one.parts[0].outcome) for one in violations)
    if not candidates or not plain:
        return ""
    probes = probes_of([one.data for one in violations], contract.vocabulary)
    try:
        answers = pool.again(contract.among({culprit}), Inputs.of(probes)).results[culprit]
    except OutOfTime:
        return ""
    for index, data in enumerate(probes):
        candidates &= fitting(contract, data, answers.outcome(index))
    return "".join(candidates) if len(candidates) == 1 else ""


def probes_of(inputs: Sequence[bytes], vocabulary: Vocabulary) -> list[bytes]:
    """Inputs like some others: one behind another, several times, and with something between."""
    small = inputs[0]
    made = [small * count for count in (2, 3, 5)]
    made += [one + between + other for one in inputs for other in inputs for between in BETWEEN]
    made += [small[:1] * count for count in (3, 4, 7)]
    made += [text.encode() for text in TEXTS]
    fitting = [one for one in made if len(one) <= LONGEST and vocabulary.can_encode(one)]
    return list(dict.fromkeys(fitting))


def fitting(contract: Contract, data: bytes, outcome: Outcome) -> frozenset[str]:
    """The mistakes, or none (:data:`RIGHT`), that give the ids of an outcome."""
    if not isinstance(outcome, Encoded):
        return frozenset()
    made = predicted(contract, data)
    return frozenset(said for said, ids in made.items() if ids == list(outcome.ids))


def predicted(contract: Contract, data: bytes) -> dict[str, list[int]]:
    """The ids of an input by each mistake and by none; empty where nothing can be said."""
    vocabulary = contract.vocabulary
    if (
        contract.algorithm != "bpe"
        or contract.mode.special != "none"
        or not 0 < len(data) <= LONGEST
        or not len(vocabulary.merges.left)
    ):
        return {}
    known, longest = vocabulary.ids, vocabulary.max_token_bytes
    whole = vocabulary.ignore_merges

    def of_bytes(piece: bytes) -> list[int]:
        return [known[piece[i : i + 1]] for i in range(len(piece))]

    def merging(pick: Pick = min, *, whole: bool = whole) -> Callable[[bytes], list[int]]:
        def encode(piece: bytes) -> list[int]:
            if whole and piece in known:
                return [known[piece]]
            return merged(vocabulary, of_bytes(piece), pick)

        return encode

    def longest_first(piece: bytes) -> list[int]:
        if not piece:
            return []
        end = next(end for end in range(longest, 0, -1) if piece[:end] in known)
        return [known[piece[:end]], *longest_first(piece[end:])]

    ways = {
        RIGHT: merging(),
        **{said: merging(pick) for said, pick in PICKS.items()},
        "takes the longest token at each place": longest_first,
        "merges nothing": of_bytes,
        MERGES_WHOLE if whole else TAKES_WHOLE: merging(whole=not whole),
    }
    ends = sorted(piece_ends(vocabulary, data)) if contract.mode.pretokenize else [len(data)]
    pieces = [data[start:end] for start, end in pairwise([0, *ends])]
    try:
        made = {said: [i for one in pieces for i in way(one)] for said, way in ways.items()}
        # In a toy few merges lie over boundaries, and one that is missing looks like all of them.
        if len(vocabulary) >= LARGE:
            made["does not cut texts into pre-tokens"] = merging()(data)
    except (KeyError, StopIteration):
        return {}  # a byte without a token
    right = made[RIGHT]
    return made | {"loses the last token": right[:-1], "loses the first token": right[1:]}


def merged(vocabulary: Vocabulary, symbols: list[int], pick: Pick) -> list[int]:
    """Symbols, merged for as long as a pair of them can be."""
    ranks = _ranks(vocabulary)
    while found := [
        (ranks[pair][0], place) for place, pair in enumerate(pairwise(symbols)) if pair in ranks
    ]:
        _, place = pick(found)
        symbols[place : place + 2] = [ranks[symbols[place], symbols[place + 1]][1]]
    return symbols


@lru_cache(maxsize=1)
def _ranks(vocabulary: Vocabulary) -> dict[tuple[int, int], tuple[int, int]]:
    """The rank of each pair that can be merged, and what it becomes; the first rank of several."""
    merges = vocabulary.merges
    rows = zip(*(one.tolist() for one in (merges.left, merges.right, merges.merged)), strict=True)
    ranked = [((left, right), (rank, made)) for rank, (left, right, made) in enumerate(rows)]
    return dict(reversed(ranked))
