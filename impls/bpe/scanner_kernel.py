"""The pre-tokenizers' compiled loops: classifying UTF-8, and running an automaton over it.

One pass checks the UTF-8 of a whole batch and writes the classes of each character to the place of
each of its bytes. The next follows the automaton (:mod:`impls.bpe.scanner_rules`) with hardly a
branch: a piece's end is written at each byte, and counted where there is one. Where pieces end is
what a processor cannot foresee, and foreseeing wrongly costs as much as reading ten bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.character_classes import APOSTROPHE, CONTINUED, UPPER
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


@njit
def classify(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    table: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
) -> int:
    """Write the classes of the characters of all inputs.

    data, ends: the inputs, as in ``EncodesBatches``. table: by code point, of
    :func:`impls.bpe.character_classes.class_table`. kinds: receives for each byte of ``data`` the
    class of its character, but CONTINUED for all but the first byte.
    Returns -1, or the index of the first input that is not UTF-8.
    """
    start = 0
    for index in range(len(ends)):
        end = ends[index]
        at = start
        while at < end:
            lead = int(data[at])
            if lead < 0x80:
                kinds[at] = table[lead]
                at += 1
            elif lead < 0xE0:
                if lead < 0xC2 or at + 1 >= end:
                    return index
                second = int(data[at + 1]) ^ 0x80
                if second > 0x3F:
                    return index
                kinds[at] = table[(lead & 0x1F) << 6 | second]
                kinds[at + 1] = CONTINUED
                at += 2
            elif lead < 0xF0:
                if at + 2 >= end:
                    return index
                second = int(data[at + 1]) ^ 0x80
                third = int(data[at + 2]) ^ 0x80
                code = (lead & 0x0F) << 12 | second << 6 | third
                if second > 0x3F or third > 0x3F or code < 0x800 or 0xD800 <= code < 0xE000:
                    return index
                kinds[at] = table[code]
                kinds[at + 1] = CONTINUED
                kinds[at + 2] = CONTINUED
                at += 3
            else:
                if lead > 0xF4 or at + 3 >= end:
                    return index
                second = int(data[at + 1]) ^ 0x80
                third = int(data[at + 2]) ^ 0x80
                fourth = int(data[at + 3]) ^ 0x80
                code = (lead & 0x07) << 18 | second << 12 | third << 6 | fourth
                if second > 0x3F or third > 0x3F or fourth > 0x3F:
                    return index
                if code < 0x10000 or code > 0x10FFFF:
                    return index
                kinds[at] = table[code]
                kinds[at + 1] = CONTINUED
                kinds[at + 2] = CONTINUED
                kinds[at + 3] = CONTINUED
                at += 4
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
def _word_end(kinds: NDArray[np.uint8], at: int) -> int:
    """Where the capitals begin that end at ``at``."""
    while kinds[at - 1] in (CONTINUED, UPPER):
        at -= 1
    while kinds[at] == CONTINUED:
        at += 1
    return at


@njit
def scan_parts(
    data: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    part_ends: NDArray[np.int64],
    given: NDArray[np.int64],
    automaton: NDArray[np.uint16],
    options: tuple[bool, bool],
    piece_ends: NDArray[np.int64],
    part_counts: NDArray[np.int64],
) -> int:
    """Split each part as if it were a text of its own.

    Returns the number of pieces, or -1 if there is no room for them.

    data, part_ends: the concatenated parts, each UTF-8. kinds: of :func:`classify`.
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
    for part in range(len(part_ends)):
        end = int(part_ends[part])
        if count >= room:
            return -1
        if at < end and len(given) > 0 and given[part] != EMPTY:
            piece_ends[count] = end
            count += 1
            at = end
        state = START
        last = at  # where the character before this one begins
        while at < end:
            if count >= room:
                return -1
            kind = int(kinds[at & PLACE])
            entry = int(automaton[state | kind])
            if entry >= CONTRACTION:
                if entry & CONTRACTION:
                    apostrophe = at if kind == APOSTROPHE else at - 1
                    stop = _contraction_end(data, apostrophe, end, fold)
                    found = stop > apostrophe
                else:
                    stop = _word_end(kinds, at)
                    found = True
                if found:
                    piece_ends[count] = stop
                    count += 1
                    at = stop
                    state = START
                    continue
            piece_ends[count & PLACE] = last
            count += (entry & END_BEFORE_LAST) // END_BEFORE_LAST
            piece_ends[count & PLACE] = at
            count += (entry & END_HERE) // END_HERE - (entry & TAKE_UP) // TAKE_UP
            last = last if kind == CONTINUED else at
            state = entry & STATE
            at += 1
            if at == end and state == CAPITALS_AFTER * ROW:
                at = _word_end(kinds, at)
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
