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
from impls.kernels.layout import INDEX
from impls.kernels.trie import LABEL_BITS, LABEL_MASK
from impls.kernels.utf8 import lead_length
from impls.unigram.fast.long_words import PIECE, START_AT
from impls.unigram.trie import NOWHERE, ROOT
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

    limit: of the amount of a sum. tolerance: the least lead for each character of a word.
    """

    limit: float
    tolerance: float


def bounds_of(lexicon: Lexicon) -> Bounds | None:
    """The bounds for a vocabulary; None where no word of it can be certain."""
    kind = lexicon.sums.dtype
    known = np.concatenate((lexicon.scores, lexicon.unknown_scores)).astype(np.float64)
    # Where a candidate is wider than what is stored, it is not compared as it was rounded.
    if lexicon.scores.dtype != kind or not np.all(np.abs(known) <= _HIGHEST_SCORE):
        return None
    within = LONGEST_CERTAIN * float(np.abs(known).max())
    limit = min(lexicon.rebase_above, _MOST[kind.itemsize]) - within
    unit = float(np.finfo(kind).eps) / 2
    tolerance = 2 * unit * (limit + within) + 2.0**-40
    return Bounds(limit, tolerance) if limit > 0 and math.isfinite(tolerance) else None


@njit
def certain(
    trie: NDArray[np.int32],
    piece_ids: NDArray[np.int64],
    scores: NDArray[np.floating],
    unknown_score: float,
    unknown_id: int,
    spells_bytes: bool,
    tolerance: float,
    text: NDArray[np.uint8],
    first: int,
    last: int,
    best: NDArray[np.float64],
    second: NDArray[np.float64],
    ways: NDArray[np.int64],
    ids: NDArray[np.int32],
) -> int:
    """Write the ids of the word ``text[first:last]``, and return how many; or UNCERTAIN.

    The word has at most LONGEST_CERTAIN bytes. spells_bytes: unknown characters become their bytes.
    best, second, ways: one entry more than that, for the sum of the best path to each end and of
    the best one with another last piece, and for the last piece of the best one (as in
    :mod:`impls.unigram.fast.long_words`). ids: receives the ids, and in place of the unknown one
    the number of unknown characters that it stands for, negated. A word with unknown characters
    that become anything else is not certain.
    """
    size = last - first
    for end in range(1, size + 1):
        best[end] = second[end] = -np.inf
    best[0] = 0.0
    root = int(trie[2 * ROOT]) & INDEX
    start = 0
    characters = 0
    while start < size:
        score = best[start]
        character = min(lead_length(int(text[first + start])), size - start)
        alone = False
        base = root
        for end in range(start + 1, size + 1):
            byte = int(text[first + end - 1])
            after = base ^ byte
            label = int(trie[2 * after + 1])
            if label & LABEL_MASK != byte + 1:
                break
            base = int(trie[2 * after]) & INDEX
            if label > LABEL_MASK:
                piece = (label >> LABEL_BITS) - 1
                way = start << START_AT | piece + 1
                _relax(best, second, ways, end, score + scores[piece], way)
                alone |= end - start == character
        if not alone:
            end = start + character
            _relax(best, second, ways, end, score + unknown_score, start << START_AT)
        start += character
        characters += 1
    lead = np.inf
    count = 0
    end = size
    while end > 0:
        piece = (int(ways[end]) & PIECE) - 1
        lead = min(lead, best[end] - second[end])
        run = end
        end = int(ways[end]) >> START_AT
        if piece != NOWHERE:
            ids[count] = piece_ids[piece]
        else:
            unknown = 1
            while end > 0 and int(ways[end]) & PIECE == 0:
                lead = min(lead, best[end] - second[end])
                end = int(ways[end]) >> START_AT
                unknown += 1
            ids[count] = -unknown
            if spelled(trie, text, first + end, first + run) != NOWHERE:
                return UNCERTAIN
        if ids[count] == unknown_id or (ids[count] < 0 and spells_bytes):
            return UNCERTAIN
        count += 1
    if lead <= tolerance * characters:
        return UNCERTAIN
    for place in range(count >> 1):
        ids[place], ids[count - 1 - place] = ids[count - 1 - place], ids[place]
    return count


@njit
def _relax(
    best: NDArray[np.float64],
    second: NDArray[np.float64],
    ways: NDArray[np.int64],
    end: int,
    candidate: float,
    way: int,
) -> None:
    """Take note of a way to ``end``: as the best one, as the second best one, or not."""
    # Selected, not branched on: no branch predictor knows which piece wins.
    sofar, behind = best[end], second[end]
    better = candidate > sofar
    other = sofar if better else candidate
    best[end] = candidate if better else sofar
    second[end] = other if other > behind else behind
    ways[end] = way if better else ways[end]
