"""The scanner of the patterns that part words by case: o200k_base's and tekken's.

They are, with U for ``[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]``, W for
``[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]``, C for ``(?i:'s|'t|'re|'ve|'m|'ll|'d)?`` (tekken: nothing), and
d = 3 (tekken: 1)::

    [^\\r\\n\\p{L}\\p{N}]?U*W+C
    [^\\r\\n\\p{L}\\p{N}]?U+W*C
    \\p{N}{1,d}
     ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*
    \\s*[\\r\\n]+
    \\s+(?!\\S)
    \\s+
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.character_classes import LETTER, LOWER, NEWLINE, NUMBER, OTHER, UPPER
from impls.bpe.scanners_common import (
    character_end,
    contraction_end,
    digits_end,
    run_end,
    space_end,
)
from impls.bpe.tables import EMPTY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLANK = ord(" ")
_SLASH = ord("/")


@njit
def _cased_end(kinds: NDArray[np.uint8], start: int, end: int) -> int:
    """Where ``U*W+`` ends at ``start``, or ``start`` if it does not match.

    U* takes all it can. If a small letter follows, W+ goes on from there. If not, U* gives back
    up to the last character that is of W, too (an uncased letter or a mark), which W+ then takes;
    and W+ cannot take more, since no later one is of W.
    """
    upper = start
    after_both = start
    while upper < end and kinds[upper] & UPPER:
        upper += 1
        if kinds[upper - 1] & LOWER:
            after_both = upper
    if upper < end and kinds[upper] & LOWER:
        return run_end(kinds, upper, end, LOWER)
    return after_both


@njit
def _word_end(kinds: NDArray[np.uint8], start: int, end: int) -> int:
    """Where the first two alternatives, C apart, end at ``start``; or ``start``.

    The first one is tried with and without its leading character before the second one is. It
    reads a run of capitals that it gives back at most twice, so all is linear.
    """
    kind = kinds[start]
    word = start
    if not kind & (LETTER | NUMBER | NEWLINE):
        word = character_end(kinds, start, end)
        matched = _cased_end(kinds, word, end)
        if matched > word:
            return matched
        if kind & UPPER:
            # A mark alone: what follows it is capitals only, as the above has not matched.
            return word
    else:
        matched = _cased_end(kinds, word, end)
        if matched > word:
            return matched
    # No character of W is in reach, so the second alternative is U+.
    capitals = run_end(kinds, word, end, UPPER)
    return capitals if capitals > word else start


@njit
def _piece_end(
    data: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    start: int,
    end: int,
    options: tuple[int, bool],
) -> int:
    """Where the match at ``start`` ends; ``end`` is the end of the text.

    options: the greatest number of digits in a piece; whether a word takes a contraction.
    """
    kind = kinds[start]
    if kind & NUMBER:
        return digits_end(kinds, start, end, NUMBER, options[0])
    if not kind & NEWLINE:
        word = _word_end(kinds, start, end)
        if word > start:
            return contraction_end(data, word, end, True) if options[1] else word
    other = start + 1 if data[start] == _BLANK and start + 1 < end else start
    if kinds[other] & OTHER:
        other = run_end(kinds, other, end, OTHER)
        while other < end and (kinds[other] & NEWLINE or data[other] == _SLASH):
            other += 1
        return other
    return space_end(kinds, start, end, True, False)


@njit
def scan_parts(
    data: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    part_ends: NDArray[np.int64],
    given: NDArray[np.int64],
    options: tuple[int, bool],
    piece_ends: NDArray[np.int64],
    part_counts: NDArray[np.int64],
    state: NDArray[np.int64],
) -> bool:
    """See :class:`impls.bpe.scanners.ScanParts`."""
    part, start, count = state[0], state[1], state[2]
    capacity = len(piece_ends)
    while part < len(part_ends):
        end = part_ends[part]
        whole = len(given) > 0 and given[part] != EMPTY
        while start < end:
            if count == capacity:
                state[0], state[1], state[2] = part, start, count
                return False
            start = end if whole else _piece_end(data, kinds, start, end, options)
            piece_ends[count] = start
            count += 1
        part_counts[part] = count
        part += 1
    state[0], state[1], state[2] = part, start, count
    return True
