"""Where the pieces of plain ASCII end, worked out for a window of characters at once.

The patterns (:mod:`impls.bpe.scanner_rules`) say of nearly every two characters of ASCII that
stand together whether a piece ends between them; so it takes a few operations on the masks of all
(:mod:`impls.bpe.masks`), and no state. What takes more is left to the automaton: what is not
ASCII, what may be a contraction, a slash after line ends after a symbol, and line ends that only
white space parts.

A window begins where a piece does, and is done with up to its last *seam*: a place at which a
piece ends whatever was before the two characters there. From a seam on everything is as at the
beginning of a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.machine import highest, lowest
from impls.bpe.masks import ALL, LOADED, WINDOW, ascii_masks

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from impls.bpe.scanner_rules import Options


@njit
def piece_bits(data: NDArray[np.uint8], at: int, options: Options) -> tuple[int, int, int, int]:
    """Where pieces end in the window from ``data[at]`` on, of LOADED bytes, which begins a piece.

    Returns four masks, in which bit i is about the place before ``data[at + i]``: whether a piece
    ends there, and whether there is a seam, if no trouble is at or before it; whether what follows
    is trouble; whether it is foreign, which is one kind of that. No end or seam is at bit 0.
    """
    _, _, cased, digits, own, ends_word, any_prefix, has_line_ends, slash = options
    upper, lower, number, blank, space, line_end, slashes, apostrophe, foreign = ascii_masks(
        data, at
    )
    letter = upper | lower
    if not has_line_ends:
        space |= line_end
        line_end = 0
    gap = blank | space
    white = gap | line_end
    odd = ~(letter | number | white | foreign) & ALL
    after_odd, after_letter = odd << 1, letter << 1
    # Line ends that go with the symbol before them: a carry runs through each row of them.
    first = after_odd & line_end
    attached = line_end & ~(line_end + first)
    trouble = foreign
    if slash:
        trouble |= slashes & (attached << 1)
    if has_line_ends:
        onward = gap & ((line_end & ~attached) << 1)
        trouble |= (gap + onward) & ~gap & line_end
    if own:
        trouble |= apostrophe & (letter >> 1) & ~(after_odd | blank << 1)
    elif ends_word:
        trouble |= apostrophe & after_letter & (letter >> 1)
    # What begins a word with the letters after it.
    before_word = blank
    if any_prefix:
        before_word = gap | (odd & ~(after_odd | blank << 1))
    words = letter & ~(after_letter | before_word << 1)
    if cased:
        words |= upper & (lower << 1)
    numbers = number & ~(number << 1)
    if digits == 1:
        numbers = number
    elif digits == 3:
        third = number & (number << 1) & (number << 2)
        fourth = (numbers << 3) & third
        while fourth:
            numbers |= fourth
            fourth = (fourth << 3) & third
    else:
        numbers &= ~(blank << 1)
    odds = odd & ~(after_odd | blank << 1)
    begun = white & ~(white << 1) & ~first
    last = gap & ~(white >> 1)
    ends = words | numbers | odds | begun | last | (gap & (line_end << 1))
    seams = begun | (odd & ~apostrophe & (letter | number) << 1)
    seams |= (number & after_letter) | (letter & number << 1)
    return ends & ~1, seams & ~1, trouble, foreign


@njit
def next_seam(data: NDArray[np.uint8], at: int, end: int, options: Options) -> int:
    """The first seam after ``data[at]`` in a window of nothing but ASCII, or ``end``."""
    found = False
    while not found and at + LOADED <= end:
        _, seams, _, foreign = piece_bits(data, at, options)
        found = seams != 0 and foreign == 0
        if found:
            at += lowest(seams)
        else:
            at += highest(foreign) + 1 if foreign else WINDOW - 1
    return at if found else end
