"""SentencePiece's normalizer, with what surely stays as it is passed in runs.

The definition is :func:`impls.unigram.normalizer.normalize`. A flag by two bytes says at once that
no symbol and no rule begins there, which is the case nearly everywhere; where one may, marks by
character tell more (:mod:`impls.fast.unigram.marks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.compiled.jit import inlined, njit
from impls.compiled.uncounted import uncounted
from impls.fast.kernels.eight_bytes import WORD, copy_word, small_letters, word_at
from impls.fast.kernels.many_bytes import LOADED
from impls.fast.unigram.marks import CHANGES, FOLLOWS, marks_of, pass_characters
from impls.fast.unigram.plain import ENOUGH, begins_plain, lead_bytes, pass_plain, plain_table
from impls.kernels.utf8 import character_length
from impls.unigram.charsmap import LABEL, LEAF, VALUE, offsets
from impls.unigram.normalizer import (
    MALFORMED,
    REPLACED,
    REPLACEMENT,
    SPACE,
    SPACE_SYMBOL,
    VERBATIM,
    prefix,
    put,
    staying,
    without_spaces,
)
from impls.unigram.trie import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Normalizer, Vocabulary
    from impls.kernels.layout import Bytes, Flags, Longs
    from impls.unigram.normalizer import Rules

SPARE = LOADED
"""Bytes behind the text, so that whoever reads many at a time may do so to its end."""


class Passing(NamedTuple):
    """What surely stays as it is. passes: see :func:`passing`; the table of what is plain follows.

    marks: see :func:`impls.fast.unigram.marks.marks_of`.
    """

    passes: NDArray[np.uint16]
    marks: Bytes


def make_passing(vocabulary: Vocabulary, rules: Rules) -> Passing:
    """What passes by the rules of a vocabulary."""
    spec, symbols = vocabulary.normalizer, [*staying(vocabulary)]
    entries = passing(rules, symbols, spec)
    marks = marks_of(rules.units, symbols)
    plain = marks & (CHANGES | FOLLOWS) == 0
    passing_ = (entries[:0x80] & PASSES != 0) & (marks[:0x80] & FOLLOWS == 0)
    blank = passing_ & (entries[:0x80] & BLANK != 0)
    plain[:0x80] = passing_ & ~blank
    # What may go on from an ASCII character is told by the byte with which it begins.
    unsure = (entries[:0x80] != 0) & (entries[:0x80] & ALONE == 0)
    met = rules.begun.reshape(256, 256)[:0x80][unsure].any(axis=0)
    plain[0x80:] &= ~met[lead_bytes(np.arange(0x80, len(plain)))]
    becomes = bytes(SPACE_SYMBOL) if spec.escape_whitespaces else bytes([SPACE])
    table = plain_table(plain, blank, becomes, merged=spec.remove_extra_whitespaces)
    return Passing(np.concatenate([entries, table]), marks)


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


def passing(rules: Rules, symbols: Sequence[bytes], spec: Normalizer) -> NDArray[np.uint16]:
    """256 entries by a byte: PASSES and what else holds of it, 0 if it may change before ASCII.

    Characters that become a space, as line breaks do, pass as spaces, unless a symbol or a longer
    rule begins with them.
    """
    settled = np.zeros(256, dtype=np.uint16)
    settled[:0x80] = np.arange(0x80) << _BYTE_AT | 1 << _LENGTH_AT | PASSES | ALONE
    settled[_SMALL_LETTERS] |= LETTER
    space = BLANK
    if spec.remove_extra_whitespaces:
        space |= MERGED if spec.escape_whitespaces else SINGLE
    if spec.escape_whitespaces:
        settled[SPACE] = SPACE_SYMBOL[0] << _BYTE_AT | 3 << _LENGTH_AT | PASSES | ALONE
    settled[SPACE] |= space
    passes = settled.copy()
    begins = rules.begun.reshape(256, 256)
    blank = int(passes[SPACE]) & ~ALONE
    passes[begins[:, 0x80:].any(axis=1)] &= ~np.uint16(ALONE)
    passes[begins[:, :0x80].any(axis=1)] = 0
    firsts = [text[0] for text in symbols]
    for code, alone in blanks(rules).items():
        if code not in firsts:
            passes[code] = blank | ALONE if alone else blank
    # A symbol of one character stays as it is, unless a longer one begins with it.
    for text in symbols:
        if len(text) == 1 and firsts.count(text[0]) == 1 and text[0] != SPACE:
            passes[text[0]] = settled[text[0]]
    if not np.all(passes[_SMALL_LETTERS] & PASSES):
        passes[_SMALL_LETTERS] &= ~np.uint16(LETTER)
    return passes


def blanks(rules: Rules) -> dict[int, bool]:
    """The ASCII characters that a rule makes a space, unless a longer one has ASCII behind them.

    Of each, whether no longer one has anything else behind it either.
    """
    if not len(rules.units):
        return {}
    units = rules.units.astype(np.uint32).astype(np.int64)
    labels = np.arange(1, 0x100)
    below = int(offsets(units[:1])[0]) ^ labels[:0x7F]
    found = below[(units[below] & LABEL == labels[:0x7F]) & (units[below] & LEAF != 0)]
    inner = found ^ offsets(units[found])
    longer = units[inner[:, None] ^ labels] & LABEL == labels
    values = units[inner] & VALUE
    texts = rules.replacements.tobytes()
    return {
        int(unit & 0x7F): not beyond
        for unit, value, ascii_too, beyond in zip(
            units[found],
            values.tolist(),
            longer[:, :0x7F].any(axis=1),
            longer.any(axis=1).tolist(),
            strict=True,
        )
        if texts.startswith(b" \0", value) and not ascii_too
    }


@inlined
def pass_ascii(
    passes: NDArray[np.uint16],
    begun: Flags,
    data: Bytes,
    position: int,
    end: int,
    out: Bytes,
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
def prepare(rules: Rules, known: Passing, data: Bytes, ends: Longs) -> tuple[Bytes, Longs, Longs]:
    """As :func:`impls.unigram.normalizer.prepare`, with SPARE bytes more behind the text."""
    text = np.empty((len(data) + len(ends)) * rules.growth + SPARE, dtype=np.uint8)
    segments = np.empty((len(ends), 2), dtype=np.int64)
    segment_ends = np.empty(len(ends), dtype=np.int64)
    start = size = 0
    for index in range(len(ends)):
        size += normalize(rules, known, data, start, ends[index], text[size:])
        segments[index, 0] = size
        segments[index, 1] = NOWHERE
        segment_ends[index] = index + 1
        start = ends[index]
    return text[: size + SPARE], segments, segment_ends


@njit
def normalize(
    rules: Rules,
    known: Passing,
    data: Bytes,
    start: int,
    end: int,
    out: Bytes,
) -> int:
    """Write the normalized ``data[start:end]`` to ``out``, and return its length.

    ``out`` has room for ``(end - start + 1) * rules.growth + 2`` bytes.
    """
    # Arrays one by one: tuples of them, passed on, cost seconds of compilation.
    units, replacements = uncounted(rules.units), uncounted(rules.replacements)
    symbols, begun = uncounted(rules.symbols), uncounted(rules.begun)
    passes, marks = uncounted(known.passes), uncounted(known.marks)
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
        size = without_spaces(out, size, escape)
    if rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        size = put(out, size, SPACE, escape)
    return size
