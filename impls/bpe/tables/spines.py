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

A search tree is a sequence of nodes, each a centroid::

    token, next node if it did not form (EMPTY: none), number k of its children in the rest tree,
    then k rows by first number of their interval: child, its node (EMPTY for none below it)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, SEARCH_STARTS, SEARCHES, SPINES

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def formed(spines: NDArray[np.int32], token: int, before: int) -> bool:
    """Whether a token forms at the end of a text; before: last token before its right half."""
    number = spines[3 * before]
    return bool(spines[3 * token + 1] <= number < spines[3 * token + 2])


@njit
def find_last(
    splits: NDArray[np.int32],
    lengths: NDArray[np.int32],
    spines: NDArray[np.int32],
    searches: NDArray[np.int32],
    base_tokens: int,
    lasts: NDArray[np.int32],
    position: int,
    node: int,
) -> int:
    """The last token of the text that ends with the byte at ``position``.

    lasts: the last token of the text up to each earlier byte. node: where the search tree of the
    longest token that the text ends in begins.
    """
    best = EMPTY
    while node != EMPTY:
        token = int(searches[node])
        if token >= base_tokens:
            right = int(splits[2 * token + 1])
            if not formed(spines, token, int(lasts[position - int(lengths[right])])):
                node = int(searches[node + 1])
                continue
        best = token
        count = int(searches[node + 2])
        if count == 0:
            break
        number = int(spines[3 * int(lasts[position - int(lengths[token])])])
        rows = node + 3
        low, high = 0, count  # the first row whose interval begins after ``number``
        while low < high:
            middle = (low + high) >> 1
            if spines[3 * int(searches[rows + 2 * middle]) + 1] <= number:
                low = middle + 1
            else:
                high = middle
        if low == 0:
            break
        below = int(searches[rows + 2 * low - 2])
        if number >= spines[3 * below + 2]:
            break
        best = below
        node = int(searches[rows + 2 * low - 1])
    return best


@njit
def _number(splits: NDArray[np.int32], base_tokens: int, spines: NDArray[np.int32]) -> None:
    tokens = len(splits) >> 1
    sizes = np.ones(tokens, dtype=np.int64)
    below = np.zeros(tokens, dtype=np.int64)  # sizes of the children met so far, youngest first
    for token in range(tokens - 1, base_tokens - 1, -1):
        left, right = int(splits[2 * token]), int(splits[2 * token + 1])
        spines[3 * token + 2] = below[left]
        spines[3 * token] = below[right]
        below[right] += sizes[token]
        sizes[right] += sizes[token]
    number = 0
    for token in range(base_tokens):
        spines[3 * token] = number
        number += int(sizes[token])
    for token in range(base_tokens, tokens):
        spines[3 * token] += 1 + spines[3 * int(splits[2 * token + 1])]
    for token in range(base_tokens, tokens):
        first = int(spines[3 * int(splits[2 * token])])
        spines[3 * token + 1] = first
        spines[3 * token + 2] += first + 1


@njit
def _search_tree(
    members: NDArray[np.int64],
    count: int,
    splits: NDArray[np.int32],
    base_tokens: int,
    spines: NDArray[np.int32],
    place: NDArray[np.int64],
    work: NDArray[np.int64],
    out: NDArray[np.int32],
    at: int,
) -> int:
    """Write the search tree of ``members[:count]`` to ``out[at:]``; returns where it ends.

    members: a token's suffixes, shortest (a base token) first. place: scratch, one a token.
    work: scratch, five rows of at least ``count``.
    """
    parents, sizes, parts, stack, fields = work[0], work[1], work[2], work[3], work[4]
    for i in range(count):
        place[members[i]] = i
        token = int(members[i])
        parents[i] = place[splits[2 * token + 1]] if token >= base_tokens else EMPTY
        parts[i] = 0
    # Components of the tree, waiting: the number of one, and the field that points to its node.
    depth = 1
    stack[0], fields[0] = 0, EMPTY
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
        # The deepest node with at least half of the component below it: halves are shorter than
        # wholes, so parents come first.
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
                first = spines[3 * int(members[i]) + 1]
                while slot > row and spines[3 * int(out[slot - 2]) + 1] > first:
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
def _search_all(
    splits: NDArray[np.int32],
    suffixes: NDArray[np.int32],
    base_tokens: int,
    spines: NDArray[np.int32],
    starts: NDArray[np.int32],
) -> NDArray[np.int32]:
    tokens = len(suffixes)
    counts = np.ones(tokens, dtype=np.int64)
    total = 0
    longest = 1
    # A token's suffixes are shorter, not older: follow the chain.
    for token in range(tokens):
        chain = int(suffixes[token])
        while chain != EMPTY:
            counts[token] += 1
            chain = int(suffixes[chain])
        total += int(counts[token])
        longest = max(longest, int(counts[token]))
    out = np.empty(5 * total, dtype=np.int32)
    members = np.empty(longest, dtype=np.int64)
    work = np.empty((5, longest + 1), dtype=np.int64)
    place = np.empty(tokens, dtype=np.int64)
    at = 0
    for token in range(tokens):
        count = int(counts[token])
        chain = token
        for i in range(count - 1, -1, -1):
            members[i] = chain
            chain = int(suffixes[chain])
        starts[token] = at
        at = _search_tree(members, count, splits, base_tokens, spines, place, work, out, at)
    return out[:at].copy()


def spine_tables(
    splits: NDArray[np.int32], suffixes: NDArray[np.int32], base_tokens: int
) -> dict[int, NDArray[np.int32]]:
    """SPINES, SEARCHES and SEARCH_STARTS."""
    spines = np.zeros(3 * len(suffixes), dtype=np.int32)
    _number(splits, base_tokens, spines)
    starts = np.empty(len(suffixes), dtype=np.int32)
    searches = _search_all(splits, suffixes, base_tokens, spines, starts)
    return {SPINES: spines, SEARCHES: searches, SEARCH_STARTS: starts}
