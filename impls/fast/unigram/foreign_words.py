"""Words of characters that no piece has: what becomes of them is told by looking at their bytes.

Text of a script that a vocabulary does not know has hardly any others. Each run of such characters
is the unknown id, so that neither a cache nor Viterbi's algorithm need be asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.compiled.jit import inlined, njit
from impls.compiled.uncounted import uncounted
from impls.fast.bpe.piece_results import FEW, RESULT
from impls.fast.kernels.bits import ones
from impls.fast.kernels.eight_bytes import word_at
from impls.fast.kernels.many_bytes import WINDOW, leads_and_others
from impls.fast.kernels.word_cuts import SYMBOL
from impls.fast.unigram.endings import on_page, page_of, piece_of
from impls.kernels.layout import PLACE, Bytes, Ints, Longs

if TYPE_CHECKING:
    pass

FOREIGN = -2
"""This stands in place of the number of ids of a word of characters that no piece has, which are
one id. The answer begins with the id of the piece before them, or what is told if there is none,
and their number."""

_WHOLE = WINDOW // 3 * 3
"""Bytes of the characters of three bytes of which a window tells."""
_THREE_BYTES = 0xFFFFFF
_SYMBOL = int.from_bytes(SYMBOL, "little")


@inlined
def foreign_word(
    foreign: Bytes,
    foreign_from: int,
    symbol: int,
    text: Bytes,
    start: int,
    stop: int,
) -> tuple[int, int]:
    """The first piece, and 1, of a word of characters that no piece has, and how many these are.

    That piece is U+2581, which may stand before them; 0 for none. The number is 0 for all other
    words, which have other characters. foreign_from: of :func:`first_foreign`. symbol: the piece of
    U+2581, and 1; 0 if there is none. text: with LOADED bytes more than words have.
    """
    # No branch, as nobody foresees before which words it stands.
    begun = int(symbol > 0 and start + 3 < stop) & int(
        word_at(text, start) & _THREE_BYTES == _SYMBOL
    )
    start += 3 * begun
    count = 0
    while start < stop:
        # Most words are of characters of three bytes alone, which a window tells at once.
        inside = min(_WHOLE, stop - start)
        within = (1 << inside) - 1
        leads, others = leads_and_others(text, start & PLACE, foreign_from)
        leads, others = leads & within, others & within
        if (leads | others) == within and (leads << 1 | leads << 2) & within == others:
            start += inside
            count += ones(leads)
            continue
        length = int(foreign[text[start & PLACE]])
        if length == 0:
            return 0, 0
        start += length
        count += 1
    return symbol * begun, count


@njit
def first_foreign(foreign: Bytes) -> int:
    """The first byte from which on all that begin a character of three bytes begin none of a piece.

    It is 0xF0, with which no such character begins, where there is none.
    """
    lead = 0xF0
    while lead > 0xE0 and foreign[lead - 1] == 3:
        lead -= 1
    return lead


@njit
def symbol_piece(pages: Longs, characters: Longs) -> int:
    """The piece that is U+2581 alone, and 1; 0 if there is none."""
    page = int(pages[page_of(_SYMBOL & 0xFF, _SYMBOL >> 8 & 0xFF, 3)])
    return piece_of(int(characters[on_page(page, _SYMBOL >> 16)]))


@njit
def tell_foreign(
    piece_ids: Longs,
    unknown_id: int,
    none: int,
    foreign: Bytes,
    foreign_from: int,
    symbol: int,
    text: Bytes,
    ends: Longs,
    asked: Longs,
    number: int,
    results: Ints,
) -> int:
    """Answer those of the words ``asked[:number]`` of which all that is known is told at a glance.

    They are those of characters that no piece has (:func:`foreign_word`), and their answer is
    FOREIGN. They are not to be remembered. none: what is told in place of an id. The others are
    left in ``asked``. Returns their number.
    """
    foreign, text = uncounted(foreign), uncounted(text)
    count = 0
    for place in range(number):
        index = int(asked[place])
        start, stop = int(ends[index]), int(ends[index + 1])
        piece, length = foreign_word(foreign, foreign_from, symbol, text, start, stop)
        token = int(piece_ids[piece - 1]) if piece > 0 else none
        if length > 0 and token != unknown_id:
            entry = RESULT * index
            results[entry], results[entry + 1], results[entry + FEW] = token, length, FOREIGN
        else:
            asked[count] = index
            count += 1
    return count
