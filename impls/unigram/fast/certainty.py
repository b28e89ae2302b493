"""Whether a word's best segmentation is the same whatever stands before it.

The engines add scores up from the beginning of a text, and rounding depends on the sum so far. A
path of n additions is off by at most ``n * u * m``, where u is half the distance of a number from
the next one, relative to it, and m the greatest sum on the way. Rounding is monotonic, so the path
that the engine chooses has the greatest rounded sum of all. Hence the best path of a word is the
engine's if it is ahead of every other one by more than both can be off together. The second best
path parts from the best one for good at some boundary of it, and up to there it is the best path
but for its last piece: the least lead at the boundaries of the best path is the lead of the whole.

What is not certain is left to the plain algorithm, with the sum that stands before it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.fast.wide_rows import LONGEST_WIDE
from impls.kernels.layout import INDEX, PLACE
from impls.kernels.utf8 import lead_length
from impls.unigram.fast.endings import LAST, STEPS, followed, on_page, page_of, piece_of, step
from impls.unigram.fast.long_words import LENGTH_AT, PIECE, shifted
from impls.unigram.trie import NOWHERE
from impls.unigram.viterbi_kernel import spelled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from impls.unigram.lexicon import Lexicon

LONGEST_CERTAIN = LONGEST_WIDE
"""Bytes of the longest word that is asked about: longer ones have no row in the cache."""

UNCERTAIN = -1
"""This stands in place of the number of ids of a word that is not certain."""

_MOST = {4: 1e5, 8: 1e9}
"""The sums, by the bytes of a number, up to which words are certain: beyond, too few would be."""

_HIGHEST_SCORE = 1e3
"""A vocabulary with scores beyond this, in amount, has no certain words: real scores are below
30."""


class Bounds(NamedTuple):
    """How large a sum may be before a word that is certain, and what its lead must exceed.

    limit: of the amount of a sum. tolerance: the least lead for each character of a word. highest:
    the greatest amount of a score.
    """

    limit: float
    tolerance: float
    highest: float


def bounds_of(lexicon: Lexicon) -> Bounds | None:
    """The bounds for a vocabulary; None where no word of it can be certain."""
    kind = lexicon.sums.dtype
    known = np.concatenate((lexicon.scores, lexicon.unknown_scores)).astype(np.float64)
    # Where a candidate is wider than what is stored, it is not compared as it was rounded.
    if lexicon.scores.dtype != kind or not np.all(np.abs(known) <= _HIGHEST_SCORE):
        return None
    highest = float(np.abs(known).max())
    within = LONGEST_CERTAIN * highest
    limit = min(lexicon.rebase_above, _MOST[kind.itemsize]) - within
    unit = float(np.finfo(kind).eps) / 2
    tolerance = 2 * unit * (limit + within) + 2.0**-40
    return Bounds(limit, tolerance, highest) if limit > 0 and math.isfinite(tolerance) else None


@njit
def certain(
    trie: NDArray[np.int32],
    piece_ids: NDArray[np.int64],
    unknown_score: float,
    unknown_id: int,
    spells_bytes: bool,
    tolerance: float,
    nodes: NDArray[np.int64],
    pairs: NDArray[np.int64],
    pages: NDArray[np.int64],
    characters: NDArray[np.int64],
    weights: NDArray[np.floating],
    text: NDArray[np.uint8],
    first: int,
    last: int,
    best: NDArray[np.float64],
    leads: NDArray[np.float64],
    ways: NDArray[np.int64],
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Write the ids of ``text[first:last]``, a word, to ``ids[at:]``; how many, or UNCERTAIN.

    The word has at most LONGEST_CERTAIN bytes. spells_bytes: unknown characters become their bytes.
    best, leads, ways: one entry more than that, for the sum of the best path to each
    place, how far it is ahead of the best one with another last piece, and the last piece of the
    best one (as in :mod:`impls.unigram.fast.long_words`). ids: receives the ids, and in place of
    the unknown one the number of unknown characters that it stands for, negated. A word with
    unknown characters that become anything else is not certain.
    """
    size = last - first
    here = best[0] = 0.0
    one_before = two_before = three_before = -np.inf
    start = bytes_before = 0
    count_of_characters = 0
    while start < size:
        lead = int(text[(first + start) & PLACE])
        behind = -np.inf
        length = 1
        if lead < 0x80:
            bytes_before = (bytes_before << 8 | lead) & LAST
            entry = int(characters[lead])
        else:
            length = min(lead_length(lead), size - start)
            low = int(text[(first + start + length - 1) & PLACE])
            if 2 <= length <= 3:
                second = int(text[(first + start + 1) & PLACE])
                page = int(pages[page_of(lead, second, length)])
                entry = int(characters[on_page(page, low) & PLACE])
                bytes_before = followed(bytes_before, lead, second, low, length)
            else:
                entry = int(nodes[0])
                for place in range(length - 1, -1, -1):
                    entry = step(nodes, entry, int(text[(first + start + place) & PLACE]))
                for place in range(start, start + length):
                    bytes_before = bytes_before << 8 | int(text[(first + place) & PLACE])
                bytes_before &= LAST
        size_back = length
        piece = piece_of(entry)
        way = length << LENGTH_AT | piece
        sofar = here + (weights[piece] if piece > 0 else unknown_score)
        if lead < 0x80:
            entry = int(pairs[lead << 8 | bytes_before >> 8 & 0xFF])
            piece = piece_of(entry)
            other = 2 << LENGTH_AT | piece
            sofar, behind, way = _ranked(sofar, behind, way, one_before + weights[piece], other)
            entry = step(nodes, entry, bytes_before >> 16 & 0xFF)
            piece = piece_of(entry)
            other = 3 << LENGTH_AT | piece
            sofar, behind, way = _ranked(sofar, behind, way, two_before + weights[piece], other)
            entry = step(nodes, entry, bytes_before >> 24)
            piece = piece_of(entry)
            other = 4 << LENGTH_AT | piece
            sofar, behind, way = _ranked(sofar, behind, way, three_before + weights[piece], other)
            size_back = STEPS
        one_before, two_before, three_before = shifted(
            here, one_before, two_before, -np.inf, length
        )
        start += length
        while entry & INDEX and size_back < start:
            size_back += 1
            entry = step(nodes, entry, int(text[(first + start - size_back) & PLACE]))
            piece = piece_of(entry)
            candidate = best[(start - size_back) & PLACE] + weights[piece]
            other = size_back << LENGTH_AT | piece
            sofar, behind, way = _ranked(sofar, behind, way, candidate, other)
        here = sofar
        best[start & PLACE] = here
        leads[start & PLACE] = sofar - behind
        ways[start & PLACE] = way
        count_of_characters += 1
    lead_of_all = np.inf
    count = at
    end = size
    while end > 0:
        piece = (int(ways[end]) & PIECE) - 1
        lead_of_all = min(lead_of_all, leads[end])
        run = end
        end -= int(ways[end]) >> LENGTH_AT
        if piece != NOWHERE:
            ids[count] = piece_ids[piece]
        else:
            unknown = 1
            while end > 0 and int(ways[end]) & PIECE == 0:
                lead_of_all = min(lead_of_all, leads[end])
                end -= int(ways[end]) >> LENGTH_AT
                unknown += 1
            ids[count] = -unknown
            if spelled(trie, text, first + end, first + run) != NOWHERE:
                return UNCERTAIN
        if ids[count] == unknown_id or (ids[count] < 0 and spells_bytes):
            return UNCERTAIN
        count += 1
    if lead_of_all <= tolerance * count_of_characters:
        return UNCERTAIN
    for place in range(count - at >> 1):
        ids[at + place], ids[count - 1 - place] = ids[count - 1 - place], ids[at + place]
    return count - at


@njit
def _ranked(
    sofar: float, behind: float, way: int, candidate: float, other: int
) -> tuple[float, float, int]:
    """The best and the behind best of what was found so far and of a candidate."""
    # Selected, not branched on: no branch predictor knows which piece wins.
    better = candidate > sofar
    less = sofar if better else candidate
    behind = less if less > behind else behind
    return (candidate if better else sofar), behind, (other if better else way)
