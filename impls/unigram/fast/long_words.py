"""Viterbi's algorithm over a word of any length, from the sum that the engine has before it.

The arithmetic is that of :mod:`impls.unigram.viterbi_kernel`, addition by addition. Where nothing
found so far reaches beyond a character's start, every path passes there: now and then the best one
is read back and what lies before is forgotten, so that the arrays stay in the processor's caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.kernels.layout import INDEX
from impls.kernels.trie import LABEL_BITS, LABEL_MASK
from impls.kernels.utf8 import lead_length
from impls.unigram.trie import NOWHERE, ROOT
from impls.unigram.viterbi_kernel import fall_back

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 512
"""Bytes after which the best path is read back as soon as that is possible."""

START_AT = 32
"""The place in a way, ``start << 32 | piece + 1``, of where the last piece starts."""
PIECE = (1 << START_AT) - 1
"""The bits of a way that tell the last piece: its number and 1, or 0 for the unknown one."""


@njit
def encode_long(
    trie: NDArray[np.int32],
    piece_ids: NDArray[np.int64],
    scores: NDArray[np.floating],
    unknown_score: np.floating,
    unknown_id: int,
    byte_ids: NDArray[np.int64],
    fallback: int,
    rebase_above: float,
    longest: int,
    text: NDArray[np.uint8],
    first: int,
    last: int,
    best: NDArray[np.floating],
    ways: NDArray[np.int64],
    ids: NDArray[np.int32],
    at: int,
) -> tuple[int, np.floating]:
    """Append the ids of ``text[first:last]`` to ``ids[:at]``; returns where they end, and the sum.

    longest: the bytes of the longest piece, at least 4. best, ways: an entry more than the word has
    bytes; ``best[0]`` is the sum before the word. The other arguments are those of
    :func:`impls.unigram.viterbi_kernel.encode_segments`. All scores are finite.
    """
    root = int(trie[2 * ROOT]) & INDEX
    origin = first  # the place in the text that entry 0 stands for
    size = last - first
    start = reached = ready = 0
    while start < size:
        if start >= WINDOW and start == reached:
            piece = (int(ways[start]) & PIECE) - 1
            # An unknown character may be continued by the next one.
            if piece != NOWHERE and piece_ids[piece] != unknown_id:
                at = _trace(
                    trie, piece_ids, text, origin, start, ways, unknown_id, byte_ids, fallback,
                    ids, at,
                )  # fmt: skip
                best[0] = best[start]
                origin += start
                size -= start
                ready -= start
                best[1 : ready + 1] = -np.inf
                start = reached = 0
        while ready < min(start + longest, size):
            ready += 1
            best[ready] = -np.inf
        if abs(best[start]) > rebase_above:
            base = best[start]
            for end in range(start, reached + 1):
                best[end] -= base
        score = best[start]
        character = min(lead_length(int(text[origin + start])), size - start)
        alone = False
        slot = root
        for end in range(start + 1, size + 1):
            byte = int(text[origin + end - 1])
            after = slot ^ byte
            label = int(trie[2 * after + 1])
            if label & LABEL_MASK != byte + 1:
                break
            slot = int(trie[2 * after]) & INDEX
            if label <= LABEL_MASK:
                continue
            piece = (label >> LABEL_BITS) - 1
            candidate = score + scores[piece]
            sofar = best[end]
            # Selected, not branched on: no branch predictor knows which piece wins.
            better = candidate > sofar
            best[end] = candidate if better else sofar
            ways[end] = start << START_AT | (piece + 1) if better else ways[end]
            reached = max(reached, end)
            alone |= end - start == character
        if not alone:
            end = start + character
            unknown = score + unknown_score
            if unknown > best[end]:
                best[end] = unknown
                ways[end] = start << START_AT
                reached = max(reached, end)
        start += character
    at = _trace(trie, piece_ids, text, origin, size, ways, unknown_id, byte_ids, fallback, ids, at)
    return at, best[size]


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
        end = int(ways[end]) >> START_AT
        if token != unknown_id:
            ids[at] = token
            at += 1
            continue
        while end > 0:
            piece = (int(ways[end]) & PIECE) - 1
            if piece != NOWHERE and piece_ids[piece] != unknown_id:
                break
            end = int(ways[end]) >> START_AT
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
