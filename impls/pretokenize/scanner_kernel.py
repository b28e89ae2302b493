"""The pre-tokenizers' compiled loops: noting what UTF-8 is, and splitting it.

Plain ASCII is split a window of bytes at a time (:mod:`impls.pretokenize.windows`). What is between
is checked to be UTF-8, and of each byte is noted the class of its character and that one's size;
from the notes it is split likewise. What neither could tell is left to the automaton
(:mod:`impls.pretokenize.scanner_rules`), which is followed with hardly a branch: a piece's end is
written at each character, and counted where there is one. Where pieces end is what a processor
cannot foresee, and foreseeing wrongly costs as much as reading ten characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.compiled.jit import inlined, njit
from impls.kernels.bits import highest, lowest, ones
from impls.kernels.layout import EMPTY, PLACE
from impls.kernels.many_bytes import ALL, LOADED, WINDOW
from impls.pretokenize.byte_masks import (
    CLASS_MASK,
    SIZE_BITS,
    ascii_masks,
    note_ascii,
    noted_masks,
)
from impls.pretokenize.character_classes import APOSTROPHE, UPPER
from impls.pretokenize.contractions import contraction_end, with_contractions
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
from impls.pretokenize.windows import next_sure, piece_bits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from impls.pretokenize.scanner_rules import Options

_BLANK = 0x20
"""The greatest of the ASCII bytes that are white space."""


AT_ONCE = 8
"""Ends that are written without asking whether there are so many; divides LOADED."""

NO_ROOM, NO_UTF8 = -1, -2
"""These stand for a number of pieces if there is none."""


@njit
def classify(
    data: NDArray[np.uint8],
    start: int,
    end: int,
    table: NDArray[np.uint8],
    noted: NDArray[np.uint8],
) -> bool:
    """Note the characters of ``data[start:end]``; false if that is no UTF-8.

    table: by code point, of :func:`impls.pretokenize.character_classes.class_table`. noted:
    receives an entry for each byte (see SIZE_BITS); longer by LOADED.
    """
    at = window = start
    others = 0  # of the window that begins there, the bytes that are still to be noted
    valid = True
    while at < end and valid:
        if others == 0 and at + LOADED <= end:
            window = at
            others = note_ascii(data, window, noted, window - start)
            at += lowest(others) if others else WINDOW
        else:
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
                        valid = (
                            second | third <= 0x3F and code >= 0x800 and not 0xD800 <= code < 0xE000
                        )
                    else:
                        fourth = int(data[(at + 3) & PLACE]) ^ 0x80 if at + 3 < end else 0xFF
                        code = (lead & 0x07) << 18 | second << 12 | third << 6 | fourth
                        size = 4
                        valid = (
                            second | third | fourth <= 0x3F
                            and lead < 0xF5
                            and 0x10000 <= code <= 0x10FFFF
                        )
                        noted[(place + 3) & PLACE] = table[code & PLACE] if valid else 0
                    if valid:
                        noted[(place + 2) & PLACE] = table[code & PLACE]
                if valid:
                    noted[place & PLACE] = table[code & PLACE] | size << SIZE_BITS
                    noted[(place + 1) & PLACE] = table[code & PLACE]
            if others:
                others &= ~(((1 << size) - 1) << (at - window))
                at = window + lowest(others) if others else max(at + size, window + WINDOW)
            else:
                at += size
    return valid


@njit
def _capitals(noted: NDArray[np.uint8], place: int) -> int:
    """How many bytes of capitals there are right before a character."""
    size = 0
    while int(noted[place - 1 - size]) & CLASS_MASK == UPPER:
        size += 1
    return size


@njit
def _scan(
    data: NDArray[np.uint8],
    noted: NDArray[np.uint8],
    base: int,
    at: int,
    end: int,
    automaton: NDArray[np.uint16],
    options: Options,
    piece_ends: NDArray[np.int64],
    count: int,
) -> int:
    """Split ``data[at:end]``; ``count`` ends have been written. Returns their new number.

    Or NO_ROOM. noted: of :func:`classify`, for ``data[base]`` and what follows.
    """
    room = len(piece_ends) - 2
    state = START
    last = at  # where the character before this one begins
    while at < end and count < room:
        note = int(noted[(at - base) & PLACE])
        kind = note & CLASS_MASK
        entry = int(automaton[state | kind])
        if entry >= CONTRACTION:
            if entry & CONTRACTION:
                apostrophe = at if kind == APOSTROPHE else at - 1
                stop = contraction_end(data, apostrophe, end, options.fold)
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
    if state >= ON_NEXT_LINE * ROW and options.white_to_end:
        count -= 1
    if state != START:
        piece_ends[count] = end
        count += 1
    if at < end:
        count = NO_ROOM
    return count


@njit
def _put(ends: int, reach: int, at: int, piece_ends: NDArray[np.int64], count: int) -> int:
    """Write the places of a mask up to ``reach``, counted from ``at``; returns the new number."""
    ends &= (2 << reach) - 1
    total = count + ones(ends)
    while ends:
        # Some that are none are written, too: how many there are cannot be foreseen.
        for _ in range(AT_ONCE):
            piece_ends[count & PLACE] = at + lowest(ends)
            count += 1
            ends &= ends - 1
    return total


@njit
def _split_noted(
    data: NDArray[np.uint8],
    noted: NDArray[np.uint8],
    base: int,
    end: int,
    automaton: NDArray[np.uint16],
    options: Options,
    piece_ends: NDArray[np.int64],
    count: int,
) -> int:
    """Split ``data[base:end]``, of which is noted what it is, as :func:`_scan` does."""
    room = len(piece_ends) - LOADED
    at = looked = base  # where a piece begins, and where the window does
    searching = False  # for the next sure end, as there was none before the trouble
    while at < end and count >= 0:
        ends, sure, trouble, contracting = piece_bits(noted_masks(noted, looked - base), options)
        if contracting:
            ends, trouble = with_contractions(
                data, looked, end, ends, trouble, contracting, options
            )
        inside = min(WINDOW, end - looked)
        within = (1 << inside) - 1
        sure &= within
        trouble |= ALL ^ within
        if not searching:
            sure &= (trouble & -trouble) - 1
        if sure and not searching:
            count = _put(ends, highest(sure), at, piece_ends, count)
            at += highest(sure)
            looked = at
        elif sure or inside < WINDOW:
            stop = looked + highest(sure) if sure else end  # see next_sure
            count = _scan(data, noted, base, at, stop, automaton, options, piece_ends, count)
            at = looked = stop
            searching = False
        else:
            looked += lowest(trouble) if trouble and not searching else WINDOW - 1
            searching = True
        if count >= room:
            count = NO_ROOM
    return count


@inlined
def _all_known(data: NDArray[np.uint8], end: int, trouble: int) -> bool:
    """Whether a window that reaches over the end of the text tells all of its ends.

    Each end is told by what is before it, but those in white space: where that goes on to the end
    of the text, the patterns have rules of their own.
    """
    last = int(data[(end - 1) & PLACE])
    return trouble == 0 and last > _BLANK


@inlined
def _split_plain(
    data: NDArray[np.uint8],
    at: int,
    end: int,
    options: Options,
    piece_ends: NDArray[np.int64],
    count: int,
) -> tuple[int, int]:
    """Split the windows from ``data[at]`` on, up to one that is not like nearly all of source.

    Those are within the part, without trouble or contractions, and have a sure end. Returns where
    that window begins, and the new number of ends.
    """
    last = min(end - WINDOW, len(data) - LOADED)
    room = len(piece_ends) - LOADED
    plain = True
    while plain and at <= last and count < room:
        ends, sure, trouble, contracting = piece_bits(ascii_masks(data, at), options)
        # Were contractions looked at here, all of cutting would take a sixth longer.
        plain = trouble | contracting == 0 and sure != 0
        if plain:
            count = _put(ends, highest(sure), at, piece_ends, count)
            at += highest(sure)
    return at, count


@njit
def scan_parts(
    data: NDArray[np.uint8],
    table: NDArray[np.uint8],
    noted: NDArray[np.uint8],
    part_ends: NDArray[np.int64],
    given: NDArray[np.int64],
    automaton: NDArray[np.uint16],
    options: Options,
    piece_ends: NDArray[np.int64],
    part_counts: NDArray[np.int64],
) -> int:
    """Split each part as if it were a text of its own.

    Returns the number of pieces, NO_ROOM, or NO_UTF8.

    data, part_ends: the concatenated parts. table: of :func:`classify`. noted: scratch, longer
    than ``data`` by LOADED.
    given: EMPTY for a part to split, anything else for one that is a piece as it is; no
    entries at all if every part is to be split. automaton, options: the rules'.
    piece_ends: receives where each piece ends; longer than there are pieces by more than LOADED,
    as some that are not counted are written, too. part_counts: the number of pieces up to and
    including each part.
    """
    room = len(piece_ends) - LOADED
    count = 0
    at = 0
    part = 0
    while part < len(part_ends) and count >= 0:
        end = int(part_ends[part])
        if count >= room:
            count = NO_ROOM
        elif at < end and len(given) > 0 and given[part] != EMPTY:
            piece_ends[count] = end
            count += 1
            at = end
        while at < end and count >= 0:
            at, count = _split_plain(data, at, end, options, piece_ends, count)
            if count >= room:
                count = NO_ROOM
                continue
            stop = end
            sure = 0
            if at + LOADED <= len(data):
                ends, sure, trouble, contracting = piece_bits(ascii_masks(data, at), options)
                if contracting:
                    ends, trouble = with_contractions(
                        data, at, end, ends, trouble, contracting, options
                    )
                inside = min(WINDOW, end - at)
                if inside < WINDOW and _all_known(data, end, trouble & ((1 << inside) - 1)):
                    sure = 1 << inside
                    ends |= sure
                else:
                    # What is of other parts is trouble.
                    trouble |= ALL ^ ((1 << inside) - 1)
                    sure &= (trouble & -trouble) - 1
                if not sure and inside == WINDOW:
                    looked = at + (lowest(trouble) if trouble else WINDOW - 1)
                    stop = next_sure(data, looked, end, options)
            if sure:
                count = _put(ends, highest(sure), at, piece_ends, count)
                stop = at + highest(sure)
            elif classify(data, at, stop, table, noted):
                # No end depends on what windows read behind this, but counted steps do.
                noted[stop - at : stop - at + LOADED] = 0
                count = _split_noted(data, noted, at, stop, automaton, options, piece_ends, count)
            else:
                count = NO_UTF8
            if count >= room:
                count = NO_ROOM
            at = stop
        part_counts[part] = count
        part += 1
    return count
