"""The best segmentation by Viterbi's algorithm, in the dialect of SentencePiece 0.2.3.

``best[e]`` is the greatest sum of scores of a segmentation of the first e bytes, in float32. From
each character's start the trie gives the pieces that begin there; an end is relaxed under a strict
comparison, so among equals the earliest start wins. Where no piece covers just the character, the
unknown piece does, at the lowest score of a NORMAL piece less 10. A user-defined symbol of n bytes
scores 0.1 * (n - 1). UNUSED pieces are passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.model import PieceType
from impls.unigram.normalizer import Rules, make_rules, normalize
from impls.unigram.trie import NOWHERE, ROOT, Trie, child, make_trie

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

UNKNOWN_PENALTY = 10.0

REBASE_ABOVE = np.float32(1e5)
"""Sums beyond this are brought back to 0, so that float32 keeps telling scores apart."""


class Lexicon(NamedTuple):
    """The pieces of a vocabulary.

    trie: the pieces that text can yield. scores: float32, what a piece adds to a sum, by id.
    unknown_score: float32 of length 1. unknown_id: of the unknown piece. byte_ids: the piece of
    each byte for byte fallback, no entries without it. rules: the normalizer.
    """

    trie: Trie
    scores: NDArray[np.float32]
    unknown_score: NDArray[np.float32]
    unknown_id: int
    byte_ids: NDArray[np.int64]
    rules: Rules


def make_lexicon(vocabulary: Vocabulary) -> Lexicon:
    """The tables of a unigram vocabulary."""
    scores = np.array([piece.score for piece in vocabulary.pieces], dtype=np.float32)
    usable: dict[bytes, int] = {}
    byte_ids = np.full(256, NOWHERE, dtype=np.int64)
    for piece_id, piece in enumerate(vocabulary.pieces):
        text = piece.text.encode()
        if piece.type is PieceType.USER_DEFINED:
            scores[piece_id] = 0.1 * (len(text) - 1)
        if piece.type in {PieceType.NORMAL, PieceType.USER_DEFINED}:
            usable.setdefault(text, piece_id)
        if piece.type is PieceType.BYTE:
            byte_ids[int(piece.text[3:5], 16)] = piece_id
    normal = [p.score for p in vocabulary.pieces if p.type is PieceType.NORMAL]
    # Without NORMAL pieces the minimum stays where it began, at the top: the unknown piece wins.
    lowest = np.float32(min(normal, default=np.finfo(np.float32).max))
    return Lexicon(
        make_trie(usable),
        scores,
        np.array([lowest - np.float32(UNKNOWN_PENALTY)], dtype=np.float32),
        NOWHERE if vocabulary.unk_id is None else vocabulary.unk_id,
        byte_ids if vocabulary.byte_fallback else byte_ids[:0],
        make_rules(vocabulary),
    )


@njit
def encode_inputs(
    lexicon: Lexicon, data: NDArray[np.uint8], ends: NDArray[np.int64], id_ends: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Encode each input; writes where its ids end to ``id_ends`` and returns all ids."""
    # Arrays one by one: tuples of them, passed on, cost seconds of compilation.
    edges, node_ids = lexicon.trie.edges, lexicon.trie.ids
    scores, unknown_score = lexicon.scores, lexicon.unknown_score[0]
    unknown_id, byte_ids = lexicon.unknown_id, lexicon.byte_ids
    longest = 0
    start = 0
    for index in range(len(ends)):
        longest = max(longest, ends[index] - start)
        start = ends[index]
    text = np.empty((longest + 1) * lexicon.rules.growth, dtype=np.uint8)
    starts = np.empty(len(text) + 1, dtype=np.int64)
    pieces = np.empty(len(text) + 1, dtype=np.int64)
    ids = np.empty(len(data) + 16, dtype=np.int32)
    at = 0
    start = 0
    for index in range(len(ends)):
        size = normalize(lexicon.rules, data, start, ends[index], text)
        if at + size > len(ids):
            more = np.empty(2 * (at + size), dtype=np.int32)
            more[:at] = ids[:at]
            ids = more
        if size > 0:
            normalized, path = text[:size], starts[: size + 1]
            _segment(edges, node_ids, scores, unknown_score, unknown_id, normalized, path, pieces)
            at = _trace(normalized, path, pieces, unknown_id, byte_ids, ids, at)
        id_ends[index] = at
        start = ends[index]
    return ids[:at]


@njit
def _segment(
    edges: NDArray[np.int64],
    node_ids: NDArray[np.int64],
    scores: NDArray[np.float32],
    unknown_score: np.float32,
    unknown_id: int,
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    pieces: NDArray[np.int64],
) -> None:
    """For each end of the best path: where its last piece starts, and which piece that is."""
    size = len(text)
    best = np.zeros(size + 1, dtype=np.float32)
    starts[:] = NOWHERE
    start = 0
    reached = 0
    while start < size:
        if abs(best[start]) > REBASE_ABOVE:
            base = best[start]
            for end in range(start, reached + 1):
                best[end] -= base
        score = best[start]
        character = min(_lead_length(int(text[start])), size - start)
        alone = False
        node = ROOT
        for end in range(start + 1, size + 1):
            node = child(edges, node, int(text[end - 1]))
            if node == NOWHERE:
                break
            piece = node_ids[node]
            if piece == NOWHERE:
                continue
            candidate = score + scores[piece]
            if starts[end] == NOWHERE or candidate > best[end]:
                best[end] = candidate
                starts[end] = start
                pieces[end] = piece
                reached = max(reached, end)
            alone = alone or end - start == character
        if not alone:
            end = start + character
            candidate = score + unknown_score
            if starts[end] == NOWHERE or candidate > best[end]:
                best[end] = candidate
                starts[end] = start
                pieces[end] = unknown_id
                reached = max(reached, end)
        start += character


@njit
def _lead_length(lead: int) -> int:
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@njit
def _trace(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    pieces: NDArray[np.int64],
    unknown_id: int,
    byte_ids: NDArray[np.int64],
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Read the best path back: bytes or merged runs for the unknown; returns where ids end."""
    # Backwards into ids first, then turned round: nobody knows their number yet.
    first = at
    end = len(text)
    in_unknown = False
    while end > 0:
        start = starts[end]
        piece = pieces[end]
        if piece != unknown_id:
            ids[at] = piece
            at += 1
        elif len(byte_ids) > 0:
            for position in range(end - 1, start - 1, -1):
                ids[at] = byte_ids[text[position]]
                at += 1
        elif not in_unknown:
            ids[at] = piece
            at += 1
        in_unknown = piece == unknown_id
        end = start
    left, right = first, at - 1
    while left < right:
        ids[left], ids[right] = ids[right], ids[left]
        left += 1
        right -= 1
    return at
