"""Byte-pair encoding by backtracking. O(n), and the fastest.

Take the longest token at the position; if the encoding of what is before does not admit it (the
pair with the last token is invalid), try its next shorter prefix; if none is left, the text up to
here cannot be followed from here by any token: mark the position, take back the last token and
try its prefixes. As a text's encoding is determined by its last token, a marked position is dead
for good, and each position is entered with each token once. (After the `bpe` crate by GitHub.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.layout import (
    ATOMS,
    BLOOM,
    EMPTY,
    IDS,
    LENGTHS,
    MERGED,
    PREFIXES,
    SEAMS,
    SPLITS,
    TRIE,
    WHOLE_IDS,
    WORDS,
    pack,
    section,
)
from impls.bpe.linear import spelled_tokens, token_sections
from impls.bpe.piece_cache import FIRST_ROW, UNKNOWN, holds, look_up, recall, remember
from impls.bpe.tables import whole_id
from impls.bpe.trie import LABEL_BITS, LABEL_MASK
from impls.bpe.validity import is_seam, valid_pair
from impls.bpe.words import overlapping, word_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


BLOCK = 256
"""Pieces whose probes are sent for together, before any is used."""


@njit
def encode_pieces(
    block: NDArray[np.int32],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    given: NDArray[np.int64],
    ids: NDArray[np.int32],
    id_ends: NDArray[np.int64],
) -> int:
    """Encode each piece; the arguments are those of :class:`impls.bpe.encoder.EncodePieces`."""
    return encode_remembering(block, np.empty(0, np.int64), data, ends, given, ids, id_ends)


@njit
def encode_remembering(
    block: NDArray[np.int32],
    cache: NDArray[np.int64],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    given: NDArray[np.int64],
    ids: NDArray[np.int32],
    id_ends: NDArray[np.int64],
) -> int:
    """Likewise, with a cache of pieces (:mod:`impls.bpe.piece_cache`), or one without entries."""
    trie, prefixes, lengths = (
        section(block, TRIE),
        section(block, PREFIXES),
        section(block, LENGTHS),
    )
    splits, merged, bloom = section(block, SPLITS), section(block, MERGED), section(block, BLOOM)
    seams, id_of, atoms = section(block, SEAMS), section(block, IDS), section(block, ATOMS)
    words = section(block, WORDS).view(np.int64)
    text = overlapping(data)
    cached_ids = cache.view(np.int32)
    # One mark a position; zeroed pages that no conflict touches are never made.
    dead = np.zeros(len(data) + 1, dtype=np.uint8)
    found = np.empty(min(BLOCK, len(ends)), dtype=np.int64)
    at = 0
    start = 0
    for first in range(0, len(ends), BLOCK):
        last = min(first + BLOCK, len(ends))
        look_up(words, cache, text, ends, start, first, last, found)
        for piece in range(first, last):
            end = int(ends[piece])
            known = int(given[piece]) if len(given) > 0 else EMPTY
            row = UNKNOWN
            if known == EMPTY:
                row = int(found[piece - first])
                known = row if row >= 0 else EMPTY
            if known == EMPTY and row == UNKNOWN:
                known = whole_id(block, data, start, end)
            if known != EMPTY:
                ids[at] = known
                at += 1
            elif row < UNKNOWN and holds(cache, FIRST_ROW - row, text, start, end - start):
                at = recall(cache, cached_ids, FIRST_ROW - row, ids, at)
            elif start < end:
                first_id = at
                at = _encode(
                    trie,
                    prefixes,
                    lengths,
                    splits,
                    merged,
                    bloom,
                    seams,
                    int(atoms[256]),
                    data,
                    start,
                    end,
                    dead,
                    ids,
                    at,
                )
                if at == EMPTY:
                    while atoms[data[start]] != EMPTY:
                        start += 1
                    return -1 - start
                for index in range(first_id, at):
                    ids[index] = id_of[ids[index]]
                if row < UNKNOWN:
                    remember(
                        cache, cached_ids, FIRST_ROW - row, text, start, end, ids, first_id, at
                    )
            id_ends[piece] = at
            start = end
    return at


@njit
def _encode(
    trie: NDArray[np.int32],
    prefixes: NDArray[np.int32],
    lengths: NDArray[np.int32],
    splits: NDArray[np.int32],
    merged: NDArray[np.int32],
    bloom: NDArray[np.int32],
    seams: NDArray[np.int32],
    atoms: int,
    data: NDArray[np.uint8],
    start: int,
    end: int,
    dead: NDArray[np.uint8],
    out: NDArray[np.int32],
    first: int,
) -> int:
    """Encode ``data[start:end]`` to ``out[first:]``; returns where it ends.

    EMPTY if some byte has no token. dead: see above, one mark a byte of ``data`` and one more.
    """
    count = first
    position = start
    token = EMPTY  # to try next; EMPTY for the longest at ``position``
    while position < end:
        stop = position
        if token == EMPTY:
            at = position
            slot = 0
            while at < end:
                byte = int(data[at])
                slot = int(trie[2 * slot]) ^ byte
                word = int(trie[2 * slot + 1])
                if (word & LABEL_MASK) != byte + 1:
                    break
                at += 1
                if word > LABEL_MASK:
                    token = (word >> LABEL_BITS) - 1
                    stop = at
        else:
            # It comes from a step back, which found its end to be dead.
            token = int(prefixes[token])
            if token != EMPTY:
                stop = position + int(lengths[token])
        # Only these two bytes face each other, whichever prefix is tried.
        checked = position > start and is_seam(seams, int(data[position - 1]), int(data[position]))
        before = int(out[count - 1]) if checked else EMPTY
        while token != EMPTY:
            if dead[stop] == 0 and (
                not checked or valid_pair(splits, merged, bloom, atoms, before, token)
            ):
                break
            token = int(prefixes[token])
            if token != EMPTY:
                stop = position + int(lengths[token])
        if token != EMPTY:
            out[count] = token
            count += 1
            position = stop
            token = EMPTY
        else:
            dead[position] = 1
            if count == first:
                return EMPTY
            count -= 1
            token = int(out[count])
            position -= int(lengths[token])
    return count


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Tokens by age with their trie, pair validity, and the short tokens that are emitted whole."""
    tokens = token_sections(vocabulary)
    ids = np.concatenate((tokens[IDS], tokens.get(WHOLE_IDS, tokens[IDS][:0])))
    texts = spelled_tokens(vocabulary, ids)
    words = word_table(dict(zip(texts, ids.tolist(), strict=True)))
    return pack({**tokens, WORDS: words})
