"""The best segmentation by Viterbi's algorithm, compiled, for every variant.

``best[e]`` is the greatest sum of scores of a segmentation of the first e bytes. From each
character's start the trie gives the pieces that begin there; an end is relaxed under a strict
comparison, so among equals the earliest start stays. Where no piece covers just the character, the
unknown piece does. The types of the arrays decide the arithmetic: one compilation for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.kernels.layout import EMPTY, INDEX
from impls.kernels.trie import LABEL_BITS, LABEL_MASK, child, token_at
from impls.kernels.utf8 import lead_length
from impls.unigram.trie import NOWHERE, ROOT
from impls.unigram.variants import Fallback

if TYPE_CHECKING:
    from numpy.typing import NDArray

RUN = int(Fallback.RUN)


@njit
def encode_segments(
    trie: NDArray[np.int32],
    piece_ids: NDArray[np.int64],
    scores: NDArray[np.floating],
    unknown_scores: NDArray[np.floating],
    sums: NDArray[np.floating],
    unknown_id: int,
    byte_ids: NDArray[np.int64],
    fallback: int,
    rebase_above: float,
    unreached: float,
    unreached_start: int,
    text: NDArray[np.uint8],
    segments: NDArray[np.int64],
    segment_ends: NDArray[np.int64],
    id_ends: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Encode each segment; writes where an input's ids end to ``id_ends`` and returns all ids.

    The tables are those of :class:`impls.unigram.lexicon.Lexicon`; text, segments and segment_ends
    are what :mod:`impls.unigram.preparation` made of the inputs.
    """
    unknown_score = unknown_scores[0]
    best = np.empty(64, dtype=sums.dtype)
    starts = np.empty(64, dtype=np.int32)
    pieces = np.empty(64, dtype=np.int32)
    ids = np.empty(len(text) // 2 + len(segments) + 16, dtype=np.int32)
    at = first = number = 0
    for index in range(len(id_ends)):
        while number < segment_ends[index]:
            last, token = int(segments[number, 0]), int(segments[number, 1])
            number += 1
            size = last - first
            # Of a byte there is at most one id, and a token may come without any.
            if at + size + 1 > len(ids):
                more = np.empty(2 * (at + size + 1), dtype=np.int32)
                more[:at] = ids[:at]
                ids = more
            if token != NOWHERE:
                ids[at] = token
                at += 1
                continue
            if size + 1 > len(best):
                best = np.empty(2 * size + 2, dtype=sums.dtype)
                starts = np.empty(2 * size + 2, dtype=np.int32)
                pieces = np.empty(2 * size + 2, dtype=np.int32)
            for end in range(size + 1):
                best[end] = unreached
                starts[end] = unreached_start
                pieces[end] = NOWHERE
            best[0] = 0
            segment(
                trie,
                scores,
                unknown_score,
                rebase_above,
                text,
                first,
                last,
                best,
                starts,
                pieces,
            )
            at = _trace(
                trie,
                piece_ids,
                text,
                first,
                last,
                starts,
                pieces,
                unknown_id,
                byte_ids,
                fallback,
                ids,
                at,
            )
            first = last
        id_ends[index] = at
    return ids[:at]


@njit
def segment(
    trie: NDArray[np.int32],
    scores: NDArray[np.floating],
    unknown_score: np.floating,
    rebase_above: float,
    text: NDArray[np.uint8],
    first: int,
    last: int,
    best: NDArray[np.floating],
    starts: NDArray[np.int32],
    pieces: NDArray[np.int32],
) -> None:
    """For each end of ``text[first:last]``: where its best last piece starts, and which it is.

    Positions count from ``first``; pieces by their number in ``trie``, NOWHERE for the unknown one.
    ``best[0]`` is the sum before the first byte. All other entries of ``best``, ``starts`` and
    ``pieces`` hold what stands at an unreached position.
    """
    size = last - first
    # Without pieces there is no root.
    walked = size if len(trie) > 0 else 0
    root = int(trie[2 * ROOT]) & INDEX if walked > 0 else 0
    start = 0
    reached = 0
    while start < size:
        if abs(best[start]) > rebase_above:
            base = best[start]
            for end in range(start, reached + 1):
                best[end] -= base
        score = best[start]
        character = min(lead_length(int(text[first + start])), size - start)
        alone = False
        base = root
        for end in range(start + 1, walked + 1):
            # `child` and `token_at` in one: this loop is where the time goes.
            byte = int(text[first + end - 1])
            after = base ^ byte
            label = int(trie[2 * after + 1])
            if label & LABEL_MASK != byte + 1:
                break
            base = int(trie[2 * after]) & INDEX
            if label <= LABEL_MASK:
                continue
            piece = (label >> LABEL_BITS) - 1
            candidate = score + scores[piece]
            sofar, whence = best[end], starts[end]
            # Selected, not branched on: no branch predictor knows which piece wins.
            better = (candidate > sofar) | (whence == NOWHERE)
            best[end] = candidate if better else sofar
            starts[end] = start if better else whence
            pieces[end] = piece if better else pieces[end]
            reached = max(reached, end if better else 0)
            alone |= end - start == character
        if not alone:
            end = start + character
            unknown = score + unknown_score
            if unknown > best[end] or starts[end] == NOWHERE:
                best[end] = unknown
                starts[end] = start
                pieces[end] = NOWHERE
                reached = max(reached, end)
        start += character


@njit
def _trace(
    trie: NDArray[np.int32],
    piece_ids: NDArray[np.int64],
    text: NDArray[np.uint8],
    first: int,
    last: int,
    starts: NDArray[np.int32],
    pieces: NDArray[np.int32],
    unknown_id: int,
    byte_ids: NDArray[np.int64],
    fallback: int,
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Read the best path back, runs of unknown replaced; returns where ids end."""
    # Backwards into ids first, then turned round: nobody knows their number yet.
    left = at
    end = last - first
    while end > 0:
        start = int(starts[end])
        piece = int(pieces[end])
        token = unknown_id if piece == NOWHERE else int(piece_ids[piece])
        if token != unknown_id:
            ids[at] = token
            at += 1
            end = start
            continue
        while start > 0:
            piece = int(pieces[start])
            if piece != NOWHERE and piece_ids[piece] != unknown_id:
                break
            start = int(starts[start])
        at = fall_back(
            trie,
            piece_ids,
            text,
            first + start,
            first + end,
            unknown_id,
            byte_ids,
            fallback,
            ids,
            at,
        )
        end = start
    right = at - 1
    while left < right:
        ids[left], ids[right] = ids[right], ids[left]
        left += 1
        right -= 1
    return at


@njit
def fall_back(
    trie: NDArray[np.int32],
    piece_ids: NDArray[np.int64],
    text: NDArray[np.uint8],
    start: int,
    end: int,
    unknown_id: int,
    byte_ids: NDArray[np.int64],
    fallback: int,
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Append what a run of unknown characters becomes, the last id first."""
    has_bytes = len(byte_ids) > 0
    if fallback == RUN:
        piece = spelled(trie, text, start, end)
        if piece != NOWHERE:
            ids[at] = piece_ids[piece]
            return at + 1
        for i in range(start, end):
            has_bytes = has_bytes and byte_ids[int(text[i])] != NOWHERE
    if has_bytes:
        for i in range(end - 1, start - 1, -1):
            ids[at] = byte_ids[int(text[i])]
            at += 1
        return at
    ids[at] = unknown_id
    return at + 1


@njit
def spelled(trie: NDArray[np.int32], text: NDArray[np.uint8], start: int, end: int) -> int:
    """The piece that is ``text[start:end]``, or NOWHERE."""
    slot = ROOT if len(trie) > 0 else EMPTY
    for i in range(start, end):
        if slot == EMPTY:
            break
        slot = child(trie, slot, int(text[i]))
    return token_at(trie, slot) if slot != EMPTY else NOWHERE
