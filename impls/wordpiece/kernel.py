"""WordPiece, compiled: characters to symbols, symbols to words, words to their longest pieces.

The longest piece comes first, as in tokenizers' ``models/wordpiece/mod.rs`` and llama.cpp's
``llm_tokenizer_wpm_session``. Linear: each character is decoded once, marks are put in order by
counting, and a match looks no further than the longest piece.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from corpora.vocabularies.model import WordPieceRules
from corpora.vocabularies.wordpiece_file import WORD_START, gguf_texts, texts_of
from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.kernels.merge_tables import longest_piece
from impls.kernels.table_cache import arrays_of
from impls.kernels.trie import build_trie, child, token_at
from impls.kernels.utf8 import character_length, code_point, lenient_length
from impls.wordpiece.characters import (
    ALONE,
    CODE_BITS,
    CODE_MASK,
    NOTHING,
    RANK_SHIFT,
    SEPARATOR,
    Characters,
    make_characters,
)

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.wordpiece.variants import Variant

RANKS = 8
"""This is more than there are places in canonical order."""

ROOMS = ("impls/wordpiece", "impls/kernels", "corpora/vocabularies/wordpiece_file.py")
"""The source by which the tables are made."""

REFUSED = -1
"""The end of ids of an input that the variant does not take."""

TOO_LARGE = 0x110000

_INITIAL = b"\xff"
"""Stands before a word, and before the pieces that begin one; no byte of UTF-8."""

_MARK = WORD_START.encode()
_SEPARATOR = SEPARATOR << CODE_BITS


class Lexicon(NamedTuple):
    """A vocabulary in a variant.

    trie: of the pieces (:mod:`impls.kernels.trie`); ids: of its tokens (int32). start: the bytes
    before each word (uint8). limit: a word of more characters is unknown.
    """

    characters: Characters
    trie: Ints
    ids: Ints
    start: Bytes
    limit: int
    unknown_id: int
    strict: bool


class Encode(Protocol):
    """An encoder with the arguments of :func:`encode_inputs` but the lexicon."""

    def __call__(self, data: Bytes, ends: Longs, id_ends: Longs) -> Ints:
        """All ids; writes where an input's ids end to ``id_ends``, REFUSED if it has none."""
        ...


def make_lexicon(vocabulary: Vocabulary, variant: Variant) -> Lexicon:
    """The tables, on disk for a large vocabulary. The unknown token must be there."""
    rules = vocabulary.wordpiece or WordPieceRules()

    def make() -> tuple[Ints, Ints]:
        pieces = piece_ids(vocabulary, rules, variant)
        return build_trie(list(pieces))[0], np.array(list(pieces.values()), dtype=np.int32)

    trie, ids = arrays_of((vocabulary, variant), "wordpiece", make, *ROOMS)
    start = _MARK if variant.marks_words else _INITIAL
    return Lexicon(
        make_characters(variant, rules),
        trie,
        ids,
        np.frombuffer(start, dtype=np.uint8),
        rules.max_word if variant.limits_words else np.iinfo(np.int64).max,
        EMPTY if vocabulary.unk_id is None else vocabulary.unk_id,
        variant.strict,
    )


def piece_ids(vocabulary: Vocabulary, rules: WordPieceRules, variant: Variant) -> dict[bytes, int]:
    """What is matched against a word and the bytes before it; the lowest id of equal ones.

    As tokenizers has it, a token with the prefix also matches as it is written where a word begins.
    """
    found: dict[bytes, int] = {}
    if variant.marks_words:
        for token_id, text in sorted(gguf_texts(vocabulary).items()):
            if text:
                found.setdefault(text.encode(), token_id)
        return found
    for token_id, text in sorted(texts_of(vocabulary).items()):
        if text:
            found.setdefault(_INITIAL + text.encode(), token_id)
        if text.startswith(rules.prefix) and len(text) > len(rules.prefix):
            found.setdefault(text.removeprefix(rules.prefix).encode(), token_id)
    return found


@njit
def encode_inputs(lexicon: Lexicon, data: Bytes, ends: Longs, id_ends: Longs) -> Ints:
    """Encode each input; writes where its ids end to ``id_ends``, REFUSED if it has none.

    Returns all ids.
    """
    # Arrays one by one: tuples of them, passed on, cost seconds of compilation.
    entries, sequences = lexicon.characters.entries, lexicon.characters.sequences
    longest = longest_piece(ends)
    room = longest * lexicon.characters.growth + 1
    symbols = np.empty(room, dtype=np.int32)
    spare = np.empty(room, dtype=np.int32)
    word = np.empty(room + len(lexicon.start), dtype=np.uint8)
    word[: len(lexicon.start)] = lexicon.start
    # A word yields no more ids than it has bytes, and at least a symbol makes a word.
    ids = np.empty(len(data) * lexicon.characters.growth + len(ends) * 4 + 16, dtype=np.int32)
    at = 0
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        count = symbols_of(entries, sequences, lexicon.strict, data, start, end, symbols, spare)
        if count < 0:
            id_ends[index] = REFUSED
        else:
            at = words_of(
                lexicon.trie,
                lexicon.ids,
                len(lexicon.start),
                lexicon.limit,
                lexicon.unknown_id,
                symbols[:count],
                word,
                ids,
                at,
            )
            id_ends[index] = at
        start = end
    return ids[:at]


@njit
def symbols_of(
    entries: Ints,
    sequences: Ints,
    strict: bool,
    data: Bytes,
    start: int,
    end: int,
    symbols: Ints,
    spare: Ints,
) -> int:
    """Write the symbols of ``data[start:end]``; how many, or REFUSED.

    Not strict: a byte that begins no character is dropped, and overlong forms, surrogates and
    numbers above U+10FFFF are what their bits say.
    """
    count = 0
    run = 0  # where the marks begin that may have to change places
    at = start
    while at < end:
        size = character_length(data, at, end) if strict else lenient_length(data, at, end)
        if size == 0:
            if strict:
                return REFUSED
            at += 1
            continue
        code = code_point(data, at, size)
        at += size
        if code >= TOO_LARGE:
            return REFUSED
        entry = int(entries[code])
        if entry == NOTHING:
            continue
        first, last = 0, 1
        if entry < NOTHING:
            first = -2 - entry + 1
            last = first + int(sequences[first - 1])
        for place in range(first, last):
            symbol = entry if entry >= 0 else int(sequences[place])
            if symbol >> RANK_SHIFT == 0:
                if count - run > 1:
                    _reorder(symbols, run, count, spare)
                run = count + 1
            symbols[count] = symbol
            count += 1
    if count - run > 1:
        _reorder(symbols, run, count, spare)
    return count


@njit
def _reorder(symbols: Ints, start: int, end: int, spare: Ints) -> None:
    """Canonical order: marks by their rank, those of one rank as they came."""
    filled = 0
    for rank in range(1, RANKS):
        for place in range(start, end):
            if symbols[place] >> RANK_SHIFT == rank:
                spare[filled] = symbols[place]
                filled += 1
    symbols[start:end] = spare[:filled]


@njit
def _put(word: Bytes, size: int, code: int) -> int:
    """Append a character in UTF-8; the new size."""
    if code < 0x80:
        word[size] = code
        return size + 1
    if code < 0x800:
        word[size] = 0xC0 | code >> 6
        word[size + 1] = 0x80 | code & 0x3F
        return size + 2
    if code < 0x10000:
        word[size] = 0xE0 | code >> 12
        word[size + 1] = 0x80 | code >> 6 & 0x3F
        word[size + 2] = 0x80 | code & 0x3F
        return size + 3
    word[size] = 0xF0 | code >> 18
    word[size + 1] = 0x80 | code >> 12 & 0x3F
    word[size + 2] = 0x80 | code >> 6 & 0x3F
    word[size + 3] = 0x80 | code & 0x3F
    return size + 4


@njit
def words_of(
    trie: Ints,
    piece_ids: Ints,
    before: int,
    limit: int,
    unknown_id: int,
    symbols: Ints,
    word: Bytes,
    ids: Ints,
    at: int,
) -> int:
    """Write the ids of all words from ``ids[at]`` on; where they end."""
    size = before
    characters = 0
    for place in range(len(symbols) + 1):
        symbol = _SEPARATOR if place == len(symbols) else int(symbols[place])
        kind = (symbol >> CODE_BITS) & 3
        if kind != 0 and characters > 0:
            at = _match(trie, piece_ids, limit, unknown_id, word[:size], characters, ids, at)
            size = before
            characters = 0
        if kind == SEPARATOR:
            continue
        size = _put(word, size, symbol & CODE_MASK)
        characters += 1
        if kind == ALONE:
            at = _match(trie, piece_ids, limit, unknown_id, word[:size], characters, ids, at)
            size = before
            characters = 0
    return at


@njit
def _match(
    trie: Ints,
    piece_ids: Ints,
    limit: int,
    unknown_id: int,
    word: Bytes,
    characters: int,
    ids: Ints,
    at: int,
) -> int:
    """Write a word's ids, the longest piece first; the unknown one if any part has none."""
    first = at
    start = 0 if characters <= limit else -1
    while 0 <= start < len(word):
        slot = 0
        longest = -1
        piece = EMPTY
        for end in range(start, len(word)):
            slot = child(trie, slot, int(word[end]))
            if slot == EMPTY:
                break
            token = token_at(trie, slot)
            if token != EMPTY:
                piece = token
                longest = end + 1
        start = longest
        if longest > 0:
            ids[at] = piece_ids[piece]
            at += 1
    if start < 0:
        ids[first] = unknown_id
        at = first + 1
    return at
