"""Normalized texts to ids, many in one compiled call: symbols, segments, merges, ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.tables import EMPTY
from impls.spm.merge_kernel import (
    NEXT,
    ROW,
    START,
    SYMBOL,
    emit,
    known_id,
    merge,
    next_symbol,
    offer,
    resegment,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from impls.spm.lexicon import Lexicon

FEW = 64
"""Symbols of a segment for which there is room at first."""


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
    pairs, unused, lengths = lexicon.pairs, lexicon.unused, lexicon.lengths
    emitted, byte_ids = lexicon.emitted, lexicon.byte_ids
    unknown_id, pieces, depth = lexicon.unknown_id, lexicon.pieces, lexicon.depth
    joins_unknown = lexicon.joins_unknown

    whole = len(unused) > 0
    offers = np.empty((len(unused), 2), dtype=np.int64)
    stack = np.empty((depth + 3, 3), dtype=np.int64)
    work = np.empty((5, FEW), dtype=np.int64)
    heap = np.empty(3 * FEW, dtype=np.int64)
    parts = np.empty((FEW, 3), dtype=np.int64)
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
        count = 0
        while position < end or count > 0:
            # The next symbol joins the segment, unless no merge can cross from the one before.
            symbol, length, row = EMPTY, 0, EMPTY
            if position < end:
                symbol, length = next_symbol(
                    characters, frozen, frozen_ids, longest_frozen, text, position, end
                )
                if count > 0:
                    row = offer(pairs, unused, offers, int(work[SYMBOL, count - 1]), symbol)
            if position < end and (count == 0 or row != EMPTY or whole):
                if count > 0:
                    work[ROW, count - 1] = row
                if count == work.shape[1]:
                    wider = np.empty((5, 2 * count), dtype=np.int64)
                    wider[:, :count] = work
                    work = wider
                    heap = np.empty(6 * count, dtype=np.int64)
                    parts = np.empty((2 * count, 3), dtype=np.int64)
                work[SYMBOL, count] = symbol
                work[START, count] = position
                count += 1
                position += length
                continue

            merge(pairs, unused, offers, work, heap, count)
            count = 0
            here = 0
            while here != EMPTY:
                found = int(work[SYMBOL, here])
                rows = 0
                if whole and found >= 0 and unused[found]:
                    rows = resegment(lengths, unused, offers, depth, found, here, stack, parts)
                elif found >= 0 and emitted[found] != EMPTY:
                    # What `emit` does with nearly all symbols.
                    ids[at] = emitted[found]
                    at += 1
                    unknown = False
                else:
                    parts[0, 0], parts[0, 1], parts[0, 2] = found, here, 0
                    rows = 1
                for part in range(rows):
                    found = int(parts[part, 0])
                    start = int(work[START, parts[part, 1]])
                    raw = parts[part, 2] == 1
                    joining = unknown and joins_unknown
                    at = emit(
                        emitted, byte_ids, pieces, unknown_id,
                        text, end, found, start, raw, joining, ids, at,
                    )  # fmt: skip
                    if at < 0:
                        return ids[:0], -1 - at
                    unknown = known_id(emitted, pieces, unknown_id, found, raw) == EMPTY
                here = int(work[NEXT, here])
        id_ends[index] = at
    return ids[:at], EMPTY
