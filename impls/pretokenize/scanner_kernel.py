"""The pre-tokenizers' compiled loops: noting what UTF-8 is, and splitting it by an automaton.

Of each byte is noted the class of its character and that one's size. The automaton
(:mod:`impls.pretokenize.scanner_rules`) reads the notes with hardly a branch: a piece's end is
written at each character, and counted where there is one. Where pieces end is what a processor
cannot foresee, and foreseeing wrongly costs as much as reading ten characters. No class of
characters tells contractions (``'s``, ``'t``, ``'re``): they are read as they stand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, PLACE, Bytes, Longs
from impls.pretokenize.character_classes import APOSTROPHE, UPPER
from impls.pretokenize.scanner_rules import (
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

SIZE_BITS = 4
"""A character's first byte is noted as ``size in bytes << 4 | class``, and its other bytes as
``class``."""
CLASS_MASK = (1 << SIZE_BITS) - 1

NO_UTF8 = -1
"""This stands for a number of pieces if there is none."""

_CASE_BIT = 0x20
_ENDING = (ord("s"), ord("t"), ord("m"), ord("d"))
_BEFORE_E = (ord("r"), ord("v"))
_E = ord("e")
_L = ord("l")
_LONG_S = (0xC5, 0xBF)
"""U+017F, which is an s where case is folded, in UTF-8."""


@njit
def contraction_end(data: Bytes, start: int, end: int, fold: bool) -> int:
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
def classify(
    data: Bytes,
    start: int,
    end: int,
    table: Bytes,
    noted: Bytes,
) -> bool:
    """Note the characters of ``data[start:end]``; false if that is no UTF-8.

    table: by code point, of :func:`impls.pretokenize.character_classes.class_table`. noted:
    receives an entry for each byte (see SIZE_BITS).
    """
    at = start
    valid = True
    while at < end and valid:
        place = at - start
        size = 1
        lead = int(data[at & PLACE])
        if lead < 0x80:
            noted[place & PLACE] = table[lead] | 1 << SIZE_BITS
        else:
            second = int(data[(at + 1) & PLACE]) ^ 0x80 if at + 1 < end else 0xFF
            if lead < 0xE0:
                size = 2
                code = (lead & 0x1F) << 6 | second
                valid = second <= 0x3F and lead >= 0xC2
            else:
                third = int(data[(at + 2) & PLACE]) ^ 0x80 if at + 2 < end else 0xFF
                code = (lead & 0x0F) << 12 | second << 6 | third
                size = 3
                if lead < 0xF0:
                    valid = second | third <= 0x3F and code >= 0x800 and not 0xD800 <= code < 0xE000
                else:
                    fourth = int(data[(at + 3) & PLACE]) ^ 0x80 if at + 3 < end else 0xFF
                    code = (lead & 0x07) << 18 | second << 12 | third << 6 | fourth
                    size = 4
                    valid = (
                        second | third | fourth <= 0x3F
                        and lead < 0xF5
                        and 0x10000 <= code <= 0x10FFFF
                    )
            if valid:
                kind = table[code & PLACE]
                noted[place & PLACE] = kind | size << SIZE_BITS
                for other in range(1, size):
                    noted[(place + other) & PLACE] = kind
        at += size
    return valid


@njit
def _capitals(noted: Bytes, place: int) -> int:
    """How many bytes of capitals there are right before a character."""
    size = 0
    while int(noted[place - 1 - size]) & CLASS_MASK == UPPER:
        size += 1
    return size


@njit
def scan(
    data: Bytes,
    noted: Bytes,
    base: int,
    at: int,
    end: int,
    automaton: NDArray[np.uint16],
    fold: bool,
    white_to_end: bool,
    piece_ends: Longs,
    count: int,
) -> int:
    """Split ``data[at:end]``; ``count`` ends have been written. Returns their new number.

    noted: of :func:`classify`, for ``data[base]`` and what follows. fold, white_to_end: as of
    :class:`impls.pretokenize.scanner_rules.Rules`.
    """
    state = START
    last = at  # where the character before this one begins
    while at < end:
        note = int(noted[(at - base) & PLACE])
        kind = note & CLASS_MASK
        entry = int(automaton[state | kind])
        if entry >= CONTRACTION:
            if entry & CONTRACTION:
                apostrophe = at if kind == APOSTROPHE else at - 1
                stop = contraction_end(data, apostrophe, end, fold)
                found = stop > apostrophe
                at = stop if found else at
            else:
                found = True
                at -= _capitals(noted, at - base)
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
        if at == end and state == CAPITALS_AFTER * ROW:
            at -= _capitals(noted, at - base)
            piece_ends[count] = at
            count += 1
            state = START
    if state >= ON_NEXT_LINE * ROW and white_to_end:
        count -= 1
    if state != START:
        piece_ends[count] = end
        count += 1
    return count


@njit
def scan_parts(
    data: Bytes,
    table: Bytes,
    noted: Bytes,
    part_ends: Longs,
    given: Longs,
    automaton: NDArray[np.uint16],
    fold: bool,
    white_to_end: bool,
    piece_ends: Longs,
    part_counts: Longs,
) -> int:
    """Split each part as if it were a text of its own; the number of pieces, or NO_UTF8.

    data, part_ends: the concatenated parts. table: of :func:`classify`. noted: scratch, as long as
    ``data``. given: EMPTY for a part to split, anything else for one that is a piece as it is; no
    entries at all if every part is to be split. automaton, fold, white_to_end: the rules'.
    piece_ends: receives where each piece ends; longer than there are bytes by two, as one that is
    not counted is written, too. part_counts: the number of pieces up to and including each part.
    """
    count = at = 0
    for part in range(len(part_ends)):
        end = int(part_ends[part])
        if at < end and len(given) > 0 and given[part] != EMPTY:
            piece_ends[count] = end
            count += 1
        elif at < end:
            if not classify(data, at, end, table, noted):
                return NO_UTF8
            count = scan(data, noted, at, at, end, automaton, fold, white_to_end, piece_ends, count)
        at = end
        part_counts[part] = count
    return count
