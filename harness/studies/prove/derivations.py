"""Byte-pair encoding by its definition, and the one way in which each token is ever made.

A symbol that stands over some bytes got there as it would from those bytes alone: no merge crossed
their ends, and of the pairs within, the same one was the first to merge each time. So a token that
does not encode to itself is never made, and of all merges to a token only the last one of its own
encoding ever acts: its *derivation*. A vocabulary encodes each text as its derivations do, whatever
else it lists, in whatever order.

Nothing here is shared with :mod:`impls.bpe`, which is what the proofs are about.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from corpora.vocabularies.model import RankOrder

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from corpora.vocabularies.model import Vocabulary

    Rank = Callable[[bytes, bytes], int | None]
    """The rank of the merge of two neighbours, by what they spell; None where they do not merge."""


NEVER = 1 << 62
"""A rank above all ranks."""


@dataclass(frozen=True)
class Derivations:
    """All that decides the encodings of a byte-level vocabulary.

    bases: the id of each byte that has one. ids: of each token that is ever made, bytes included.
    cuts: where the derivation of each made token of several bytes parts it. ranks: its priority;
    no two are equal.
    """

    bases: Mapping[bytes, int]
    ids: Mapping[bytes, int]
    cuts: Mapping[bytes, int]
    ranks: Mapping[bytes, int]

    def rank(self, left: bytes, right: bytes) -> int | None:
        """The rank of the merge of two neighbours."""
        whole = left + right
        return self.ranks[whole] if self.cuts.get(whole) == len(left) else None

    def encode(self, text: bytes) -> list[bytes]:
        """What the tokens of a text spell."""
        symbols = [text[at : at + 1] for at in range(len(text))]
        for _ in merging(symbols, self.rank):
            pass
        return symbols

    def merged(self, text: bytes) -> set[tuple[int, int]]:
        """Where each merge of a text's encoding begins and ends."""
        symbols = [text[at : at + 1] for at in range(len(text))]
        found = set()
        for at, _ in merging(symbols, self.rank):
            start = sum(map(len, symbols[:at]))
            found.add((start, start + len(symbols[at])))
        return found

    def halves(self, token: bytes) -> tuple[bytes, bytes]:
        """The two that a token of several bytes is made of."""
        cut = self.cuts[token]
        return token[:cut], token[cut:]

    def spine(self, token: bytes, side: int) -> list[bytes]:
        """A token, its half on a side (0: left, 1: right), that one's half there, to a byte."""
        found = [token]
        while len(found[-1]) > 1:
            found.append(self.halves(found[-1])[side])
        return found

    @cached_property
    def late(self) -> frozenset[bytes]:
        """Tokens that a token of a higher rank is a part of: Llama 3 has some."""
        found = set[bytes]()
        for token in sorted(self.cuts, key=len):
            rank = self.ranks[token]
            if any(h in found or self.ranks.get(h, -1) > rank for h in self.halves(token)):
                found.add(token)
        return frozenset(found)

    def valid(self, left: bytes, right: bytes) -> bool:
        """Whether two made tokens that stand side by side are the encoding of their text."""
        if left in self.late or right in self.late:
            return self.encode(left + right) == [left, right]
        # Undo what merged last: what then faces each other must not have merged before that.
        ranks, limit = self.ranks, NEVER
        while True:
            rank = self.rank(left, right)
            if rank is not None and rank < limit:
                return False
            here, there = ranks.get(left, -1), ranks.get(right, -1)
            if here < 0 and there < 0:
                return True
            if here > there:
                limit, left = here, self.halves(left)[1]
            else:  # of two equal merges the left one is made first
                limit, right = there + 1, self.halves(right)[0]

    def shorter(self, length: int, lost: Container[bytes] = ()) -> Derivations:
        """Those of tokens of fewer bytes, which encode all shorter texts that have none of ``lost``
        in them."""
        ids = {t: i for t, i in self.ids.items() if len(t) < length and t not in lost}
        cuts = {token: self.cuts[token] for token in ids if token in self.cuts}
        return Derivations(self.bases, ids, cuts, self.ranks)


def merging(symbols: list[bytes], rank: Rank) -> Iterator[tuple[int, int]]:
    """Encode in place: of all neighbours, merge those of the lowest rank, the leftmost of equals.

    Yields the place of each merge, after it, and the length of its left part.
    """
    ranks = [NEVER if (one := rank(*pair)) is None else one for pair in pairwise(symbols)]
    while ranks and (best := min(ranks)) < NEVER:
        at = ranks.index(best)
        cut = len(symbols[at])
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
        del ranks[at]
        for pair in (at - 1, at):
            if 0 <= pair < len(ranks):
                one = rank(symbols[pair], symbols[pair + 1])
                ranks[pair] = NEVER if one is None else one
        yield at, cut


@lru_cache(maxsize=2)  # the two that are compared
def derived(vocabulary: Vocabulary) -> Derivations:
    """Those of a byte-level vocabulary. Raises ValueError where its merges do not spell.

    Where ids are ranks, any neighbours merge that spell a token (tiktoken). Else the list decides,
    and of a pair that it has twice the first counts. Tokens are taken from the shortest on, as all
    that merges in a text is shorter than the text.
    """
    tokens = vocabulary.tokens
    bases = {bytes([b]): i for b, i in enumerate(vocabulary.byte_ids) if i is not None}
    ids, cuts, ranks = dict(bases), dict[bytes, int](), dict[bytes, int]()
    ways: dict[bytes, object] = {}
    if vocabulary.rank_order is RankOrder.IDS:
        by_text = {token: i for token, i in vocabulary.ids.items() if len(token) > 1}
        ways.update(by_text)

        def rank(left: bytes, right: bytes) -> int | None:
            return by_text.get(left + right)

        def made(left: bytes, right: bytes) -> int:
            return by_text[left + right]

    else:
        pairs: dict[tuple[int, int], tuple[int, int]] = {}
        for place, (one, other, merged) in enumerate(vocabulary.merges.triples()):
            left, right = tokens[one], tokens[other]
            if left is None or right is None or tokens[merged] != left + right:
                raise ValueError(f"merge {place} does not spell the token that it makes")
            pairs.setdefault((one, other), (place, merged))
            ways[left + right] = place

        def rank(left: bytes, right: bytes) -> int | None:
            found = pairs.get((ids[left], ids[right]))
            return None if found is None else found[0]

        def made(left: bytes, right: bytes) -> int:
            return pairs[ids[left], ids[right]][1]

    for token in sorted(ways, key=len):
        symbols = [token[at : at + 1] for at in range(len(token))]
        if not all(one in bases for one in symbols):
            continue
        cut = 0
        for _, cut in merging(symbols, rank):
            if len(symbols) == 1:
                parts = token[:cut], token[cut:]
                found = rank(*parts)
                assert found is not None
                cuts[token], ranks[token], ids[token] = cut, found, made(*parts)
    return Derivations(bases, ids, cuts, ranks)


def by_part(
    tokens: Iterable[bytes], parts: Callable[[bytes], Iterable[bytes]]
) -> dict[bytes, list[bytes]]:
    """Tokens by each of their parts."""
    found = defaultdict[bytes, list[bytes]](list)
    for token in tokens:
        for part in parts(token):
            found[part].append(token)
    return found
