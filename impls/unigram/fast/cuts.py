"""Words: the parts of a normalized text that share no piece, and so are segmented by themselves.

Between two bytes that stand side by side in no piece, every segmentation is cut, if the character
behind them is one that is known by itself: an unknown one might continue a run of unknown
characters, which becomes one id. White space is such a place for nearly all vocabularies (no piece
of T5 has U+2581 but as its first character), and in source code every other bracket is.
"""

from __future__ import annotations

import string
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.kernels.layout import PLACE
from impls.kernels.processor import word_at
from impls.unigram.normalizer import SPACE_SYMBOL
from impls.unigram.trie import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

CUT = 1
"""A word ends between the two bytes."""
CUT_BEFORE_SYMBOL = 2
"""A word ends between the two bytes if the second of them begins U+2581."""

BEGINS, ENDS = 1, 2
"""The marks of a word: it is the first one of a segment, or the last one."""

_SYMBOL = bytes(SPACE_SYMBOL)
_SYMBOL_NUMBER = int.from_bytes(_SYMBOL, "little")
_LETTERS = [*string.ascii_letters.encode()]


def make_cuts(pieces: Mapping[bytes, int], unknown_id: int) -> NDArray[np.uint8]:
    """65,536 entries by two bytes, second * 256 + first: CUT, CUT_BEFORE_SYMBOL, or 0 for neither.

    pieces: the ids of the pieces that text can become, by their bytes. Words begin with ASCII and
    with U+2581 alone, and between two letters none does: what few letters make comes more seldom
    than it takes to look it up.
    """
    beside = np.zeros((256, 256), dtype=np.bool_)
    before_symbol = np.zeros(256, dtype=np.bool_)
    for text in pieces:
        for one, other in pairwise(text):
            beside[one, other] = True
        at = text.find(_SYMBOL, 1)
        while at > 0:
            before_symbol[text[at - 1]] = True
            at = text.find(_SYMBOL, at + 1)
    # A piece that is the unknown one joins a run of unknown characters, too.
    unknown = {text[:1] for text, piece_id in pieces.items() if piece_id == unknown_id}
    cuts = np.zeros((256, 256), dtype=np.uint8)
    for code in range(0x80):
        character = bytes([code])
        if character in pieces and character not in unknown:
            cuts[:, code] = CUT
            if character.isalpha():
                cuts[_LETTERS, code] = 0
    cuts[beside] = 0
    if _SYMBOL in pieces and _SYMBOL[:1] not in unknown:
        cuts[~before_symbol, _SYMBOL[0]] = CUT_BEFORE_SYMBOL
    return cuts.T.reshape(-1)


_HIGH_BITS = -0x7F7F7F7F7F7F7F80
_LOW_BITS = 0x0101010101010101
_LEADS = -((1 << 64) - _LOW_BITS * SPACE_SYMBOL[0])
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
    word, or NOWHERE. Returns how many words there are, the segment and position to go on from, and
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
            if eight >> 8 & 0xFF > SPACE_SYMBOL[0]:
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
            tokens += token != NOWHERE
            segment += 1
    return count, segment, position, tokens
