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

from impls.bpe.pieces import Wholes, whole_id, wholes_of
from impls.bpe.tokens import ROOMS as PLAIN_ROOMS
from impls.bpe.tokens import improper_tokens, spellings_of, tokens_of
from impls.compiled.jit import njit
from impls.fast.bpe.batched_backtracking import (
    BEGIN_BITS,
    LONGEST_BATCHED,
    encode_batched,
)
from impls.fast.bpe.block import (
    BASE_TOKENS,
    BLOOM,
    BOUNDARIES,
    IDS,
    INNER,
    LENGTHS,
    MERGED,
    REGULAR,
    SHORT,
    SHORTER,
    SPLITS,
    WALK,
    WHOLE_IDS,
    WHOLE_TRIE,
    WORDS,
    pack,
    section,
    wide,
)
from impls.fast.bpe.candidates import (
    LESS_BITS,
    LESS_MASK,
    candidate_tables,
)
from impls.fast.bpe.columns import END, PLACE_OF_NEXT, ROWS, START
from impls.fast.bpe.pair_validity import boundary_at, valid_pair, validity_tables
from impls.fast.bpe.piece_results import FEW, begin_of, emit, put, put_one
from impls.fast.bpe.processor import copy_pair
from impls.fast.bpe.repeats import SEEN, answer_repeats, set_aside
from impls.fast.bpe.short_rows import AHEAD, recall, remember
from impls.fast.bpe.trie_lookup import READ, longest_at
from impls.fast.bpe.vectors import WIDTH
from impls.fast.bpe.wide_rows import recall_wide, remember_wide
from impls.fast.bpe.words import has_key, keep_keys, look_up, spell, word_filter, word_table
from impls.kernels.layout import EMPTY, INDEX, PLACE, Bytes, Ints, Longs
from impls.kernels.merge_tables import longest_piece
from impls.kernels.table_cache import arrays_of

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


ROOMS = (*PLAIN_ROOMS, "impls/fast/bpe")
"""The folders of all modules that have a part in the making of a block."""

NOTED = 4096
"""Bytes of the longest piece of which is noted where its tokens begin, which saves looking up their
lengths; for longer ones it would be one more array that grows with them."""

FARTHEST = (1 << 31) - (1 << 12)
"""Bytes from a block's beginning that are counted in 32 bits."""

BATCHED = -2
"""This stands in place of the count of a piece that is one of those that are encoded together."""

BLOCK = 16384
"""Pieces of which those that no cache knows are encoded together."""
PART = 4096
"""Pieces that are spelled, and asked of a cache, together: their keys stay near."""


@njit
def encode_pieces(
    block: Ints,
    data: Bytes,
    ends: Longs,
    given: Longs,
    ids: Ints,
    id_ends: Longs,
) -> int:
    """See :class:`impls.bpe.pieces.EncodePieces`."""
    return encode_remembering(block, np.empty(0, np.int64), data, ends, given, ids, id_ends)


@njit
def encode_remembering(
    block: Ints,
    cache: Longs,
    data: Bytes,
    ends: Longs,
    given: Longs,
    ids: Ints,
    id_ends: Longs,
) -> int:
    """Encode pieces with a cache of pieces, which may be one without entries.

    The arguments are those of :func:`encode_pieces`, and the cache of
    :mod:`impls.fast.bpe.piece_cache`.
    """
    words, filters = wide(section(block, WORDS)), section(block, SHORT)
    walk, inner, shorter = section(block, WALK), section(block, INNER), section(block, SHORTER)
    merged, bloom = wide(section(block, MERGED)), section(block, BLOOM)
    boundaries, splits = wide(section(block, BOUNDARIES)), section(block, SPLITS)
    lengths = section(block, LENGTHS)
    id_of, base_tokens = section(block, IDS), section(block, BASE_TOKENS)
    regular, shift = int(section(block, REGULAR)[0]), int(section(block, REGULAR)[1])
    wholes, remembers = len(section(block, WHOLE_IDS)) > 0, len(cache) > 0
    cached_ids = cache.view(np.int32)
    longest = longest_piece(ends)
    # One mark a position of a piece; and where each of its tokens begins, relative to it.
    dead = np.zeros(longest + 1, dtype=np.uint8)
    begins = np.empty(min(longest, NOTED) + 1, dtype=np.int32)
    pieces = min(BLOCK, len(ends))
    parts = min(PART, len(ends)) if remembers else 0
    part_keys = np.empty(2 * parts, dtype=np.int64)
    part_hashes = np.empty(parts + AHEAD, dtype=np.int64)
    keys = np.empty(2 * pieces, dtype=np.int64)
    hashes = np.empty(pieces, dtype=np.int64)
    asked = np.empty(pieces, dtype=np.int64)
    left = np.empty(pieces, dtype=np.int64)
    rows = np.empty(pieces, dtype=np.int64)
    counts = np.empty(pieces, dtype=np.int64)
    columns = np.empty((ROWS, pieces + WIDTH), dtype=np.int32)
    deads = np.empty(pieces, dtype=np.int64)
    repeats = np.empty(2 * pieces, dtype=np.int64)
    seen = np.zeros(SEEN if remembers else 0, dtype=np.int64)
    result_words = np.empty(2 * pieces, dtype=np.int64)
    results = result_words.view(np.int32)
    at = 0
    start = 0
    earlier = 0
    for first in range(0, len(ends), BLOCK):
        last = min(first + BLOCK, len(ends))
        unknown = repeated = 0
        if remembers:
            for part in range(first, last, PART):
                part_last = min(part + PART, last)
                begin = begin_of(ends, part)
                spell(data, ends, begin, part, part_last, part_keys, part_hashes)
                before = unknown
                unknown += recall(
                    cache,
                    part_keys,
                    part_hashes,
                    part_last - part,
                    result_words[2 * (part - first) :],
                    asked[before:],
                )
                keep_keys(
                    part_keys, part_hashes, part - first, asked, before, unknown, keys, hashes
                )
        else:
            spell(data, ends, start, first, last, keys, hashes)
            unknown = last - first
            for index in range(unknown):
                asked[index] = index
        if len(given) > 0:
            unknown = _take_given(given, first, last, results, keys, hashes, asked, unknown)
        if remembers:
            repeated = unknown
            unknown = set_aside(seen, keys, hashes, earlier, asked, unknown, repeats)
            repeated -= unknown
            earlier += unknown
        lefts = look_up(words, filters, keys, hashes, asked, unknown, results, left)
        if wholes:
            lefts = _take_whole(block, data, ends, first, results, left, lefts)
        # Where in ``ids`` is the room of what begins at ``data[0]``.
        room = at - start + FEW
        if remembers:
            lefts = recall_wide(
                cache, cached_ids, data, ends, first, room, results, left, lefts, rows, ids
            )
        # Vectors read four bytes and count in 32 bits.
        batched_end = min(len(data) - READ, start + FARTHEST)
        fault = EMPTY
        short = 0
        for number in range(lefts):
            piece = first + int(left[number])
            begin = begin_of(ends, piece)
            length = int(ends[piece]) - begin
            counts[number] = 0
            if length > LONGEST_BATCHED or begin + length > batched_end:
                count = _encode(
                    walk,
                    inner,
                    shorter,
                    lengths,
                    splits,
                    merged,
                    bloom,
                    boundaries,
                    data,
                    begin,
                    begin + length,
                    dead,
                    begins,
                    ids[room + begin :],
                )
                if count == EMPTY and fault == EMPTY:
                    fault = begin
                counts[number] = count
            elif length > 0:
                counts[number] = BATCHED
                columns[START, short] = begin - start
                columns[END, short] = begin - start + length
                columns[PLACE_OF_NEXT, short] = begin - start
                short += 1
        wrong = encode_batched(
            walk,
            inner,
            shorter,
            splits,
            merged,
            bloom,
            boundaries,
            data[start:],
            columns,
            deads,
            short,
            ids[room + start :],
        )
        if wrong != EMPTY:
            wrong += start
            fault = min(wrong, fault) if fault != EMPTY else wrong
        if fault != EMPTY:
            while base_tokens[data[fault]] != EMPTY:
                fault += 1
            return -1 - fault
        short = 0
        for number in range(lefts):
            index = int(left[number])
            piece = first + index
            begin = begin_of(ends, piece)
            length = int(ends[piece]) - begin
            count = int(counts[number])
            bits = 0
            if count == BATCHED:
                count = int(columns[PLACE_OF_NEXT, short]) - (begin - start)
                short += 1
                bits = BEGIN_BITS
            for place in range(room + begin, room + begin + count):
                token = int(ids[place & PLACE]) >> bits
                ids[place & PLACE] = token + shift if token >= regular else id_of[token & INDEX]
            put(results, index, ids, room + begin, count)
        if remembers:
            answer_repeats(repeats, repeated, ends, first, room, result_words, results, ids)
            remember(cache, keys, hashes, asked, unknown, result_words)
            remember_wide(
                cache, cached_ids, data, ends, first, room, results, left, lefts, rows, ids
            )
        at = emit(results, last - first, at, ids, id_ends, first)
        start = int(ends[last - 1])
    return at


@njit
def _take_given(
    given: Longs,
    first: int,
    last: int,
    results: Ints,
    keys: Longs,
    hashes: Longs,
    asked: Longs,
    number: int,
) -> int:
    """Answer the pieces that are given, and leave the others in ``asked``; returns how many.

    keys, hashes: of the pieces that are asked about, of which those stay that are left.
    """
    for index in range(last - first):
        if given[first + index] != EMPTY:
            put_one(results, index, int(given[first + index]))
    kept = 0
    for number_asked in range(number):
        asked[kept] = asked[number_asked]
        copy_pair(keys, 2 * number_asked, keys, 2 * kept)
        hashes[kept] = hashes[number_asked]
        kept += given[first + asked[number_asked]] == EMPTY
    return kept


@njit
def _take_whole(
    block: Ints,
    data: Bytes,
    ends: Longs,
    first: int,
    results: Ints,
    left: Longs,
    number: int,
) -> int:
    """Answer those of ``left`` that have no key and are emitted whole, and leave the others."""
    wholes = Wholes(section(block, WHOLE_IDS), section(block, WHOLE_TRIE))
    kept = 0
    for number_left in range(number):
        index = int(left[number_left])
        token_id = EMPTY
        piece = first + index
        begin = begin_of(ends, piece)
        if not has_key(data, begin, int(ends[piece]) - begin):
            token_id = whole_id(wholes, data[begin : int(ends[piece])])
        if token_id != EMPTY:
            put_one(results, index, token_id)
        left[kept] = index
        kept += token_id == EMPTY
    return kept


@njit
def _encode(
    walk: Ints,
    inner: Ints,
    shorter: Ints,
    lengths: Ints,
    splits: Ints,
    merged: Longs,
    bloom: Ints,
    boundaries: Longs,
    data: Bytes,
    start: int,
    end: int,
    dead: Bytes,
    begins: Ints,
    tokens: Ints,
) -> int:
    """Encode the piece ``data[start:end]`` by itself.

    tokens: receives its tokens. dead, begins: see above; the marks are 0, and left so. Returns
    their number, or EMPTY if a byte in it has no token.
    """
    noted = end - start <= NOTED
    count = 0
    position = start
    stop = start
    token = EMPTY  # to try next, and it ends at ``stop``; EMPTY for the longest at ``position``
    while position < end and count != EMPTY:
        if token == EMPTY:
            token, stop = longest_at(walk, inner, data, position, end)
        boundary = 0
        before = EMPTY
        if position > start:
            # Only these two bytes face each other, whichever candidate is tried.
            boundary = boundary_at(boundaries, data, position)
            before = int(tokens[(count - 1) & PLACE]) & INDEX
        while token != EMPTY:
            token &= INDEX
            if dead[(stop - start) & PLACE] == 0 and (
                not boundary or valid_pair(splits, merged, bloom, boundary, before, token)
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
            tokens[count & PLACE] = token
            if noted:
                begins[count & PLACE] = position - start
            count += 1
            position = stop
            token = EMPTY
        else:
            dead[(position - start) & PLACE] = 1
            count -= 1
            if count != EMPTY:
                stop = position
                token = int(tokens[count & PLACE])
                if noted:
                    position = start + int(begins[count & PLACE])
                else:
                    position -= int(lengths[token & INDEX])
    for mark in range(end - start):
        dead[mark] = 0
    return count


def block_of(vocabulary: Vocabulary) -> Ints:
    """The tables of the kernel (:mod:`impls.fast.bpe.block`)."""
    tokens = tokens_of(vocabulary)
    wholes = wholes_of(vocabulary, improper_tokens(vocabulary) if vocabulary.ignore_merges else ())
    spellings = spellings_of(vocabulary, tokens.ids)
    emitted = [*zip(spellings, tokens.ids.tolist(), strict=True)]
    emitted += zip(spellings_of(vocabulary, wholes.ids), wholes.ids.tolist(), strict=True)
    words = word_table(dict(emitted))
    return pack(
        {
            BASE_TOKENS: tokens.base,
            IDS: tokens.ids,
            SPLITS: tokens.splits,
            LENGTHS: tokens.lengths,
            WHOLE_IDS: wholes.ids,
            WHOLE_TRIE: wholes.trie,
            WORDS: words,
            SHORT: word_filter(words),
            **validity_tables(tokens, spellings),
            **candidate_tables(tokens, spellings),
        }
    )


def kept_block(vocabulary: Vocabulary) -> Ints:
    """As :func:`block_of`, and kept on disk: putting one together takes ten times as long."""
    return arrays_of([vocabulary], "block", lambda: [block_of(vocabulary)], *ROOMS)[0]
