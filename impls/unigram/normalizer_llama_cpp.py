"""llama.cpp's unigram normalizer (``llm_tokenizer_ugm_session::normalize``).

Prefixes as SentencePiece takes them, but beginnings of symbols and ill-formed characters pass, too
(see :func:`impls.unigram.normalizer.prefix`). White space differs: where spaces are merged each
word gets one before it, the first one, too, dummy prefix or not; where they are kept, the dummy
prefix stands before the first character that is no space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from corpora.vocabularies.uncounted import uncounted
from impls.kernels.eight_bytes import WORD
from impls.kernels.layout import EMPTY
from impls.kernels.many_bytes import LOADED
from impls.kernels.trie import child
from impls.kernels.utf8 import lenient_length
from impls.unigram.marks import pass_characters
from impls.unigram.normalizer import (
    BLANK,
    MALFORMED,
    MERGED,
    REPLACED,
    REPLACEMENT,
    SPACE,
    Rules,
    pass_ascii,
    prefix,
    put,
)
from impls.unigram.plain import ENOUGH, begins_plain, pass_plain
from impls.unigram.trie import ROOT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@njit
def normalize_llama_cpp(
    rules: Rules, data: NDArray[np.uint8], start: int, end: int, out: NDArray[np.uint8], size: int
) -> int:
    """Append the normalized ``data[start:end]`` to ``out[:size]``, and return the new size.

    ``out`` has room for ``(end - start + 1) * rules.growth + 2`` bytes more.
    """
    units, replacements = uncounted(rules.units), uncounted(rules.replacements)
    symbols, begun = uncounted(rules.symbols), uncounted(rules.begun)
    passes, marks = uncounted(rules.passes), uncounted(rules.marks)
    data, out = uncounted(data), uncounted(out)
    escape, merge = rules.escape_whitespaces, rules.remove_extra_whitespaces
    prepend = rules.add_dummy_prefix and not rules.treat_whitespace_as_suffix
    whole = _whole_characters(symbols)
    in_word = False
    position = start
    again = start if whole else end  # where a run of plain characters is looked for again
    while position < end:
        if merge and not in_word:
            # Nothing is written of spaces before the next word.
            while (
                position + 1 < end
                and int(passes[data[position]]) & BLANK
                and passes[data[position + 1]]
            ):
                position += 1
        if position >= again and (in_word or merge) and begins_plain(passes, data, position, end):
            first, before = position, size
            if not in_word:
                size = put(out, size, SPACE, escape)
            position, size = pass_plain(passes, data, position, end, out, size)
            if position > first:
                in_word = int(passes[data[position - 1]]) & BLANK == 0
                if merge and not in_word:
                    size -= 3 if escape else 1
            else:
                size = before
            if position - first < ENOUGH:
                again = position + LOADED
            if position >= end:
                break
        byte = int(data[position])
        if passes[byte] and (in_word or merge):
            # A space before a word is written where the first one stands, and taken back if no word
            # follows.
            first, before = position, size
            if not in_word:
                size = put(out, size, SPACE, escape)
            near = min(end, max(position + WORD, again))
            position, size = pass_ascii(
                passes, begun, data, position, near, out, size, 0 if in_word else MERGED
            )
            if position > first:
                in_word = int(passes[data[position - 1]]) & BLANK == 0
                if merge and not in_word:
                    size -= 3 if escape else 1
                continue
            size = before
        elif byte >= 0xC0 and whole and (in_word or merge):
            first, before = position, size
            if not in_word:
                size = put(out, size, SPACE, escape)
            position, size = pass_characters(marks, data, position, end, out, size)
            if position > first:
                in_word = True
                continue
            size = before
        stays = position + 1 < end and not begun[byte << 8 | int(data[position + 1])]
        if stays and byte == SPACE:
            in_word = False
            if not merge:
                size = put(out, size, SPACE, escape)
            position += 1
            continue
        if stays and in_word:
            taken = lenient_length(data, position, end)
            for i in range(position, position + taken):
                out[size] = data[i]
                size += 1
            if taken > 0:
                position += taken
                continue
        taken, kind, at = prefix(units, symbols, data, position, end, True)
        position += taken
        if kind == MALFORMED:
            stop = at + 3
        elif kind == REPLACED:
            stop = len(replacements)
        else:
            stop = at + taken
        for i in range(at, stop):
            if kind == MALFORMED:
                byte = REPLACEMENT[i - at]
            elif kind == REPLACED:
                byte = int(replacements[i])
                if byte == 0:
                    break
            else:
                byte = int(data[i])
            if byte != SPACE:
                if not in_word:
                    in_word = True
                    if prepend or merge:
                        size = put(out, size, SPACE, escape)
                        prepend = False
                out[size] = byte
                size += 1
            else:
                in_word = False
                if not merge:
                    size = put(out, size, SPACE, escape)
    if rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        size = put(out, size, SPACE, escape)
    return size


@njit
def _whole_characters(symbols: NDArray[np.int32]) -> bool:
    """Whether no symbol begins as a character of two or three bytes does.

    That byte would pass alone.
    """
    if len(symbols) > 0:
        for lead in range(0xC0, 0xF0):
            if child(symbols, ROOT, lead) != EMPTY:
                return False
    return True
