"""The pre-tokenizers' compiled loops: classifying UTF-8, and running an automaton over it.

One pass checks the UTF-8 of a whole batch and notes the size and class of each character. The next
follows the automaton (:mod:`impls.bpe.scanner_rules`) with hardly a branch: a piece's end is
written at each character, and counted where there is one. Where pieces end is what a processor
cannot foresee, and foreseeing wrongly costs as much as reading ten characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.character_classes import APOSTROPHE, UPPER
from impls.bpe.layout import EMPTY, PLACE
from impls.bpe.scanner_rules import (
    CAPITALS_AFTER,
    CONTRACTION,
    END_BEFORE_LAST,
    END_HERE,
    ON_NEXT_LINE,
    ROW,
    START,
    STATE,
    TAKE_UP,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CASE_BIT = 0x20
_ENDING = (ord("s"), ord("t"), ord("m"), ord("d"))
_BEFORE_E = (ord("r"), ord("v"))
_E = ord("e")
_L = ord("l")
_LONG_S = (0xC5, 0xBF)
"""U+017F, which is an s where case is folded, in UTF-8."""


SIZE_BITS = 4
"""What is noted of a character is ``size in bytes << 4 | class``."""
CLASS_MASK = (1 << SIZE_BITS) - 1
_ONE = 1 << SIZE_BITS


@njit
def classify(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    table: NDArray[np.uint8],
    noted: NDArray[np.uint8],
) -> int:
    """Note the size and the class of each character of all inputs.

    data, ends: the inputs, as in ``EncodesBatches``. table: by code point, of
    :func:`impls.bpe.character_classes.class_table`. noted: receives an entry for each character;
    as long as ``data``.
    Returns -1, or the index of the first input that is not UTF-8.
    """
    start = 0
    count = 0
    for index in range(len(ends)):
        end = ends[index]
        at = start
        while at < end:
            lead = int(data[at & PLACE])
            if lead < 0x80:
                noted[count & PLACE] = table[lead] | _ONE
                at += 1
            elif lead < 0xE0:
                if lead < 0xC2 or at + 1 >= end:
                    return index
                second = int(data[(at + 1) & PLACE]) ^ 0x80
                if second > 0x3F:
                    return index
                noted[count & PLACE] = table[(lead & 0x1F) << 6 | second] | 2 * _ONE
                at += 2
            elif lead < 0xF0:
                if at + 2 >= end:
                    return index
                second = int(data[(at + 1) & PLACE]) ^ 0x80
                third = int(data[(at + 2) & PLACE]) ^ 0x80
                code = (lead & 0x0F) << 12 | second << 6 | third
                if second | third > 0x3F or code < 0x800 or 0xD800 <= code < 0xE000:
                    return index
                noted[count & PLACE] = table[code] | 3 * _ONE
                at += 3
            else:
                if lead > 0xF4 or at + 3 >= end:
                    return index
                second = int(data[(at + 1) & PLACE]) ^ 0x80
                third = int(data[(at + 2) & PLACE]) ^ 0x80
                fourth = int(data[(at + 3) & PLACE]) ^ 0x80
                code = (lead & 0x07) << 18 | second << 12 | third << 6 | fourth
                if second | third | fourth > 0x3F or not 0x10000 <= code <= 0x10FFFF:
                    return index
                noted[count & PLACE] = table[code] | 4 * _ONE
                at += 4
            count += 1
        start = end
    return -1


@njit
def _contraction_end(data: NDArray[np.uint8], start: int, end: int, fold: bool) -> int:
    """Where ``'s|'t|'re|'ve|'m|'ll|'d`` ends, whose apostrophe is at ``start``.

    ``start`` if it is none. fold: as in ``(?i:..)``.
    """
    if start + 1 >= end:
        return start
    first = int(data[start + 1])
    second = int(data[start + 2]) if start + 2 < end else 0
    if fold:
        if first == _LONG_S[0] and second == _LONG_S[1]:
            return start + 3
        # No other byte than the two cases of a letter becomes that letter.
        first |= _CASE_BIT
        second |= _CASE_BIT
    if first in _ENDING:
        return start + 2
    if (first in _BEFORE_E and second == _E) or (first == _L and second == _L):
        return start + 3
    return start


@njit
def _capitals(noted: NDArray[np.uint8], character: int) -> tuple[int, int]:
    """How many capitals there are right before a character, and of how many bytes."""
    count = 0
    size = 0
    while int(noted[character - 1 - count]) & CLASS_MASK == UPPER:
        size += int(noted[character - 1 - count]) >> SIZE_BITS
        count += 1
    return count, size


@njit
def scan_parts(
    data: NDArray[np.uint8],
    noted: NDArray[np.uint8],
    part_ends: NDArray[np.int64],
    given: NDArray[np.int64],
    automaton: NDArray[np.uint16],
    options: tuple[bool, bool],
    piece_ends: NDArray[np.int64],
    part_counts: NDArray[np.int64],
) -> int:
    """Split each part as if it were a text of its own.

    Returns the number of pieces, or -1 if there is no room for them.

    data, part_ends: the concatenated parts, each UTF-8. noted: of :func:`classify`.
    given: EMPTY for a part to split, anything else for one that is a piece as it is; no
    entries at all if every part is to be split. automaton, options: the rules', of which the
    latter are ``fold`` and ``white_to_end``.
    piece_ends: receives where each piece ends; two longer than there are pieces, as one that is
    not counted is written, too. part_counts: the number of pieces up to and including each part.
    """
    fold, white_to_end = options
    room = len(piece_ends) - 2
    count = 0
    at = 0
    character = 0  # its number, of the one at ``at``
    for part in range(len(part_ends)):
        end = int(part_ends[part])
        if count >= room:
            return -1
        if at < end and len(given) > 0 and given[part] != EMPTY:
            piece_ends[count] = end
            count += 1
            while at < end:
                at += noted[character & PLACE] >> SIZE_BITS
                character += 1
        state = START
        last = at  # where the character before this one begins
        while at < end:
            if count >= room:
                return -1
            note = int(noted[character & PLACE])
            kind = note & CLASS_MASK
            entry = int(automaton[state | kind])
            if entry >= CONTRACTION:
                if entry & CONTRACTION:
                    apostrophe = at if kind == APOSTROPHE else at - 1
                    stop = _contraction_end(data, apostrophe, end, fold)
                    found = stop > apostrophe
                    while found and at < stop:
                        at += int(noted[character]) >> SIZE_BITS
                        character += 1
                else:
                    found = True
                    capitals, size = _capitals(noted, character)
                    at -= size
                    character -= capitals
                if found:
                    piece_ends[count] = at
                    count += 1
                    state = START
                    continue
            piece_ends[count & PLACE] = last
            count += (entry & END_BEFORE_LAST) // END_BEFORE_LAST
            piece_ends[count & PLACE] = at
            count += (entry & END_HERE) // END_HERE - (entry & TAKE_UP) // TAKE_UP
            last = at
            state = entry & STATE
            at += note >> SIZE_BITS
            character += 1
            if at == end and state == CAPITALS_AFTER * ROW:
                capitals, size = _capitals(noted, character)
                at -= size
                character -= capitals
                piece_ends[count] = at
                count += 1
                state = START
        if state >= ON_NEXT_LINE * ROW and white_to_end:
            count -= 1
        if state != START:
            piece_ends[count] = end
            count += 1
        part_counts[part] = count
    return count
