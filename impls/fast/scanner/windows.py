"""Where pieces end, worked out for a window of characters at once.

The patterns (:mod:`impls.pretokenize.scanner_rules`) say of nearly every two characters that stand
together whether a piece ends between them; so it takes a few operations on the masks of all
(:mod:`impls.fast.scanner.masks`), and no state. What may be a contraction is looked at by
itself. What takes more is *trouble* and left to the automaton: line ends that only white space
parts, a capital after a letter that has no case, a mark after a symbol, and white space and numbers
that are not ASCII.

A window begins where a piece does, and is done with up to its last *sure* end: a place at which a
piece ends whatever was before the two characters there. From there on everything is as at the
beginning of a text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from impls.compiled.jit import inlined, njit
from impls.fast.kernels.bits import highest, lowest
from impls.fast.kernels.many_bytes import ALL, LOADED, WINDOW
from impls.fast.scanner.masks import ascii_masks
from impls.kernels.layout import EMPTY, Bytes
from impls.pretokenize.scanner_kernel import contraction_end

if TYPE_CHECKING:
    from impls.fast.scanner.masks import Masks
    from impls.pretokenize.scanner_rules import Rules


_LONGEST_CONTRACTION = 3
"""Bytes, with its apostrophe."""


class Options(NamedTuple):
    """What is asked of :class:`impls.pretokenize.scanner_rules.Rules`, in types that Numba has.

    own_contraction, word_contraction: where one stands, if anywhere. any_prefix: whether any
    character may be the first of a word, and not a space alone. The others are the rules'.
    """

    fold: bool
    white_to_end: bool
    cased: bool
    digits: int
    own_contraction: bool
    word_contraction: bool
    any_prefix: bool
    line_ends: bool
    slash: bool


def options_of(rules: Rules) -> Options:
    """What is asked of the rules of a pattern."""
    return Options(
        fold=rules.fold,
        white_to_end=rules.white_to_end,
        cased=rules.cased,
        digits=rules.digits,
        own_contraction=rules.contraction == "own",
        word_contraction=rules.contraction == "word",
        any_prefix=rules.prefix == "any",
        line_ends=rules.line_ends,
        slash=rules.slash,
    )


@inlined
def piece_bits(masks: Masks, options: Options) -> tuple[int, int, int, int]:
    """Where pieces end in a window that begins a piece.

    Returns four masks: the places where a piece ends, and those where one surely does, if no
    trouble is at or before them; the trouble; and the apostrophes that may begin a contraction,
    for :func:`with_contractions`. Bit i is about the place before
    byte i, and that of byte 0 is set in neither of the first two. What is not looked into is
    trouble, too.
    """
    upper, lower, uncased, mark, number, blank, space, line_end = masks[:8]
    slashes, apostrophe, begins, unknown = masks[8:]
    letter = upper | lower | uncased
    if options.cased:
        letter |= mark
    if not options.line_ends:
        space |= line_end
        line_end = 0
    gap = blank | space
    white = gap | line_end
    odd = ~(letter | number | white) & ALL
    after_odd, after_letter = odd << 1, letter << 1
    # Line ends, and slashes after one, that go with the symbol before them: a carry runs through
    # each row of them from the first line end on, and stops short of the next one.
    row = line_end
    if options.slash:
        row |= slashes
    first = after_odd & line_end
    attached = (row & ~(row + first)) | first
    trouble = unknown | ((gap | number) & ~begins)
    if options.cased:
        trouble |= (upper & (uncased | mark) << 1) | (mark & after_odd)
    if options.line_ends:
        onward = gap & ((line_end & ~attached) << 1)
        trouble |= (gap + onward) & ~gap & line_end
    contracting = 0
    if options.own_contraction:
        contracting = apostrophe & (letter >> 1) & ~(after_odd | blank << 1)
    elif options.word_contraction:
        contracting = apostrophe & after_letter & (letter >> 1)
    odds = odd & ~(after_odd | blank << 1)
    if options.slash:
        odds = (odds | (odd & attached << 1)) & ~attached
    # Letters after what begins a word with them: of symbols a single one, through which a carry
    # runs.
    prefixed = blank << 1
    if options.any_prefix:
        single = odds | (odd & ~begins)
        prefixed = gap << 1 | ((single + odds) & ~single)
    words = letter & ~(after_letter | prefixed)
    if options.cased:
        words |= upper & (lower << 1)
    numbers = number & ~(number << 1)
    if options.digits == 1:
        numbers = number
    elif options.digits == 3:
        third = number & (number << 1) & (number << 2)
        fourth = (numbers << 3) & third
        while fourth:
            numbers |= fourth
            fourth = (fourth << 3) & third
    else:
        numbers &= ~(blank << 1)
    begun = white & ~(white << 1) & ~first
    last = gap & ~(white >> 1)
    ends = words | numbers | odds | begun | last | (gap & (line_end << 1))
    sure = begun | (odd & ~apostrophe & (letter | number) << 1)
    sure |= (number & after_letter) | (letter & number << 1)
    if options.cased:
        # A mark may belong to symbols before it, which symbols and line ends go on.
        sure &= ~(mark << 1) | gap | number
    return ends & ~1, sure & ~1, trouble, contracting


@njit
def next_sure(data: Bytes, at: int, end: int, options: Options) -> int:
    """The last sure end of the first window of nothing but ASCII after ``data[at]``, or ``end``.

    The last one, since where trouble is there may be more of it, each for another window.
    """
    found = False
    while not found and at + LOADED <= end:
        masks = ascii_masks(data, at)
        unknown = masks[-1]
        if unknown:
            at += highest(unknown) + 1
        else:
            _, sure, _, _ = piece_bits(masks, options)
            found = sure != 0
            at += highest(sure) if found else WINDOW - 1
    return at if found else end


@njit
def with_contractions(
    data: Bytes,
    at: int,
    end: int,
    ends: int,
    trouble: int,
    contracting: int,
    options: Options,
) -> tuple[int, int]:
    """The ends of pieces in the window from ``data[at]`` on, where it has contractions.

    end: of the text. ends, trouble, contracting: of :func:`piece_bits`.
    Returns the ends, and the trouble, which is also an apostrophe whose contraction may reach out
    of the window.
    """
    done = EMPTY
    while contracting and lowest(contracting) < WINDOW - _LONGEST_CONTRACTION:
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
