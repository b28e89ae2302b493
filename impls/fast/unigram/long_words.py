"""Viterbi's algorithm over a word of any length, from the sum that the engine has before it.

The sums are those of :mod:`impls.unigram.viterbi`, addition by addition, but for each place
all that lead there are compared at once (:mod:`impls.fast.unigram.pulling`). Now and
then, where no piece goes on over a place, what lies before is read back and forgotten, so that the
arrays stay in the processor's caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from impls.compiled.jit import inlined, njit
from impls.fast.unigram.endings import piece_of, step
from impls.fast.unigram.pulling import LENGTH_AT, PIECE, pull
from impls.kernels.layout import INDEX, Bytes, Ints, Longs
from impls.kernels.utf8 import lead_length
from impls.unigram.trie import NOWHERE

if TYPE_CHECKING:
    from numpy.typing import NDArray

Entry = TypeVar("Entry", bound=np.generic)

WINDOW = 2048
"""Bytes after which the best path is read back as soon as that is possible."""


@njit
def encode_long(
    piece_ids: Longs,
    unknown_score: np.floating,
    unknown_id: int,
    byte_ids: Longs,
    rebase_above: float,
    longest: int,
    nodes: Longs,
    pairs: Longs,
    pages: Longs,
    characters: Longs,
    foreign: Bytes,
    weights: NDArray[np.floating],
    text: Bytes,
    first: int,
    last: int,
    total: np.floating,
    best: NDArray[np.floating],
    ways: Longs,
    ids: Ints,
    at: int,
) -> tuple[int, np.floating]:
    """Append the ids of ``text[first:last]`` to ``ids[:at]``; returns where they end, and the sum.

    longest: the bytes of the longest piece. From nodes to weights: as in
    :func:`impls.fast.unigram.pulling.pull`. best, ways: room for what it gives. total: the sum
    before the word. The other arguments are those of :class:`impls.unigram.lexicon.Lexicon`. All
    scores are finite, and so many of them as ``longest`` together are not above ``rebase_above``.
    Text consists of whole characters.
    """
    best[0] = here = total
    origin = first  # the place in the text that is 0 below
    size = last - first
    start = 0
    # Where sums were brought back and by how much; pieces that begin before end before `reach`.
    rebased, brought_back, reach = 0, total, 0
    wait = WINDOW
    while start < size:
        if start >= wait:
            piece = (int(ways[start]) & PIECE) - 1
            # An unknown character may be continued by the next one.
            if (
                piece == NOWHERE
                or piece_ids[piece] == unknown_id
                or _goes_on(nodes, text, origin + start, last, longest)
            ):
                wait = start + 1 + start // WINDOW
            else:
                at = _trace(piece_ids, text, origin, start, ways, unknown_id, byte_ids, ids, at)
                best[0] = here
                origin += start
                size -= start
                start = reach = 0
                wait = WINDOW
        if abs(here) > rebase_above:
            rebased, brought_back, reach = start, here, start + longest
            best[start] = here - brought_back
        stop = min(size, wait)
        # The last character may go on behind it.
        if stop + 4 > len(best) and size + 1 > len(best):
            best, ways = _longer(best, 2 * stop + 4), _longer(ways, 2 * stop + 4)
        if start < reach:
            length = min(lead_length(int(text[origin + start])), size - start)
            sofar, way = _after_rebase(
                nodes, weights, unknown_score, text, origin, start, length, rebased, brought_back,
                best,
            )  # fmt: skip
            start += length
            best[start], ways[start] = sofar, way
        else:
            start = pull(
                nodes, pairs, pages, characters, foreign, weights, unknown_score, rebase_above,
                text, origin, start, stop, size, best, ways,
            )  # fmt: skip
        here = best[start]
    at = _trace(piece_ids, text, origin, size, ways, unknown_id, byte_ids, ids, at)
    return at, here


@njit
def _longer(entries: NDArray[Entry], size: int) -> NDArray[Entry]:
    """The entries and zeros behind them, ``size`` in all."""
    longer = np.zeros(size, dtype=entries.dtype)
    longer[: len(entries)] = entries
    return longer


@njit
def _after_rebase(
    nodes: Longs,
    weights: NDArray[np.floating],
    unknown_score: np.floating,
    text: Bytes,
    origin: int,
    start: int,
    length: int,
    rebased: int,
    brought_back: np.floating,
    best: NDArray[np.floating],
) -> tuple[np.floating, int]:
    """The best sum behind the character of ``length`` bytes at ``start``, and the way there.

    What begins before ``rebased`` was added up and compared before sums were brought back there.
    """
    early = late = weights[0]
    early_way = late_way = 0
    end = start + length
    entry = int(nodes[0])
    alone = False
    for size_back in range(1, end + 1):
        entry = step(nodes, entry, int(text[origin + end - size_back]))
        piece = piece_of(entry)
        if piece > 0:
            alone |= size_back == length
            candidate = best[end - size_back] + weights[piece]
            way = size_back << LENGTH_AT | piece
            if end - size_back < rebased:
                early_way = way if candidate >= early else early_way
                early = max(early, candidate)
            else:
                late_way = way if candidate >= late else late_way
                late = max(late, candidate)
        if entry == 0:
            break
    if not alone:
        # It begins where sums were brought back, or behind that.
        candidate = best[start] + unknown_score
        if candidate > late:
            late, late_way = candidate, length << LENGTH_AT
    early -= brought_back
    return (early, early_way) if early >= late else (late, late_way)


@njit
def _goes_on(nodes: Longs, text: Bytes, place: int, last: int, longest: int) -> bool:
    """Whether a piece lies over ``place`` of the text, which ends at ``last``."""
    for end in range(place + 1, min(place + longest, last + 1)):
        entry = int(nodes[0])
        size_back = 0
        while entry & INDEX and size_back < end:
            size_back += 1
            entry = step(nodes, entry, int(text[end - size_back]))
            if piece_of(entry) > 0 and size_back > end - place:
                return True
    return False


@inlined
def _trace(
    piece_ids: Longs,
    text: Bytes,
    origin: int,
    end: int,
    ways: Longs,
    unknown_id: int,
    byte_ids: Longs,
    ids: Ints,
    at: int,
) -> int:
    """Read the best path to ``end`` back; returns where its ids end."""
    left = at
    while end > 0:
        run = end
        piece = (int(ways[end]) & PIECE) - 1
        token = unknown_id if piece == NOWHERE else int(piece_ids[piece])
        end -= int(ways[end]) >> LENGTH_AT
        if token != unknown_id:
            ids[at] = token
            at += 1
            continue
        while end > 0:
            piece = (int(ways[end]) & PIECE) - 1
            if piece != NOWHERE and piece_ids[piece] != unknown_id:
                break
            end -= int(ways[end]) >> LENGTH_AT
        if len(byte_ids) > 0:
            for place in range(origin + run - 1, origin + end - 1, -1):
                ids[at] = byte_ids[int(text[place])]
                at += 1
        else:
            ids[at] = unknown_id
            at += 1
    right = at - 1
    while left < right:
        ids[left], ids[right] = ids[right], ids[left]
        left += 1
        right -= 1
    return at
