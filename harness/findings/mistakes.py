"""Which well-known mistake an encoder makes: the one whose ids are its ids, if there is just one.

Byte-pair encoding is done again, plainly, once rightly and once with each of some mistakes. It is
for the words of a headline alone, and nothing is judged by it. Where a mistake is named, all ids of
the smallest input, of the first one seen and of a dozen inputs like them are those that it gives,
and no other mistake of the list gives the same.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise, product

from corpora.vocabularies.model import Vocabulary
from harness.checks.base import Violation, ids_of
from harness.core.comparisons import Contract
from harness.core.outcomes import Inputs, Outcome
from harness.core.pretokens import piece_ends
from harness.workers.pool import OutOfTime, WorkerPool

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

RIGHT = ""
"""Stands for no mistake."""

Way = Callable[[Vocabulary, bytes], list[int]]
"""How a pre-token is encoded."""


def named(pool: WorkerPool, contract: Contract, violations: Sequence[Violation]) -> str:
    """The one mistake that explains violations, and what is answered to inputs like theirs.

    violations: of one cause, the smallest first. Empty where there is none, or more than one, or no
    time to ask. Raises Stopped.
    """
    first = violations[0]
    if first.check != "equivalence" or first.undecided or len(first.culprits) != 1:
        return ""
    (culprit,), vocabulary = first.culprits, contract.vocabulary
    # Nothing is said where the trusted ids are not those of plain byte-pair encoding.
    if any(RIGHT not in giving(contract, one.data, one.parts[0].outcome) for one in violations):
        return ""
    theirs = [(v.data, p.outcome) for v in violations for p in v.parts if culprit in p.names]
    fits = set.intersection(*(giving(contract, *one) for one in theirs))
    if not fits:
        return ""
    # Inputs like these: one behind another, several times, and with something between.
    inputs = [one.data for one in violations]
    made = [part * count for part in (inputs[0], inputs[0][:1]) for count in (2, 3, 5, 7)]
    made += [between.join(both) for both in product(inputs, repeat=2) for between in BETWEEN]
    made += map(str.encode, TEXTS)
    probes = [x for x in dict.fromkeys(made) if len(x) <= LONGEST and vocabulary.can_encode(x)]
    try:
        answers = pool.again(contract.among({culprit}), Inputs.of(probes)).results[culprit]
    except OutOfTime:
        return ""
    for data, outcome in zip(probes, answers, strict=True):
        fits &= giving(contract, data, outcome)
    return fits.pop() if len(fits) == 1 else ""


def giving(contract: Contract, data: bytes, outcome: Outcome) -> set[str]:
    """The mistakes, or none (:data:`RIGHT`), that give these ids of an input.

    Empty where nothing can be said.
    """
    vocabulary, mode = contract.vocabulary, contract.mode
    plain = contract.algorithm == "bpe" and mode.special == "none" and vocabulary.merges.left.size
    if not plain or not 0 < len(data) <= LONGEST:
        return set()
    ends = sorted(piece_ends(vocabulary, data)) if mode.pretokenize else [len(data)]
    pieces = [data[start:end] for start, end in pairwise([0, *ends])]
    try:
        made = {
            name: [i for one in pieces for i in way(vocabulary, one)] for name, way in WAYS.items()
        }
        # In a toy few merges lie over boundaries, and one that is missing looks like all of them.
        if len(vocabulary) >= LARGE:
            made["does not cut texts into pre-tokens"] = WAYS[RIGHT](vocabulary, data)
    except (KeyError, StopIteration):
        return set()  # a byte without a token
    right = made[RIGHT]
    made |= {"loses the last token": right[:-1], "loses the first token": right[1:]}
    return {name for name, ids in made.items() if ids == [*ids_of(outcome)]}


def merging(by_rank: int = 1, by_place: int = 1, whole: bool | None = None) -> Way:
    """Merging of a pre-token, for as long as a pair can be merged.

    by_rank: the pair of the lowest rank comes first (1), or the highest (-1), or any (0).
    by_place: of several the first one (1), or the last one (-1). whole: whether a pre-token that is
    a token is taken whole; None: if the vocabulary says so.
    """

    def encode(vocabulary: Vocabulary, piece: bytes) -> list[int]:
        known, ranks = vocabulary.ids, _ranks(vocabulary)
        if piece in known and (vocabulary.ignore_merges if whole is None else whole):
            return [known[piece]]
        symbols = spelled(vocabulary, piece)
        while found := [
            (by_rank * ranks[pair][0], by_place * place, ranks[pair][1])
            for place, pair in enumerate(pairwise(symbols))
            if pair in ranks
        ]:
            _, place, merged = min(found)
            symbols[by_place * place : by_place * place + 2] = [merged]
        return symbols

    return encode


def spelled(vocabulary: Vocabulary, piece: bytes) -> list[int]:
    """The tokens of single bytes."""
    return [vocabulary.ids[bytes([byte])] for byte in piece]


def longest_first(vocabulary: Vocabulary, piece: bytes) -> list[int]:
    """The longest token at each place. Raises StopIteration for a byte that has none."""
    ids: list[int] = []
    while piece:
        ends = range(vocabulary.max_token_bytes, 0, -1)
        token = next(piece[:end] for end in ends if piece[:end] in vocabulary.ids)
        ids.append(vocabulary.ids[token])
        piece = piece[len(token) :]
    return ids


@lru_cache(maxsize=1)
def _ranks(vocabulary: Vocabulary) -> dict[tuple[int, int], tuple[int, int]]:
    """The rank of each pair that can be merged, and what it becomes; the first rank of several."""
    table = vocabulary.merges
    pairs = zip(table.left.tolist(), table.right.tolist(), strict=True)
    return dict(reversed([*zip(pairs, enumerate(table.merged.tolist()), strict=True)]))


WAYS: dict[str, Way] = {
    RIGHT: merging(),
    "merges equal-rank pairs from the right": merging(by_place=-1),
    "merges from the left, whatever the rank": merging(by_rank=0),
    "merges the pair of the lowest priority first": merging(by_rank=-1),
    "merges pre-tokens that should be taken whole, as they are tokens": merging(whole=False),
    "takes pre-tokens whole that are tokens, and should merge them": merging(whole=True),
    "takes the longest token at each place": longest_first,
    "merges nothing": spelled,
}
"""What encodes a pre-token rightly, and mistakes in that, in the words of a headline. What is no
mistake on a vocabulary gives the right ids there, and so explains nothing."""
