"""The best sums and ways to the places of a text, pulled from where pieces begin that end there.

This is where the time goes that segmenting takes. Each kind of character has a loop of its own:
ASCII, with the sums of the places before in registers; characters that no piece has, of which a
whole run is one step; and the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.compiled.jit import inlined, njit
from impls.fast.unigram.endings import on_page, page_of, piece_of, step
from impls.kernels.layout import INDEX, PLACE, Bytes, Longs
from impls.kernels.utf8 import lead_length

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LENGTH_AT = 32
"""The place in a way, ``length << 32 | piece + 1``, of the bytes of the last piece."""
PIECE = (1 << LENGTH_AT) - 1
"""The bits of a way that tell the last piece: its number and 1, or 0 for unknown characters."""

_FOUR_BYTES = (1 << 32) - 1


@inlined
def pull(
    nodes: Longs,
    pairs: Longs,
    pages: Longs,
    characters: Longs,
    foreign: Bytes,
    weights: NDArray[np.floating],
    unknown_score: np.floating | float,
    rebase_above: float,
    text: Bytes,
    origin: int,
    start: int,
    stop: int,
    size: int,
    best: NDArray[np.floating],
    ways: Longs,
) -> int:
    """Go on from the place ``start`` to ``stop`` or the first character end behind it.

    Places count from ``origin`` in the text; the word has ``size`` bytes. Returns the place that is
    reached, which lies before ``stop`` if the sum there is beyond ``rebase_above``. nodes, pairs,
    pages, characters, foreign: see :class:`impls.fast.unigram.endings.Endings`. weights: the score
    of each piece, behind one of minus infinity. best, ways: receive the sum and the last step of
    the best way to each place where one may end; no entry may be positive infinity or no number,
    not even of a place where no character begins. Of equal ways the engines keep the one that they
    find first, which is the one whose last piece is longest.
    """
    nothing = weights[0]
    here = best[start]
    while start < stop and abs(here) <= rebase_above:
        lead = int(text[(origin + start) & PLACE])
        if lead < 0x80:
            # The sums of the places before, which memory would hand back late, and the bytes.
            one_before = best[(start - 1) & PLACE] if start > 0 else nothing
            two_before = best[(start - 2) & PLACE] if start > 1 else nothing
            three_before = best[(start - 3) & PLACE] if start > 2 else nothing
            bytes_before = 0
            for place in range(max(0, start - 3), start):
                bytes_before = bytes_before << 8 | int(text[(origin + place) & PLACE])
            while lead < 0x80:
                bytes_before = (bytes_before << 8 | lead) & _FOUR_BYTES
                entry = int(pairs[lead << 8 | bytes_before >> 8 & 0xFF])
                piece = piece_of(entry)
                sofar, way = one_before + weights[piece], 2 << LENGTH_AT | piece
                entry = step(nodes, entry, bytes_before >> 16 & 0xFF)
                piece = piece_of(entry)
                sofar, way = better(sofar, way, two_before + weights[piece], 3 << LENGTH_AT | piece)
                entry = step(nodes, entry, bytes_before >> 24)
                piece = piece_of(entry)
                sofar, way = better(
                    sofar, way, three_before + weights[piece], 4 << LENGTH_AT | piece
                )
                size_back = 4
                while entry & INDEX and size_back <= start:
                    entry = step(nodes, entry, int(text[(origin + start - size_back) & PLACE]))
                    size_back += 1
                    piece = piece_of(entry)
                    candidate = best[(start + 1 - size_back) & PLACE] + weights[piece]
                    sofar, way = better(sofar, way, candidate, size_back << LENGTH_AT | piece)
                # At last what all wait for: the sum that was found just before.
                piece = piece_of(int(characters[lead]))
                alone = here + (weights[piece] if piece > 0 else unknown_score)
                one_before, two_before, three_before = here, one_before, two_before
                here, way = better(alone, 1 << LENGTH_AT | piece, sofar, way)
                start += 1
                best[start & PLACE] = here
                ways[start & PLACE] = way
                if start >= stop or abs(here) > rebase_above:
                    break
                lead = int(text[(origin + start) & PLACE])
            continue
        if foreign[lead] > 0:
            first = start
            while foreign[lead] > 0:
                here += unknown_score
                start += after_foreign(lead, int(foreign[lead]))
                if start >= stop or abs(here) > rebase_above:
                    break
                lead = int(text[(origin + start) & PLACE])
            start = min(start, size)
            best[start & PLACE] = here
            ways[start & PLACE] = start - first << LENGTH_AT
            continue
        length = min(lead_length(lead), size - start)
        if 2 <= length <= 3:
            second = int(text[(origin + start + 1) & PLACE])
            low = int(text[(origin + start + length - 1) & PLACE])
            entry = int(characters[on_page(int(pages[page_of(lead, second, length)]), low) & PLACE])
        else:
            entry = int(nodes[0])
            for place in range(length - 1, -1, -1):
                entry = step(nodes, entry, int(text[(origin + start + place) & PLACE]))
        piece = piece_of(entry)
        way = length << LENGTH_AT | piece
        sofar = here + (weights[piece] if piece > 0 else unknown_score)
        size_back = 0
        if length == 3 and start >= 3 and int(text[(origin + start - 3) & PLACE]) >> 4 == 0xE:
            # Another one of three bytes stands before it: nobody foresees where pieces end.
            for _ in range(3):
                size_back += 1
                entry = step(nodes, entry, int(text[(origin + start - size_back) & PLACE]))
            piece = piece_of(entry)
            candidate = best[(start - 3) & PLACE] + weights[piece]
            sofar, way = better(sofar, way, candidate, 6 << LENGTH_AT | piece)
        while entry & INDEX and size_back < start:
            size_back += 1
            entry = step(nodes, entry, int(text[(origin + start - size_back) & PLACE]))
            piece = piece_of(entry)
            candidate = best[(start - size_back) & PLACE] + weights[piece]
            sofar, way = better(sofar, way, candidate, length + size_back << LENGTH_AT | piece)
        start += length
        here = sofar
        best[start & PLACE] = here
        ways[start & PLACE] = way
    return start


@njit
def after_foreign(lead: int, length: int) -> int:
    """The bytes of a character of ``length`` bytes, of which most have three."""
    # A branch that is foreseen, so that nobody waits for the length to read the next one.
    return 3 if lead >> 4 == 0xE else length


@njit
def better(
    sofar: np.floating, way: int, candidate: np.floating, other: int
) -> tuple[np.floating, int]:
    """The better of what was found so far and of a candidate whose last piece is longer."""
    # Selected, not branched on: no branch predictor knows which piece wins.
    way = other if candidate >= sofar else way
    return (candidate if candidate > sofar else sofar), way
