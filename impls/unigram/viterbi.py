"""The best segmentation of a text by Viterbi's algorithm, for every variant.

``best[e]`` is the greatest sum of scores of a segmentation of the first e bytes. From each
character's start the trie gives the pieces that begin there; an end is relaxed under a strict
comparison, so among equals the earliest start stays. Where no piece covers just the character, the
unknown piece does. An engine that adds in float32 is followed by adding in float64 and rounding:
the sum of two float32 is the same both ways (Figueroa, "When is double rounding innocuous?",
1995). Read beside SentencePiece's ``unigram_model.cc`` (``EncodeOptimized``), llama.cpp's
``llm_tokenizer_ugm_session::tokenize`` and tokenizers' ``models/unigram/model.rs``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.kernels.trie import child, token_at
from impls.kernels.utf8 import lead_length
from impls.unigram.trie import NOWHERE, ROOT, spelled
from impls.unigram.variants import Fallback

if TYPE_CHECKING:
    from impls.unigram.lexicon import Lexicon

RUN = int(Fallback.RUN)


@njit
def encode_segments(
    lexicon: Lexicon,
    text: Bytes,
    segments: Longs,
    segment_ends: Longs,
) -> tuple[Ints, Longs]:
    """The ids of all segments, and where those of each input end.

    text, segments, segment_ends: of :func:`impls.unigram.normalizer.prepare`.
    """
    # Of a byte there is at most one id, and a token may come without any.
    ids = np.empty(len(text) + len(segments), dtype=np.int32)
    id_ends = np.empty(len(segment_ends), dtype=np.int64)
    at = first = number = 0
    for index in range(len(segment_ends)):
        while number < segment_ends[index]:
            last, token = int(segments[number, 0]), int(segments[number, 1])
            number += 1
            if token != NOWHERE:
                ids[at] = token
                at += 1
            else:
                at = _encode(lexicon, text, first, last, ids, at)
            first = last
        id_ends[index] = at
    return ids[:at], id_ends


@njit
def _encode(
    lexicon: Lexicon,
    text: Bytes,
    first: int,
    last: int,
    ids: Ints,
    at: int,
) -> int:
    """Append the ids of ``text[first:last]`` to ``ids[:at]``; returns where they end."""
    starts, pieces = best_paths(lexicon, text[first:last])
    unknown_id = lexicon.unknown_id
    # Read backwards, then turned round: nobody knows their number yet.
    left, end = at, last - first
    while end > 0:
        piece = int(pieces[end])
        token = unknown_id if piece == NOWHERE else int(lexicon.ids[piece])
        start = int(starts[end])
        if token != unknown_id:
            ids[at] = token
            at += 1
        else:
            while start > 0:
                piece = int(pieces[start])
                if piece != NOWHERE and lexicon.ids[piece] != unknown_id:
                    break
                start = int(starts[start])
            at = fall_back(
                lexicon.trie, lexicon.ids, text, first + start, first + end, unknown_id,
                lexicon.byte_ids, lexicon.fallback, ids, at,
            )  # fmt: skip
        end = start
    ids[left:at] = ids[left:at][::-1].copy()
    return at


@njit
def best_paths(lexicon: Lexicon, text: Bytes) -> tuple[Ints, Ints]:
    """For each place of a text: where its best last piece starts, and which it is.

    Pieces by their number in the trie, NOWHERE for the unknown one. A place that nothing reaches
    starts where the variant says.
    """
    trie, scores = lexicon.trie, lexicon.scores
    size = len(text)
    best = np.full(size + 1, lexicon.unreached, dtype=np.float64)
    starts = np.full(size + 1, lexicon.unreached_start, dtype=np.int32)
    pieces = np.full(size + 1, NOWHERE, dtype=np.int32)
    best[0] = 0
    reached = start = 0
    while start < size:
        if abs(best[start]) > lexicon.rebase_above:
            base = best[start]
            for end in range(start, reached + 1):
                best[end] = rounded(best[end] - base, lexicon.float_sums)
            best[start] = 0  # even if the sum had overflowed
        character = min(lead_length(int(text[start])), size - start)
        alone = False
        slot = ROOT if len(trie) > 0 else EMPTY
        for end in range(start + 1, size + 1):
            slot = child(trie, slot, int(text[end - 1])) if slot != EMPTY else EMPTY
            if slot == EMPTY:
                break
            piece = token_at(trie, slot)
            if piece != EMPTY:
                candidate = rounded(best[start] + scores[piece], lexicon.float_pieces)
                alone = alone or end - start == character
                if candidate > best[end] or starts[end] == NOWHERE:
                    best[end] = rounded(candidate, lexicon.float_sums)
                    starts[end], pieces[end] = start, piece
                    reached = max(reached, end)
        end = start + character
        candidate = rounded(best[start] + lexicon.unknown_score, lexicon.float_unknown)
        if not alone and (candidate > best[end] or starts[end] == NOWHERE):
            best[end] = rounded(candidate, lexicon.float_sums)
            starts[end], pieces[end] = start, NOWHERE
            reached = max(reached, end)
        start = end
    return starts, pieces


@njit
def rounded(number: float, to_float: bool) -> float:
    """The number, or the float32 nearest to it."""
    return float(np.float32(number)) if to_float else number


@njit
def fall_back(
    trie: Ints,
    piece_ids: Longs,
    text: Bytes,
    start: int,
    end: int,
    unknown_id: int,
    byte_ids: Longs,
    fallback: int,
    ids: Ints,
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
