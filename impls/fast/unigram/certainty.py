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

from impls.compiled.jit import inlined, njit
from impls.fast.bpe.wide_rows import LONGEST_WIDE
from impls.fast.unigram.endings import piece_of, step
from impls.fast.unigram.pulling import LENGTH_AT, PIECE, pull
from impls.kernels.layout import INDEX, PLACE, Bytes, Ints, Longs
from impls.kernels.utf8 import lead_length

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from impls.unigram.lexicon import Lexicon

LONGEST_CERTAIN = LONGEST_WIDE
"""Bytes of the longest word that is asked about: longer ones have no row in the cache."""

UNCERTAIN = -1
"""This stands in place of the number of ids of a word that is not certain."""

_MOST = 1e5
"""The sums up to which words are certain: beyond, too few would be."""

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
    known = np.append(lexicon.scores, lexicon.unknown_score)
    # Where a candidate is wider than what is stored, it is not compared as it was rounded.
    if lexicon.float_pieces != lexicon.float_sums or not np.all(np.abs(known) <= _HIGHEST_SCORE):
        return None
    highest = float(np.abs(known).max())
    within = LONGEST_CERTAIN * highest
    limit = min(lexicon.rebase_above, _MOST) - within
    unit = float(np.finfo(type_of_sums(lexicon)).eps) / 2
    tolerance = 2 * unit * (limit + within) + 2.0**-40
    if limit <= 0 or not math.isfinite(tolerance):
        return None
    return Bounds(limit, tolerance, highest)


def type_of_sums(lexicon: Lexicon) -> type[np.float32 | np.float64]:
    """The type in which the best sums are kept; where words can be certain, scores have it, too."""
    return np.float32 if lexicon.float_sums else np.float64


@inlined
def certain(
    piece_ids: Longs,
    unknown_score: float,
    unknown_id: int,
    spells_bytes: bool,
    tolerance: float,
    nodes: Longs,
    pairs: Longs,
    pages: Longs,
    characters: Longs,
    foreign: Bytes,
    weights: NDArray[np.floating],
    text: Bytes,
    first: int,
    last: int,
    best: NDArray[np.float64],
    ways: Longs,
    ids: Ints,
    at: int,
) -> int:
    """Write the ids of ``text[first:last]``, a word, to ``ids[at:]``; how many, or UNCERTAIN.

    The word has at most LONGEST_CERTAIN bytes. spells_bytes: unknown characters become their bytes.
    From nodes to weights, and best and ways, which have one entry more than that: as in
    :func:`impls.fast.unigram.pulling.pull`. ids: receives the ids, in place of the unknown one the
    number of unknown characters that it stands for, negated.
    """
    size = last - first
    best[0] = 0.0
    pull(
        nodes, pairs, pages, characters, foreign, weights, unknown_score, np.inf, text, first, 0,
        size, size, best, ways,
    )  # fmt: skip
    lead_of_all = np.inf
    count = at
    end = size
    while end > 0:
        way = int(ways[end])
        run = end
        lead = _lead(nodes, weights, unknown_score, text, first, end, way, best)
        lead_of_all = min(lead_of_all, lead)
        end -= way >> LENGTH_AT
        if way & PIECE > 0:
            ids[count] = piece_ids[(way & PIECE) - 1]
            if ids[count] == unknown_id:
                return UNCERTAIN
        else:
            while end > 0 and int(ways[end]) & PIECE == 0:
                way = int(ways[end])
                lead = _lead(nodes, weights, unknown_score, text, first, end, way, best)
                lead_of_all = min(lead_of_all, lead)
                end -= way >> LENGTH_AT
            if spells_bytes:
                return UNCERTAIN
            ids[count] = -_characters(text, first + end, first + run)
        count += 1
    if lead_of_all <= tolerance * _characters(text, first, last):
        return UNCERTAIN
    for place in range(count - at >> 1):
        ids[at + place], ids[count - 1 - place] = ids[count - 1 - place], ids[at + place]
    return count - at


@inlined
def _lead(
    nodes: Longs,
    weights: NDArray[np.floating],
    unknown_score: float,
    text: Bytes,
    first: int,
    end: int,
    way: int,
    best: NDArray[np.float64],
) -> float:
    """How far the best way to the place ``end``, whose last step is ``way``, is ahead of others."""
    length = 1
    for size_back in range(2, min(end, 4) + 1):
        if lead_length(int(text[(first + end - size_back) & PLACE])) == size_back:
            length = size_back
    behind = -np.inf
    entry = int(nodes[0])
    # A run of unknown characters is one step, and no piece ends in it but at its end.
    alone = way & PIECE == 0
    size_back = 0
    while entry & INDEX and size_back < end:
        size_back += 1
        entry = step(nodes, entry, int(text[(first + end - size_back) & PLACE]))
        piece = piece_of(entry)
        alone |= piece > 0 and size_back == length
        if size_back != way >> LENGTH_AT:
            behind = max(behind, best[(end - size_back) & PLACE] + weights[piece])
    if not alone:
        behind = max(behind, best[(end - length) & PLACE] + unknown_score)
    return float(best[end & PLACE] - behind)


@njit
def _characters(text: Bytes, start: int, end: int) -> int:
    """How many characters ``text[start:end]`` has."""
    count = 0
    while start < end:
        start += lead_length(int(text[start & PLACE]))
        count += 1
    return count
