"""Unigram by words, with a cache of those whose segmentation nothing before them decides.

The words of a text repeat. What becomes of one is looked up in a cache, or found by Viterbi's
algorithm, and kept there if it is certain (:mod:`impls.fast.unigram.certainty`). Words that are not
certain, and all where sums are large, are segmented in their turn by the plain algorithm, which
goes on from the sum that the engine has there: the scores of all ids so far, added in its order.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.pieces import Pieces
from impls.compiled.jit import njit
from impls.compiled.uncounted import uncounted
from impls.fast.bpe.growing_cache import fitting
from impls.fast.bpe.piece_results import FEW, RESULT, put
from impls.fast.bpe.repeats import SEEN, answer_repeats, set_aside
from impls.fast.bpe.short_rows import AHEAD, recall, remember
from impls.fast.bpe.wide_rows import NO_ROW, recall_wide, remember_wide
from impls.fast.bpe.words import keep_keys, spell
from impls.fast.kernels.intrinsics import lacking
from impls.fast.kernels.word_cuts import BEGINS, ENDS, cut
from impls.fast.unigram.certainty import (
    LONGEST_CERTAIN,
    UNCERTAIN,
    bounds_of,
    certain,
    type_of_sums,
)
from impls.fast.unigram.cuts import make_cuts
from impls.fast.unigram.endings import make_endings
from impls.fast.unigram.foreign_words import FOREIGN, first_foreign, symbol_piece, tell_foreign
from impls.fast.unigram.long_words import WINDOW, encode_long
from impls.fast.unigram.normalizer import make_passing, prepare
from impls.kernels.layout import PLACE, Bytes, Ints, Longs
from impls.kernels.table_cache import arrays_of
from impls.unigram.lexicon import ROOMS, segmented
from impls.unigram.variants import SENTENCEPIECE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.unigram.lexicon import Lexicon

    Encode = Callable[[Bytes, Longs], tuple[Ints, Longs]]
    """From inputs and where they end to ids, and where those of each input end."""

BLOCK = 4096
"""Words that are looked up together, then those that are new segmented together."""

ROOM = BLOCK + 64
"""Ids that there is room for beyond one for each byte and each segment: what is looked up is first
written behind the place where it belongs (:mod:`impls.fast.bpe.piece_results`)."""


def by_words(vocabulary: Vocabulary, lexicon: Lexicon) -> Encode | None:
    """An encoder that gives the ids of :mod:`impls.unigram.viterbi`; None where it is of no use.

    That is where the processor's instructions cannot be had, where no word can be certain, and
    where text may be normalized to parts of characters, so that a word could end in one.
    """
    bounds = bounds_of(lexicon) if len(lexicon.trie) else None
    if lacking() is not None or bounds is None or not _whole_characters(lexicon):
        return None
    size, cuts, scores_of, weights, nodes, pairs, pages, characters, foreign = arrays_of(
        (Pieces.of(vocabulary.pieces), SENTENCEPIECE, vocabulary.byte_fallback, lexicon.unknown_id),
        "unigram-by-words",
        lambda: _tables(vocabulary, lexicon),
        *ROOMS,
        "impls/fast/unigram",
    )
    longest = int(size[0])
    # Sums are not brought back twice within a piece, as `encode_long` asks.
    if longest * bounds.highest > lexicon.rebase_above:
        return None
    known = make_passing(vocabulary, lexicon.rules)
    kind = type_of_sums(lexicon)
    unknown_scores, sums = np.full(1, lexicon.unknown_score, kind), np.empty(0, kind)
    local = threading.local()

    def encode(data: Bytes, ends: Longs) -> tuple[Ints, Longs]:
        text, segments, segment_ends = prepare(lexicon.rules, known, data, ends)
        text.flags.writeable = False  # the code for arrays that nobody writes to is far quicker
        cache = local.cache = fitting(getattr(local, "cache", None), len(text) >> 3)
        id_ends = np.empty(len(ends), dtype=np.int64)
        ids = encode_words(
            lexicon.ids, unknown_scores, sums, lexicon.unknown_id,
            lexicon.byte_ids, lexicon.rebase_above, longest, nodes, pairs, pages, characters,
            foreign, weights, cuts, scores_of, bounds.limit, bounds.tolerance, cache, text,
            segments, segment_ends, id_ends,
        )  # fmt: skip
        return ids, id_ends

    return encode


def _tables(vocabulary: Vocabulary, lexicon: Lexicon) -> tuple[NDArray[np.generic], ...]:
    """The bytes of the longest piece, where words end, scores by id and by piece, and endings."""
    pieces = segmented(vocabulary, SENTENCEPIECE)
    longest = np.array([max(map(len, pieces))], dtype=np.int64)
    scores = lexicon.scores.astype(type_of_sums(lexicon))
    weights = np.concatenate((np.full(1, -np.inf, scores.dtype), scores))
    scores_of = np.zeros(max(int(lexicon.ids.max()), lexicon.unknown_id) + 2, scores.dtype)
    scores_of[lexicon.ids] = scores
    scores_of[-1] = 0  # what is added where there is no id
    endings = make_endings(pieces)
    cuts = make_cuts(pieces, lexicon.unknown_id, endings.foreign)
    return longest, cuts, scores_of, weights, *endings


def _whole_characters(lexicon: Lexicon) -> bool:
    """Whether normalized text consists of whole characters, or of bytes that begin none.

    A replacement may begin inside a character, as what begins none is a character by itself.
    """
    try:
        lexicon.rules.replacements.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return True


@njit
def encode_words(
    piece_ids: Longs,
    unknown_scores: NDArray[np.floating],
    sums: NDArray[np.floating],
    unknown_id: int,
    byte_ids: Longs,
    rebase_above: float,
    longest: int,
    nodes: Longs,
    pairs: Longs,
    pages: Longs,
    characters: Longs,
    foreign: Bytes,
    weights: NDArray[np.floating],
    cuts: Bytes,
    scores_of: NDArray[np.floating],
    limit: float,
    tolerance: float,
    cache: Longs,
    text: Bytes,
    segments: Longs,
    segment_ends: Longs,
    id_ends: Longs,
) -> Ints:
    """Encode each segment; writes where an input's ids end to ``id_ends`` and returns all ids.

    piece_ids, unknown_id, byte_ids, rebase_above: of :class:`impls.unigram.lexicon.Lexicon`.
    unknown_scores: the unknown score alone. sums: no entries; its type is that of the best sums.
    text, segments and segment_ends: of :func:`impls.fast.unigram.normalizer.prepare`. longest, and
    from nodes to weights: as in :func:`impls.fast.unigram.long_words.encode_long`. cuts: of
    :func:`impls.fast.unigram.cuts.make_cuts`. scores_of: the score of each id, and last a 0. limit,
    tolerance: of :class:`impls.fast.unigram.certainty.Bounds`. cache: see
    :mod:`impls.fast.bpe.piece_cache`.
    """
    unknown_score = unknown_scores[0]
    cached_ids = cache.view(np.int32)
    words = min(BLOCK, len(text) + len(segments))
    ends = np.empty(words + 1, dtype=np.int64)
    marks = np.empty(words, dtype=np.uint8)
    given = np.empty(words, dtype=np.int64)
    keys = np.empty(2 * words, dtype=np.int64)
    hashes = np.empty(words + AHEAD, dtype=np.int64)
    asked = np.empty(words, dtype=np.int64)
    left = np.empty(words, dtype=np.int64)
    rows = np.empty(words, dtype=np.int64)
    result_words = np.empty(2 * words, dtype=np.int64)
    results = result_words.view(np.int32)
    repeats = np.empty(2 * words, dtype=np.int64)
    seen = np.zeros(SEEN, dtype=np.int64)
    best_sure = np.zeros(LONGEST_CERTAIN + 1, dtype=np.float64)
    ways_sure = np.empty(LONGEST_CERTAIN + 1, dtype=np.int64)
    window = min(2 * WINDOW, len(text) + 1)
    best = np.zeros(window, dtype=sums.dtype)
    ways = np.empty(window, dtype=np.int64)
    ids = np.empty(len(text) + len(segments) + ROOM, dtype=np.int32)
    # One more, since the end of each word is written, and kept where it is the last one's.
    segment_id_ends = np.empty(len(segments) + 1, dtype=np.int64)
    total = scores_of[len(scores_of) - 1]
    foreign_from, symbol = first_foreign(foreign), symbol_piece(pages, characters)
    at = number = position = done = earlier = 0
    while number < len(segments):
        count, number, position, _ = cut(cuts, text, segments, number, position, ends, marks, given)
        begin = int(ends[0])
        # The places of words in ``ends`` count from 1, as each begins where another one ended.
        spell(text, ends, begin, 1, count + 1, keys, hashes)
        unknown = recall(cache, keys, hashes, count, result_words, asked)
        if len(byte_ids) == 0:
            unknown = tell_foreign(
                piece_ids, unknown_id, len(scores_of) - 1, foreign, foreign_from, symbol,
                text, ends, asked, unknown, results,
            )  # fmt: skip
        keep_keys(keys, hashes, 0, asked, 0, unknown, keys, hashes)
        repeated = unknown
        unknown = set_aside(seen, keys, hashes, earlier, asked, unknown, repeats)
        repeated -= unknown
        earlier += unknown
        left[:unknown] = asked[:unknown]
        # Where in ``ids`` is the room of what begins at ``text[0]``: nothing of it is reached by
        # what is written meanwhile, as a word that is given has an id and no bytes.
        room = at - begin + FEW + count
        lefts = recall_wide(
            cache, cached_ids, text, ends, 1, room, results, left, unknown, rows, ids
        )
        _segment_new(
            piece_ids, unknown_score, unknown_id, len(byte_ids) > 0, tolerance, nodes, pairs,
            pages, characters, foreign, weights, text, ends, left, lefts, room, best_sure,
            ways_sure, results, rows, ids,
        )  # fmt: skip
        answer_repeats(repeats, repeated, ends, 1, room, result_words, results, ids)
        remember(cache, keys, hashes, asked, unknown, result_words)
        remember_wide(cache, cached_ids, text, ends, 1, room, results, left, lefts, rows, ids)
        at, done, total = _emit(
            piece_ids, unknown_score, unknown_id, byte_ids, rebase_above, longest, nodes, pairs,
            pages, characters, foreign, weights, scores_of, limit, text, ends, marks, count,
            results, best, ways, ids, at, segment_id_ends, done, total,
        )  # fmt: skip
    for index in range(len(id_ends)):
        last = int(segment_ends[index])
        id_ends[index] = segment_id_ends[last - 1] if last > 0 else 0
    return ids[:at]


@njit
def _segment_new(
    piece_ids: Longs,
    unknown_score: float,
    unknown_id: int,
    spells_bytes: bool,
    tolerance: float,
    nodes: Longs,
    pairs: Longs,
    pages: Longs,
    characters: Longs,
    foreign: Bytes,
    weights: NDArray[np.floating],
    text: Bytes,
    ends: Longs,
    left: Longs,
    lefts: int,
    room: int,
    best: NDArray[np.float64],
    ways: Longs,
    results: Ints,
    rows: Longs,
    ids: Ints,
) -> None:
    """Segment the words ``left[:lefts]`` of a block.

    Those that are not certain have UNCERTAIN for a number of ids, and no row to be kept in.
    """
    # Each of them is handed on for each word.
    piece_ids = uncounted(piece_ids)
    nodes, pairs = uncounted(nodes), uncounted(pairs)
    pages, characters = uncounted(pages), uncounted(characters)
    foreign = uncounted(foreign)
    weights, text = uncounted(weights), uncounted(text)
    ends, left = uncounted(ends), uncounted(left)
    best, ways, results = uncounted(best), uncounted(ways), uncounted(results)
    rows = uncounted(rows)
    ids = uncounted(ids)
    for place in range(lefts):
        index = int(left[place])
        start, stop = int(ends[index]), int(ends[index + 1])
        known = UNCERTAIN
        if stop - start <= LONGEST_CERTAIN:
            known = certain(
                piece_ids, unknown_score, unknown_id, spells_bytes, tolerance, nodes, pairs, pages,
                characters, foreign, weights, text, start, stop, best, ways, ids, room + start,
            )  # fmt: skip
        if known == UNCERTAIN:
            results[RESULT * index + FEW] = UNCERTAIN
            rows[place] = NO_ROW
        else:
            put(results, index, ids, room + start, known)


@njit
def _emit(
    piece_ids: Longs,
    unknown_score: np.floating,
    unknown_id: int,
    byte_ids: Longs,
    rebase_above: float,
    longest: int,
    nodes: Longs,
    pairs: Longs,
    pages: Longs,
    characters: Longs,
    foreign: Bytes,
    weights: NDArray[np.floating],
    scores_of: NDArray[np.floating],
    limit: float,
    text: Bytes,
    ends: Longs,
    marks: Bytes,
    count: int,
    results: Ints,
    best: NDArray[np.floating],
    ways: Longs,
    ids: Ints,
    at: int,
    segment_id_ends: Longs,
    done: int,
    total: np.floating,
) -> tuple[int, int, np.floating]:
    """Write the ids of a block's words to ``ids[at:]``, and where those of its segments end.

    Returns where the ids end, how many segments have ended, and the sum of the scores so far.
    """
    # Each of them is handed on for each word.
    piece_ids = uncounted(piece_ids)
    nodes, pairs = uncounted(nodes), uncounted(pairs)
    pages, characters = uncounted(pages), uncounted(characters)
    foreign = uncounted(foreign)
    weights, scores_of = uncounted(weights), uncounted(scores_of)
    byte_ids, text = uncounted(byte_ids), uncounted(text)
    ends, marks = uncounted(ends), uncounted(marks)
    results = uncounted(results)
    best, ways = uncounted(best), uncounted(ways)
    ids, segment_id_ends = uncounted(ids), uncounted(segment_id_ends)
    none = len(scores_of) - 1
    nothing = scores_of[none]
    for index in range(count):
        at &= PLACE
        mark = int(marks[index])
        total = nothing if mark & BEGINS else total
        entry = RESULT * index
        many = int(results[entry + FEW])
        one, two, three = int(results[entry]), int(results[entry + 1]), int(results[entry + 2])
        whole = many == FOREIGN
        if whole:
            after = total + scores_of[one]
            for _ in range(two):
                after += unknown_score
            # All sums on the way are as small, so that none of them would be brought back.
            whole = abs(total) <= limit and abs(after) <= limit
            total = after if whole else total
        if whole:
            ids[at] = one
            at += int(one != none)
            ids[at] = unknown_id
            at += 1
        elif many < 0 or abs(total) > limit:
            start, stop = int(ends[index]), int(ends[index + 1])
            at, total = encode_long(
                piece_ids, unknown_score, unknown_id, byte_ids, rebase_above, longest, nodes, pairs,
                pages, characters, foreign, weights, text, start, stop, total, best, ways, ids, at,
            )  # fmt: skip
        elif many <= FEW and (one | two | three) >= 0:
            ids[at], ids[at + 1], ids[at + 2] = one, two, three
            total += scores_of[one if many > 0 else none]
            total += scores_of[two if many > 1 else none]
            total += scores_of[three if many > 2 else none]
            at += many
        else:
            place = int(results[entry + 1]) << 31 | int(results[entry])
            for one_id in range(many):
                if many > FEW:
                    token = int(ids[(place + one_id) & PLACE])
                else:
                    token = one if one_id == 0 else two if one_id == 1 else three
                if token < 0:  # so many unknown characters, which are one id
                    for _ in range(-token):
                        total += unknown_score
                    token = unknown_id
                else:
                    total += scores_of[token]
                ids[(at + one_id) & PLACE] = token
            at += many
        if mark & ENDS:
            segment_id_ends[done] = at
            done += 1
    return at, done, total
