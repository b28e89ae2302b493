"""Words: parts of a text that are encoded by themselves, cut where two bytes say so.

Which two bytes say so is a table, which an algorithm makes of its vocabulary: unigram
(:mod:`impls.unigram.fast.cuts`) and WordPiece (:mod:`impls.wordpiece.fast.remembering`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.kernels.layout import EMPTY, PLACE
from impls.kernels.processor import word_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

_HIGH_BITS = -0x7F7F7F7F7F7F7F80
_LOW_BITS = 0x0101010101010101
_LEADS = -((1 << 64) - _LOW_BITS * _SYMBOL_LEAD)
"""In eight bytes: the highest bit of each, the lowest, and the byte that begins U+2581."""


@njit
def _begins_none(eight: int) -> bool:
    """Whether none of eight bytes may begin a word: all beyond ASCII, and none begins U+2581."""
    # Of what is 0 where a byte is the one looked for, the high bits after subtracting 1 tell.
    other = eight ^ _LEADS
    return eight & _HIGH_BITS == _HIGH_BITS and (other - _LOW_BITS) & ~other & _HIGH_BITS == 0


@njit
def cut(
    cuts: NDArray[np.uint8],
    text: NDArray[np.uint8],
    segments: NDArray[np.int64],
    segment: int,
    position: int,
    ends: NDArray[np.int64],
    marks: NDArray[np.uint8],
    given: NDArray[np.int64],
) -> tuple[int, int, int, int]:
    """Cut words from ``position`` on, which lies in a segment, until there is no room for more.

    text: with eight bytes more than the segments have. ends: receives ``position``, then where each
    word ends. marks: receives BEGINS and ENDS. given: receives the id that stands in place of each
    word, or EMPTY. Returns how many words there are, the segment and position to go on from, and
    how many of the words are given.
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
            eight = word_at(text, position - 1)
            if eight >> 8 & 0xFF > _SYMBOL_LEAD:
                # Before most characters beyond ASCII none ends.
                while position + 8 < stop and _begins_none(word_at(text, position)):
                    position += 8
                eight = word_at(text, position - 1)
            kind = int(cuts[eight & 0xFFFF])
            symbol = eight >> 8 & 0xFFFFFF == _SYMBOL_NUMBER
            ends[(count + 1) & PLACE] = position
            count += (kind & CUT) | (kind >> 1 & symbol)
            position += 1
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
