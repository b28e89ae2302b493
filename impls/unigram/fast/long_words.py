"""Viterbi's algorithm over a word of any length, from the sum that the engine has before it.

The sums are those of :mod:`impls.unigram.viterbi_kernel`, addition by addition, but for each place
all that lead there are compared at once (:mod:`impls.unigram.fast.endings`). Of equal ones the
engines keep what they find first: the longest piece, and the unknown one only if it is ahead. Now
and then, where no piece goes on over a place, what lies before is read back and forgotten, so that
the arrays stay in the processor's caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from corpora.vocabularies.jit import njit
from impls.kernels.layout import INDEX, PLACE
from impls.kernels.utf8 import lead_length
from impls.unigram.fast.endings import LAST, STEPS, followed, on_page, page_of, piece_of, step
from impls.unigram.trie import NOWHERE
from impls.unigram.viterbi_kernel import fall_back

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Sum = TypeVar("Sum")
"""A number of the type of the variant's sums."""

WINDOW = 2048
"""Bytes after which the best path is read back as soon as that is possible."""

LENGTH_AT = 32
"""The place in a way, ``length << 32 | piece + 1``, of the bytes of the last piece."""
PIECE = (1 << LENGTH_AT) - 1
"""The bits of a way that tell the last piece: its number and 1, or 0 for the unknown one."""


@njit
def encode_long(
    trie: NDArray[np.int32],
    piece_ids: NDArray[np.int64],
    unknown_score: np.floating,
    unknown_id: int,
    byte_ids: NDArray[np.int64],
    fallback: int,
    rebase_above: float,
    longest: int,
    nodes: NDArray[np.int64],
    pairs: NDArray[np.int64],
    pages: NDArray[np.int64],
    characters: NDArray[np.int64],
    weights: NDArray[np.floating],
    text: NDArray[np.uint8],
    first: int,
    last: int,
    total: np.floating,
    best: NDArray[np.floating],
    ways: NDArray[np.int64],
    ids: NDArray[np.int32],
    at: int,
) -> tuple[int, np.floating]:
    """Append the ids of ``text[first:last]`` to ``ids[:at]``; returns where they end, and the sum.

    longest: the bytes of the longest piece. nodes, pairs, pages, characters: see
    :class:`impls.unigram.fast.endings.Endings`. weights: the score of each piece, behind one of
    minus infinity. total: the sum before the word. best, ways: an entry more than the word has
    bytes. The other arguments are those of
    :func:`impls.unigram.viterbi_kernel.encode_segments`. All scores are finite, and so many of them
    as ``longest`` together are not above ``rebase_above``. Text consists of whole characters.
    """
    best[0] = total
    # The sums here and of the places before, which memory would hand back late.
    here = total
    one_before = two_before = three_before = weights[0]
    origin = first  # the place in the text that is 0 below
    size = last - first
    start = bytes_before = 0
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
                at = _trace(
                    trie, piece_ids, text, origin, start, ways, unknown_id, byte_ids, fallback,
                    ids, at,
                )  # fmt: skip
                best[0] = here
                origin += start
                size -= start
                start = reach = 0
                wait = WINDOW
        if abs(here) > rebase_above:
            rebased, brought_back, reach = start, here, start + longest
            here -= brought_back
            best[start] = here
        lead = int(text[(origin + start) & PLACE])
        if start < reach:
            length = min(lead_length(lead), size - start)
            sofar, way = _after_rebase(
                nodes, weights, unknown_score, text, origin, start, length, rebased, brought_back,
                best,
            )  # fmt: skip
            bytes_before = 0
            for place in range(max(0, start + length - STEPS), start + length):
                bytes_before = bytes_before << 8 | int(text[origin + place])
        elif lead < 0x80:
            length = 1
            bytes_before = (bytes_before << 8 | lead) & LAST
            piece = piece_of(int(characters[lead]))
            way_alone = 1 << LENGTH_AT | piece
            alone = here + (weights[piece] if piece > 0 else unknown_score)
            entry = int(pairs[lead << 8 | bytes_before >> 8 & 0xFF])
            piece = piece_of(entry)
            sofar, way = one_before + weights[piece], 2 << LENGTH_AT | piece
            entry = step(nodes, entry, bytes_before >> 16 & 0xFF)
            piece = piece_of(entry)
            sofar, way = _better(sofar, way, two_before + weights[piece], 3 << LENGTH_AT | piece)
            entry = step(nodes, entry, bytes_before >> 24)
            piece = piece_of(entry)
            sofar, way = _better(sofar, way, three_before + weights[piece], 4 << LENGTH_AT | piece)
            size_back = STEPS
            while entry & INDEX and size_back <= start:
                entry = step(nodes, entry, int(text[(origin + start - size_back) & PLACE]))
                size_back += 1
                piece = piece_of(entry)
                candidate = best[(start + 1 - size_back) & PLACE] + weights[piece]
                sofar, way = _better(sofar, way, candidate, size_back << LENGTH_AT | piece)
            # At last what all wait for: the sum that was found just before.
            sofar, way = _better(alone, way_alone, sofar, way)
        else:
            length = min(lead_length(lead), size - start)
            low = int(text[(origin + start + length - 1) & PLACE])
            if 2 <= length <= 3:
                second = int(text[(origin + start + 1) & PLACE])
                page = int(pages[page_of(lead, second, length)])
                entry = int(characters[on_page(page, low) & PLACE])
                bytes_before = followed(bytes_before, lead, second, low, length)
            else:
                entry = int(nodes[0])
                for place in range(length - 1, -1, -1):
                    entry = step(nodes, entry, int(text[(origin + start + place) & PLACE]))
                for place in range(start, start + length):
                    bytes_before = bytes_before << 8 | int(text[(origin + place) & PLACE])
                bytes_before &= LAST
            piece = piece_of(entry)
            way = length << LENGTH_AT | piece
            sofar = here + (weights[piece] if piece > 0 else unknown_score)
            size_back = 0
            while entry & INDEX and size_back < start:
                size_back += 1
                entry = step(nodes, entry, int(text[(origin + start - size_back) & PLACE]))
                piece = piece_of(entry)
                candidate = best[(start - size_back) & PLACE] + weights[piece]
                sofar, way = _better(sofar, way, candidate, length + size_back << LENGTH_AT | piece)
        one_before, two_before, three_before = shifted(
            here, one_before, two_before, weights[0], length
        )
        start += length
        here = sofar
        best[start & PLACE] = here
        ways[start & PLACE] = way
    at = _trace(trie, piece_ids, text, origin, size, ways, unknown_id, byte_ids, fallback, ids, at)
    return at, here


@njit
def shifted(here: Sum, one: Sum, two: Sum, nothing: Sum, length: int) -> tuple[Sum, Sum, Sum]:
    """The sums one, two and three bytes before, behind a character of ``length`` bytes.

    nothing: the sum inside of a character, where no piece begins.
    """
    if length == 1:
        return here, one, two
    if length == 2:
        return nothing, here, one
    return nothing, nothing, (here if length == 3 else nothing)


@njit
def _better(
    sofar: np.floating, way: int, candidate: np.floating, other: int
) -> tuple[np.floating, int]:
    """The better of what was found so far and of a candidate that begins before it."""
    # Selected, not branched on: no branch predictor knows which piece wins.
    way = other if candidate >= sofar else way
    return (candidate if candidate > sofar else sofar), way


@njit
def _after_rebase(
    nodes: NDArray[np.int64],
    weights: NDArray[np.floating],
    unknown_score: np.floating,
    text: NDArray[np.uint8],
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
def _goes_on(
    nodes: NDArray[np.int64], text: NDArray[np.uint8], place: int, last: int, longest: int
) -> bool:
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


@njit
def _trace(
    trie: NDArray[np.int32],
    piece_ids: NDArray[np.int64],
    text: NDArray[np.uint8],
    origin: int,
    end: int,
    ways: NDArray[np.int64],
    unknown_id: int,
    byte_ids: NDArray[np.int64],
    fallback: int,
    ids: NDArray[np.int32],
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
        at = fall_back(
            trie, piece_ids, text, origin + end, origin + run, unknown_id, byte_ids, fallback, ids,
            at,
        )  # fmt: skip
    right = at - 1
    while left < right:
        ids[left], ids[right] = ids[right], ids[left]
        left += 1
        right -= 1
    return at
