"""Which well-known mistake an encoder makes: the one whose ids are its ids, if there is just one.

Byte-pair encoding is done again, plainly, once rightly and once with each of some mistakes. It is
for the words of a headline alone, and nothing is judged by it. Where a mistake is named, all ids of
the smallest input, of the first one seen and of a dozen inputs like them are those that it gives,
and no other mistake of the list gives the same.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from harness.core.outcomes import Encoded, Inputs
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
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

Found = list[tuple[int, int]]
"""Rank and place of each pair that could be merged."""

PICKS: dict[str, Callable[[Found], tuple[int, int]]] = {
    "merges equal-rank pairs from the right": lambda found: min(
        found, key=lambda one: (one[0], -one[1])
    ),
    "merges from the left, whatever the rank": lambda found: min(found, key=lambda one: one[1]),
    "merges the pair of the lowest priority first": lambda found: max(
        found, key=lambda one: (one[0], -one[1])
    ),
}
"""Mistakes in the choice of the next pair, in the words of a headline."""


class Plain:
    """Byte-pair encoding of short pieces by the merges that concern them."""

    def __init__(self, vocabulary: Vocabulary, data: bytes) -> None:
        self.vocabulary = vocabulary
        known, longest = vocabulary.ids, vocabulary.max_token_bytes
        parts = {data[i:j] for i in range(len(data)) for j in range(i, min(len(data), i + longest))}
        parts |= {data[max(0, len(data) - n) :] for n in range(1, longest + 1)}
        merges = vocabulary.merges
        wanted = [known[part] for part in parts if part in known]
        rows = np.flatnonzero(np.isin(merges.merged, wanted))
        self._ranks = {
            (int(merges.left[row]), int(merges.right[row])): (int(row), int(merges.merged[row]))
            for row in rows[::-1]
        }

    def ids(
        self,
        piece: bytes,
        pick: Callable[[Found], tuple[int, int]] = min,
        whole: bool | None = None,
    ) -> list[int]:
        """The ids of a piece. whole: whether a piece that is a token is taken as it is."""
        vocabulary = self.vocabulary
        if (vocabulary.ignore_merges if whole is None else whole) and piece in vocabulary.ids:
            return [vocabulary.ids[piece]]
        symbols = self.bytes_of(piece)
        while True:
            found = [
                (self._ranks[pair][0], place)
                for place, pair in enumerate(pairwise(symbols))
                if pair in self._ranks
            ]
            if not found:
                return symbols
            _, place = pick(found)
            symbols[place : place + 2] = [self._ranks[symbols[place], symbols[place + 1]][1]]

    def bytes_of(self, piece: bytes) -> list[int]:
        """The ids of its bytes. Raises KeyError for a byte without one."""
        return [self.vocabulary.ids[piece[i : i + 1]] for i in range(len(piece))]

    def longest_first(self, piece: bytes) -> list[int]:
        """The longest token at each place."""
        found, start = [], 0
        known, longest = self.vocabulary.ids, self.vocabulary.max_token_bytes
        while start < len(piece):
            ends = range(min(len(piece), start + longest), start, -1)
            end = next(end for end in ends if piece[start:end] in known)
            found.append(known[piece[start:end]])
            start = end
        return found


def named(pool: WorkerPool, contract: Contract, violations: Sequence[Violation]) -> str:
    """The one mistake that explains violations, and what is answered to inputs like theirs.

    violations: of one cause, the smallest first. Empty where there is none, or more than one, or no
    time to ask. Raises Stopped.
    """
    candidates = frozenset.intersection(*(explaining(one, contract) for one in violations))
    if not candidates:
        return ""
    (culprit,) = violations[0].culprits
    probes = probes_of([one.data for one in violations], contract.vocabulary)
    try:
        answers = pool.again(contract.among({culprit}), Inputs.of(probes)).results[culprit]
    except OutOfTime:
        return ""
    for index, data in enumerate(probes):
        outcome = answers.outcome(index)
        if not isinstance(outcome, Encoded):
            return ""
        _, made = predicted(contract, data)
        candidates &= {said for said, ids in made.items() if ids == list(outcome.ids)}
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


def explaining(violation: Violation, contract: Contract) -> frozenset[str]:
    """The mistakes of the list that give the ids of the one who is blamed; empty where none does.

    Nothing is said where the trusted ids are not those of plain byte-pair encoding.
    """
    data = violation.data
    asked = violation.check == "equivalence" and not violation.undecided
    if not asked or len(violation.culprits) != 1 or len(violation.parts) < 2:
        return frozenset()
    trusted = violation.parts[0].outcome
    blamed = next(
        (part.outcome for part in violation.parts[1:] if violation.culprits[0] in part.names), None
    )
    if not isinstance(trusted, Encoded) or not isinstance(blamed, Encoded):
        return frozenset()
    right, made = predicted(contract, data)
    if right != list(trusted.ids):
        return frozenset()
    return frozenset(said for said, ids in made.items() if ids == list(blamed.ids) != right)


def predicted(contract: Contract, data: bytes) -> tuple[list[int] | None, dict[str, list[int]]]:
    """The right ids of an input, and those of each mistake; None where nothing can be said."""
    vocabulary = contract.vocabulary
    if (
        contract.algorithm != "bpe"
        or contract.mode.special != "none"
        or not 0 < len(data) <= LONGEST
        or not len(vocabulary.merges.left)
    ):
        return None, {}
    try:
        pieces = _pieces(vocabulary, contract, data)
        plain = Plain(vocabulary, data)
        return _joined(plain.ids, pieces), _made(plain, pieces, data)
    except (KeyError, StopIteration, ValueError):
        return None, {}  # a byte without a token, or a text that cannot be cut


def _made(plain: Plain, pieces: Sequence[bytes], data: bytes) -> dict[str, list[int]]:
    whole = plain.vocabulary.ignore_merges
    right = _joined(plain.ids, pieces)
    of_whole = MERGES_WHOLE if whole else TAKES_WHOLE
    # In a toy few merges lie over boundaries, and one that is missing looks like all of them.
    large = len(plain.vocabulary) >= LARGE
    return {
        **{said: _joined(partial(plain.ids, pick=pick), pieces) for said, pick in PICKS.items()},
        "takes the longest token at each place": _joined(plain.longest_first, pieces),
        "merges nothing": _joined(plain.bytes_of, pieces),
        of_whole: _joined(partial(plain.ids, whole=not whole), pieces),
        "loses the last token": right[:-1],
        "loses the first token": right[1:],
        **({"does not cut texts into pre-tokens": plain.ids(data)} if large else {}),
    }


def _joined(encode: Callable[[bytes], list[int]], pieces: Sequence[bytes]) -> list[int]:
    return [token for piece in pieces for token in encode(piece)]


def _pieces(vocabulary: Vocabulary, contract: Contract, data: bytes) -> list[bytes]:
    """The pre-tokens of a text. Raises ValueError for what cannot be cut."""
    from impls.interface import Unsupported  # noqa: PLC0415 (only where something was found)
    from impls.pretokenize.pieces import PlainCutter  # noqa: PLC0415

    try:
        cut = PlainCutter(vocabulary).cut(data, np.array([len(data)]), contract.mode)
    except Unsupported as error:
        raise ValueError(str(error)) from error
    if (cut.given >= 0).any():
        raise ValueError("a token that was cut out before")
    ends = cut.ends.tolist()
    return [cut.data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
