"""Words: parts of a text that are encoded by themselves, cut where two bytes say so.

Which two bytes say so is a table, which the fast WordPiece makes of its vocabulary
(:mod:`impls.fast.wordpiece`).
"""

from __future__ import annotations

from impls.compiled.jit import njit
from impls.fast.kernels.bits import lowest
from impls.fast.kernels.eight_bytes import WORD, small_letters, word_at
from impls.fast.kernels.many_bytes import WINDOW, ascii_or
from impls.kernels.layout import EMPTY, PLACE, Bytes, Longs

CUT = 1
"""A word ends between the two bytes."""
CUT_BEFORE_SYMBOL = 2
"""A word ends between the two bytes if the second of them begins U+2581."""

BEGINS, ENDS = 1, 2
"""The marks of a word: it is the first one of a segment, or the last one."""

SYMBOL = "\u2581".encode()
"""The character that stands for white space in the pieces of SentencePiece."""
_SYMBOL_NUMBER = int.from_bytes(SYMBOL, "little")
_SYMBOL_LEAD = SYMBOL[0]

_STRETCH = 64
"""Bytes that are looked at one after another before it is asked whether there are letters alone."""


@njit
def cut(
    cuts: Bytes,
    text: Bytes,
    segments: Longs,
    segment: int,
    position: int,
    ends: Longs,
    marks: Bytes,
    given: Longs,
) -> tuple[int, int, int, int]:
    """Cut words from ``position`` on, which lies in a segment, until there is no room for more.

    cuts: CUT, CUT_BEFORE_SYMBOL or 0, by two bytes, second * 256 + first; it is 0 for two small
    letters, and for two bytes beyond ASCII, but for CUT_BEFORE_SYMBOL. text: with LOADED bytes more
    than the segments have. ends: receives ``position``, then where each word ends. marks: receives
    BEGINS and ENDS. given: receives the id that stands in place of each word, or EMPTY. Returns how
    many words there are, the segment and position to go on from, and how many of the words are
    given.
    """
    room = len(marks)
    ends[0] = position
    count = tokens = 0
    inside = position != (segments[segment - 1, 0] if segment > 0 else 0)
    while segment < len(segments) and count < room:
        stop, token = int(segments[segment, 0]), int(segments[segment, 1])
        first = count
        position += 1
        # A word may end behind each byte: noted each time, and kept by adding one, as no branch
        # predictor knows where words end.
        while position < stop and count < room:
            # Asked now and then, for the sake of words that are long: none ends between letters.
            while position + WORD <= stop and small_letters(word_at(text, position - 1)):
                position += WORD - 1
            pause = min(stop, position + _STRETCH)
            while position < pause and count < room:
                eight = word_at(text, position - 1)
                kind = int(cuts[eight & 0xFFFF])
                symbol = eight >> 8 & 0xFFFFFF == _SYMBOL_NUMBER
                ends[(count + 1) & PLACE] = position
                count += (kind & CUT) | (kind >> 1 & symbol)
                position += 1
                if eight >> 8 & 0xFF > _SYMBOL_LEAD:
                    # Behind what begins there, none ends before the next ASCII or U+2581.
                    found = ascii_or(text, position, _SYMBOL_LEAD)
                    while found == 0 and position + WINDOW < stop:
                        position += WINDOW
                        found = ascii_or(text, position, _SYMBOL_LEAD)
                    position = min(position + lowest(found), stop)
        whole = count < room
        if whole:
            ends[count + 1] = stop
            count += 1
        marks[first:count] = 0
        given[first:count] = token
        marks[first] = 0 if inside else BEGINS
        inside = not whole
        position = int(ends[count])
        if whole:
            marks[count - 1] |= ENDS
            tokens += token != EMPTY
            segment += 1
    return count, segment, position, tokens
