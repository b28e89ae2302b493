"""What tokenizers does to a text by the steps of transformers' ``SpmConverter``.

``Precompiled`` for each grapheme cluster, ``Strip`` (right) and ``Replace`` (runs of spaces by one
U+2581) where spaces are tidied, then ``Metaspace``, which escapes, prepends U+2581 unless one is
there, and parts the text before each; or, where white space is kept, ``Prepend`` and ``Replace``.
See :mod:`corpora.vocabularies.tokenizer_json_out`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from corpora.vocabularies.uncounted import uncounted
from impls.kernels.eight_bytes import WORD, all_beyond_ascii, copy_word, small_letters, word_at
from impls.kernels.many_bytes import LOADED
from impls.kernels.utf8 import character_length, code_point
from impls.unigram.charsmap import rule
from impls.unigram.graphemes import grapheme_end
from impls.unigram.marks import FOLLOWS, pass_characters, point_at
from impls.unigram.normalizer import (
    BLANK,
    LETTER,
    MERGED,
    SPACE,
    SPACE_SYMBOL,
    Rules,
    pass_ascii,
    put,
)
from impls.unigram.plain import ENOUGH, begins_plain, pass_plain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORT = 6
"""Bytes: a cluster below this is looked up whole."""


@njit
def normalize_hugging_face(
    rules: Rules,
    classes: NDArray[np.uint8],
    data: NDArray[np.uint8],
    start: int,
    end: int,
    mapped: NDArray[np.uint8],
    out: NDArray[np.uint8],
    size: int,
) -> int:
    """Append the normalized ``data[start:end]`` to ``out[:size]``, and return the new size.

    classes: see :func:`impls.unigram.graphemes.grapheme_classes`. mapped: room for what the
    charsmap gives. ``out`` has room for ``(end - start + 1) * rules.growth`` bytes more.
    """
    escape, tidy = rules.escape_whitespaces, rules.remove_extra_whitespaces
    passes, begun = uncounted(rules.passes), uncounted(rules.begun)
    mapped, out = uncounted(mapped), uncounted(out)
    length = _map(
        uncounted(rules.units), uncounted(rules.replacements), begun, passes,
        uncounted(rules.marks), uncounted(classes), uncounted(data), start, end, mapped,
    )  # fmt: skip
    if tidy:
        length = _stripped(mapped, length)
    if length == 0:
        return size
    words = escape and tidy
    if rules.add_dummy_prefix and not (words and _begins_with_symbol(mapped, length)):
        size = put(out, size, SPACE, escape)
    settled = uncounted(rules.settled)
    i = again = 0  # the second is where plain characters are looked for again
    while i < length:
        if i >= again and begins_plain(settled, mapped, i, length):
            first = i
            i, size = pass_plain(settled, mapped, i, length, out, size)
            if i - first < ENOUGH:
                again = i + LOADED
            if i >= length:
                break
        if mapped[i] < 0x80:
            near = min(length, max(i + WORD, again))
            before = int(settled[mapped[i - 1]]) if i > 0 else 0
            i, size = pass_ascii(settled, begun, mapped, i, near, out, size, before)
            # Of the last one it is not known yet whether it is behind another one.
            if i > 0 and mapped[i] == SPACE and int(settled[mapped[i - 1]]) & MERGED:
                i += 1
                continue
        while i + WORD < length and all_beyond_ascii(word_at(mapped, i)):
            copy_word(mapped, i, out, size)
            size += WORD
            i += WORD
        while i + 1 < length and mapped[i] >= 0x80:
            out[size] = mapped[i]
            size += 1
            i += 1
        byte = int(mapped[i])
        i += 1
        if byte == SPACE and tidy and i < length and mapped[i] == SPACE:
            while i < length and mapped[i] == SPACE:
                i += 1
            for k in range(3):
                out[size + k] = SPACE_SYMBOL[k]
            size += 3
        else:
            size = put(out, size, byte, escape)
    return size


@njit
def _begins_with_symbol(text: NDArray[np.uint8], length: int) -> bool:
    """Whether it will begin with U+2581: with it, or with a space."""
    return bool(text[0] == SPACE) or bool(
        length >= 3
        and text[0] == SPACE_SYMBOL[0]
        and text[1] == SPACE_SYMBOL[1]
        and text[2] == SPACE_SYMBOL[2]
    )


@njit
def _map(
    units: NDArray[np.int32],
    replacements: NDArray[np.uint8],
    begun: NDArray[np.bool_],
    passes: NDArray[np.uint16],
    marks: NDArray[np.uint8],
    classes: NDArray[np.uint8],
    data: NDArray[np.uint8],
    start: int,
    end: int,
    out: NDArray[np.uint8],
) -> int:
    """``Precompiled``: write the mapped text to ``out``, and return its length."""
    size = 0
    position = again = start  # the second is where plain characters are looked for again
    while position < end:
        if position >= again and begins_plain(passes, data, position, end):
            first = position
            position, size = pass_plain(passes, data, position, end, out, size)
            if position - first < ENOUGH:
                again = position + LOADED
            if position >= end:
                break
        near = min(end, max(position + WORD, again))
        going = True
        while going:
            kind = int(passes[data[position]])
            if (
                kind & LETTER
                and position + WORD < near
                and data[position + WORD] < 0x80
                and small_letters(word_at(data, position))
            ):
                copy_word(data, position, out, size)
                position += WORD
                size += WORD
                continue
            for _ in range(WORD):
                byte = int(data[position])
                kind = int(passes[byte])
                going = (
                    kind != 0 and byte != 0x0D and position + 1 < near and data[position + 1] < 0x80
                )
                if not going:
                    break
                out[size] = SPACE if kind & BLANK else byte
                size += 1
                position += 1
        # Nor is there a cluster of an ASCII character and one of no class behind it.
        kind = int(passes[data[position]])
        point = point_at(data, position + 1, end)
        if kind and point >= 0 and not marks[point] & FOLLOWS:
            out[size] = SPACE if kind & BLANK else data[position]
            size += 1
            position += 1
        position, size = pass_characters(marks, data, position, end, out, size)
        if position >= end:
            break
        byte = int(data[position])
        # Between ASCII characters there is always a boundary, but in CR LF.
        alone = position + 1 < end and byte < 0x80 and data[position + 1] < 0x80 and byte != 0x0D
        if len(units) == 0 or (alone and not begun[byte << 8 | int(data[position + 1])]):
            out[size] = byte
            size += 1
            position += 1
            continue
        if alone:
            stop = position + 1
        else:
            stop = grapheme_end(classes, data, position, end)
        if stop - position < SHORT:
            taken, value = rule(units, data, position, stop, True)
            if taken > 0:
                while replacements[value] != 0:
                    out[size] = replacements[value]
                    size += 1
                    value += 1
                position = stop
                continue
        while position < stop:
            after = position + character_length(data, position, stop)
            taken = value = 0
            if after == end or begun[int(data[position]) << 8 | int(data[position + 1])]:
                taken, value = rule(units, data, position, after, True)
            if taken > 0:
                while replacements[value] != 0:
                    out[size] = replacements[value]
                    size += 1
                    value += 1
            else:
                for i in range(position, after):
                    out[size] = data[i]
                    size += 1
            position = after
    return size


@njit
def _stripped(text: NDArray[np.uint8], length: int) -> int:
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
