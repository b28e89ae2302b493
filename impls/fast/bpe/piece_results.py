"""What becomes of each piece of a block, until it is emitted.

An answer is four entries of int32: up to three ids, and how many there are. So few are emitted
without asking how many, all three at once; those that are none are written over by the next
piece's. Of a piece of more ids the first two entries say where these stand meanwhile: in its
*room*, which is where they would stand if all bytes before it were ids, and FEW further on, so that
nothing is written over them before. As many are read at any room, even behind the last byte: hence
SPARE (:mod:`impls.bpe.encoder`).
"""

from __future__ import annotations

from impls.compiled.jit import njit
from impls.kernels.layout import INDEX, PLACE, Ints, Longs

FEW = 3
"""Ids that an answer has room for."""

RESULT = 4
"""Entries of int32 of an answer."""


@njit
def begin_of(ends: Longs, piece: int) -> int:
    """Where a piece begins: where the one before it ends."""
    return int(ends[piece - 1]) if piece > 0 else 0


@njit
def put_one(results: Ints, index: int, token_id: int) -> None:
    """A piece that is one id."""
    results[(RESULT * index) & PLACE] = token_id
    results[(RESULT * index + FEW) & PLACE] = 1


@njit
def put(results: Ints, index: int, ids: Ints, place: int, count: int) -> None:
    """A piece of ``count`` ids, which stand in ``ids[place:]``, its room."""
    at, place = (RESULT * index) & PLACE, place & PLACE
    # All bits or none: for the sake of a branch the arrays would be counted (see tests).
    many = (FEW - count) >> 63
    results[at] = (place & INDEX & many) | (ids[place] & ~many)
    results[at + 1] = (place >> 31 & many) | (ids[place + 1] & ~many)
    results[at + 2] = ids[place + 2]
    results[at + FEW] = count


@njit
def emit(
    results: Ints,
    number: int,
    at: int,
    ids: Ints,
    id_ends: Longs,
    first: int,
) -> int:
    """Write the ids of ``number`` pieces to ``ids[at:]``; returns where they end.

    id_ends: receives, from ``first`` on, where the ids of each piece end; see
    :class:`impls.bpe.pieces.EncodePieces`.
    """
    for index in range(number):
        at &= PLACE
        entry = RESULT * index
        count = int(results[entry + FEW])
        if count > FEW:
            place = int(results[entry + 1]) << 31 | int(results[entry])
            for one in range(count):
                ids[(at + one) & PLACE] = ids[(place + one) & PLACE]
        else:
            # First all are read: the compiler cannot know that none of them is written here.
            one, two, three = results[entry], results[entry + 1], results[entry + 2]
            ids[at], ids[at + 1], ids[at + 2] = one, two, three
        at += count
        if len(id_ends) > 0:
            id_ends[(first + index) & PLACE] = at
    return at
