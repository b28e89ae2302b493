"""Whether two byte-level vocabularies encode every piece alike; else the shortest that differs.

**Theorem.** Tokens are the encoding of their text exactly if each is made (see
:mod:`harness.studies.prove.derivations`) and each two neighbours are *valid*: the encoding of their
text. Parts of an encoding are encodings, since nothing merged across their ends. And if the
encoding crossed a boundary of tokens that are pairwise valid, its first merge to do so would cross
it in the encoding of the two neighbours, too, as all that came before lies inside of one token.
(GitHub's `bpe` crate states it of proper vocabularies; this holds in any order of ranks.) So two
vocabularies are equal exactly if they make the same tokens and have the same valid pairs, and the
shortest text that differs is a token that one alone makes, or a pair that is valid in one alone.

**Which pairs to look at**, where both make the same tokens. Let (x, y) be valid in A; in B let the
merge of u and v be the first to cross, so that u is on the right spine of x and v on the left
spine of y.

1. If all tokens have the same halves in both, A has this merge, too, so that u (or v, which is
   likewise) was used up before: it was merged with its left neighbour a. Then the text of a, u, v
   differs: A makes the token a u in it, B makes u v, and a text with the same tokens has the same
   merges. If the ranks of these two merges are in the same order in A and in B, and no token is of
   lower rank than its parts, that cannot be. So the texts of merges (a, u) and (u, v) whose order
   differs are all that must be encoded; and they contain the shortest text.
2. A token that is made in two ways can hide merges. Then all pairs are looked at in which a spine
   has such a token; in which u v is one; and those that stand around a, u, v where the merges of
   that text differ, and its tokens do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice, product
from typing import TYPE_CHECKING

import numpy as np

from harness.studies.prove.derivations import by_part, derived

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.studies.prove.derivations import Derivations

Possible = Callable[[bytes], bool]
"""Whether a piece can have these bytes in it."""


def always(text: bytes) -> bool:
    """Any bytes can be in a piece."""
    return True


Three = tuple[bytes, bytes, bytes]

LENGTHS = (4, 8, 1 << 30)
"""Tokens up to these lengths are taken in turn: a short text that differs is found soon."""

TEXTS = 1_000_000
"""Texts of three that are encoded, at most: a minute."""

PAIRS = 4_000_000
"""Pairs whose validity is asked, at most, likewise."""

MANY = 64
"""Differing texts that are kept."""


@dataclass(frozen=True)
class Found:
    """What is known of two vocabularies' texts of one piece.

    texts: that they encode differently, the shortest first; it is the shortest there is where
    ``exact``. undecided: why it is not known, without a text, that there is none.
    """

    texts: Sequence[bytes] = ()
    undecided: str = ""
    exact: bool = True


def alike(
    a: Vocabulary, b: Vocabulary, numbers: Mapping[int, int], possible: Possible = always
) -> Found:
    """Compare two vocabularies, with the tokens that they take whole (``ignore_merges``).

    numbers: the id in B of each of A's. possible: whether a piece can have these bytes in it.
    Raises ValueError where merges do not spell.
    """
    mine, theirs = derived(a), derived(b)
    found = decided(mine, theirs, possible)
    wholes = [{*v.ids} if v.ignore_merges else set[bytes]() for v in (a, b)]
    made = [{*d.ids, *whole} for d, whole in zip((mine, theirs), wholes, strict=True)]

    def differs(text: bytes) -> bool:
        one, other = ([text] if text in whole else d.encode(text)
                      for whole, d in zip(wholes, (mine, theirs), strict=True))  # fmt: skip
        return one != other

    texts = [*_possible(made[0] ^ made[1], possible)]
    hidden = [text for text in found.texts if not differs(text)]
    texts += [text for text in found.texts if text not in hidden]
    longer = (one for text in hidden for byte in mine.bases for one in (text + byte, byte + text))
    texts += (one for one in longer if one[:1] in theirs.bases and differs(one))
    lost = bool(found.texts) and not texts
    moved = set()
    for text in made[0] & made[1]:
        one, other = (
            v.ids[text] if text in whole else d.ids[text]
            for v, whole, d in zip((a, b), wholes, (mine, theirs), strict=True)
        )
        if numbers.get(one) != other:
            moved.add(text)
    texts += _possible(moved, possible)
    for text in (mine.ids.keys() & theirs.ids.keys() & (wholes[0] | wholes[1])) - {*texts}:
        lost = lost or (numbers.get(mine.ids[text]) != theirs.ids[text] and possible(text))
    texts = sorted({*texts}, key=by_length)[:MANY]
    words = "texts that merges encode differently are tokens that a vocabulary takes whole"
    undecided = found.undecided or words * lost
    return Found(texts, undecided * (not texts), found.exact and not hidden)


def by_length(text: bytes) -> tuple[int, bytes]:
    """The order in which texts are shown."""
    return len(text), text


def _possible(texts: Iterable[bytes], possible: Possible) -> Iterator[bytes]:
    """The first few of these that can be in a piece, the shortest first."""
    return islice(filter(possible, sorted(texts, key=by_length)), MANY)


def decided(a: Derivations, b: Derivations, possible: Possible = always) -> Found:
    """Compare two vocabularies, by what tokens spell, where merges alone decide.

    Tokens that no piece can have in it never matter: they are left out of both.
    """
    alone: list[bytes] = []
    lost = set[bytes]()
    for token in sorted(a.ids.keys() ^ b.ids.keys(), key=by_length):
        if possible(token):
            alone.append(token)
        else:
            lost.add(token)
        if len(alone) == MANY:
            break
    limit = len(alone[0]) if alone else LENGTHS[-1] + 1
    if alone or lost:
        a, b = (one.shorter(limit, lost) for one in (a, b))
    found = _pairs(a, b, limit, possible)
    texts = [*sorted({*found.texts}, key=by_length), *alone][:MANY]
    return Found(texts, found.undecided * (not texts), not found.undecided)


def _pairs(a: Derivations, b: Derivations, limit: int, possible: Possible) -> Found:
    """Texts of fewer bytes than ``limit`` whose pair of tokens differs; both make the same ones."""
    twice = {token for token in a.cuts if a.cuts[token] != b.cuts[token]}
    shown: list[bytes] = []
    hidden: list[Three] = []
    for longest in LENGTHS:
        shown, hidden = [], []
        overlaps, complete = _overlaps(a, b, twice, longest, limit)
        for left, middle, right in overlaps:
            text = left + middle + right
            if len(shown) >= MANY and len(text) > len(shown[0]):
                break
            if a.encode(text) != b.encode(text):
                shown += [text] * possible(text)
            elif twice and a.merged(text) != b.merged(text):
                hidden.append((left, middle, right))
        if not complete:
            words = f"more than {TEXTS:,} texts of merges in another order would have to be encoded"
            return Found(shown, words)
        if shown and len(shown[0]) <= longest:
            break
    if not twice:
        return Found(shown)
    several = _around(a, b, twice, hidden)
    size = sum(len(lefts) * len(rights) for lefts, rights in several)
    if size > PAIRS:
        words = (
            f"{len(twice):,} tokens are made in two ways: {size:,} pairs would have to be looked at"
        )
        return Found(shown, words)
    for lefts, rights in several:
        for left, right in product(lefts, rights):
            text = left + right
            if len(text) < limit and a.valid(left, right) != b.valid(left, right):
                shown += [text] * possible(text)
    return Found(shown)


def _overlaps(
    a: Derivations, b: Derivations, twice: set[bytes], longest: int, limit: int
) -> tuple[list[Three], bool]:
    """Three tokens, of which the first two and the last two merge, in an order that may differ.

    Shortest texts first; and whether these are all. Both merges are alike in A and B.
    twice: tokens that are made in two ways. longest: of a token.
    """
    tokens = {token for token in a.cuts if len(token) <= longest and token not in twice}
    odd = a.late | b.late
    found: list[tuple[int, Three]] = []
    lefts = by_part(tokens, lambda token: a.halves(token)[:1])
    rights = by_part(tokens, lambda token: a.halves(token)[1:])
    for middle in lefts.keys() & rights.keys():
        cut = len(middle)
        for first, second in _changed(a, b, odd, rights[middle], lefts[middle]):
            size = len(first) + len(second) - cut
            if size < limit:
                found.append((size, (first[:-cut], middle, second[cut:])))
        if len(found) > TEXTS:
            break
    return [three for _, three in sorted(found)], len(found) <= TEXTS


def _changed(
    a: Derivations,
    b: Derivations,
    odd: frozenset[bytes],
    here: Sequence[bytes],
    there: Sequence[bytes],
) -> Iterator[tuple[bytes, bytes]]:
    """Pairs of one of ``here`` and one of ``there`` whose ranks are in another order in A and B."""
    mine, theirs = (np.array([v.ranks[t] for t in (*here, *there)]) for v in (a, b))
    strange = np.array([token in odd for token in (*here, *there)])
    order = np.argsort(mine, kind="stable")
    if (np.diff(theirs[order]) >= 0).all() and not strange.any():
        return
    many = len(here)
    step = max(1, (1 << 22) // len(there))
    for start in range(0, many, step):
        some = slice(start, min(many, start + step))
        less = mine[some, None] < mine[None, many:]
        also = theirs[some, None] < theirs[None, many:]
        rows, columns = np.nonzero((less != also) | strange[some, None] | strange[None, many:])
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            yield here[start + row], there[column]


def _around(
    a: Derivations,
    b: Derivations,
    twice: set[bytes],
    hidden: Iterable[tuple[bytes, bytes, bytes]],
) -> list[tuple[Sequence[bytes], Sequence[bytes]]]:
    """The pairs to look at where tokens are made in two ways: all of these with all of those."""
    every = [*a.ids]
    on_left, on_right = (
        [by_part(every, partial(made.spine, side=side)) for made in (a, b)] for side in (0, 1)
    )
    ending = {*chain.from_iterable(one[token] for one in on_right for token in twice)}
    beginning = {*chain.from_iterable(one[token] for one in on_left for token in twice)}
    found: list[tuple[Sequence[bytes], Sequence[bytes]]] = [
        ([*ending], every),
        (every, [*beginning]),
    ]
    for made, rights, lefts in zip((a, b), on_right, on_left, strict=True):
        for token in twice:
            left, right = made.halves(token)
            found.append((rights[left], lefts[right]))
    for left, middle, right in hidden:
        for rights, lefts in zip(on_right, on_left, strict=True):
            if left + middle in rights and right in lefts:
                found.append((rights[left + middle], lefts[right]))
            if left in rights and middle + right in lefts:
                found.append((rights[left], lefts[middle + right]))
    return found
