"""What the hand scanners share: classifying UTF-8, and the parts that all the patterns have.

A scanner never decodes. One pass checks the UTF-8 of a whole batch and writes the classes of each
character to the place of each of its bytes, so that a run of a class is a run of bytes, and the
regular expressions become loops over these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.character_classes import CONTINUATION, NEWLINE, SPACE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_APOSTROPHE = ord("'")
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
    classes of its character, with CONTINUATION for all but the first byte.
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
                kind = table[(lead & 0x1F) << 6 | second]
                kinds[at] = kind
                kinds[at + 1] = kind | CONTINUATION
                at += 2
            elif lead < 0xF0:
                if at + 2 >= end:
                    return index
                second = int(data[at + 1]) ^ 0x80
                third = int(data[at + 2]) ^ 0x80
                code = (lead & 0x0F) << 12 | second << 6 | third
                if second > 0x3F or third > 0x3F or code < 0x800 or 0xD800 <= code < 0xE000:
                    return index
                kind = table[code]
                kinds[at] = kind
                kind |= CONTINUATION
                kinds[at + 1] = kind
                kinds[at + 2] = kind
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
                kind = table[code]
                kinds[at] = kind
                kind |= CONTINUATION
                kinds[at + 1] = kind
                kinds[at + 2] = kind
                kinds[at + 3] = kind
                at += 4
        start = end
    return -1


@njit
def run_end(kinds: NDArray[np.uint8], start: int, end: int, bits: int) -> int:
    """Where the run of characters with any of the classes ``bits`` ends that starts at ``start``.

    ``start`` is the beginning of a character, or ``end``.
    """
    while start < end and kinds[start] & bits:
        start += 1
    return start


@njit
def character_end(kinds: NDArray[np.uint8], start: int, end: int) -> int:
    """Where the character at ``start`` ends."""
    start += 1
    while start < end and kinds[start] & CONTINUATION:
        start += 1
    return start


@njit
def digits_end(kinds: NDArray[np.uint8], start: int, end: int, bits: int, most: int) -> int:
    """Like :func:`run_end`, of at most ``most`` characters."""
    for _ in range(most):
        if start >= end or not kinds[start] & bits:
            break
        start = character_end(kinds, start, end)
    return start


@njit
def contraction_end(data: NDArray[np.uint8], start: int, end: int, fold: bool) -> int:
    """Where ``'s|'t|'re|'ve|'m|'ll|'d`` ends at ``start``, or ``start`` if it is not there.

    fold: as in ``(?i:..)``.
    """
    if start + 1 >= end or data[start] != _APOSTROPHE:
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
def space_end(
    kinds: NDArray[np.uint8], start: int, end: int, at_newlines: bool, all_at_end: bool
) -> int:
    """Where ``\\s+(?!\\S)|\\s+`` ends at ``start``, which is white space.

    at_newlines: ``\\s*[\\r\\n]+`` comes first: up to the last line end of the run.
    all_at_end: ``\\s+$`` comes before that: all of the run where the text ends with it.
    Linear in all: a run that is given back has no line end any more.
    """
    at = start
    after_newline = start
    while at < end and kinds[at] & SPACE:
        at += 1
        if kinds[at - 1] & NEWLINE:
            after_newline = at
    if at == end and all_at_end:
        return at
    if at_newlines and after_newline > start:
        return after_newline
    if at == end:
        return at
    # The look-ahead gives one character back, which often begins the next piece ...
    last = at - 1
    while kinds[last] & CONTINUATION:
        last -= 1
    # ... unless there is but that one.
    return last if last > start else at
