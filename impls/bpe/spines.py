"""Which token stands last: intervals over right spines, and a search among a token's suffixes.

The *right spine* of a token is the token, its right half, the right half of that, down to a base
token (one that no merge makes): all that stood last while its text was encoded. The forest in which
each token's parent is its right half has a spine for each path to a root.

Let q be the last token of the text before c's right half. Then c = (l, r) forms at the end of the
text exactly if l is on q's spine and was not used up, by a merge older than c or by c itself one
place to the left, before c's turn: that is, q is l, or below a child of l that is younger than c.
Children numbered in preorder from the youngest on make these q one interval.

The tokens that form at the end of a text are the spine of its last token t. All are among the
suffixes of the longest token s that the text ends in; those suffixes make a tree (a part of the
forest), in which the path to t is found by centroids: if a centroid formed, go on below it, in
the one child (by bisection: their intervals are disjoint) that formed; if not, above it. That is
O(log^2 |s|) a byte. (Jiang and Gong, "Incremental BPE Tokenization", arXiv 2605.30813.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from impls.bpe.tokens import Tokens
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Ints, Longs


class Spines(NamedTuple):
    """By token: its bytes, and those of its right half (0 for a base token); its preorder number;
    the interval, first to stop, of those that may stand to the left of its right half; and where
    the search tree of its suffixes begins in ``searches``.

    A search tree is a sequence of nodes, each a centroid: token, next node if it did not form
    (EMPTY: none), number k of its children in the rest tree, then k rows by the first number of
    their interval: child, its node (EMPTY for none below it).
    """

    lengths: Ints
    rights: Ints
    numbers: Ints
    firsts: Ints
    stops: Ints
    starts: Ints
    searches: Ints


@njit
def formed(spines: Spines, lasts: Ints, position: int, token: int) -> bool:
    """Whether a token forms at the end of the text that ends with the byte at ``position``.

    lasts: the last token of the text up to each earlier byte.
    """
    right = int(spines.rights[token])
    if right == 0:
        return True
    number = spines.numbers[lasts[position - right]]
    return bool(spines.firsts[token] <= number < spines.stops[token])


@njit
def last_token(spines: Spines, lasts: Ints, position: int, longest: int) -> int:
    """The last token of the text that ends with the byte at ``position``.

    longest: the longest token that the text ends in.
    """
    if formed(spines, lasts, position, longest):
        return longest
    searches = spines.searches
    best = EMPTY
    node = int(spines.starts[longest])
    while node != EMPTY:
        token = int(searches[node])
        if not formed(spines, lasts, position, token):
            node = int(searches[node + 1])
            continue
        best = token
        count = int(searches[node + 2])
        if count == 0:
            break
        number = int(spines.numbers[lasts[position - int(spines.lengths[token])]])
        rows = node + 3
        low, high = 0, count  # the first row whose interval begins after ``number``
        while low < high:
            middle = (low + high) >> 1
            if spines.firsts[searches[rows + 2 * middle]] <= number:
                low = middle + 1
            else:
                high = middle
        if low == 0:
            break
        below = int(searches[rows + 2 * low - 2])
        if number >= spines.stops[below]:
            break
        best = below
        node = int(searches[rows + 2 * low - 1])
    return best


@njit
def _number(splits: Ints, base_tokens: int, spines: Spines) -> None:
    """Fill the numbers and the intervals."""
    numbers, firsts, stops = spines.numbers, spines.firsts, spines.stops
    tokens = len(numbers)
    sizes = np.ones(tokens, dtype=np.int64)
    below = np.zeros(tokens, dtype=np.int64)  # sizes of the children met so far, youngest first
    for token in range(tokens - 1, base_tokens - 1, -1):
        left, right = int(splits[2 * token]), int(splits[2 * token + 1])
        stops[token] = below[left]
        numbers[token] = below[right]
        below[right] += sizes[token]
        sizes[right] += sizes[token]
    number = 0
    for token in range(base_tokens):
        numbers[token] = number
        number += int(sizes[token])
    for token in range(base_tokens, tokens):
        numbers[token] += 1 + numbers[splits[2 * token + 1]]
    for token in range(base_tokens, tokens):
        firsts[token] = numbers[splits[2 * token]]
        stops[token] += firsts[token] + 1


@njit
def _search_tree(
    members: Longs, count: int, splits: Ints, base_tokens: int, firsts: Ints, out: Ints, at: int
) -> int:
    """Write the search tree of ``members[:count]`` to ``out[at:]``; returns where it ends.

    members: a token's suffixes, shortest (a base token) first, so that parents come first.
    """
    parents = np.full(count, EMPTY, dtype=np.int64)
    for i in range(1, count):
        for k in range(i):
            if members[k] == splits[2 * members[i] + 1] and members[i] >= base_tokens:
                parents[i] = k
    parts = np.zeros(count, dtype=np.int64)
    sizes = np.empty(count, dtype=np.int64)
    # Components of the tree, waiting: the number of one, and the field that points to its node.
    stack, fields = np.zeros(count, dtype=np.int64), np.full(count, EMPTY, dtype=np.int64)
    depth = 1
    newest = 0
    while depth > 0:
        depth -= 1
        part, field = int(stack[depth]), int(fields[depth])
        total = 0
        for i in range(count - 1, -1, -1):
            if parts[i] == part:
                sizes[i] = 1
                total += 1
        top = EMPTY
        for i in range(count - 1, -1, -1):
            if parts[i] == part:
                if parents[i] != EMPTY and parts[parents[i]] == part:
                    sizes[parents[i]] += sizes[i]
                else:
                    top = i
        # The deepest node with at least half of the component below it.
        centroid = top
        for i in range(count):
            if parts[i] == part and 2 * sizes[i] >= total:
                centroid = i
        if field != EMPTY:
            out[field] = at
        out[at] = members[centroid]
        out[at + 1] = EMPTY
        if centroid != top:
            # Above stays the old part; below moves to new ones.
            stack[depth], fields[depth] = part, at + 1
            depth += 1
        parts[centroid] = EMPTY
        rows = 0
        row = at + 3
        for i in range(centroid + 1, count):
            parent = int(parents[i])
            if parts[i] != part:
                continue
            if parent == centroid:
                newest += 1
                parts[i] = newest
                # Insertion by the interval's first number; children are few.
                slot = row + 2 * rows
                while slot > row and firsts[out[slot - 2]] > firsts[members[i]]:
                    out[slot], out[slot + 1] = out[slot - 2], out[slot - 1]
                    slot -= 2
                out[slot], out[slot + 1] = members[i], newest
                rows += 1
            elif parts[parent] != part:  # it moved just now; parents come first
                parts[i] = parts[parent]
        out[at + 2] = rows
        for k in range(rows):
            stack[depth], fields[depth] = out[row + 2 * k + 1], row + 2 * k + 1
            depth += 1
        at = row + 2 * rows
    return at


@njit
def _search_trees(tokens: Tokens, suffixes: Ints, spines: Spines) -> int:
    """Fill ``searches`` and ``starts``; returns the entries of the former that are used."""
    at = 0
    for token in range(len(suffixes)):
        # A token's suffixes are shorter, not older: follow the chain.
        count = 0
        chain = token
        while chain != EMPTY:
            count += 1
            chain = int(suffixes[chain])
        members = np.empty(count, dtype=np.int64)
        chain = token
        for i in range(count - 1, -1, -1):
            members[i] = chain
            chain = int(suffixes[chain])
        spines.starts[token] = at
        at = _search_tree(
            members, count, tokens.splits, tokens.base[256], spines.firsts, spines.searches, at
        )
    return at


@njit
def _chained(suffixes: Ints) -> int:
    """The lengths of all tokens' chains of suffixes, summed."""
    total = 0
    for token in range(len(suffixes)):
        chain = token
        while chain != EMPTY:
            total += 1
            chain = int(suffixes[chain])
    return total


def spines_of(tokens: Tokens, suffixes: Ints) -> Spines:
    """The tables. suffixes: those of :class:`impls.bpe.automaton.Automaton`."""
    numbers, firsts, stops, starts = np.zeros((4, len(suffixes)), dtype=np.int32)
    rights = tokens.lengths[tokens.splits[1::2]]
    rights[: tokens.base[256]] = 0
    # Three entries for each node, and two for the row in which its parent has it.
    searches = np.empty(5 * _chained(suffixes), dtype=np.int32)
    spines = Spines(tokens.lengths, rights, numbers, firsts, stops, starts, searches)
    _number(tokens.splits, int(tokens.base[256]), spines)
    used = _search_trees(tokens, suffixes, spines)
    return spines._replace(searches=spines.searches[:used].copy())
