"""Viterbi's algorithm: a place's sum is pulled from where the pieces begin that end there.

The sums are those of :mod:`impls.unigram.viterbi`, addition by addition, but for each place all
that lead there are compared at once. Of equal ways the engine keeps the one that it finds first,
which is the one whose last piece is longest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.compiled.jit import inlined, njit
from impls.compiled.uncounted import uncounted
from impls.fast.unigram.endings import Endings, make_endings, piece_of, step
from impls.kernels.layout import INDEX, PLACE
from impls.kernels.utf8 import lead_length
from impls.unigram.lexicon import segmented
from impls.unigram.trie import NOWHERE
from impls.unigram.variants import SENTENCEPIECE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.unigram.lexicon import Lexicon

LENGTH_AT = 32
"""The place in a way, ``length << 32 | piece + 1``, of the bytes of the last piece."""
PIECE = (1 << LENGTH_AT) - 1
"""The bits of a way that tell the last piece: its number and 1, or 0 for an unknown character."""

_FOUR_BYTES = (1 << 32) - 1


class Pulling(NamedTuple):
    """A vocabulary. weights: the score of each piece, behind one of minus infinity. longest: the
    bytes of the longest piece. piece_ids: of each piece. byte_ids: as in ``Lexicon``.
    """

    endings: Endings
    weights: NDArray[np.float32]
    longest: int
    piece_ids: NDArray[np.int64]
    byte_ids: NDArray[np.int64]
    unknown_id: int
    unknown_score: NDArray[np.float32]
    rebase_above: float


def make_pulling(vocabulary: Vocabulary, lexicon: Lexicon) -> Pulling | None:
    """The tables; None for a vocabulary that the plain algorithm must segment.

    That is one without pieces, with a score that is infinite, with pieces of which the score may
    bring sums back twice within one, and one of which a rule gives parts of characters.
    """
    pieces = [text for text in segmented(vocabulary, SENTENCEPIECE) if text]
    scores = np.concatenate((lexicon.scores, lexicon.unknown_scores))
    longest = max(map(len, pieces), default=0)
    if not pieces or not longest * float(np.abs(scores).max()) <= lexicon.rebase_above:
        return None
    try:
        lexicon.rules.replacements.tobytes().decode()
    except UnicodeDecodeError:
        return None
    return Pulling(
        make_endings(pieces),
        np.concatenate((np.full(1, -np.inf, np.float32), lexicon.scores)),
        longest,
        lexicon.ids,
        lexicon.byte_ids,
        lexicon.unknown_id,
        lexicon.unknown_scores,
        lexicon.rebase_above,
    )


@njit
def encode_texts(
    known: Pulling,
    text: NDArray[np.uint8],
    ends: NDArray[np.int64],
    best: NDArray[np.float32],
    ways: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The ids of the normalized texts ``text[ends[i - 1]:ends[i]]``, and where those of each end.

    best, ways: receive the sum, and the last step, of the best way to each place where a character
    ends; one entry more than the longest text has bytes, and finite numbers at first.
    """
    ids = np.empty(len(text), dtype=np.int32)
    id_ends = np.empty(len(ends), dtype=np.int64)
    at = start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        _find_ways(known, text[start:end], best, ways)
        at = _trace(known, text[start:end], ways, ids, at)
        id_ends[index] = at
        start = end
    return ids[:at], id_ends


@njit
def _find_ways(
    known: Pulling, text: NDArray[np.uint8], best: NDArray[np.float32], ways: NDArray[np.int64]
) -> None:
    """Find the best way to each place of a text."""
    nodes, singles = uncounted(known.endings.nodes), uncounted(known.endings.singles)
    pairs, weights = uncounted(known.endings.pairs), uncounted(known.weights)
    text, best, ways = uncounted(text), uncounted(best), uncounted(ways)
    rebase_above, unknown_score = known.rebase_above, known.unknown_score[0]
    base = best[0] = np.float32(0)
    start = rebased = reach = 0
    while start < len(text):
        if abs(best[start]) > rebase_above:
            # Pieces that begin before this place end before `reach`.
            rebased, base, reach = start, best[start], start + known.longest
            best[start] -= base
        if start < reach:
            start = _step_after_rebase(
                nodes, weights, unknown_score, text, start, rebased, base, best, ways
            )
        else:
            start = _pull(
                nodes, singles, pairs, weights, unknown_score, rebase_above, text, start, best, ways
            )


@inlined
def _pull(
    nodes: NDArray[np.int64],
    singles: NDArray[np.int64],
    pairs: NDArray[np.int64],
    weights: NDArray[np.float32],
    unknown_score: np.float32,
    rebase_above: float,
    text: NDArray[np.uint8],
    start: int,
    best: NDArray[np.float32],
    ways: NDArray[np.int64],
) -> int:
    """Go on from the place ``start`` to the end, or to where the sum is beyond ``rebase_above``.

    Returns the place that is reached.
    """
    nothing, size = weights[0], len(text)
    here = best[start]
    while start < size and abs(here) <= rebase_above:
        lead = int(text[start & PLACE])
        if lead < 0x80:
            # The sums of the places before, which memory would hand back late, and the bytes.
            one_before = best[(start - 1) & PLACE] if start > 0 else nothing
            two_before = best[(start - 2) & PLACE] if start > 1 else nothing
            three_before = best[(start - 3) & PLACE] if start > 2 else nothing
            bytes_before = 0
            for place in range(max(0, start - 3), start):
                bytes_before = bytes_before << 8 | int(text[place & PLACE])
            while lead < 0x80:
                bytes_before = (bytes_before << 8 | lead) & _FOUR_BYTES
                entry = int(pairs[lead << 8 | bytes_before >> 8 & 0xFF])
                piece = piece_of(entry)
                sofar, way = one_before + weights[piece], 2 << LENGTH_AT | piece
                entry = step(nodes, entry, bytes_before >> 16 & 0xFF)
                piece = piece_of(entry)
                sofar, way = _better(
                    sofar, way, two_before + weights[piece], 3 << LENGTH_AT | piece
                )
                entry = step(nodes, entry, bytes_before >> 24)
                piece = piece_of(entry)
                sofar, way = _better(
                    sofar, way, three_before + weights[piece], 4 << LENGTH_AT | piece
                )
                size_back = 4
                while entry & INDEX and size_back <= start:
                    entry = step(nodes, entry, int(text[(start - size_back) & PLACE]))
                    size_back += 1
                    piece = piece_of(entry)
                    candidate = best[(start + 1 - size_back) & PLACE] + weights[piece]
                    sofar, way = _better(sofar, way, candidate, size_back << LENGTH_AT | piece)
                # At last what all wait for: the sum that was found just before.
                piece = piece_of(int(singles[lead]))
                alone = here + (weights[piece] if piece > 0 else unknown_score)
                one_before, two_before, three_before = here, one_before, two_before
                here, way = _better(alone, 1 << LENGTH_AT | piece, sofar, way)
                start += 1
                best[start & PLACE] = here
                ways[start & PLACE] = way
                if start >= size or abs(here) > rebase_above:
                    break
                lead = int(text[start & PLACE])
            continue
        length = min(lead_length(lead), size - start)
        entry = int(nodes[0])
        for place in range(length - 1, -1, -1):
            entry = step(nodes, entry, int(text[(start + place) & PLACE]))
        piece = piece_of(entry)
        way = length << LENGTH_AT | piece
        sofar = here + (weights[piece] if piece > 0 else unknown_score)
        size_back = 0
        while entry & INDEX and size_back < start:
            size_back += 1
            entry = step(nodes, entry, int(text[(start - size_back) & PLACE]))
            piece = piece_of(entry)
            candidate = best[(start - size_back) & PLACE] + weights[piece]
            sofar, way = _better(sofar, way, candidate, length + size_back << LENGTH_AT | piece)
        start += length
        here = sofar
        best[start & PLACE] = here
        ways[start & PLACE] = way
    return start


@njit
def _better(
    sofar: np.float32, way: int, candidate: np.float32, other: int
) -> tuple[np.float32, int]:
    """The better of what was found so far and of a candidate whose last piece is longer."""
    # Selected, not branched on: no branch predictor knows which piece wins.
    way = other if candidate >= sofar else way
    return (candidate if candidate > sofar else sofar), way


@njit
def _step_after_rebase(
    nodes: NDArray[np.int64],
    weights: NDArray[np.float32],
    unknown_score: np.float32,
    text: NDArray[np.uint8],
    start: int,
    rebased: int,
    base: np.float32,
    best: NDArray[np.float32],
    ways: NDArray[np.int64],
) -> int:
    """Find the best way over the character at ``start``; returns the place behind it.

    What begins before ``rebased`` was added up and compared before ``base`` was taken off there.
    """
    length = min(lead_length(int(text[start])), len(text) - start)
    end = start + length
    early = late = weights[0]
    early_way = late_way = 0
    entry = int(nodes[0])
    alone = False
    for size_back in range(1, end + 1):
        entry = step(nodes, entry, int(text[end - size_back]))
        piece = piece_of(entry)
        if piece > 0:
            alone |= size_back == length
            candidate = best[end - size_back] + weights[piece]
            way = size_back << LENGTH_AT | piece
            if end - size_back < rebased:
                early, early_way = _better(early, early_way, candidate, way)
            else:
                late, late_way = _better(late, late_way, candidate, way)
        if entry == 0:
            break
    if not alone:
        # It begins where the sum was brought back, or behind that.
        candidate = best[start] + unknown_score
        if candidate > late:
            late, late_way = candidate, length << LENGTH_AT
    early -= base
    best[end], ways[end] = _better(late, late_way, early, early_way)
    return end


@njit
def _trace(
    known: Pulling,
    text: NDArray[np.uint8],
    ways: NDArray[np.int64],
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Read the best path back, and append its ids to ``ids[:at]``; returns where they end."""
    piece_ids, unknown_id = known.piece_ids, known.unknown_id
    left, end = at, len(text)
    joined = False  # the token behind is the unknown one, which takes what is unknown before it
    while end > 0:
        piece = (int(ways[end]) & PIECE) - 1
        token = unknown_id if piece == NOWHERE else int(piece_ids[piece])
        start = end - (int(ways[end]) >> LENGTH_AT)
        if token != unknown_id:
            ids[at] = token
            at += 1
            joined = False
        elif len(known.byte_ids) > 0:
            for place in range(end - 1, start - 1, -1):
                ids[at] = known.byte_ids[int(text[place])]
                at += 1
        elif not joined:
            ids[at] = unknown_id
            at += 1
            joined = True
        end = start
    ids[left:at] = ids[left:at][::-1].copy()
    return at
