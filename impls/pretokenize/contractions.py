"""Contractions: ``'s``, ``'t``, ``'re`` and their like, which no class of characters tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.compiled.jit import njit
from impls.kernels.bits import lowest
from impls.kernels.layout import EMPTY
from impls.kernels.many_bytes import WINDOW

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from impls.pretokenize.scanner_rules import Options

_CASE_BIT = 0x20
_ENDING = (ord("s"), ord("t"), ord("m"), ord("d"))
_BEFORE_E = (ord("r"), ord("v"))
_E = ord("e")
_L = ord("l")
_LONG_S = (0xC5, 0xBF)
"""U+017F, which is an s where case is folded, in UTF-8."""

LONGEST = 3
"""Bytes of the longest contraction, with its apostrophe."""


@njit
def contraction_end(data: NDArray[np.uint8], start: int, end: int, fold: bool) -> int:
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
def with_contractions(
    data: NDArray[np.uint8],
    at: int,
    end: int,
    ends: int,
    trouble: int,
    contracting: int,
    options: Options,
) -> tuple[int, int]:
    """The ends of pieces in the window from ``data[at]`` on, where it has contractions.

    end: of the text. ends, trouble, contracting: of :func:`impls.pretokenize.windows.piece_bits`.
    Returns the ends, and the trouble, which is also an apostrophe whose contraction may reach out
    of the window.
    """
    done = EMPTY
    while contracting and lowest(contracting) < WINDOW - LONGEST:
        place = lowest(contracting)
        contracting &= contracting - 1
        # What follows a word's contraction is another word, and begins with this apostrophe.
        if place != done:
            stop = contraction_end(data, at + place, end, options.fold) - at
            if stop > place:
                begun = 1 << (place + 1 if options.own_contraction else place)
                ends = (ends & ~((1 << stop) - begun)) | 1 << stop
                done = EMPTY if options.own_contraction else stop
    return ends, trouble | contracting
