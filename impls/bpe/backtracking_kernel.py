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
from impls.bpe.candidates import (
    HAS_TOKEN,
    LESS_BITS,
    LESS_MASK,
    VALUE_BITS,
    VALUE_MASK,
    candidate_tables,
)
from impls.bpe.layout import (
    ATOMS,
    BLOOM,
    EMPTY,
    IDS,
    INDEX,
    INNER,
    LENGTHS,
    MERGED,
    PLACE,
    REGULAR,
    SEAMS,
    SHORT,
    SHORTER,
    SPLITS,
    WALK,
    WHOLE_IDS,
    WHOLE_SLOTS,
    WORDS,
    pack,
    section,
)
from impls.bpe.linear import spelled_tokens, token_sections
from impls.bpe.piece_cache import FIRST_ROW, UNKNOWN, look_up, recall, remember, settle
from impls.bpe.tables import longest_piece, whole_id
from impls.bpe.trie import LABEL_MASK
from impls.bpe.validity import is_seam, valid_pair
from impls.bpe.words import LONGEST, overlapping, word_filter, word_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


NOTED = 4096
"""Bytes of the longest piece of which is noted where its tokens begin, which saves looking up their
lengths; for longer ones it would be one more array that grows with them."""

BLOCK = 256
"""Pieces that are looked up together, then what is left of them encoded together."""


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
    words, filters = section(block, WORDS).view(np.int64), section(block, SHORT)
    walk, inner, shorter = section(block, WALK), section(block, INNER), section(block, SHORTER)
    splits, merged, bloom = section(block, SPLITS), section(block, MERGED), section(block, BLOOM)
    lengths, seams = section(block, LENGTHS), section(block, SEAMS)
    id_of, atoms = section(block, IDS), section(block, ATOMS)
    regular, shift = int(section(block, REGULAR)[0]), int(section(block, REGULAR)[1])
    wholes = len(section(block, WHOLE_SLOTS)) > 0
    text = overlapping(data)
    cached_ids = cache.view(np.int32)
    longest = longest_piece(ends)
    # One mark a position of a piece; and where each of its tokens begins, relative to it.
    dead = np.zeros(longest + 1, dtype=np.uint8)
    begins = np.empty(min(longest, NOTED) + 1, dtype=np.int32)
    found = np.empty(min(BLOCK, len(ends)), dtype=np.int64)
    left = np.empty(len(found), dtype=np.int64)
    counts = np.empty(len(found), dtype=np.int64)
    at = 0
    start = 0
    for first in range(0, len(ends), BLOCK):
        last = min(first + BLOCK, len(ends))
        look_up(words, filters, cache, text, ends, start, first, last, found)
        if len(given) > 0:
            for piece in range(first, last):
                if given[piece] != EMPTY:
                    found[piece - first] = given[piece]
        if wholes:
            begin = start
            for piece in range(first, last):
                end = int(ends[piece])
                # Those with a key have been looked up; what has a row in the cache may be longer.
                known = int(found[piece - first])
                if known == UNKNOWN or (known < UNKNOWN and end - begin > LONGEST):
                    token_id = whole_id(block, data, begin, end)
                    if token_id != EMPTY:
                        found[piece - first] = token_id
                begin = end
        lefts = settle(cache, text, ends, first, last, found, left)
        # Tokens stand where ids will, behind the room of the pieces between them: a piece has no
        # more ids than bytes, so that no id is written over a token that is not read yet.
        others = int(ends[last - 1]) - start
        for index in range(lefts):
            piece = int(left[index])
            others -= int(ends[piece]) - (int(ends[piece - 1]) if piece > 0 else 0)
        tokens = ids[at + others :]
        fault = _encode(
            walk,
            inner,
            shorter,
            lengths,
            splits,
            merged,
            bloom,
            seams,
            int(atoms[256]),
            data,
            ends,
            left,
            lefts,
            counts,
            dead,
            begins,
            tokens,
        )
        if fault != EMPTY:
            while atoms[data[fault]] != EMPTY:
                fault += 1
            return -1 - fault
        encoded = 0
        following = 0
        for piece in range(first, last):
            known = int(found[piece - first])
            if known >= 0:
                ids[at & PLACE] = known
                at += 1
            elif following < lefts and left[following] == piece:
                count = int(counts[following])
                following += 1
                for index in range(count):
                    token = int(tokens[(encoded + index) & PLACE])
                    ids[(at + index) & PLACE] = (
                        token + shift if token >= regular else id_of[token & INDEX]
                    )
                encoded += count
                at += count
            elif known < UNKNOWN:
                at = recall(cache, cached_ids, FIRST_ROW - known, ids, at)
            id_ends[piece] = at
        # Not before all are recalled, whose rows they take.
        if len(cache) > 0:
            remember(cache, cached_ids, text, ends, first, found, left, counts, lefts, ids, id_ends)
        start = int(ends[last - 1])
    return at


@njit
def _encode(
    walk: NDArray[np.int32],
    inner: NDArray[np.int32],
    shorter: NDArray[np.int32],
    lengths: NDArray[np.int32],
    splits: NDArray[np.int32],
    merged: NDArray[np.int32],
    bloom: NDArray[np.int32],
    seams: NDArray[np.int32],
    atoms: int,
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    left: NDArray[np.int64],
    lefts: int,
    counts: NDArray[np.int64],
    dead: NDArray[np.uint8],
    begins: NDArray[np.int32],
    tokens: NDArray[np.int32],
) -> int:
    """Encode the pieces ``left[:lefts]``, none of them empty.

    Many at a time, as a call with so many arrays costs as much as encoding a short piece.
    tokens: receives their tokens, one after another. counts: how many of each piece. dead, begins:
    see above; the marks are 0, and left so. Returns EMPTY, or where a piece begins with a byte in
    it that has no token.
    """
    slots = len(walk)
    root = int(walk[0])
    at = 0
    for index in range(lefts):
        piece = int(left[index])
        start = int(ends[piece - 1]) if piece > 0 else 0
        end = int(ends[piece])
        noted = end - start <= NOTED
        count = 0
        position = start
        stop = start
        token = EMPTY  # to try next, and it ends at ``stop``; EMPTY for the longest at ``position``
        while position < end:
            if token == EMPTY:
                value = (root >> VALUE_BITS) & VALUE_MASK
                reached = position
                stop = position
                met = 0
                while reached < end:
                    byte = int(data[reached & PLACE])
                    slot = value ^ byte
                    entry = int(walk[slot])
                    if (entry & LABEL_MASK) != byte + 1:
                        break
                    reached += 1
                    value = (entry >> VALUE_BITS) & VALUE_MASK
                    has_token = entry & HAS_TOKEN
                    met = slot if has_token else met
                    stop = reached if has_token else stop
                    if value >= slots:
                        break
                if stop > position:
                    value = (int(walk[met]) >> VALUE_BITS) & VALUE_MASK
                    token = value - slots if value >= slots else int(inner[met])
            # Only these two bytes face each other, whichever candidate is tried.
            checked = position > start and is_seam(
                seams, int(data[(position - 1) & PLACE]), int(data[position & PLACE])
            )
            before = int(tokens[(at + count - 1) & PLACE]) & INDEX if checked else EMPTY
            while token != EMPTY:
                token &= INDEX
                if dead[(stop - start) & PLACE] == 0 and (
                    not checked or valid_pair(splits, merged, bloom, atoms, before, token)
                ):
                    break
                entry = int(shorter[token])
                if entry != EMPTY:
                    after = (entry & INDEX) >> LESS_BITS
                    less = entry & LESS_MASK
                    if less == 0:  # too many to be noted
                        less = int(lengths[token]) - int(lengths[after])
                    stop -= less
                    entry = after
                token = entry
            if token != EMPTY:
                tokens[(at + count) & PLACE] = token
                if noted:
                    begins[count & PLACE] = position - start
                count += 1
                position = stop
                token = EMPTY
            else:
                dead[(position - start) & PLACE] = 1
                if count == 0:
                    return start
                count -= 1
                stop = position
                token = int(tokens[(at + count) & PLACE])
                if noted:
                    position = start + int(begins[count & PLACE])
                else:
                    position -= int(lengths[token & INDEX])
        counts[index] = count
        at += count
        for mark in range(end - start):
            dead[mark] = 0
    return EMPTY


def block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Tokens by age with their trie, pair validity, and the short tokens that are emitted whole."""
    tokens = token_sections(vocabulary)
    ids = np.concatenate((tokens[IDS], tokens.get(WHOLE_IDS, tokens[IDS][:0])))
    texts = spelled_tokens(vocabulary, ids)
    words = word_table(dict(zip(texts, ids.tolist(), strict=True)))
    candidates = candidate_tables(tokens, texts[: len(tokens[IDS])])
    return pack({**tokens, **candidates, WORDS: words, SHORT: word_filter(words)})
