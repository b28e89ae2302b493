"""SentencePiece's normalizer: user-defined symbols, the charsmap, white space.

Follows SentencePiece 0.2.3 (``normalizer.cc``). A prefix of the rest of the input is taken again
and again: the longest user-defined symbol as it is, else the longest rule of the charsmap, else
one character; a byte that begins no UTF-8 character becomes U+FFFD. White space is handled on
what comes out.

A flag by two bytes says at once that no symbol and no rule begins there, which is the case nearly
everywhere; where one may, marks by character tell more (:mod:`impls.unigram.marks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.jit import inlined, njit
from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.uncounted import uncounted
from impls.kernels.eight_bytes import WORD, copy_word, small_letters, word_at
from impls.kernels.layout import EMPTY
from impls.kernels.many_bytes import LOADED
from impls.kernels.trie import child, token_at
from impls.kernels.utf8 import character_length, lenient_length
from impls.unigram.charsmap import blanks, load_charsmap, rule
from impls.unigram.marks import CHANGES, FOLLOWS, marks_of, pass_characters
from impls.unigram.plain import ENOUGH, begins_plain, lead_bytes, pass_plain, plain_table
from impls.unigram.trie import ROOT, double_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Normalizer, Vocabulary
    from impls.unigram.charsmap import Charsmap

SPACE = 0x20
SPACE_SYMBOL = (0xE2, 0x96, 0x81)
"""U+2581 in UTF-8."""
REPLACEMENT = (0xEF, 0xBF, 0xBD)
"""U+FFFD in UTF-8."""


class Rules(NamedTuple):
    """A vocabulary's normalizer.

    units, replacements: of the charsmap (:class:`impls.unigram.charsmap.Charsmap`). symbols: the
    double array of the user-defined symbols that pass as they are. begun: 65,536 flags by two
    bytes: whether a symbol or a rule begins with both, or is the first alone. passes: see
    :func:`passing`. settled: see the function. marks: see
    :func:`impls.unigram.marks.marks_of`. The flags are those of
    :class:`corpora.vocabularies.model.Normalizer`. growth: no byte of input makes more bytes of
    output than this (one more input byte pays for the dummy space).
    """

    units: NDArray[np.int32]
    replacements: NDArray[np.uint8]
    symbols: NDArray[np.int32]
    begun: NDArray[np.bool_]
    passes: NDArray[np.uint16]
    settled: NDArray[np.uint16]
    marks: NDArray[np.uint8]
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    treat_whitespace_as_suffix: bool
    growth: int


def make_rules(vocabulary: Vocabulary, *, symbols_stay: bool = True, partly: bool = False) -> Rules:
    """The rules of a SentencePiece vocabulary. Raises VocabularyError for a bad charsmap.

    symbols_stay: user-defined symbols pass as they are, whatever the charsmap says of them.
    partly: so do the beginnings of symbols (see :func:`prefix`).
    """
    spec = vocabulary.normalizer
    charsmap = load_charsmap(vocabulary.id, spec.charsmap)
    pieces = Pieces.of(vocabulary.pieces)
    stay = pieces.of_types(PieceType.USER_DEFINED) if symbols_stay else []
    symbols = {pieces[piece_id].text.encode(): piece_id for piece_id in stay}
    symbols.pop(b"", None)
    begun = charsmap.begun.copy()
    for text in symbols:
        if len(text) > 1 and not partly:
            begun[text[0] << 8 | text[1]] = True
        else:
            begun[text[0] << 8 : (text[0] + 1) << 8] = True
    becomes = bytes(SPACE_SYMBOL) if spec.escape_whitespaces else bytes([SPACE])
    merged = spec.remove_extra_whitespaces
    others = np.arange(1 << 16) != SPACE
    # In tokenizers, several spaces become U+2581 where they are tidied, even if one stays a space.
    blank = ~others[:0x80] & (spec.escape_whitespaces or not merged)
    settled_plain = plain_table(others, blank, becomes, merged=merged)
    rules = Rules(
        charsmap.units,
        charsmap.replacements,
        double_array(symbols)[0],
        begun,
        passing(charsmap, begun, [*symbols], spec),
        np.concatenate([settled(spec), settled_plain]),
        marks_of(charsmap.units, symbols),
        spec.add_dummy_prefix,
        spec.remove_extra_whitespaces,
        spec.escape_whitespaces,
        spec.treat_whitespace_as_suffix,
        charsmap.growth,
    )
    return with_plain(rules, becomes, merged=merged)


def with_plain(rules: Rules, becomes: bytes, *, merged: bool, but: bytes = b"") -> Rules:
    """The rules with the table of what is plain by them.

    becomes, merged: see :func:`impls.unigram.plain.plain_table`. but: ASCII characters that are
    neither plain nor blank.
    """
    marks, entries = rules.marks, rules.passes[:0x80]
    plain = marks & (CHANGES | FOLLOWS) == 0
    passing = (entries & PASSES != 0) & (marks[:0x80] & FOLLOWS == 0)
    passing[[*but]] = False
    blank = passing & (entries & BLANK != 0)
    plain[:0x80] = passing & ~blank
    # What may go on from an ASCII character is told by the byte with which it begins.
    unsure = (entries != 0) & (entries & ALONE == 0)
    met = rules.begun.reshape(256, 256)[:0x80][unsure].any(axis=0)
    plain[0x80:] &= ~met[lead_bytes(np.arange(0x80, len(plain)))]
    table = plain_table(plain, blank, becomes, merged=merged)
    return rules._replace(passes=np.concatenate([rules.passes[:256], table]))


PASSES, SINGLE, MERGED, BLANK = 1, 2, 4, 8
"""What is known of an ASCII character before another one, as bits of an entry: it becomes what the
entry says; it does not pass before another such one; it is left out behind another such one; it is
a space, or becomes one."""
ALONE, LETTER = 64, 128
"""It becomes that before a character beyond ASCII, too; it and all other small letters become
themselves."""
_SMALL_LETTERS = [*range(ord("a"), ord("z") + 1)]
_LENGTH_AT, _BYTE_AT = 4, 8
"""The places in an entry of how many bytes the character becomes, one or the three of U+2581, and
of the first of these."""


def passing(
    charsmap: Charsmap, begun: NDArray[np.bool_], symbols: Sequence[bytes], spec: Normalizer
) -> NDArray[np.uint16]:
    """256 entries by a byte: PASSES and what else holds of it, 0 if it may change before ASCII.

    begun: as in :class:`Rules`. Characters that become a space, as line breaks do, pass as spaces,
    unless a symbol or a longer rule begins with them.
    """
    passes = settled(spec)
    begins = begun.reshape(256, 256)
    blank = int(passes[SPACE]) & ~ALONE
    passes[begins[:, 0x80:].any(axis=1)] &= ~np.uint16(ALONE)
    passes[begins[:, :0x80].any(axis=1)] = 0
    found = blanks(charsmap)
    firsts = [text[0] for text in symbols]
    for code, alone in found.items():
        if code not in firsts:
            passes[code] = blank | ALONE if alone else blank
    # A symbol of one character stays as it is, unless a longer one begins with it.
    for text in symbols:
        if len(text) == 1 and firsts.count(text[0]) == 1 and text[0] != SPACE:
            passes[text[0]] = settled(spec)[text[0]]
    if not np.all(passes[_SMALL_LETTERS] & PASSES):
        passes[_SMALL_LETTERS] &= ~np.uint16(LETTER)
    return passes


def settled(spec: Normalizer) -> NDArray[np.uint16]:
    """Likewise, where no rule is left that a character might meet."""
    passes = np.zeros(256, dtype=np.uint16)
    passes[:0x80] = np.arange(0x80) << _BYTE_AT | 1 << _LENGTH_AT | PASSES | ALONE
    passes[_SMALL_LETTERS] |= LETTER
    blank = BLANK
    if spec.remove_extra_whitespaces:
        blank |= MERGED if spec.escape_whitespaces else SINGLE
    if spec.escape_whitespaces:
        passes[SPACE] = SPACE_SYMBOL[0] << _BYTE_AT | 3 << _LENGTH_AT | PASSES | ALONE
    passes[SPACE] |= blank
    return passes


@inlined
def pass_ascii(
    passes: NDArray[np.uint16],
    begun: NDArray[np.bool_],
    data: NDArray[np.uint8],
    position: int,
    end: int,
    out: NDArray[np.uint8],
    size: int,
    before: int,
) -> tuple[int, int]:
    """Append ASCII from ``position`` on while it surely passes; where that ends, here and there.

    before: the entry of what stands before. Two bytes behind what is appended are written, too. The
    last character of the data does not pass.
    """
    if position >= end:
        return position, size
    kind = int(passes[data[position]])
    going = True
    while going:
        if kind & LETTER and position + WORD < end and small_letters(word_at(data, position)):
            after = int(passes[data[position + WORD]])
            if after != 0:
                copy_word(data, position, out, size)
                position += WORD
                size += WORD
                before = kind
                kind = after
                continue
        for _ in range(WORD):
            going = position + 1 < end
            if not going:
                break
            after = int(passes[data[position + 1]])
            going = after != 0 and kind & after & SINGLE == 0
            if not going:
                break
            # Written without asking what it is: words are short, and nobody foresees their ends.
            out[size] = kind >> _BYTE_AT
            out[size + 1] = SPACE_SYMBOL[1]
            out[size + 2] = SPACE_SYMBOL[2]
            size += 0 if kind & before & MERGED else kind >> _LENGTH_AT & 3
            position += 1
            before = kind
            kind = after
    # Before a character beyond ASCII, too, if no rule goes on from one to the other.
    if (
        kind != 0
        and position + 1 < end
        and data[position + 1] >= 0x80
        and (kind & ALONE or not begun[int(data[position]) << 8 | int(data[position + 1])])
    ):
        out[size] = kind >> _BYTE_AT
        out[size + 1] = SPACE_SYMBOL[1]
        out[size + 2] = SPACE_SYMBOL[2]
        size += 0 if kind & before & MERGED else kind >> _LENGTH_AT & 3
        position += 1
    return position, size


@njit
def normalize(
    rules: Rules, data: NDArray[np.uint8], start: int, end: int, out: NDArray[np.uint8]
) -> int:
    """Write the normalized ``data[start:end]`` to ``out``, and return its length.

    ``out`` has room for ``(end - start + 1) * rules.growth + 2`` bytes.
    """
    # Arrays one by one: tuples of them, passed on, cost seconds of compilation.
    units, replacements = uncounted(rules.units), uncounted(rules.replacements)
    symbols, begun = uncounted(rules.symbols), uncounted(rules.begun)
    passes, marks = uncounted(rules.passes), uncounted(rules.marks)
    data, out = uncounted(data), uncounted(out)
    escape, tidy = rules.escape_whitespaces, rules.remove_extra_whitespaces
    position = start
    while tidy and position < end:
        if (
            data[position] == SPACE
            and position + 1 < end
            and not begun[SPACE << 8 | int(data[position + 1])]
        ):
            position += 1
            continue
        taken, kind, at = prefix(units, symbols, data, position, end, False)
        source = replacements if kind == REPLACED else data
        after = int(replacements[at + 1]) if kind == REPLACED else taken - 1
        if kind == MALFORMED or source[at] != SPACE or after != 0:
            break
        position += taken
    if position >= end:
        return 0
    size = 0
    if rules.add_dummy_prefix and not rules.treat_whitespace_as_suffix:
        size = put(out, size, SPACE, escape)
    after_space = tidy
    again = position  # where a run of plain characters is looked for again
    while position < end:
        first = position
        if position >= again and begins_plain(passes, data, position, end):
            position, size = pass_plain(passes, data, position, end, out, size)
            if position - first < ENOUGH:
                again = position + LOADED
            if position > first:
                after_space = tidy and int(passes[data[position - 1]]) & BLANK != 0
                first = position
                if position >= end:
                    break
        byte = int(data[position])
        if passes[byte] and not (after_space and int(passes[byte]) & SINGLE):
            before = MERGED if after_space else 0
            near = min(end, max(position + WORD, again))
            position, size = pass_ascii(passes, begun, data, position, near, out, size, before)
        elif byte >= 0xC0:
            position, size = pass_characters(marks, data, position, end, out, size)
        if position > first:
            after_space = tidy and int(passes[data[position - 1]]) & BLANK != 0
            continue
        if position + 1 < end and not begun[byte << 8 | int(data[position + 1])]:
            if byte == SPACE:
                if not after_space:
                    size = put(out, size, SPACE, escape)
                    after_space = tidy
                position += 1
                continue
            taken = character_length(data, position, end)
            for i in range(position, position + taken):
                out[size] = data[i]
                size += 1
            if taken > 0:
                after_space = False
                position += taken
                continue
        taken, kind, at = prefix(units, symbols, data, position, end, False)
        position += taken
        if kind == MALFORMED:
            for i in range(3):
                out[size + i] = REPLACEMENT[i]
            size += 3
            after_space = False
            continue
        if kind == VERBATIM and byte >= 0x80 and len(symbols) == 0:
            # Most of what is neither ASCII nor replaced: a character.
            for i in range(at, at + taken):
                out[size] = data[i]
                size += 1
            after_space = False
            continue
        source = replacements if kind == REPLACED else data
        stop = len(source) if kind == REPLACED else at + taken
        skipping = after_space
        for i in range(at, stop):
            byte = int(source[i])
            if kind == REPLACED and byte == 0:
                break
            if skipping and byte == SPACE:
                continue
            skipping = False
            size = put(out, size, byte, escape)
            after_space = tidy and byte == SPACE
    if tidy:
        size = _without_spaces(out, size, escape)
    if rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        size = put(out, size, SPACE, escape)
    return size


# What the next bytes become: themselves, a replacement, or U+FFFD.
VERBATIM = 0
REPLACED = 1
MALFORMED = 2


@njit
def prefix(
    units: NDArray[np.int32],
    symbols: NDArray[np.int32],
    data: NDArray[np.uint8],
    position: int,
    end: int,
    lenient: bool,
) -> tuple[int, int, int]:
    """Number of bytes taken at ``position``, what they become, and where that stands.

    lenient: as llama.cpp has it. The beginning of a symbol counts as one, however short (its
    ``naive_trie::get_longest_prefix`` does not ask whether a token ends where it stops), and
    characters are well-formed if their leading bits look right.
    """
    longest = 0
    if len(symbols) > 0:
        slot = ROOT
        for i in range(position, end):
            slot = child(symbols, slot, int(data[i]))
            if slot == EMPTY:
                break
            if lenient or token_at(symbols, slot) != EMPTY:
                longest = i + 1 - position
    if longest > 0:
        return longest, VERBATIM, position
    longest, value = rule(units, data, position, end, False)
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
def put(out: NDArray[np.uint8], size: int, byte: int, escape: bool) -> int:
    """Append a byte, a space as U+2581 if it is to be escaped; returns the new size."""
    if byte == SPACE and escape:
        for i in range(3):
            out[size + i] = SPACE_SYMBOL[i]
        return size + 3
    out[size] = byte
    return size + 1


@njit
def _without_spaces(out: NDArray[np.uint8], size: int, escape: bool) -> int:
    """The size without the spaces, escaped or not, at the end."""
    if not escape:
        while size > 0 and out[size - 1] == SPACE:
            size -= 1
        return size
    while size >= 3:
        for i in range(3):
            if out[size - 3 + i] != SPACE_SYMBOL[i]:
                return size
        size -= 3
    return size
