"""Splitting by windows of bytes, where they tell where pieces end; else by the automaton.

Plain ASCII is split a window at a time (:mod:`impls.fast.scanner.windows`). What is between is
noted as the plain scanner does (:mod:`impls.pretokenize.scanner_kernel`), and from the notes it is
split likewise. What neither could tell is left to the automaton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import inlined, njit
from impls.fast.kernels.bits import highest, lowest, ones
from impls.fast.kernels.many_bytes import ALL, LOADED, WINDOW
from impls.fast.scanner.masks import ascii_masks, noted_masks
from impls.fast.scanner.windows import next_sure, options_of, piece_bits, with_contractions
from impls.kernels.layout import EMPTY, PLACE, Bytes, Longs
from impls.pretokenize.character_classes import class_table
from impls.pretokenize.scanner_kernel import NO_UTF8, classify, scan
from impls.pretokenize.scanner_rules import automaton

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from impls.fast.scanner.windows import Options
    from impls.pretokenize.scanner_rules import Rules

_BLANK = 0x20
"""The greatest of the ASCII bytes that are white space."""

AT_ONCE = 8
"""Ends that are written without asking whether there are so many; divides LOADED."""


def split_parts(
    rules: Rules,
    data: Bytes,
    part_ends: Longs,
    given: Longs,
) -> tuple[Longs, Longs] | None:
    """As :func:`impls.pretokenize.scanners.split_parts`."""
    part_counts = np.empty(len(part_ends), dtype=np.int64)
    piece_ends = np.empty(len(data) + LOADED + 2, dtype=np.int64)
    noted = np.empty(len(data) + LOADED, dtype=np.uint8)
    count = scan_parts(
        data, class_table(), noted, part_ends, given, automaton(rules), options_of(rules),
        piece_ends, part_counts,
    )  # fmt: skip
    return None if count == NO_UTF8 else (piece_ends[:count], part_counts)


@njit
def _put(ends: int, reach: int, at: int, piece_ends: Longs, count: int) -> int:
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
    data: Bytes,
    noted: Bytes,
    base: int,
    end: int,
    automaton: NDArray[np.uint16],
    options: Options,
    piece_ends: Longs,
    count: int,
) -> int:
    """Split ``data[base:end]``, of which is noted what it is, as :func:`scan` does."""
    at = looked = base  # where a piece begins, and where the window does
    searching = False  # for the next sure end, as there was none before the trouble
    while at < end:
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
            count = scan(
                data, noted, base, at, stop, automaton, options.fold, options.white_to_end,
                piece_ends, count,
            )  # fmt: skip
            at = looked = stop
            searching = False
        else:
            looked += lowest(trouble) if trouble and not searching else WINDOW - 1
            searching = True
    return count


@inlined
def _all_known(data: Bytes, end: int, trouble: int) -> bool:
    """Whether a window that reaches over the end of the text tells all of its ends.

    Each end is told by what is before it, but those in white space: where that goes on to the end
    of the text, the patterns have rules of their own.
    """
    last = int(data[(end - 1) & PLACE])
    return trouble == 0 and last > _BLANK


@inlined
def _split_plain(
    data: Bytes,
    at: int,
    end: int,
    options: Options,
    piece_ends: Longs,
    count: int,
) -> tuple[int, int]:
    """Split the windows from ``data[at]`` on, up to one that is not like nearly all of source.

    Those are within the part, without trouble or contractions, and have a sure end. Returns where
    that window begins, and the new number of ends.
    """
    last = min(end - WINDOW, len(data) - LOADED)
    plain = True
    while plain and at <= last:
        ends, sure, trouble, contracting = piece_bits(ascii_masks(data, at), options)
        # Were contractions looked at here, all of cutting would take a sixth longer.
        plain = trouble | contracting == 0 and sure != 0
        if plain:
            count = _put(ends, highest(sure), at, piece_ends, count)
            at += highest(sure)
    return at, count


@njit
def scan_parts(
    data: Bytes,
    table: Bytes,
    noted: Bytes,
    part_ends: Longs,
    given: Longs,
    automaton: NDArray[np.uint16],
    options: Options,
    piece_ends: Longs,
    part_counts: Longs,
) -> int:
    """Split each part as if it were a text of its own.

    Returns the number of pieces, or NO_UTF8.

    data, part_ends: the concatenated parts. table: of :func:`classify`. noted: scratch, longer
    than ``data`` by LOADED.
    given: EMPTY for a part to split, anything else for one that is a piece as it is; no
    entries at all if every part is to be split. automaton, options: the rules'.
    piece_ends: receives where each piece ends; longer than there are bytes by LOADED, as some that
    are not counted are written, too. part_counts: the number of pieces up to and
    including each part.
    """
    count = at = 0
    for part in range(len(part_ends)):
        end = int(part_ends[part])
        if at < end and len(given) > 0 and given[part] != EMPTY:
            piece_ends[count] = end
            count += 1
            at = end
        while at < end:
            at, count = _split_plain(data, at, end, options, piece_ends, count)
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
                return NO_UTF8
            at = stop
        part_counts[part] = count
    return count
