"""Normalized texts to ids, many in one compiled call: symbols, segments, merges, ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from corpora.vocabularies.jit import njit
from impls.kernels.merge_tables import EMPTY
from impls.spm.merge_kernel import (
    COLUMNS,
    JOINED,
    NEXT,
    START,
    SYMBOL,
    USED,
    emit,
    fill,
    known_id,
    merge,
    resegment,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from impls.spm.lexicon import Lexicon


class EncodeTexts(Protocol):
    """An encoder of normalized texts."""

    def __call__(
        self,
        lexicon: Lexicon,
        text: NDArray[np.uint8],
        ends: NDArray[np.int64],
        given: NDArray[np.int64],
        id_ends: NDArray[np.int64],
    ) -> tuple[NDArray[np.int32], int]:
        """See :func:`encode_texts`."""
        ...


FEW = 1024
"""Symbols for which there is room at first."""


@njit
def offers_of(unused: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The table of how each UNUSED piece was offered last: (left, right), none yet."""
    offers = np.full((len(unused), 2), USED, dtype=np.int32)
    for symbol in range(len(unused)):
        if unused[symbol]:
            offers[symbol, 0] = EMPTY
    return offers


@njit
def encode_texts(
    lexicon: Lexicon,
    text: NDArray[np.uint8],
    ends: NDArray[np.int64],
    given: NDArray[np.int64],
    id_ends: NDArray[np.int64],
) -> tuple[NDArray[np.int32], int]:
    """Encode each normalized text ``text[ends[i-1]:ends[i]]``.

    given: ids that texts become instead, EMPTY for none; no entries if there are none at all.
    Writes where the ids of each text end to ``id_ends``; returns all ids, and EMPTY, or the first
    byte that has no id (there are no ids then).
    """
    # Arrays one by one: tuples of them, passed on, cost seconds of compilation.
    characters, frozen, frozen_ids = lexicon.characters, lexicon.frozen, lexicon.frozen_ids
    longest_frozen = lexicon.longest_frozen
    pairs, sides, unused, lengths = lexicon.pairs, lexicon.sides, lexicon.unused, lexicon.lengths
    emitted, byte_ids = lexicon.emitted, lexicon.byte_ids
    unknown_id, pieces, depth = lexicon.unknown_id, lexicon.pieces, lexicon.depth
    joins_unknown = lexicon.joins_unknown

    offers = offers_of(unused)
    stack = np.empty((depth + 3, 3), dtype=np.int64)
    room = FEW
    work = np.empty((room, COLUMNS), dtype=np.int32)
    heap = np.empty(3 * room, dtype=np.int64)
    parts = np.empty((room, 3), dtype=np.int64)
    # An id stands for at least one byte, or is given.
    ids = np.empty(len(text) + len(given), dtype=np.int32)
    at = 0
    position = 0
    for index in range(len(ends)):
        end = int(ends[index])
        if len(given) > 0 and given[index] != EMPTY:
            ids[at] = given[index]
            at += 1
            position = end
        unknown = False  # whether the symbol before was
        while position < end:
            # The work is done by functions in whose loops no array is assigned anew: counting
            # its references would take longer than the work.
            position, at, unknown = _encode(
                characters, frozen, frozen_ids, longest_frozen, pairs, sides, lengths,
                emitted, byte_ids, unknown_id, pieces, depth, joins_unknown, offers, stack,
                work, heap, parts, text, position, end, unknown, ids, at,
            )  # fmt: skip
            if at < 0:
                return ids[:0], -1 - at
            if position < end:
                room = min(8 * room, end - position + 1)
                work = np.empty((room, COLUMNS), dtype=np.int32)
                heap = np.empty(3 * room, dtype=np.int64)
                parts = np.empty((room, 3), dtype=np.int64)
        id_ends[index] = at
    return ids[:at], EMPTY


@njit
def _encode(
    characters: NDArray[np.int64],
    frozen: NDArray[np.int32],
    frozen_ids: NDArray[np.int64],
    longest_frozen: int,
    pairs: NDArray[np.int32],
    sides: NDArray[np.uint8],
    lengths: NDArray[np.int32],
    emitted: NDArray[np.int32],
    byte_ids: NDArray[np.int32],
    unknown_id: int,
    pieces: int,
    depth: int,
    joins_unknown: bool,
    offers: NDArray[np.int32],
    stack: NDArray[np.int64],
    work: NDArray[np.int32],
    heap: NDArray[np.int64],
    parts: NDArray[np.int64],
    text: NDArray[np.uint8],
    position: int,
    end: int,
    unknown: bool,
    ids: NDArray[np.int32],
    at: int,
) -> tuple[int, int, bool]:
    """Encode segments of ``text[position:end]`` until one does not fit into the work array.

    Returns the end of the last one, where the ids end (``-1 - byte`` for one without an id), and
    whether the last symbol was unknown.
    """
    whole = len(offers) > 0
    while position < end:
        total, after = fill(
            characters, frozen, frozen_ids, longest_frozen, pairs, sides, offers,
            text, position, end, work,
        )  # fmt: skip
        begin = 0
        while begin < total:
            # A segment ends where no merge can cross.
            stop = begin
            while stop < total - 1 and (whole or work[stop, JOINED]):
                stop += 1
            stop += 1
            if stop == total and after < end:
                break  # it may go on
            if stop - begin == 1:
                work[begin, NEXT] = EMPTY
            else:
                merge(pairs, offers, work[begin:stop], heap, stop - begin)
            here = 0
            while here != EMPTY:
                place = begin + here
                here = int(work[place, NEXT])
                found = int(work[place, SYMBOL])
                rows = 0
                if whole and found >= 0 and offers[found, 0] != USED:
                    rows = resegment(lengths, offers, depth, found, place, stack, parts)
                elif found >= 0 and emitted[found] != EMPTY:
                    # What `emit` does with nearly all symbols.
                    ids[at] = emitted[found]
                    at += 1
                    unknown = False
                else:
                    parts[0, 0], parts[0, 1], parts[0, 2] = found, place, 0
                    rows = 1
                for part in range(rows):
                    found = int(parts[part, 0])
                    start = int(work[parts[part, 1], START])
                    raw = parts[part, 2] == 1
                    joining = unknown and joins_unknown
                    at = emit(
                        emitted, byte_ids, pieces, unknown_id,
                        text, end, found, start, raw, joining, ids, at,
                    )  # fmt: skip
                    if at < 0:
                        return position, at, unknown
                    unknown = known_id(emitted, pieces, unknown_id, found, raw) == EMPTY
            begin = stop
        if begin == 0:
            return position, at, unknown
        position = after if begin == total else int(work[begin, START])
    return position, at, unknown
