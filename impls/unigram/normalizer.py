"""How SentencePiece, llama.cpp and tokenizers normalize a text before it is segmented.

SentencePiece 0.2.3 (``normalizer.cc``) takes a prefix of the rest of the input again and again: the
longest user-defined symbol as it is, else what the longest rule of the charsmap makes of it, else
one character; a byte that begins no UTF-8 character becomes U+FFFD. llama.cpp follows it
(``llm_tokenizer_ugm_session::normalize``) but takes beginnings of symbols and ill-formed
characters, too. tokenizers looks at grapheme clusters (``normalizers/precompiled.rs``), and has the
steps of transformers' ``SpmConverter`` for white space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, Bytes, Flags, Ints, Longs
from impls.kernels.trie import child, token_at
from impls.kernels.utf8 import character_length, code_point, lenient_length
from impls.unigram.charsmap import load_charsmap, rule
from impls.unigram.trie import NOWHERE, ROOT, double_array
from impls.unigram.variants import Normalization

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

SPACE = 0x20
SPACE_SYMBOL = (0xE2, 0x96, 0x81)
"""U+2581 in UTF-8."""
REPLACEMENT = (0xEF, 0xBF, 0xBD)
"""U+FFFD in UTF-8."""

SHORT = 6
"""Bytes: tokenizers looks up a grapheme cluster below this as a whole."""

MOST_SYMBOLS = 64
"""``kResultSize`` of SentencePiece's ``PrefixMatcher``."""
MOST_RULES = 32
"""``kMaxTrieResultsSize`` of SentencePiece's ``Normalizer``."""

_SENTENCEPIECE = int(Normalization.SENTENCEPIECE)
_LLAMA_CPP = int(Normalization.LLAMA_CPP)


class Rules(NamedTuple):
    """A vocabulary's normalizer.

    units, replacements: of the charsmap (:class:`impls.unigram.charsmap.Charsmap`). symbols: the
    double array of the user-defined symbols that pass as they are. begun: 65,536 flags by two
    bytes: whether a symbol or a rule begins with both, or is the first alone. The flags are those
    of :class:`corpora.vocabularies.model.Normalizer`. growth: no byte of input makes more bytes of
    output than this (one more input byte pays for the dummy space).
    """

    units: Ints
    replacements: Bytes
    symbols: Ints
    begun: Flags
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    treat_whitespace_as_suffix: bool
    growth: int


def staying(vocabulary: Vocabulary) -> dict[bytes, int]:
    """The user-defined symbols of a vocabulary, which SentencePiece leaves as they are."""
    pieces = Pieces.of(vocabulary.pieces)
    symbols = {pieces[i].text.encode(): i for i in pieces.of_types(PieceType.USER_DEFINED)}
    symbols.pop(b"", None)
    return symbols


def make_rules(vocabulary: Vocabulary, *, symbols_stay: bool = True) -> Rules:
    """The rules of a SentencePiece vocabulary. Raises VocabularyError for a bad charsmap.

    symbols_stay: user-defined symbols pass as they are, whatever the charsmap says of them.
    """
    spec = vocabulary.normalizer
    charsmap = load_charsmap(vocabulary.id, spec.charsmap)
    symbols = staying(vocabulary) if symbols_stay else {}
    begun = charsmap.begun.copy()
    for text in symbols:
        if len(text) > 1:
            begun[text[0] << 8 | text[1]] = True
        else:
            begun[text[0] << 8 : (text[0] + 1) << 8] = True
    return Rules(
        charsmap.units,
        charsmap.replacements,
        double_array(symbols)[0],
        begun,
        spec.add_dummy_prefix,
        spec.remove_extra_whitespaces,
        spec.escape_whitespaces,
        spec.treat_whitespace_as_suffix,
        charsmap.growth,
    )


@njit
def prepare(
    rules: Rules,
    normalization: int,
    clusters: Longs,
    data: Bytes,
    ends: Longs,
    given: Longs,
) -> tuple[Bytes, Longs, Longs]:
    """What is segmented: the normalized sections ``data[ends[i - 1]:ends[i]]``, one after another.

    normalization: a :class:`impls.unigram.variants.Normalization`. clusters: where the grapheme
    clusters end, which tokenizers looks at (:mod:`impls.unigram.graphemes`). given: the id that
    each section is, NOWHERE for text. Returns the text; its segments, as rows of where one ends and
    the id that stands there (NOWHERE for text); and how many segments there are up to the end of
    each section.
    """
    # tokenizers' Metaspace parts a text before each U+2581.
    parted = normalization > _LLAMA_CPP
    parted = parted and rules.escape_whitespaces and rules.remove_extra_whitespaces
    text = np.empty((len(data) + len(ends)) * rules.growth + 2, dtype=np.uint8)
    most = len(text) // len(SPACE_SYMBOL) if parted else 0
    segments = np.empty((len(ends) + most, 2), dtype=np.int64)
    segment_ends = np.empty(len(ends), dtype=np.int64)
    count = size = start = 0
    for index in range(len(ends)):
        end, first = int(ends[index]), size
        if given[index] == NOWHERE:
            if normalization == _SENTENCEPIECE:
                size = normalize(rules, data, start, end, text, size)
            elif normalization == _LLAMA_CPP:
                size = normalize_llama_cpp(rules, data, start, end, text, size)
            else:
                size = normalize_hugging_face(rules, clusters, data, start, end, text, size)
        if parted:
            for place in range(first + 1, size - 2):
                if is_symbol(text, place):
                    segments[count, 0], segments[count, 1] = place, NOWHERE
                    count += 1
        segments[count, 0], segments[count, 1] = size, given[index]
        count += 1
        segment_ends[index] = count
        start = end
    return text[:size], segments[:count], segment_ends


@njit
def normalize(rules: Rules, data: Bytes, start: int, end: int, out: Bytes, size: int) -> int:
    """SentencePiece: append the normalized ``data[start:end]`` to ``out[:size]``; the new size.

    Where spaces are tidied, one is left between words: those at the beginning of the text, after
    another one and at its end go.
    """
    units, symbols, replacements = rules.units, rules.symbols, rules.replacements
    begun = rules.begun
    escape, tidy = rules.escape_whitespaces, rules.remove_extra_whitespaces
    first, position = size, start
    started, after_space = False, tidy
    while position < end:
        byte = int(data[position])
        quiet = position + 1 < end and not begun[byte << 8 | int(data[position + 1])]
        if started and quiet and byte < 0x80:
            # Nearly all text: a character that nothing begins with stays as it is.
            position += 1
            if byte != SPACE:
                out[size] = byte
                size += 1
                after_space = False
            elif not after_space:
                size = put(out, size, SPACE, escape)
                after_space = tidy
            continue
        if quiet and byte >= 0x80:
            taken, kind, at = character_length(data, position, end), VERBATIM, position
            if taken == 0:
                taken, kind = 1, MALFORMED
        else:
            taken, kind, at = prefix(units, symbols, data, position, end, False)
        position += taken
        byte = _byte(replacements, data, kind, at, taken, 0)
        if not started:
            alone = byte == SPACE and _byte(replacements, data, kind, at, taken, 1) < 0
            if tidy and alone:
                continue
            started = True
            if rules.add_dummy_prefix and not rules.treat_whitespace_as_suffix:
                size = put(out, size, SPACE, escape)
        number = 0
        skipping = after_space
        while byte >= 0:
            skipping = skipping and byte == SPACE
            if not skipping:
                size = put(out, size, byte, escape)
                after_space = tidy and byte == SPACE
            number += 1
            byte = _byte(replacements, data, kind, at, taken, number)
    if tidy:
        size = first + without_spaces(out[first:size], size - first, escape)
    if started and rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        size = put(out, size, SPACE, escape)
    return size


@njit
def normalize_llama_cpp(
    rules: Rules, data: Bytes, start: int, end: int, out: Bytes, size: int
) -> int:
    """llama.cpp: append the normalized ``data[start:end]`` to ``out[:size]``; the new size.

    Where spaces are merged each word gets one before it, the first one, too, dummy prefix or not;
    where they are kept, the dummy prefix stands before the first character that is no space.
    """
    escape, merge = rules.escape_whitespaces, rules.remove_extra_whitespaces
    prepend = rules.add_dummy_prefix and not rules.treat_whitespace_as_suffix
    in_word = False
    position = start
    while position < end:
        taken, kind, at = prefix(rules.units, rules.symbols, data, position, end, True)
        position += taken
        number = 0
        byte = _byte(rules.replacements, data, kind, at, taken, number)
        while byte >= 0:
            if byte != SPACE and not in_word and (prepend or merge):
                size = put(out, size, SPACE, escape)
                prepend = False
            in_word = byte != SPACE
            if in_word or not merge:
                size = put(out, size, byte, escape)
            number += 1
            byte = _byte(rules.replacements, data, kind, at, taken, number)
    if rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        size = put(out, size, SPACE, escape)
    return size


@njit
def normalize_hugging_face(
    rules: Rules,
    clusters: Longs,
    data: Bytes,
    start: int,
    end: int,
    out: Bytes,
    size: int,
) -> int:
    """tokenizers: append the normalized ``data[start:end]`` to ``out[:size]``; the new size.

    ``Precompiled`` for each grapheme cluster, ``Strip`` (right) and ``Replace`` (runs of spaces by
    one U+2581) where spaces are tidied, then ``Metaspace``, which escapes, and prepends U+2581
    unless one is there; or, where white space is kept, ``Prepend`` and ``Replace``. See
    :mod:`corpora.vocabularies.tokenizer_json_out`. clusters: see
    :func:`impls.unigram.graphemes.cluster_ends`.
    """
    escape, tidy = rules.escape_whitespaces, rules.remove_extra_whitespaces
    mapped = np.empty((end - start) * rules.growth, dtype=np.uint8)
    length = precompiled(rules.units, rules.replacements, clusters, data, start, end, mapped)
    if tidy:
        length = _stripped(mapped, length)
    if length == 0:
        return size
    marked = mapped[0] == SPACE or (length >= len(SPACE_SYMBOL) and is_symbol(mapped, 0))
    if rules.add_dummy_prefix and not (escape and tidy and marked):
        size = put(out, size, SPACE, escape)
    i = 0
    while i < length:
        run = 1
        while tidy and mapped[i] == SPACE and i + run < length and mapped[i + run] == SPACE:
            run += 1
        size = put(out, size, int(mapped[i]), escape or run > 1)
        i += run
    return size


@njit
def precompiled(
    units: Ints,
    replacements: Bytes,
    clusters: Longs,
    data: Bytes,
    start: int,
    end: int,
    out: Bytes,
) -> int:
    """Write to ``out`` what the charsmap makes of each grapheme cluster, and return its length.

    Of a short cluster the shortest rule replaces all, though it takes but its beginning; else each
    character is looked up by itself.
    """
    size, position = 0, start
    cluster, number = start, int(np.searchsorted(clusters, start, side="right"))
    while position < end:
        whole = position >= cluster
        if whole:
            cluster = int(clusters[number])
            number += 1
        taken = value = 0
        if whole and cluster - position < SHORT:
            taken, value = rule(units, data, position, cluster, 1)
        after = cluster
        if taken == 0:
            after = position + character_length(data, position, cluster)
            taken, value = rule(units, data, position, after, 1)
        if taken == 0:
            for i in range(position, after):
                out[size] = data[i]
                size += 1
        while taken > 0 and replacements[value] != 0:
            out[size] = replacements[value]
            size += 1
            value += 1
        position = after
    return size


@njit
def _stripped(text: Bytes, length: int) -> int:
    """The length without the white space (Unicode's White_Space) at the end."""
    while length > 0:
        first = length - 1
        while first > 0 and text[first] & 0xC0 == 0x80:
            first -= 1
        point = code_point(text, first, length - first)
        if not (
            point == SPACE
            or 0x09 <= point <= 0x0D
            or point in (0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
            or 0x2000 <= point <= 0x200A
        ):
            break
        length = first
    return length


# What the next bytes become: themselves, a replacement, or U+FFFD.
VERBATIM = 0
REPLACED = 1
MALFORMED = 2


@njit
def prefix(
    units: Ints,
    symbols: Ints,
    data: Bytes,
    position: int,
    end: int,
    lenient: bool,
) -> tuple[int, int, int]:
    """Number of bytes taken at ``position``, what they become, and where that stands.

    lenient: as llama.cpp has it. The beginning of a symbol counts as one, however short (its
    ``naive_trie::get_longest_prefix`` does not ask whether a token ends where it stops), and
    characters are well-formed if their leading bits look right. SentencePiece has room for so many
    symbols and rules that begin at one place, and never sees the longer ones.
    """
    longest = seen = 0
    symbols_seen, rules_seen = (end, end) if lenient else (MOST_SYMBOLS, MOST_RULES)
    if len(symbols) > 0:
        slot = ROOT
        for i in range(position, end):
            slot = child(symbols, slot, int(data[i]))
            if slot == EMPTY or seen == symbols_seen:
                break
            if lenient or token_at(symbols, slot) != EMPTY:
                longest = i + 1 - position
                seen += 1
    if longest > 0:
        return longest, VERBATIM, position
    longest, value = rule(units, data, position, end, rules_seen)
    if longest > 0:
        return longest, REPLACED, value
    if lenient:
        length = lenient_length(data, position, end)
    else:
        length = character_length(data, position, end)
    if length == 0:
        return 1, MALFORMED, position
    return length, VERBATIM, position


@njit
def _byte(
    replacements: Bytes,
    data: Bytes,
    kind: int,
    at: int,
    taken: int,
    number: int,
) -> int:
    """A byte of what a prefix becomes (see :func:`prefix`), -1 behind the last one."""
    if kind == REPLACED:
        byte = int(replacements[at + number])
        return byte if byte != 0 else -1
    if kind == MALFORMED:
        return REPLACEMENT[number] if number < len(REPLACEMENT) else -1
    return int(data[at + number]) if number < taken else -1


@njit
def put(out: Bytes, size: int, byte: int, escape: bool) -> int:
    """Append a byte, a space as U+2581 if it is to be escaped; returns the new size."""
    if byte == SPACE and escape:
        for i in range(3):
            out[size + i] = SPACE_SYMBOL[i]
        return size + 3
    out[size] = byte
    return size + 1


@njit
def is_symbol(text: Bytes, place: int) -> bool:
    """Whether U+2581 stands at a place, of three bytes at least that are there."""
    return bool(
        text[place] == SPACE_SYMBOL[0]
        and text[place + 1] == SPACE_SYMBOL[1]
        and text[place + 2] == SPACE_SYMBOL[2]
    )


@njit
def without_spaces(out: Bytes, size: int, escape: bool) -> int:
    """The size without the spaces, escaped or not, at the end."""
    if not escape:
        while size > 0 and out[size - 1] == SPACE:
            size -= 1
        return size
    while size >= 3 and is_symbol(out, size - 3):
        size -= 3
    return size
