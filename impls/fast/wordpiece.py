"""WordPiece with a cache of words, as they stand in the text.

White space and punctuation of ASCII end a word whatever stands around them, so what lies between
becomes the same ids wherever it stands. It is looked up by its bytes before anything is made of
them: small letters, decompositions and matches are for what is new.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.compiled.uncounted import uncounted
from impls.fast.bpe.growing_cache import fitting
from impls.fast.bpe.piece_results import FEW, RESULT, emit, put
from impls.fast.bpe.repeats import SEEN, answer_repeats, set_aside
from impls.fast.bpe.short_rows import AHEAD, recall, remember
from impls.fast.bpe.wide_rows import NO_ROW, recall_wide, remember_wide
from impls.fast.bpe.words import keep_keys, spell
from impls.fast.kernels.intrinsics import lacking
from impls.fast.kernels.many_bytes import LOADED
from impls.fast.kernels.word_cuts import CUT, ENDS, cut
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.wordpiece.characters import ALONE, CODE_BITS, NOTHING, SEPARATOR
from impls.wordpiece.kernel import REFUSED, symbols_of, words_of

if TYPE_CHECKING:
    from impls.wordpiece.kernel import Encode, Lexicon

BLOCK = 2048
"""Words that are looked up together, then those that are new encoded together."""

SPARE = LOADED
"""Bytes behind a text, so that whoever reads many at a time may do so to its end."""

_KEPT = -1
"""This stands in place of the number of ids of a word that is encoded in its turn: the variant does
not take it, or it has more ids than bytes, and so no room for them to wait in."""


def by_words(lexicon: Lexicon) -> Encode | None:
    """An encoder that gives the ids of the plain one; None where it cannot be compiled."""
    if lacking() is not None:
        return None
    cuts = make_cuts(lexicon)
    local = threading.local()

    def encode(data: Bytes, ends: Longs, id_ends: Longs) -> Ints:
        text = np.empty(len(data) + SPARE, dtype=np.uint8)
        text[: len(data)] = data
        text.flags.writeable = False  # the code for arrays that nobody writes to is far quicker
        cache = local.cache = fitting(getattr(local, "cache", None), len(text) >> 3)
        segments = np.full((len(ends), 2), EMPTY, dtype=np.int64)
        segments[:, 0] = ends
        return encode_words(lexicon, cuts, cache, text, segments, id_ends)

    return encode


def make_cuts(lexicon: Lexicon) -> Bytes:
    """The table of :func:`impls.fast.kernels.word_cuts.cut`: around ASCII that is part of no word.

    White space goes with the word behind it.
    """
    entries = lexicon.characters.entries[:0x80]
    kinds = np.zeros(256, dtype=np.int32)
    kinds[:0x80] = np.where(entries > NOTHING, entries >> CODE_BITS & 3, 0)
    cuts = np.zeros((256, 256), dtype=np.uint8)  # second byte, first byte
    cuts[kinds == SEPARATOR] = CUT
    cuts[:, kinds == SEPARATOR] = 0
    cuts[kinds == ALONE] = CUT
    cuts[:0x80, kinds == ALONE] = CUT  # words begin with ASCII alone
    return cuts.reshape(-1)


@njit
def encode_words(
    lexicon: Lexicon,
    cuts: Bytes,
    cache: Longs,
    text: Bytes,
    segments: Longs,
    id_ends: Longs,
) -> Ints:
    """Encode each input, a row of where it ends in ``text`` and EMPTY; as ``encode_inputs`` does.

    cuts: of :func:`make_cuts`. cache: see :mod:`impls.fast.bpe.piece_cache`. text: has SPARE bytes
    more than the inputs.
    """
    # Arrays one by one: tuples of them, passed on, cost seconds of compilation.
    entries = uncounted(lexicon.characters.entries)
    sequences = uncounted(lexicon.characters.sequences)
    growth, before = lexicon.characters.growth, len(lexicon.start)
    trie, piece_ids = uncounted(lexicon.trie), uncounted(lexicon.ids)
    limit, unknown_id, strict = lexicon.limit, lexicon.unknown_id, lexicon.strict
    cached_ids = cache.view(np.int32)
    longest = 0
    for index in range(len(segments)):
        longest = max(longest, segments[index, 0] - (segments[index - 1, 0] if index > 0 else 0))
    most = longest * growth + 1
    symbols = np.empty(most, dtype=np.int32)
    spare = np.empty(most, dtype=np.int32)
    word = np.empty(most + before, dtype=np.uint8)
    word[:before] = lexicon.start
    found = np.empty(most, dtype=np.int32)
    id_ends[:] = 0
    words = min(BLOCK, len(text) + len(segments))
    ends = np.empty(words + 1, dtype=np.int64)
    marks = np.empty(words, dtype=np.uint8)
    given = np.empty(words, dtype=np.int64)
    keys = np.empty(2 * words, dtype=np.int64)
    hashes = np.empty(words + AHEAD, dtype=np.int64)
    asked = np.empty(words, dtype=np.int64)
    left = np.empty(words, dtype=np.int64)
    rows = np.empty(words, dtype=np.int64)
    repeats = np.empty(2 * words, dtype=np.int64)
    seen = np.zeros(SEEN, dtype=np.int64)
    word_ends = np.empty(words, dtype=np.int64)
    result_words = np.empty(2 * words, dtype=np.int64)
    results = result_words.view(np.int32)
    # Twice, as the ids of a block wait behind all that may be written before them.
    ids = np.empty(2 * len(text) * growth + 64, dtype=np.int32)
    at = number = position = done = earlier = 0
    while number < len(segments):
        count, number, position, _ = cut(cuts, text, segments, number, position, ends, marks, given)
        begin = int(ends[0])
        # The places of words in ``ends`` count from 1, as each begins where another one ended.
        spell(text, ends, begin, 1, count + 1, keys, hashes)
        unknown = recall(cache, keys, hashes, count, result_words, asked)
        keep_keys(keys, hashes, 0, asked, 0, unknown, keys, hashes)
        repeated = unknown
        unknown = set_aside(seen, keys, hashes, earlier, asked, unknown, repeats)
        repeated -= unknown
        earlier += unknown
        left[:unknown] = asked[:unknown]
        room = at - begin + growth * (int(ends[count]) - begin) + FEW
        lefts = recall_wide(
            cache, cached_ids, text, ends, 1, room, results, left, unknown, rows, ids
        )
        kept = False
        for place in range(lefts):
            index = int(left[place])
            start, stop = int(ends[index]), int(ends[index + 1])
            many = symbols_of(entries, sequences, strict, text, start, stop, symbols, spare)
            refused = many < 0
            if not refused:
                many = words_of(
                    trie, piece_ids, before, limit, unknown_id, symbols[:many], word, found, 0
                )
            if refused or many > stop - start:
                results[RESULT * index + FEW] = _KEPT
                rows[place] = NO_ROW
                kept = True
            else:
                for one in range(many):
                    ids[room + start + one] = found[one]
                put(results, index, ids, room + start, many)
        answer_repeats(repeats, repeated, ends, 1, room, result_words, results, ids)
        remember(cache, keys, hashes, asked, unknown, result_words)
        remember_wide(cache, cached_ids, text, ends, 1, room, results, left, lefts, rows, ids)
        if kept:
            for index in range(count):
                if results[RESULT * index + FEW] != _KEPT:
                    at = emit(results[RESULT * index :], 1, at, ids, word_ends[index:], 0)
                    continue
                start, stop = int(ends[index]), int(ends[index + 1])
                many = symbols_of(entries, sequences, strict, text, start, stop, symbols, spare)
                if many < 0:
                    word_ends[index] = REFUSED
                else:
                    at = words_of(
                        trie, piece_ids, before, limit, unknown_id, symbols[:many], word, ids, at
                    )
                    word_ends[index] = at
        else:
            at = emit(results, count, at, ids, word_ends, 0)
        for index in range(count):
            if word_ends[index] == REFUSED:
                id_ends[done] = REFUSED
            if marks[index] & ENDS:
                if id_ends[done] != REFUSED:
                    id_ends[done] = word_ends[index]
                done += 1
    return ids[:at]
