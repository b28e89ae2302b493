"""Whether two tokens may stand side by side, without encoding their text again.

The pair (left, right) is invalid if the encoding of its text merges across the boundary. Tokens
are numbered by age, so the younger one is the larger. Run the merges backwards: undo the younger
token again and again, watching which token the two neighbours of the boundary would merge to, and
until when that merge would have been the next (the limit). Of two equal tokens the left one
was made first, so undoing the right one leaves the limit one higher.

Whatever is undone, the same two bytes face each other at the boundary: the *seam*. So the merges
over each seam stand together, and so do the filters that tell most pairs that do not merge: the
questions of one boundary, and those of the next ones in the same script, read the same few lines
of memory. And once the limit is not above the oldest merge over the seam, none can come before it:
undoing ends there, and need not go down to bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.model import VocabularyError
from impls.bpe.layout import (
    ATOMS,
    BLOOM,
    EMPTY,
    INDEX,
    MERGED,
    PLACE,
    SEAMS,
    SPLITS,
    bits_of,
    wide,
)
from impls.bpe.tables import pair_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

TOKEN_BITS = 21
"""Of each of the three numbers in an entry of MERGED."""
TOKEN_MASK = (1 << TOKEN_BITS) - 1

BITS_PER_MERGE = 10
"""Of the filters: with two hashes in a word of 64 bits, 1 of 16 pairs that do not merge is looked
up in vain."""

ROOM = 10
"""Entries of MERGED for each word of the filters: of 64 bits, for at most 6.4 merges."""

OLDEST_BITS = 21
FIRST_BITS = 42
"""A seam's entry is ``first word << 42 | oldest merge << 21 | number of words``."""

_WORDS_MASK = (1 << OLDEST_BITS) - 1
_HALF = (1 << 32) - 1
_BIT = 63


@njit
def seam_of(seams: NDArray[np.int64], last: int, first: int) -> int:
    """Of the bytes ``last first``: 0 if no merge goes over them, and then any pair is valid."""
    return int(seams[(first << 8 | last) & INDEX])


@njit
def seam_at(seams: NDArray[np.int64], data: NDArray[np.uint8], position: int) -> int:
    """Likewise, of the bytes before and after a position, which is not where the text begins."""
    return seam_of(seams, int(data[(position - 1) & PLACE]), int(data[position & PLACE]))


@njit
def _word(seam: int, mixed: int) -> int:
    """Which word of BLOOM is asked."""
    return (seam >> FIRST_BITS) + (mixed * (seam & _WORDS_MASK) >> 32)


@njit
def _slot(seam: int, mixed: int) -> int:
    return (seam >> FIRST_BITS) * ROOM + (mixed * ((seam & _WORDS_MASK) * ROOM) >> 32)


@njit
def valid_pair(
    splits: NDArray[np.int32],
    merged: NDArray[np.int64],
    bloom: NDArray[np.int64],
    seam: int,
    left: int,
    right: int,
) -> bool:
    """Whether encoding keeps the tokens apart.

    merged, bloom: MERGED and BLOOM as int64. seam: of :func:`seam_of`, not 0. ALGORITHMS: at most
    13 rounds on o200k, about 4 on text; here less than 3 (see above, and single bytes are older
    than all merges).
    """
    limit = len(splits)  # above all tokens
    oldest = (seam >> OLDEST_BITS) & TOKEN_MASK
    while True:
        mixed = pair_hash(left, right) & _HALF
        word = int(bloom[_word(seam, mixed) & PLACE])
        if (word >> (mixed & _BIT)) & (word >> ((mixed >> 6) & _BIT)) & 1:
            pair = left << TOKEN_BITS | right
            slot = _slot(seam, mixed) & PLACE
            entry = int(merged[slot])
            while entry != EMPTY:
                if entry >> TOKEN_BITS == pair:
                    if entry & TOKEN_MASK < limit:
                        return False
                    break
                slot = (slot + 1) & PLACE
                entry = int(merged[slot])
        if left > right:
            if left <= oldest:
                return True
            limit = left
            left = int(splits[2 * left + 1]) & INDEX
        else:
            if right < oldest:
                return True
            limit = right + 1
            right = int(splits[2 * right]) & INDEX


@njit
def _fill(
    splits: NDArray[np.int32],
    over: NDArray[np.int64],
    seams: NDArray[np.int64],
    atoms: int,
    merged: NDArray[np.int64],
    bloom: NDArray[np.bool_],
) -> int:
    """Returns how many entries of ``merged`` are needed. over: by merge, its place in ``seams``."""
    used = 0
    for token in range(atoms, len(splits) >> 1):
        left, right = int(splits[2 * token]), int(splits[2 * token + 1])
        seam = int(seams[over[token - atoms]])
        mixed = pair_hash(left, right) & _HALF
        first_bit = 64 * _word(seam, mixed)
        bloom[first_bit + (mixed & _BIT)] = True
        bloom[first_bit + ((mixed >> 6) & _BIT)] = True
        slot = _slot(seam, mixed)
        while merged[slot] != EMPTY:
            slot += 1
        merged[slot] = (left << TOKEN_BITS | right) << TOKEN_BITS | token
        used = max(used, slot + 1)
    return used


def validity_tables(
    tokens: Mapping[int, NDArray[np.int32]], spellings: Sequence[bytes]
) -> dict[int, NDArray[np.int32]]:
    """MERGED, BLOOM and SEAMS. tokens: the sections of :func:`impls.bpe.derivations.derive`.

    Raises VocabularyError where there are too many tokens for an entry of MERGED.
    """
    if len(spellings) > TOKEN_MASK:
        raise VocabularyError(
            "vocabulary",
            f"{len(spellings)} tokens are more than {TOKEN_MASK}",
            "use bpe.heap or bpe.naive",
        )
    splits = tokens[SPLITS]
    atoms = int(tokens[ATOMS][256])
    edges = np.frombuffer(b"".join(text[:1] + text[-1:] for text in spellings), dtype=np.uint8)
    lefts, rights = splits.reshape(-1, 2)[atoms:].T
    over = edges[2 * rights].astype(np.int64) << 8 | edges[2 * lefts + 1]
    words = -(-np.bincount(over, minlength=1 << 16) * BITS_PER_MERGE // 64)
    oldest = np.zeros(1 << 16, dtype=np.int64)
    facing, first = np.unique(over, return_index=True)
    oldest[facing] = atoms + first
    firsts = np.cumsum(words) - words
    seams = np.where(words, firsts << FIRST_BITS | oldest << OLDEST_BITS | words, 0)
    total = int(words.sum())
    # What does not fit behind its own seam goes into the room of the next, and at last behind all.
    merged = np.full(total * ROOM + len(over) + 1, EMPTY, dtype=np.int64)
    bloom = np.zeros(total * 64, dtype=np.bool_)
    used = _fill(splits, over, seams, atoms, merged, bloom)
    merged = merged[: max(used, total * ROOM) + 1]  # with an EMPTY behind the last one
    return {MERGED: merged.view(np.int32), BLOOM: bits_of(bloom), SEAMS: seams.view(np.int32)}


class Pairs:
    """The same question from outside of compiled loops."""

    def __init__(self, tokens: Mapping[int, NDArray[np.int32]], spellings: Sequence[bytes]) -> None:
        """tokens: with the sections of :func:`validity_tables`. spellings: of the tokens by age."""
        self._splits = tokens[SPLITS]
        self._merged, self._bloom, self._seams = (
            wide(tokens[number]) for number in (MERGED, BLOOM, SEAMS)
        )
        self._edges = [(text[0], text[-1]) for text in spellings]

    def valid(self, left: int, right: int) -> bool:
        """Whether token ``right`` may follow token ``left``."""
        seam = seam_of(self._seams, self._edges[left][1], self._edges[right][0])
        return not seam or valid_pair(self._splits, self._merged, self._bloom, seam, left, right)
